#include "app/exec_clock.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace tilescope {
namespace {
constexpr double too_little = 1e-3;  // of the room, of memory: nothing goes on there
}  // namespace

std::map<double, SharedUse::Use>::iterator SharedUse::at(double time) {
  const auto next = used_.lower_bound(time);
  if (next != used_.end() && next->first == time) return next;
  const Use level = next == used_.begin() ? Use{} : std::prev(next)->second;
  return used_.emplace_hint(next, time, level);
}

double SharedUse::use(double& from, Use takes, double seconds) {
  if (seconds <= 0) return from;
  takes.room = std::clamp(takes.room, too_little, 1.0);
  takes.memory = std::clamp(takes.memory, 0.0, 1.0);
  double left = seconds;
  bool has_begun = false;
  auto now = at(from);
  for (;;) {
    const auto next = std::next(now);
    const double until =
        next == used_.end() ? std::numeric_limits<double>::infinity() : next->first;
    const double room = 1 - now->second.room, memory = 1 - now->second.memory;
    if (room < too_little || (takes.memory > too_little && memory < too_little)) {
      now = next;  // behind the last nothing is used
      continue;
    }
    if (!has_begun) from = now->first;
    has_begun = true;
    // Of its CTAs those are there that have room, and as fast as memory lets them be.
    const double there = std::min(1.0, room / takes.room);
    const double rate = takes.memory > too_little ? std::min(there, memory / takes.memory) : there;
    const double end = now->first + left / rate;
    if (end <= now->first) return now->first;  // what is left is nothing, as numbers go
    if (end <= until) at(end);
    now->second.room += takes.room * there;
    now->second.memory += takes.memory * rate;
    if (end <= until) return end;
    left -= (until - now->first) * rate;
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
  if (time <= time_of(stream)) return;
  times_[stream] = time;
  early_.erase(stream);
}

void ExecClock::part(std::uint64_t stream) {
  early_.erase(stream);
}

void ExecClock::host_knows(double time) {
  if (time <= host_) return;
  host_ = time;
  for (SharedUse& part : parts_) part.forget(host_);
}

void ExecClock::host_knows_all() {
  for (const auto& [stream, time] : times_) host_knows(time);
}

ExecClock::Span ExecClock::work(std::uint64_t stream, const Work& work) {
  SharedUse& part = parts_[static_cast<std::size_t>(work.part)];
  const double before = time_of(stream);
  const auto early = early_.find(stream);
  Span out{before, 0};
  if (work.waits_after && early != early_.end()) {
    // What comes before its wait goes on beside the work before, as far as there is room.
    out.begin = std::clamp(early->second, host_, before);
    const double first = std::min(*work.waits_after, work.seconds);
    double behind = std::max(part.use(out.begin, work.takes, first), before);
    out.end = part.use(behind, work.takes, work.seconds - first);
  } else {
    out.end = part.use(out.begin, work.takes, work.seconds);
  }
  times_[stream] = out.end;
  if (work.lets_begin_after) {
    // What goes on more slowly beside others comes to it as much later.
    early_[stream] = out.begin + (out.end - out.begin) * (*work.lets_begin_after / work.seconds);
  } else {
    early_.erase(stream);
  }
  return out;
}

}  // namespace tilescope
