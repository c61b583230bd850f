// The timeline of a run: who did what when, a row a warp, unit and barrier.
//
//     cluster 0 > block 0 > write back: warps 0-3 > warp 0, warp 1 ...
//                           products: warp 4
//                           copies in, tensor core, TMEM loads ...
//                           barriers > mbarrier 98304 ...
//
// A group folds into one row, which shows how busy it is. At first the blocks of the first cluster
// are open and all others folded. Blocks that the record has folded together (sim::many_blocks) are
// a group for each SM.
//
// Time is the record's: cycles, or instructions where the order was drawn (known_time() is false).
//
// What is drawn of it: viz/timeline/timeline_scene.h. What is said of it: timeline_words.h.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/profile/statistics.h"
#include "core/record/timeline.h"
#include "viz/timeline/timeline_density.h"

namespace tilescope {

// [from, to) in cycles.
struct CycleRange {
  double from = 0, to = 0;
  double length() const { return to - from; }
  friend bool operator==(const CycleRange&, const CycleRange&) = default;
};

// A group or a track of the record, as a row.
struct TimelinePlace {
  bool group = false;
  std::uint32_t index = 0;
  friend bool operator==(const TimelinePlace&, const TimelinePlace&) = default;
};

struct TimelineRow {
  TimelinePlace place;
  int level = 0;      // how deep it is nested
  bool open = false;  // of a group
};

struct TimelineChoice {
  // Chosen: what undo restores.
  std::vector<std::uint32_t> turned;  // groups that are not as they are at first, in order
  std::vector<TimelinePlace> pinned;  // rows that stay on top
  std::optional<CycleRange> totals;   // the range that is added up
  sim::EventId selected = sim::no_event;
  std::string search;   // what is marked: see timeline_search.h; empty: nothing
  bool arrows = false;  // of all that is in view, not of the selected event alone
  bool steps = false;   // copies and products have the hue of their step of K, all else is grey

  // Passing: pointer, the moment at which the machine is, and the warp that is looked at there.
  sim::EventId hovered = sim::no_event;
  std::optional<double> moment;
  bool moment_dragged = false;  // it is on its way, and the machine is not there yet
  std::string said;             // of the moment that is dragged: what goes on
  std::optional<sim::TrackId> warp;

  friend bool operator==(const TimelineChoice&, const TimelineChoice&) = default;
};

// A folded group is drawn as stripes: what its warps do all together, and each kind of unit.
struct FoldedStripe {
  std::vector<const Density*> densities;
  double of = 1;      // how many tracks these are: so many cycles in a cycle at most
  double height = 1;  // beside the others
  sim::Cycle begin = 0, end = 0;
};

// All of the run at a glance: what units did, of all CTAs together, from the busiest moment of
// each.
struct OverviewLane {
  static constexpr std::size_t pieces = 512;
  Doing doing;
  std::array<float, pieces> share{};  // of its busiest piece: [0, 1]
};

class TimelineView {
 public:
  // The timeline is of this record.
  TimelineView(std::shared_ptr<const sim::Record> record,
               std::shared_ptr<const sim::Timeline> timeline);

  const sim::Record& record() const { return *record_; }
  const sim::Timeline& timeline() const { return *timeline_; }
  const std::shared_ptr<const sim::Record>& shared_record() const { return record_; }
  const std::shared_ptr<const sim::Timeline>& shared_timeline() const { return timeline_; }
  const sim::Statistics& statistics() const { return statistics_; }
  const BarrierNames& barriers() const { return record_->barriers; }
  const std::string& title() const { return title_; }
  double end() const { return static_cast<double>(timeline_->end()); }
  // Of an event: one that never ends lasts as long as the record.
  double end_of(const sim::Event& event) const {
    return event.end == sim::never_ends ? end() : static_cast<double>(event.end);
  }
  bool known_time() const { return record_->timed; }
  double clock() const { return clock_; }  // GHz; 0 where there is no time

  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Group {
    enum class Kind : std::uint8_t { cluster, block, processor, role, barriers };
    Kind kind = Kind::block;
    std::uint32_t parent = none, next = 0;  // next: the row after its last one, all open
    std::uint64_t number = 0;               // of the cluster, block or SM
    std::uint32_t role = 0;                 // index into roles()
    bool open = false;                      // at first
    sim::Cycle begin = 0, end = 0;
    std::uint32_t first = 0, count = 0;  // its tracks, with those of its groups: in tracks()
  };
  const std::vector<Group>& groups() const { return groups_; }
  // In the order of rows when everything is open; a group's are neighbours.
  const std::vector<sim::TrackId>& tracks() const { return tracks_; }
  const std::vector<sim::Role>& roles() const { return statistics_.roles; }

