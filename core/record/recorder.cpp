#include "core/record/recorder.h"

#include <algorithm>
#include <utility>

namespace tilescope::sim {
namespace {

constexpr std::uint64_t never_whole = ~std::uint64_t{0};
// What a track takes with its place in the table of tracks, about.
constexpr std::size_t track_bytes = 120;
constexpr std::size_t fewest_events = 64;  // that there is room for, whatever the limit

// The event as part of a folded one.
Event as_folded(const Event& event) {
  if (event.kind == EventKind::folded) return event;
  Event out;
  out.kind = EventKind::folded;
  out.track = event.track;
  out.issue = out.begin = event.begin;
  out.end = event.end;
  out.amount = 1;
  const Cycle length = event.end - event.begin;
  const auto cycles = static_cast<std::uint32_t>(std::min<Cycle>(length, 0xffff'fffe));
  if (event.kind == EventKind::run || event.kind == EventKind::operation) {
    out.until = cycles;
  } else if (event.kind == EventKind::wait) {
    out.pc = out.phase = cycles;
    out.stall = event.stall;
  }
  return out;
}

std::uint32_t sum(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{a} + b, 0xffff'fffe));
}

// Two folded events of one track as one.
Event together(Event a, const Event& b) {
  a.issue = a.begin = std::min(a.begin, b.begin);
  a.end = std::max(a.end, b.end);
  a.amount += b.amount;
  a.until = sum(a.until, b.until);
  a.pc = sum(a.pc, b.pc);
  if (a.stall == b.stall) {
    a.phase = sum(a.phase, b.phase);
  } else if (b.phase > a.phase) {
    a.stall = b.stall;
    a.phase = b.phase;
  }
  return a;
}

}  // namespace

std::size_t Recorder::Hash::operator()(const Track& track) const {
  std::uint64_t h = track.block * 0x9e3779b97f4a7c15u;
  h ^= (std::uint64_t{track.index} << 8 | static_cast<std::uint64_t>(track.unit)) +
       (std::uint64_t{track.processor} << 40);
  h *= 0xff51afd7ed558ccdu;
  return h ^ h >> 32;
}

Recorder::Recorder(RecordLimits limits) : limits_(limits) {
  next_room_ = capacity();
  if (limits_.block) whole_ = 1;
  folding_ = limits_.block || limits_.from > 0 || limits_.to != never_ends;
}

void Recorder::begin(Record about) {
  record_ = std::move(about);
  record_.counters.resize(std::max(record_.counters.size(), record_.lines.size()));
}

std::uint64_t Recorder::rank_of(const Track& track) const {
  if (track.block == many_blocks) return never_whole;
  const std::uint64_t cluster = cluster_of(record_.launch, track.block);
  if (!limits_.block) return cluster;
  return cluster == cluster_of(record_.launch, *limits_.block) ? 0 : never_whole;
}

TrackId Recorder::track(const Track& track) {
  if (const auto known = tracks_.find(track); known != tracks_.end()) return known->second;
  const std::uint64_t rank = rank_of(track);
  if (track.block != many_blocks) {
    // A grid of millions of blocks: what is far is known by its SM only.
    if (!merging_ && tracks_.size() >= limits_.bytes / 4 / track_bytes + fewest_events) {
      merging_ = true;
      whole_ = std::min(whole_, std::max<std::uint64_t>(1, rank / 2));
      make_room();
    }
    if (merging_ && rank >= whole_) {
      return this->track({many_blocks, track.unit, 0, track.processor});
    }
  }
  const auto id = static_cast<TrackId>(record_.tracks.size());
  record_.tracks.push_back(track);
  tracks_.emplace(track, id);
  ranks_.push_back(rank);
  folded_.push_back(nowhere);
  folding_track_.push_back(no_event);
  next_room_ = std::min(next_room_, std::max(capacity(), record_.events.size() + 1));
  return id;
}

std::size_t Recorder::capacity() const {
  const std::uint64_t taken = std::min(
      limits_.bytes / 2, tracks_.size() * track_bytes + record_.uses.size() * sizeof(MemoryUse));
  return std::max<std::size_t>(fewest_events, static_cast<std::size_t>(limits_.bytes - taken) /
                                                  (EventList::event_bytes + sizeof(EventId)));
}

bool Recorder::keeps(const Event& event, std::uint64_t rank) const {
  if (rank >= whole_ || event.begin >= std::min(until_, limits_.to)) return false;
  return event.end > limits_.from || (event.end == event.begin && event.end == limits_.from);
}

bool Recorder::stays(const Event& event) const {
  return event.end == never_ends || event.kind == EventKind::report ||
         (event.kind != EventKind::folded && keeps(event, ranks_[event.track]));
}

EventId Recorder::add(const Event& event) {
  if (event.end != never_ends) latest_ = std::max(latest_, event.end);
  if (folding_ && !stays(event)) {
    fold_into_track(event);
    return no_event;
  }
  // What comes later on this track is not folded across it.
  if (folding_ && event.end != never_ends) folded_[event.track] = nowhere;
  return push(event);
}

EventId Recorder::push(const Event& event) {
  if (record_.events.size() >= next_room_) make_room();
  if (next_ == no_event) return no_event;  // four billion of them
  const EventId number = next_++;
  record_.events.push_back(event);
  if (numbers_.size() > 0 || number + 1 != record_.events.size()) numbers_.push_back(number);
  return number;
}

void Recorder::add_use(EventId event, MemoryUse use) {
  if (event == no_event) return;
  use.event = event;
  record_.uses.push_back(use);
  if (record_.uses.size() % 4096 == 0) {
    next_room_ = std::min(next_room_, std::max(capacity(), record_.events.size() + 1));
  }
}

void Recorder::drop_folded_uses() {
  std::erase_if(record_.uses, [&](const MemoryUse& use) {
    const std::size_t at = place(use.event);
    return at == nowhere || record_.events[at].kind == EventKind::folded;
  });
}

std::size_t Recorder::place(EventId event, std::size_t before) const {
  const std::size_t count = record_.events.size();
  if (numbers_.size() == 0) return event < count ? event : nowhere;
  // Numbers grow; a cause lies a little before what it brought about.
  std::size_t high = std::min(before, count), low = high, step = 1;
  if (high < count && numbers_[high] <= event) {
    low = high;
    high = count;
  } else {
    while (low > 0 && numbers_[low - 1] > event) {
      high = low - 1;
      low = high > step ? high - step : 0;
      step *= 2;
    }
    if (low > 0) --low;
  }
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (numbers_[middle] < event) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < count && numbers_[low] == event ? low : nowhere;
}

std::optional<const Event> Recorder::find(EventId event) const {
  const std::size_t at = place(event);
  if (at == nowhere || record_.events[at].kind == EventKind::folded) return std::nullopt;
  return record_.events[at];
}

void Recorder::replace(std::size_t at, const Event& event) {
  if (event.end != never_ends) {
    latest_ = std::max(latest_, event.end);
    if (folding_ && stays(event)) folded_[event.track] = nowhere;
  }
  record_.events.set(at, event);
}

TrackId Recorder::folding_track(TrackId track) {
  if (!merging_) return track;
  TrackId& known = folding_track_[track];
  if (known != no_event) return known;
  const Track of = record_.tracks[track];
  if (of.block == many_blocks || ranks_[track] < whole_) return track;
  const TrackId merged = this->track({many_blocks, of.unit, 0, of.processor});
  return folding_track_[track] = merged;  // track() may have moved what `known` refers to
}

void Recorder::fold_into_track(Event event) {
  event.track = folding_track(event.track);
  event = as_folded(event);
  // A thousand stretches of time show the shape of a run, however long it gets.
  while (window_ < latest_ / 1024) window_ *= 2;
  // A stretch is that of an event's end: ends come in order, so stretches do, too.
  std::size_t& open = folded_[event.track];
  if (open != nowhere) {
    const Event before = record_.events[open];
    if (before.end / window_ >= event.end / window_) {
      record_.events.set(open, together(before, event));
      return;
    }
  }
  const TrackId track = event.track;
  push(event);  // may fold all
  folded_[track] = record_.events.size() - 1;
}

void Recorder::make_room() {
  folding_ = true;
  choose_what_stays();
  const std::size_t room = capacity();
  while (window_ < latest_ / 1024) window_ *= 2;
  fold_all();
  while (record_.events.size() > room / 2 && window_ <= latest_) {
    window_ *= 2;
    fold_all();
  }
  drop_folded_uses();
  // Where that is not enough (events that have not ended), the next attempt is worth its time only
  // after as many more.
  next_room_ = std::max(room, record_.events.size() + room / 8);
}

// What is whole gets 3/8 of the room at most.
void Recorder::choose_what_stays() {
  const std::size_t room = capacity() * 3 / 8;
  std::vector<std::size_t> of_track(record_.tracks.size());
  for (const Event& event : record_.events) {
    if (event.kind != EventKind::folded && keeps(event, ranks_[event.track])) {
      ++of_track[event.track];
    }
  }
  std::vector<std::pair<std::uint64_t, std::size_t>> clusters;  // rank, events
  for (std::size_t t = 0; t < of_track.size(); ++t) {
    if (of_track[t]) clusters.emplace_back(ranks_[t], of_track[t]);
  }
  std::sort(clusters.begin(), clusters.end());
  std::size_t count = 0;
  const std::uint64_t first = clusters.empty() ? 0 : clusters.front().first;
  std::size_t of_first = 0;
  for (const auto& [rank, events] : clusters) {
    count += events;
    if (rank == first) of_first = count;
    if (count > room && rank > first) {
      whole_ = std::min(whole_, rank);
      break;
    }
  }
  if (of_first <= room) return;
  whole_ = std::min(whole_, first + 1);
  std::vector<Cycle> begins;
  begins.reserve(of_first);
  for (const Event& event : record_.events) {
    if (event.kind != EventKind::folded && keeps(event, ranks_[event.track])) {
      begins.push_back(event.begin);
    }
  }
  const auto middle = begins.begin() + static_cast<std::ptrdiff_t>(room);
  std::nth_element(begins.begin(), middle, begins.end());
  until_ = std::min(until_, *middle);
}

// Every event is looked at again, in order; what is read is freed as the new list grows.
void Recorder::fold_all() {
  EventList old = std::exchange(record_.events, {});
  Chunks<EventId> old_numbers = std::exchange(numbers_, {});
  folded_.assign(folded_.size(), nowhere);
  const auto put = [&](const Event& event, std::size_t from) {
    record_.events.push_back(event);
    numbers_.push_back(old_numbers.size() ? old_numbers[from] : static_cast<EventId>(from));
  };
  for (std::size_t i = 0; i < old.size(); ++i) {
    Event event = old[i];
    old.release_before(i);
    if (old_numbers.size()) old_numbers.release_before(i);
    if (stays(event)) {
      if (event.end != never_ends) folded_[event.track] = nowhere;
      put(event, i);
      continue;
    }
    event = as_folded(event);
    event.track = folding_track(event.track);
    std::size_t& open = folded_[event.track];
    if (open != nowhere) {
      const Event before = record_.events[open];
      if (before.end / window_ >= event.end / window_) {
        record_.events.set(open, together(before, event));
        continue;
      }
    }
    open = record_.events.size();
    put(event, i);
  }
}

// Those whose events went to their SM's.
void Recorder::drop_unused_tracks() {
  std::vector<TrackId> now(record_.tracks.size(), no_event);
  for (std::size_t i = 0; i < record_.events.size(); ++i) now[record_.events.track(i)] = 0;
  for (const WarpAccess& access : record_.accesses) now[access.track] = 0;
  std::size_t count = 0;
  for (std::size_t t = 0; t < now.size(); ++t) {
    if (now[t] == no_event) continue;
    record_.tracks[count] = record_.tracks[t];
    now[t] = static_cast<TrackId>(count++);
  }
  record_.tracks.resize(count);
  for (std::size_t i = 0; i < record_.events.size(); ++i) {
    Event event = record_.events[i];
    event.track = now[event.track];
    record_.events.set(i, event);
  }
  for (WarpAccess& access : record_.accesses) access.track = now[access.track];
}

Record Recorder::take() {
  if (folding_) {
    fold_all();  // those, too, whose end was not known before
    for (std::size_t i = 0; i < record_.events.size(); ++i) {
      const EventId cause = record_.events[i].cause;
      if (cause == no_event) continue;
      const std::size_t at = place(cause, i);
      const bool kept = at != nowhere && record_.events[at].kind != EventKind::folded;
      record_.events.set_cause(i, kept ? static_cast<EventId>(at) : no_event);
    }
    drop_folded_uses();
    for (MemoryUse& use : record_.uses) use.event = static_cast<EventId>(place(use.event));
    if (merging_) drop_unused_tracks();
  }
  tracks_.clear();
  return std::move(record_);
}

}  // namespace tilescope::sim
