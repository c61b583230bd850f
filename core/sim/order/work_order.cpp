#include "core/sim/order/work_order.h"

#include <algorithm>
#include <utility>

namespace tilescope::sim {

void WorkOrder::join(Clock& to, const Clock& from) {
  for (const auto& [stream, number] : from) {
    std::uint64_t& own = to[stream];
    own = std::max(own, number);
  }
}

std::uint64_t WorkOrder::at(const Clock& clock, Stream stream) {
  const auto found = clock.find(stream);
  return found == clock.end() ? 0 : found->second;
}

WorkOrder::State& WorkOrder::state(Stream stream) {
  return streams_[stream];
}

void WorkOrder::add_stream(Stream stream, bool blocking) {
  state(stream).blocking = blocking;
  had_streams_ = true;
}

void WorkOrder::remove_stream(Stream stream) {
  // What it was given goes on; the default stream still waits for it.
  const auto found = streams_.find(stream);
  if (stream == 0 || found == streams_.end()) return;
  if (found->second.blocking) join(state(0).clock, found->second.clock);
  streams_.erase(stream);
}

std::vector<WorkOrder::Race> WorkOrder::add(Stream stream, std::string name, AccessLog accesses,
                                            Kind kind) {
  State& own = state(stream);
  const std::vector<std::uint64_t> primaries =
      kind == Kind::early_launch ? own.launches : std::vector<std::uint64_t>();
  const auto is_primary = [&](std::uint64_t number) {
    return std::find(primaries.begin(), primaries.end(), number) != primaries.end();
  };
  if (stream == 0) {
    for (const auto& [number, other] : streams_) {
      if (number != 0 && other.blocking) join(own.clock, other.clock);
    }
  } else if (own.blocking) {
    join(own.clock, state(0).clock);
  }
  std::vector<Race> out;
  for (auto each = works_.rbegin(); each != works_.rend(); ++each) {
    const bool early = each->stream == stream && is_primary(each->number) &&
                       each->accesses.lets_dependents_begin();
    if (!early && at(own.clock, each->stream) >= each->number) continue;
    const auto meeting =
        early ? accesses.early_meeting(each->accesses) : accesses.meeting(each->accesses);
    if (meeting) out.push_back({{each->name, each->stream, each->number, {}}, *meeting, early});
  }
  const std::uint64_t number = ++all_[stream];
  own.clock[stream] = number;
  if (kind != Kind::early_launch || !accesses.passes_on()) own.launches.clear();
  if (kind != Kind::other) own.launches.push_back(number);
  if (had_streams_ && !accesses.empty()) {
    held_ += accesses.held();
    works_.push_back({std::move(name), stream, number, std::move(accesses)});
    while (held_ > most_held && works_.size() > 1) {
      held_ -= works_.front().accesses.held();
      works_.erase(works_.begin());
      forgot_ = true;
    }
  }
  return out;
}

void WorkOrder::record(Event event, Stream stream) {
  state(stream).launches.clear();
  Clock clock = state(stream).clock;
  if (stream == 0) {
    for (const auto& [number, other] : streams_) {
      if (number != 0 && other.blocking) join(clock, other.clock);
    }
  }
  events_[event] = std::move(clock);
}

void WorkOrder::wait(Stream stream, Event event) {
  const auto found = events_.find(event);
  if (found == events_.end()) return;
  State& own = state(stream);
  own.launches.clear();
  join(own.clock, found->second);
}

void WorkOrder::host_waited_for_stream(Stream stream) {
  join(host_, state(stream).clock);
  if (stream == 0) {
    for (const auto& [number, other] : streams_) {
      if (number != 0 && other.blocking) join(host_, other.clock);
    }
  }
  forget_settled();
}

void WorkOrder::host_waited_for_event(Event event) {
  const auto found = events_.find(event);
  if (found != events_.end()) join(host_, found->second);
  forget_settled();
}

void WorkOrder::host_waited_for_all() {
  join(host_, all_);
  forget_settled();
}

// All that is given out from now on comes behind what the host knows to be over: nobody needs to
// know of it any more.
void WorkOrder::forget_settled() {
  works_.erase(std::remove_if(works_.begin(), works_.end(),
                              [&](const Work& w) { return at(host_, w.stream) >= w.number; }),
               works_.end());
  held_ = 0;
  for (const Work& w : works_) held_ += w.accesses.held();
}

}  // namespace tilescope::sim
