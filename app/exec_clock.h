// When the work of streams is done, by the chip's clock: seconds from the beginning.
//
// A stream's works follow each other, and none begins before the host has asked for it, as far as
// that is known: what the host has waited for lies behind it. Works of two streams share the chip:
// a launch takes the part of it that its CTAs fill when all that have room are there, and of its
// memory what it takes alone; what was asked for first has what it takes, and what comes later has
// what is left, until more is. As an H200 was seen to do: two launches that fill half of the chip
// or less go on beside each other in the time of one, of two that fill it the second waits; two
// that copy as fast as memory allows take twice the time of one (there both are slower, here the
// second is), and one that computes none more. Copies between host and device have a link for each
// way, and go on beside launches.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace tilescope {

// What is used of a chip, as it changes with time: of its room for CTAs, and of its memory.
class SharedUse {
 public:
  struct Use {
    double room = 0, memory = 0;  // 0 to 1
  };
  // When work is done that takes so much of it for `seconds`, alone, and begins at `from` or as
  // soon as something is left; `from` becomes when it does.
  double use(double& from, Use takes, double seconds);
  void forget(double before);

 private:
  // Splits the stretch at `time`.
  std::map<double, Use>::iterator at(double time);
  std::map<double, Use> used_;  // from each time on; nothing before the first
};

class ExecClock {
 public:
  enum class Part : std::uint8_t { chip, to_device, from_device };
  struct Work {
    Part part = Part::chip;
    SharedUse::Use takes{1, 0};
    double seconds = 0;
    // A launch behind it in its stream may begin so long after it has begun (programmatic dependent
    // launch). None: only when it has ended.
    std::optional<double> lets_begin_after = {};
    // It may begin so early itself, and so long after it has begun it waits for the work before.
    // None: it begins behind it.
    std::optional<double> waits_after = {};
  };
  struct Span {
    double begin = 0, end = 0;
  };

  // Of what the stream has been given: when it is done, or when something more could begin.
  double time_of(std::uint64_t stream) const;
  // The stream's next work begins behind this.
  void wait(std::uint64_t stream, double time);
  // Nothing that comes next begins before what the stream has now is done.
  void part(std::uint64_t stream);
  // The host knows that it is so late.
  void host_knows(double time);
  void host_knows_all();
  // The stream's next work.
  Span work(std::uint64_t stream, const Work& work);

 private:
  std::map<std::uint64_t, double> times_;  // of streams
  std::map<std::uint64_t, double> early_;  // when their last work lets a launch begin
  double host_ = 0;
  SharedUse parts_[3];
};

}  // namespace tilescope
