// What a row of the timeline is about at a moment, and how much of which in a stretch of time.
//
// A Doing is what a colour stands for: a warp that runs, a unit that works, or a wait with what
// waits for. A Density is a track cut into equal pieces with the cycles of each doing in them, as
// sums from the left: any stretch is two looks, however many events are in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/record/event.h"

namespace tilescope {

struct Doing {
  sim::Unit unit = sim::Unit::warp;  // that works; of a wait: who completes it, count_: not known
  sim::Stall stall = sim::Stall::none;  // none: it is no wait
  bool waits() const { return stall != sim::Stall::none; }
  friend bool operator==(Doing, Doing) = default;
  friend bool operator<(Doing a, Doing b) {
    return a.stall != b.stall ? a.stall < b.stall : a.unit < b.unit;
  }
};
// "runs", "tensor core", "waits for an mbarrier that copies in complete".
std::string text(Doing doing);
// Of a wait: by which it is known where there is room for no more.
char letter_of(Doing doing);

class Density {
 public:
  Density() = default;
  // Of a track with events in [begin, end), in about so many pieces.
  Density(sim::Cycle begin, sim::Cycle end, std::size_t pieces);

  void add(Doing doing, sim::Cycle begin, sim::Cycle end);
  // `cycles` spread evenly over [begin, end).
  void spread(Doing doing, sim::Cycle begin, sim::Cycle end, std::uint64_t cycles);
  void count(sim::Cycle at, std::uint64_t events);
  void close();  // makes sums of what was added; nothing is added after it

  const std::vector<Doing>& doings() const { return doings_; }
  double piece() const { return static_cast<double>(width_); }  // cycles
  // Cycles of the i-th doing, and events that begin, before a time.
  double before(std::size_t doing, double at) const;
  double events_before(double at) const;

 private:
  std::size_t index_of(Doing doing);
  double at(const std::vector<std::uint64_t>& sums, double time) const;

  sim::Cycle begin_ = 0, width_ = 1;
  std::size_t pieces_ = 0;
  std::vector<Doing> doings_;
  std::vector<std::vector<std::uint64_t>> cycles_;  // by doing; pieces_ + 1 sums
  std::vector<std::uint64_t> events_;
};

}  // namespace tilescope
