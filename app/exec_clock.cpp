#include "app/exec_clock.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace tilescope {
namespace {
constexpr double too_little = 1e-3;  // of a share: nothing goes on there
}  // namespace

std::map<double, double>::iterator SharedUse::at(double time) {
  const auto next = used_.lower_bound(time);
  if (next != used_.end() && next->first == time) return next;
  const double level = next == used_.begin() ? 0 : std::prev(next)->second;
  return used_.emplace_hint(next, time, level);
}

double SharedUse::use(double& from, double share, double seconds) {
  if (seconds <= 0) return from;
  share = std::clamp(share, too_little, 1.0);
  double left = seconds;
  bool has_begun = false;
  auto now = at(from);
  for (;;) {
    const auto next = std::next(now);
    const double until =
        next == used_.end() ? std::numeric_limits<double>::infinity() : next->first;
    const double free = 1 - now->second;
    if (free < too_little) {
      now = next;  // behind the last nothing is used
      continue;
    }
    if (!has_begun) from = now->first;
    has_begun = true;
    const double taken = std::min(share, free), rate = taken / share;
    const double end = now->first + left / rate;
    if (end <= now->first) return now->first;  // what is left is nothing, as numbers go
    if (end <= until) {
      at(end);
      now->second += taken;
      return end;
    }
    left -= (until - now->first) * rate;
    now->second += taken;
    now = next;
  }
}

void SharedUse::forget(double before) {
  if (used_.empty() || used_.begin()->first >= before) return;
  used_.erase(used_.begin(), at(before));
}

double ExecClock::time_of(std::uint64_t stream) const {
  const auto found = times_.find(stream);
  return found == times_.end() ? host_ : std::max(host_, found->second);
}

void ExecClock::wait(std::uint64_t stream, double time) {
  double& own = times_[stream];
  own = std::max(own, time);
}

void ExecClock::host_knows(double time) {
  if (time <= host_) return;
  host_ = time;
  for (SharedUse& part : parts_) part.forget(host_);
}

void ExecClock::host_knows_all() {
  for (const auto& [stream, time] : times_) host_knows(time);
}

ExecClock::Span ExecClock::work(std::uint64_t stream, Part part, double share, double seconds) {
  Span out{time_of(stream), 0};
  out.end = parts_[static_cast<std::size_t>(part)].use(out.begin, share, seconds);
  times_[stream] = out.end;
  return out;
}

}  // namespace tilescope
