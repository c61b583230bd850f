#include "core/sim/time/calendar.h"

#include <algorithm>

namespace tilescope::sim {

Calendar::Calendar(double rate, double width, std::size_t buckets)
    : rate_(rate),
      each_(rate > 0 ? 1 / rate : 0),
      width_(static_cast<float>(width)),
      per_cycle_(static_cast<float>(1 / width)),
      room_(rate > 0 ? buckets : 0, static_cast<float>(rate * width)) {}

void Calendar::reach(std::int64_t bucket) {
  const std::int64_t first = bucket - count() + 1;
  const auto whole = static_cast<float>(rate_ * width_);
  if (first - first_ >= count()) {
    std::fill(room_.begin(), room_.end(), whole);
    first_ = first;
  }
  for (; first_ < first; ++first_) room_[place(first_)] = whole;
}

double Calendar::take_later(double time, double amount) {
  std::int64_t bucket = std::max(static_cast<std::int64_t>(time * per_cycle_), first_);
  double start = std::max(time, static_cast<double>(bucket) * width_);
  for (;; ++bucket, start = static_cast<double>(bucket) * width_) {
    if (bucket >= first_ + count()) reach(bucket);
    float& room = room_[place(bucket)];
    if (room <= 0) continue;
    const double end = static_cast<double>(bucket + 1) * width_;
    const double use = std::min({static_cast<double>(room), (end - start) * rate_, amount});
    room -= static_cast<float>(use);
    amount -= use;
    if (amount > 0) continue;
    // What was taken before lies in front.
    return std::max(start + use / rate_, end - static_cast<double>(room) / rate_);
  }
}

}  // namespace tilescope::sim
