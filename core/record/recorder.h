// Where a Machine writes its record while it runs (Options::recorder). It lives longer than the
// machine, and copies of a machine do not copy it: checkpoints go without.
//
// Room is bounded. Where events would take more than RecordLimits::bytes, some are folded: taken
// together, track by track and stretch of time by stretch of time, into one Event of kind `folded`
// that says how many they were. A user looks at the first blocks closely, and at all others for
// their shape: so the blocks of the first clusters stay whole, of as many of them as there is room
// for, and of the very first its beginning, should that alone be too much. Each time that room runs
// out, what is whole shrinks to less than half, and what is folded gets coarser; so an event is
// folded a few times at most.
//
// Limits can ask for one block's cluster and a range of time instead: all else is folded from the
// start, and the same run again records these whole.
//
// Reports are never folded, nor is an event before its end is known. An event whose cause was
// folded has none.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/record/record.h"

namespace tilescope::sim {

struct RecordLimits {
  std::uint64_t bytes = std::uint64_t{512} << 20;
  // Only these are kept whole; all others are folded from the start.
  std::optional<std::uint64_t> block;  // and those of its cluster
  Cycle from = 0, to = never_ends;     // events that touch this time
};

class Recorder {
 public:
  explicit Recorder(RecordLimits limits = {});

  // What the record is of; a machine says it when it is loaded.
  void begin(Record about);
  // The same for the same track; worth keeping, as it is looked up.
  TrackId track(const Track& track);
  // Events come in about the order of their ends. no_event: it was folded at once.
  EventId add(const Event& event);
  // An event that was added and is still kept; nothing where it has been folded.
  std::optional<const Event> find(EventId event) const;
  // Lets `edit` change such an event, as when its end is known: change(id, [&](Event& e) {...}).
  // Its track stays. False: it has been folded.
  template <class Edit>
  bool change(EventId event, Edit edit) {
    const std::size_t at = place(event);
    if (at == nowhere || record_.events[at].kind == EventKind::folded) return false;
    Event changed = record_.events[at];
    edit(changed);
    replace(at, changed);
    return true;
  }
  // What an operation that was just added reads or writes; nothing of one that was folded.
  void add_use(EventId event, MemoryUse use);
  // Lanes of a warp access memory, or each other; `at`: where each of them does. Whether it is kept
  // one can ask first.
  bool keeps_accesses(TrackId warp) const {
    return ranks_[warp] < whole_ && ranks_[warp] < clusters_with_accesses &&
           record_.accesses.size() < most_accesses;
  }
  void add_access(WarpAccess access, const std::uint64_t* at) {
    set_lanes(access, at, record_.lane_offsets);
    record_.accesses.push_back(access);
  }
  LineCounters& counters(std::uint32_t pc) { return record_.counters[pc]; }
  PipeCounters& pipe(Pipe pipe) { return record_.pipes[static_cast<std::size_t>(pipe)]; }
  Record& about() { return record_; }
  // The record, whole: nothing is added any more. Its events are as record.h says.
  Record take();

 private:
  static constexpr std::size_t nowhere = ~std::size_t{0};
  static constexpr std::uint64_t clusters_with_accesses = 4;
  struct Hash {
    std::size_t operator()(const Track& track) const;
  };

  // Among clusters, which is to stay whole longest: 0 before all others.
  std::uint64_t rank_of(const Track& track) const;
  bool keeps(const Event& event, std::uint64_t rank) const;
  bool stays(const Event& event) const;
  // Where an event is that was numbered so when it was added.
  std::size_t place(EventId event, std::size_t before = nowhere) const;
  void replace(std::size_t at, const Event& event);
  EventId push(const Event& event);
  void fold_into_track(Event event);
  TrackId folding_track(TrackId track);
  void make_room();
  void choose_what_stays();
  void fold_all();
  void drop_unused_tracks();
  void drop_folded_uses();
  std::size_t capacity() const;

  RecordLimits limits_;
  Record record_;
  std::unordered_map<Track, TrackId, Hash> tracks_;
  std::vector<std::uint64_t> ranks_;  // by track

  bool folding_ = false;                     // some events are not kept whole
  bool merging_ = false;                     // and tracks of many blocks are one
  std::uint64_t whole_ = ~std::uint64_t{0};  // clusters of a lower rank are kept
  Cycle until_ = never_ends;                 // and of these what begins before
  Cycle window_ = 64;                        // a folded event is of one such stretch of time
  Cycle latest_ = 0;
  std::size_t next_room_ = 0;  // make room when there are so many events

  EventId next_ = 0;  // number of the next event
  // The number of the event in each place; empty while that is the place itself.
  Chunks<EventId> numbers_;
  std::vector<std::size_t> folded_;     // by track: its folded event that can take more, or nowhere
  std::vector<TrackId> folding_track_;  // by track: where its folded events are; no_event: unknown
};

}  // namespace tilescope::sim
