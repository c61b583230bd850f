// When the work of streams is done, by the chip's clock: seconds from the beginning.
//
// A stream's works follow each other, and none begins before the host has asked for it, as far as
// that is known: what the host has waited for lies behind it. Works of two streams share the chip:
// a launch takes the part of it that its CTAs fill when all that have room are there, what was
// asked for first has what it takes, and what comes later has what is left, until more is (as an
// H200 was seen to do: two launches that fill half of it or less go on beside each other in the
// time of one, of two that fill it the second waits). That two that go on beside each other are
// slower where both wait for memory is not in it. Copies between host and device have a link for
// each way, and go on beside launches.
#pragma once

#include <cstdint>
#include <map>

namespace tilescope {

// What is used of something, as it changes with time: a share, 0 to 1.
class SharedUse {
 public:
  // When work is done that takes `share` of it for `seconds`, alone, and begins at `from` or as
  // soon as something is left; `from` becomes when it does.
  double use(double& from, double share, double seconds);
  void forget(double before);

 private:
  // Splits the stretch at `time`.
  std::map<double, double>::iterator at(double time);
  std::map<double, double> used_;  // from each time on; nothing before the first
};

class ExecClock {
 public:
  enum class Part : std::uint8_t { chip, to_device, from_device };
  struct Span {
    double begin = 0, end = 0;
  };

  // Of what the stream has been given: when it is done, or when something more could begin.
  double time_of(std::uint64_t stream) const;
  // The stream's next work begins behind this.
  void wait(std::uint64_t stream, double time);
  // The host knows that it is so late.
  void host_knows(double time);
  void host_knows_all();
  // The stream's next work.
  Span work(std::uint64_t stream, Part part, double share, double seconds);

 private:
  std::map<std::uint64_t, double> times_;  // of streams
  double host_ = 0;
  SharedUse parts_[3];
};

}  // namespace tilescope