  bool is_open(const TimelineChoice& choice, std::uint32_t group) const;
  // All rows from top to bottom with what is open; pinned rows not apart.
  std::vector<TimelineRow> rows(const TimelineChoice& choice) const;
  // The row on which a track is seen: its own, or that of the outermost folded group around it.
  TimelinePlace shown_as(const TimelineChoice& choice, sim::TrackId track) const;
  // The tracks of a row.
  std::vector<sim::TrackId> tracks_of(TimelinePlace place) const;
  // The choice with all groups around the track open.
  TimelineChoice unfolded_to(TimelineChoice choice, sim::TrackId track) const;
  TimelineChoice folded(TimelineChoice choice, std::uint32_t group, bool fold) const;

  // "write back: warps 0-3", "tensor core"; what follows in quiet letters: "by copies in"; and a
  // name that find_place() understands: "block 0 tensor core".
  std::string label_of(TimelinePlace place) const;
  std::string detail_of(TimelinePlace place) const;
  std::string name_of(TimelinePlace place) const;
  // The same for a reader: "CTA 1 warp 3".
  std::string title_of(TimelinePlace place) const;
  // "block 3", "block 3 write back", "warp 4" (of the first block), "full[0]".
  std::optional<TimelinePlace> find_place(std::string_view name) const;

  // What a track's colours stand for at a time, added up beforehand.
  const Density& density(sim::TrackId track) const { return densities_[track]; }
  // Of a group, from top to bottom; none where there is nothing to add up.
  std::vector<FoldedStripe> stripes_of(std::uint32_t group) const;
  bool has_stripes(std::uint32_t group) const;  // more than one
  // What an event's colour stands for.
  Doing doing(const sim::Event& event) const;
  // What completes the phases that a track waits for most, for waits that are drawn together.
  sim::Unit usual_of(sim::TrackId track) const { return usual_[track]; }
  // What copies that are waited for in groups are: copies out, or cp.async where there are none.
  sim::Unit unit_of_groups() const { return unit_of_groups_; }
  // Operations of a unit that overlap are drawn one under the other.
  int lane_of(sim::EventId event) const { return event < lanes_.size() ? lanes_[event] : 0; }
  int lanes_of(sim::TrackId track) const { return lane_counts_[track]; }
  // The longest time from issue to begin among a track's operations.
  sim::Cycle longest_queue(sim::TrackId track) const { return queues_[track]; }
  // Cycles that warps waited for something, as waits of their own; the stalls that are too short
  // for that are in runs. Nothing: the record has folded some.
  std::optional<double> waited(sim::Stall stall) const;
  // Everything that colours stand for in this record, in the legend's order.
  const std::vector<Doing>& doings() const { return doings_; }
  // In the order of units: warps that run, copies in, products, loads from TMEM, copies out; those
  // that the record has.
  const std::vector<OverviewLane>& overview() const { return overview_; }

 private:
  void add_block(const sim::TrackGroup& group, std::uint32_t parent);
  std::uint32_t begin_group(Group::Kind kind, std::uint32_t parent, std::uint64_t number);
  void end_group(std::uint32_t group);
  void add_track(sim::TrackId track, std::uint32_t group);
  int levels_of(std::uint32_t group) const;
  void look_at_events();
  void pack_lanes();
  void look_over();

  std::shared_ptr<const sim::Record> record_;
  std::shared_ptr<const sim::Timeline> timeline_;
  sim::Statistics statistics_;
  std::string title_;
  double clock_ = 0;
  std::vector<Group> groups_;
  std::vector<TimelineRow> items_;  // all rows, everything open
  std::vector<sim::TrackId> tracks_;
  std::vector<std::uint32_t> group_of_;  // by track: the innermost
  std::vector<Density> densities_;       // by track
  std::vector<Density> block_warps_;     // of blocks: all warps together
  std::vector<std::uint32_t> warps_of_;  // by group: which of these; none
  std::vector<sim::Unit> usual_;         // by track
  sim::Unit unit_of_groups_ = sim::Unit::copy_out;
  std::vector<std::uint8_t> lanes_;  // by event
  std::vector<std::uint8_t> lane_counts_;
  std::vector<sim::Cycle> queues_;
  std::vector<sim::Unit> completed_by_;  // by track: of a barrier, who completes most phases
  std::array<double, static_cast<std::size_t>(sim::Stall::count_)> waited_{};  // by stall
  bool folded_ = false;                                                        // some events
  std::vector<Doing> doings_;
  std::vector<OverviewLane> overview_;
  bool has_units_ = false;  // besides warps and barriers
};

}  // namespace tilescope
