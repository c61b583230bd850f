// What a window asks of a finished record while it is drawn, scrolled and searched: answers take
// time by what is shown, not by how many events there are (tests/bench/record_bench.cpp: ten
// million).
//
//   groups()            tracks in the order in which they are shown: clusters, blocks, their units
//   spans(...)          what to draw of one track: events, or several too short to draw as one
//   next, previous      the event of a kind, instruction, line or barrier after or before a time
//   find(...)           all of these in a range
//   arrows(...)         what caused what
//   totals(...)         how long a track was busy, and stalled by what
//
// An event is in a range [from, to) if some of it is; an instant, if it is at such a time. An event
// that had not ended lasts until the record's end.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/record/record.h"

namespace tilescope::sim {

// A block's tracks: its warps, then its units, then its barriers. Of many_blocks: those of an
// SM.
struct TrackGroup {
  std::uint64_t cluster = 0, block = 0;  // many_blocks: both
  std::uint32_t processor = 0;
  Cycle begin = 0, end = 0;  // of its events
  std::vector<TrackId> tracks;
};

// One thing to draw.
struct Span {
  Cycle begin = 0, end = 0;
  std::uint64_t count = 1;   // events in it, those that the record has folded included
  EventId event = no_event;  // where it is a single one
  EventKind kind = EventKind::run;
  // What more than half of its events' time went to, if there is such a thing.
  Stall stall = Stall::none;
  bool report = false;  // one of them is a report
  bool operator==(const Span&) const = default;
};

// Which events. What is not said does not matter.
struct EventFilter {
  std::uint32_t kinds = ~0u;         // bits: 1 << EventKind
  std::vector<std::uint32_t> pcs{};  // any of these, in order; a run has those from pc to until
  std::optional<std::uint32_t> barrier{};  // object of a wait, arrival or phase
  std::optional<std::uint64_t> block{};
  std::optional<Unit> unit{};
  std::optional<TrackId> track{};
  std::vector<bool> tracks{};  // by TrackId: any of these; empty: all
  std::uint32_t stalls = ~0u;  // bits: of a wait, what for
};
constexpr std::uint32_t bit(EventKind kind) {
  return 1u << static_cast<unsigned>(kind);
}

struct Arrow {
  EventId cause = no_event, effect = no_event;
  bool operator==(const Arrow&) const = default;
};

struct Arrows {
  std::vector<Arrow> arrows;
  bool more = false;  // than were asked for
};

// Cycles of a track in a range. Of folded events, `folded` is the time that they span; what their
// events did counts for the range that they begin in.
struct Totals {
  Cycle busy = 0;  // some run or operation was going on
  std::array<Cycle, static_cast<std::size_t>(Stall::count_)> stalled{};
  Cycle folded = 0, folded_busy = 0, folded_stalled = 0;
  bool operator==(const Totals&) const = default;
};

class Timeline {
 public:
  // The record lives longer than the timeline and is not changed.
  explicit Timeline(const Record& record);

  const Record& record() const { return record_; }
  Cycle end() const { return end_; }  // of the last event, or of the run
  const std::vector<TrackGroup>& groups() const { return groups_; }
  std::size_t events_of(TrackId track) const { return rows_[track].count; }

  // Of events that are in the range, in the order of their begins. Those shorter than one of so
  // many pixels are taken together with such neighbours as begin in the same two pixels; spans of
  // several begin a pixel apart at least, or have a longer event between them.
  std::vector<Span> spans(TrackId track, Cycle from, Cycle to, std::uint32_t pixels) const;

  // The first that begins at `at` or later; the last that begins before it. no_event: none.
  EventId next(const EventFilter& filter, Cycle at) const;
  EventId previous(const EventFilter& filter, Cycle at) const;
  // Those in the range, by begin; no more than the first `limit`.
  std::vector<EventId> find(const EventFilter& filter, Cycle from, Cycle to,
                            std::size_t limit) const;
  // The instructions that a line of the source became, for EventFilter::pcs.
  std::vector<std::uint32_t> pcs_of_line(std::uint32_t file, std::uint32_t line) const;

  // Those whose cause or effect is an event of one of these tracks in the range: no more than
  // `limit`, and it looks at 16 times as many events at most.
  Arrows arrows(const std::vector<TrackId>& tracks, Cycle from, Cycle to, std::size_t limit) const;

  Totals totals(TrackId track, Cycle from, Cycle to) const;

 private:
  static constexpr std::size_t fanout = 8;
  static constexpr std::size_t stretch = 64;  // events between two prefix sums

  // Eight events of a track, or eight such nodes, in the order of their begins.
  struct Node {
    Cycle begin = 0, end = 0;
    std::uint64_t count = 0;
    std::uint32_t longest = 0;
    // Majority vote of kinds and stalls (Boyer and Moore, "MJRTY", 1981), by time.
    std::uint32_t weight = 0;
    std::uint32_t pcs = 0, objects = 0;  // bits: which may be among them
    std::uint8_t kind = 0, stall = 0;
    std::uint8_t kinds = 0;  // bits
  };
  struct Row {
    std::size_t first = 0, count = 0;  // in order_
    std::size_t nodes = 0, sums = 0;   // where its own begin
  };
  // Of all events of a track before one of them.
  struct Sum {
    Totals totals;
    Cycle busy_until = 0, stalled_until = 0, folded_until = 0;
    Stall stall = Stall::none;  // the one until then
  };

  void sort_events();
  void index(Row& row);
  void group_tracks();
  void sort_causes();

  Cycle end_of(const Event& event) const;
  bool in_range(const Event& event, Cycle from, Cycle to) const;
  Node node_of(const Event& event) const;
  static Node joined(const Node& a, const Node& b);
  void add_to(Sum& sum, const Event& event) const;
  // Events of the row that begin before.
  std::size_t before(const Row& row, Cycle at) const;
  Totals totals_until(const Row& row, Cycle at) const;
  bool matches(const EventFilter& filter, const Event& event) const;
  bool track_matches(const EventFilter& filter, TrackId track) const;
  bool may_match(const EventFilter& filter, std::uint32_t pcs, const Node& node) const;
  // Visits the row's nodes from left to right: enter(node) says whether to look into one, and
  // event(id) whether to go on.
  template <class Enter, class Visit>
  bool walk(const Row& row, Enter enter, Visit visit) const;
  template <class Enter, class Visit>
  bool walk_back(const Row& row, Enter enter, Visit visit) const;

  const Record& record_;
  Cycle end_ = 0;
  std::vector<TrackGroup> groups_;
  std::vector<Row> rows_;       // by track
  std::vector<EventId> order_;  // by track, then by begin
  std::vector<Node> nodes_;     // by track, then by level from the lowest
  std::vector<Sum> sums_;       // by track: before each stretch
  std::vector<Arrow> arrows_;   // by cause
};

}  // namespace tilescope::sim
