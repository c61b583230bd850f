// A run that goes on and on: cut into pieces that end soon, and told now and then.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/run/job.h"

namespace tilescope {

// How many warp instructions to execute at a time: about 40 ms of them, whatever they cost. One of
// a tensor core may take a thousand times as long as another.
class Pieces {
 public:
  using Duration = std::chrono::steady_clock::duration;
  std::uint64_t next() const { return size_; }
  void took(std::uint64_t instructions, Duration time) {
    constexpr double aim = 0.04;
    const double seconds = std::chrono::duration<double>(time).count();
    const double fits = seconds > 0 ? static_cast<double>(instructions) * aim / seconds : most;
    // Up by four at most: the next ones may be dearer.
    const double up = 4 * static_cast<double>(size_);
    size_ = static_cast<std::uint64_t>(std::clamp(std::min(fits, up), least, most));
  }

 private:
  static constexpr double least = 32, most = 200'000;
  std::uint64_t size_ = 2000;
};

// What a long run says while it goes: a line every ten seconds.
class Heartbeat {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit Heartbeat(Time begun) : begun_(begun), last_(begun) {}

  // "still running after 20 s: 123456 PTX instructions by warps, 3 of 8 CTAs done"; nothing where
  // it is not time yet.
  std::optional<std::string> due(Time now, const Progress& progress);

 private:
  Time begun_, last_;
};

}  // namespace tilescope
