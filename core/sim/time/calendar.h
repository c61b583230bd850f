// What a unit can do in each stretch of time, and how much of that is taken.
//
// Warps run a little ahead of each other, and blocks of other SMs by a whole stretch: who
// asks for a unit later may want it earlier. So a unit has no single moment from which on it is
// free, but a row of buckets that fill up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilescope::sim {

class alignas(64) Calendar {
 public:
  Calendar() = default;
  // `rate`: what is done in a cycle; 0: there is no limit. `width`: cycles of a bucket. Like the
  // number of buckets it is a power of two.
  Calendar(double rate, double width, std::size_t buckets);

  // Takes `amount`, from `time` on as early as there is room: when the last of it is done.
  double take(double time, double amount) {
    if (rate_ <= 0 || amount <= 0) return time;
    taken_ += amount;
    const auto bucket = static_cast<std::int64_t>(time * per_cycle_);
    const double end = static_cast<double>(bucket + 1) * width_, done = time + amount * each_;
    if (bucket >= first_ && bucket - first_ < count() && done <= end) {
      float& room = room_[place(bucket)];
      if (static_cast<double>(room) >= amount) {
        room -= static_cast<float>(amount);
        // What was taken before is in front.
        const double filled = end - static_cast<double>(room) * each_;
        return filled > done ? filled : done;
      }
    }
    return take_later(time, amount);
  }
  // Where take() looks first, to be fetched.
  const void* place_of(double time) const {
    if (room_.empty()) return nullptr;
    return &room_[place(static_cast<std::int64_t>(time * per_cycle_))];
  }
  double taken() const { return taken_; }  // in all
  double rate() const { return rate_; }

 private:
  std::size_t place(std::int64_t bucket) const {
    return static_cast<std::size_t>(bucket) & (room_.size() - 1);
  }
  std::int64_t count() const { return static_cast<std::int64_t>(room_.size()); }
  double take_later(double time, double amount);  // over several buckets
  void reach(std::int64_t bucket);                // forgets what is too far behind it

  // All of it in one line of the processor's caches.
  double rate_ = 0, each_ = 0;       // each_: cycles of one
  float width_ = 1, per_cycle_ = 1;  // powers of two
  double taken_ = 0;
  std::int64_t first_ = 0;   // bucket that can still be asked for
  std::vector<float> room_;  // of each bucket: as many as a power of two
};

}  // namespace tilescope::sim
