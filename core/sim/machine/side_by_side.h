// Clusters of a grid that run side by side, on several threads, with the outcome of one.
//
// Each thread has a copy of the machine as it stands before its first instruction, and runs
// clusters of its own in it. Copies share memory until one of them writes. Where no two clusters
// touch the same bytes, one of them writing, none can tell in what order they ran: then what each
// copy has written is put together, and that is what one thread would have left, bit for bit.
//
// Where two do meet, or anything is told (a hazard, a note, a fault, what a kernel prints), the
// copies are thrown away and one thread runs the grid in its order from the start. So reports,
// their order and their counts are always those of one thread. That clusters meet is known from
// what is kept of accesses for races (core/sim/order/shadow.h), by words of 4 bytes: every access
// of memory that the program may write is there. Programs by which clusters could meet otherwise
// are not tried: atomics, strong accesses and reductions of global memory, textures, cluster launch
// control, tensor maps that are written, %clock, %globaltimer, %smid, the heap.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/run/job.h"

namespace tilescope::sim {

class Executor;
class Model;

// Whether its CTAs may tell each other something in global memory.
bool may_meet(const Model& model);

class SideBySide {
 public:
  // Whether it is worth a try: Options::beside, a machine that has not begun, two clusters or more,
  // nobody who looks on, and a program as above.
  static bool fits(const Model& model);

  explicit SideBySide(const Model& start);
  ~SideBySide();
  SideBySide(const SideBySide&) = delete;

  enum class Outcome : std::uint8_t { running, done, met };
  // Of all threads together about so many instructions.
  Outcome run(std::uint64_t budget);
  // Once done: puts together in `model`, which is as it was at the start, what one thread would
  // have made of it. False: clusters of two threads have met, and it is as it was.
  bool leave(Model& model) const;

  Progress progress() const;
  std::uint64_t bytes() const;  // that it holds, about

 private:
  struct Part {
    std::unique_ptr<Model> model;
    std::size_t line = 0;     // of the executor; that of the first is not used
    std::uint64_t first = 0;  // cluster of the share at hand
    bool over = false;        // there is none left
    bool met = false;
  };

  void advance(Part& part, std::uint64_t budget);
  bool meet() const;
  bool meet_in(std::size_t region) const;

  Executor* executor_;
  std::vector<Part> parts_;
  std::uint64_t clusters_ = 0, share_ = 1;  // how many, and how many of them at a time
  std::atomic<std::uint64_t> next_{0};
};

}  // namespace tilescope::sim
