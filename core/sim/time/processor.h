// The units of one SM, and what all SMs share: how busy they are, and which lines of
// memory the caches hold.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/run/device_times.h"
#include "core/sim/time/calendar.h"
#include "core/sim/time/costs.h"

namespace tilescope::sim {

constexpr std::uint64_t line_bytes = 128;  // of both caches, in sectors of 32

// A cache of one SM, of four ways; the way used longest ago gives room.
class Level1 {
 public:
  Level1() = default;
  explicit Level1(std::uint64_t bytes);
  // Which of `sectors` (a bit each) of a line are there or on their way; afterwards all of them
  // are. `arrives`: when the last of the line's sectors is there, for the caller to read and, where
  // some were not there, to set; null where there is no L1.
  std::uint32_t fetch(std::uint64_t line, std::uint32_t sectors, double*& arrives);
  // A store goes past it: its sectors are not there any more.
  void drop(std::uint64_t line, std::uint32_t sectors);

 private:
  static constexpr std::size_t ways = 4;
  // In one line of the processor's caches. Of each way: the number of its line, the sectors of it
  // that are there, and how many other ways have been used since.
  struct alignas(64) Set {
    struct Way {
      std::uint64_t number : 58, sectors : 4, age : 2;
    };
    static constexpr std::uint64_t no_line = (std::uint64_t{1} << 58) - 1;
    std::array<Way, ways> of;
    std::array<double, ways> arrives{};
    Set();
    std::size_t find(std::uint64_t line) const;  // `ways`: it is not there
    void use(std::size_t way);
  };
  Set& set_of(std::uint64_t line) { return sets_[line % sets_.size()]; }
  std::vector<Set> sets_;
};

// L2, of all SMs: a line is there until as many others have come since it was last used.
class Level2 {
 public:
  Level2() = default;
  explicit Level2(std::uint64_t bytes) : lines_(bytes / line_bytes) {}
  // Memory from `base` on; `warm`: an earlier run has left it there.
  void add(std::uint64_t base, std::uint64_t bytes, bool warm);
  // Which of `sectors` (a bit each) of a line are there or on their way; afterwards all of them
  // are. `arrives`: as in Level1.
  std::uint32_t fetch(std::uint64_t line, std::uint32_t sectors, double*& arrives);
  std::uint64_t bytes() const { return lines_ * line_bytes; }
  // When a line was there that has been read, of what was added as number `part`; 0 where it was
  // from the start. Nothing: nobody has read it.
  std::optional<double> came(std::size_t part, std::uint64_t line) const;
  // More lines have come than it holds.
  bool overflowed() const { return come_ > lines_ + 1; }

 private:
  struct Line {
    // How many lines had come when it was last used, 16 times (0: never), and its sectors.
    std::uint64_t used = 0;
    double arrives = 0;  // when it comes from memory
  };
  // Lines are there from the first use of one of their page on: a launch costs what it reads, and
  // not what memory it could read.
  static constexpr std::uint64_t page_lines = 1024;
  struct Part {
    std::uint64_t first = 0, lines = 0;
    bool warm = false;
    std::vector<std::vector<Line>> pages;  // empty until used
  };
  std::vector<Part> parts_;
  std::size_t last_ = 0;
  std::uint64_t lines_ = 0;
  std::uint64_t come_ = 1;
};

struct Processor {
  Processor() = default;
  Processor(const DeviceTimes& times, std::uint64_t level1_bytes);

  static constexpr std::size_t most_schedulers = 4;
  std::array<Calendar, most_schedulers> issue;
  std::array<std::array<Calendar, static_cast<std::size_t>(Lanes::count_)>, most_schedulers> lanes;
  Calendar load_store;             // wavefronts, and lines of global memory: one a cycle
  Calendar shared;                 // bytes of shared memory
  Calendar in, out;                // bytes from L2, and to it
  Calendar copies;                 // cycles of the engine that copies
  Calendar tensor;                 // cycles of the tensor cores
  Calendar tensor_in, tensor_out;  // bytes into TMEM, and out of it
  Level1 level1;
};

}  // namespace tilescope::sim
