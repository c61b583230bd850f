// Rows of a timeline: how groups nest, fold and are called. What is known of events before they are
// drawn is in timeline_events.cpp.
#include "viz/timeline/timeline_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "viz/scene/command_text.h"
#include "viz/scene/number_words.h"

namespace tilescope {
namespace {

using sim::TrackId;
using sim::Unit;

constexpr std::uint32_t most_open_warps = 8, most_open_barriers = 12;

bool is_barrier(Unit unit) {
  return unit == Unit::barrier || unit == Unit::mbarrier || unit == Unit::cluster;
}

// "0-3", "0, 2, 5-7"
std::string ranges_text(const std::vector<std::uint32_t>& numbers) {
  std::string out;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!out.empty()) out += ", ";
    out +=
        last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return out;
}

std::string_view kind_word(TimelineView::Group::Kind kind) {
  switch (kind) {
    case TimelineView::Group::Kind::cluster:
      return "cluster";
    case TimelineView::Group::Kind::block:
      return "block";
    case TimelineView::Group::Kind::processor:
      return "SM";
    default:
      return "";
  }
}

}  // namespace

TimelineView::TimelineView(std::shared_ptr<const sim::Record> record,
                           std::shared_ptr<const sim::Timeline> timeline)
    : record_(std::move(record)),
      timeline_(std::move(timeline)),
      statistics_(sim::statistics_of(*record_)) {
  clock_ = record_->timed ? statistics_.clock : 0;
  title_ = record_->what.empty() ? record_->kernel
                                 : fmt::format("{}, {}", record_->kernel, record_->what);
  group_of_.assign(record_->tracks.size(), none);
  const bool clusters = record_->launch.cluster && record_->launch.cluster->count() > 1;
  std::uint32_t cluster = none;
  for (const sim::TrackGroup& group : timeline_->groups()) {
    const bool in_cluster = clusters && group.block != sim::many_blocks;
    const bool another =
        in_cluster && (cluster == none || groups_[cluster].number != group.cluster);
    if (cluster != none && (another || !in_cluster)) end_group(std::exchange(cluster, none));
    if (another) cluster = begin_group(Group::Kind::cluster, none, group.cluster);
    add_block(group, in_cluster ? cluster : none);
  }
  if (cluster != none) end_group(cluster);
  look_at_events();
  look_over();
}

std::uint32_t TimelineView::begin_group(Group::Kind kind, std::uint32_t parent,
                                        std::uint64_t number) {
  Group group;
  group.kind = kind;
  group.parent = parent;
  group.number = number;
  group.first = static_cast<std::uint32_t>(tracks_.size());
  group.begin = sim::never_ends;
  // The first cluster, or block, with all that is in it.
  const bool top =
      kind == Group::Kind::cluster || kind == Group::Kind::block || kind == Group::Kind::processor;
  group.open = top ? groups_.empty() || (parent == 0 && groups_[0].open) : true;
  const auto index = static_cast<std::uint32_t>(groups_.size());
  groups_.push_back(group);
  items_.push_back({{true, index}, parent == none ? 0 : levels_of(parent) + 1, false});
  return index;
}

void TimelineView::end_group(std::uint32_t index) {
  Group& group = groups_[index];
  group.next = static_cast<std::uint32_t>(items_.size());
  group.count = static_cast<std::uint32_t>(tracks_.size()) - group.first;
  if (group.kind == Group::Kind::role && group.count > most_open_warps) group.open = false;
  if (group.kind == Group::Kind::barriers && group.count > most_open_barriers) group.open = false;
  if (group.begin == sim::never_ends) group.begin = 0;
  if (group.parent == none) return;
  Group& parent = groups_[group.parent];
  parent.begin = std::min(parent.begin, group.begin);
  parent.end = std::max(parent.end, group.end);
}

int TimelineView::levels_of(std::uint32_t group) const {
  int level = 0;
  while (groups_[group].parent != none) {
    group = groups_[group].parent;
    ++level;
  }
  return level;
}

void TimelineView::add_track(sim::TrackId track, std::uint32_t group) {
  items_.push_back({{false, track}, levels_of(group) + 1, false});
  tracks_.push_back(track);
  group_of_[track] = group;
}

void TimelineView::add_block(const sim::TrackGroup& group, std::uint32_t parent) {
  const bool many = group.block == sim::many_blocks;
  const std::uint32_t block = begin_group(many ? Group::Kind::processor : Group::Kind::block,
                                          parent, many ? group.processor : group.block);
  groups_[block].begin = group.begin;
  groups_[block].end = group.end;
  const auto inner = [&](Group::Kind kind, std::uint32_t role) {
    const std::uint32_t index = begin_group(kind, block, 0);
    groups_[index].role = role;
    groups_[index].begin = group.begin;
    groups_[index].end = group.end;
    return index;
  };
  std::vector<TrackId> warps, units, barriers;
  for (const TrackId track : group.tracks) {
    const Unit unit = record_->tracks[track].unit;
    (unit == Unit::warp ? warps : is_barrier(unit) ? barriers : units).push_back(track);
  }
  std::vector<bool> taken(warps.size());
  for (std::uint32_t role = 0; role < roles().size(); ++role) {
    const std::vector<std::uint32_t>& in = roles()[role].warps;
    std::vector<TrackId> of_role;
    for (std::size_t i = 0; i < warps.size(); ++i) {
      if (taken[i] || !std::count(in.begin(), in.end(), record_->tracks[warps[i]].index)) continue;
      taken[i] = true;
      of_role.push_back(warps[i]);
    }
    if (of_role.empty()) continue;
    const bool alone = of_role.size() == 1;
    const std::uint32_t into = alone ? block : inner(Group::Kind::role, role);
    for (const TrackId track : of_role) add_track(track, into);
    if (!alone) end_group(into);
  }
  for (std::size_t i = 0; i < warps.size(); ++i) {
    if (!taken[i]) add_track(warps[i], block);
  }
  for (const TrackId track : units) add_track(track, block);
  has_units_ = has_units_ || !units.empty();
  if (!barriers.empty()) {
    const std::uint32_t into = inner(Group::Kind::barriers, 0);
    for (const TrackId track : barriers) add_track(track, into);
    end_group(into);
  }
  end_group(block);
}

bool TimelineView::is_open(const TimelineChoice& choice, std::uint32_t group) const {
  const bool turned = std::binary_search(choice.turned.begin(), choice.turned.end(), group);
  return groups_[group].open != turned;
}

std::vector<TimelineRow> TimelineView::rows(const TimelineChoice& choice) const {
  std::vector<TimelineRow> out;
  for (std::size_t i = 0; i < items_.size();) {
    TimelineRow row = items_[i];
    if (row.place.group) row.open = is_open(choice, row.place.index);
    i = row.place.group && !row.open ? groups_[row.place.index].next : i + 1;
    out.push_back(row);
  }
  return out;
}

TimelinePlace TimelineView::shown_as(const TimelineChoice& choice, TrackId track) const {
  TimelinePlace out{false, track};
  for (std::uint32_t group = group_of_[track]; group != none; group = groups_[group].parent) {
    if (!is_open(choice, group)) out = {true, group};
  }
  return out;
}

std::vector<TrackId> TimelineView::tracks_of(TimelinePlace place) const {
  if (!place.group) return {place.index};
  const Group& group = groups_[place.index];
  const auto first = tracks_.begin() + group.first;
  return {first, first + group.count};
}

TimelineChoice TimelineView::folded(TimelineChoice choice, std::uint32_t group, bool fold) const {
  if (is_open(choice, group) != fold) return choice;
  const auto at = std::lower_bound(choice.turned.begin(), choice.turned.end(), group);
  if (at != choice.turned.end() && *at == group) {
    choice.turned.erase(at);
  } else {
    choice.turned.insert(at, group);
  }
  return choice;
}

TimelineChoice TimelineView::unfolded_to(TimelineChoice choice, TrackId track) const {
  for (std::uint32_t group = group_of_[track]; group != none; group = groups_[group].parent) {
    choice = folded(std::move(choice), group, false);
  }
  return choice;
}

// ---- Names --------------------------------------------------------------------------------------

namespace {

std::string short_label(const TimelineView& view, TrackId id) {
  const sim::Track& track = view.record().tracks[id];
  switch (track.unit) {
    case Unit::warp:
      return fmt::format("warp {}", track.index);
    case Unit::mbarrier:
      return barrier_name(view.barriers(), track.index);
    case Unit::barrier:
      return fmt::format("barrier {}", track.index);
    case Unit::cluster:
      return "cluster barrier";
    default:
      return std::string(sim::name_of(track.unit));
  }
}

// "mbarrier 98304", "full[0] (byte 98304)" and "mbarrier full[0]" are full[0].
bool means_barrier(const TimelineView& view, TrackId id, std::string_view text) {
  const sim::Track& track = view.record().tracks[id];
  if (track.unit != Unit::mbarrier) return false;
  if (text == lower(barrier_text(view.barriers(), track.index))) return true;
  constexpr std::string_view word = "mbarrier ";
  return text.substr(0, word.size()) == word &&
         barrier_in(view.barriers(), text.substr(word.size())) == track.index;
}

}  // namespace

std::string TimelineView::label_of(TimelinePlace place) const {
  if (place.group) {
    const Group& group = groups_[place.index];
    switch (group.kind) {
      case Group::Kind::role: {
        std::vector<std::uint32_t> warps;
        for (const TrackId track : tracks_of(place)) warps.push_back(record_->tracks[track].index);
        return fmt::format("{}: warps {}", roles()[group.role].name, ranges_text(warps));
      }
      case Group::Kind::barriers:
        return "barriers";
      default:
        return title_of(place);
    }
  }
  const sim::Track& track = record_->tracks[place.index];
  const std::string label = short_label(*this, place.index);
  const std::uint32_t group = group_of_[place.index];
  if (track.unit != Unit::warp || (group != none && groups_[group].kind == Group::Kind::role)) {
    return label;
  }
  for (const sim::Role& role : roles()) {
    if (std::count(role.warps.begin(), role.warps.end(), track.index)) {
      return fmt::format("{}: {}", role.name, label);
    }
  }
  return label;
}

std::string TimelineView::detail_of(TimelinePlace place) const {
  if (!place.group) {
    const Unit by = completed_by_[place.index];
    const sim::Track& track = record_->tracks[place.index];
    if (track.unit != Unit::mbarrier) return "";
    const std::string byte =
        barriers().count(track.index) ? fmt::format("byte {}", track.index) : "";
    if (by == Unit::count_) return byte;
    return fmt::format("by {}{}{}", by == Unit::warp ? "warps" : sim::name_of(by),
                       byte.empty() ? "" : ", ", byte);
  }
  const Group& group = groups_[place.index];
  switch (group.kind) {
    case Group::Kind::cluster: {
      std::uint64_t blocks = 0;
      for (std::size_t i = place.index + 1; i < groups_.size(); ++i) {
        if (groups_[i].parent == none) break;
        if (groups_[i].parent == place.index) ++blocks;
      }
      return fmt::format("{} CTAs", blocks);
    }
    case Group::Kind::block: {
      const Dim3& grid = record_->launch.grid;
      const std::uint64_t wide = std::max<std::uint64_t>(grid.x, 1);
      const std::uint64_t high = std::max<std::uint64_t>(grid.y, 1);
      const std::string on =
          group.count == 0
              ? ""
              : fmt::format(", SM {}", record_->tracks[tracks_[group.first]].processor);
      return fmt::format("({},{},{}){}", group.number % wide, group.number / wide % high,
                         group.number / wide / high, on);
    }
    case Group::Kind::processor:
      return "many CTAs";
    case Group::Kind::role:
      return "";
    case Group::Kind::barriers:
      return grouped(group.count);
  }
  return "";
}

std::string TimelineView::name_of(TimelinePlace place) const {
  std::uint32_t around = place.group ? place.index : group_of_[place.index];
  std::string inner;
  if (!place.group) {
    inner = short_label(*this, place.index);
  } else if (groups_[place.index].kind == Group::Kind::role) {
    inner = roles()[groups_[place.index].role].name;
  } else if (groups_[place.index].kind == Group::Kind::barriers) {
    inner = "barriers";
  }
  while (around != none && kind_word(groups_[around].kind).empty()) around = groups_[around].parent;
  if (around == none) return inner;
  const std::string outer =
      fmt::format("{} {}", kind_word(groups_[around].kind), groups_[around].number);
  return inner.empty() ? outer : fmt::format("{} {}", outer, inner);
}

std::string TimelineView::title_of(TimelinePlace place) const {
  std::string name = name_of(place);
  if (name.rfind("block ", 0) == 0) name.replace(0, 5, "CTA");
  return name;
}

std::optional<TimelinePlace> TimelineView::find_place(std::string_view name) const {
  std::string asked = lower(name);
  // What a reader sees is a name, too, and so is what it was called in older lines.
  if (asked.rfind("cta ", 0) == 0) asked.replace(0, 3, "block");
  if (asked.rfind("processor ", 0) == 0) asked.replace(0, 9, "sm");
  for (std::size_t at; (at = asked.find("products")) != asked.npos;) asked.replace(at, 8, "mmas");
  // Names are made one after the other until one fits: a command's work, not a frame's.
  std::string_view inner = asked;
  std::size_t begin = 0, end = items_.size();
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    if (kind_word(groups_[g].kind).empty()) continue;
    const std::string outer = lower(name_of({true, g}));
    if (asked == outer) return TimelinePlace{true, g};
    if (asked.size() <= outer.size() || asked.compare(0, outer.size(), outer) != 0 ||
        asked[outer.size()] != ' ') {
      continue;
    }
    inner = std::string_view(asked).substr(outer.size() + 1);
    end = groups_[g].next;
    begin = 0;
    while (!(items_[begin].place == TimelinePlace{true, g})) ++begin;
    break;
  }
  // A role of one warp is that warp's row; but a unit of the same name goes before it.
  std::optional<TimelinePlace> role;
  for (std::size_t i = begin; i < end; ++i) {
    const TimelinePlace place = items_[i].place;
    if (place.group && !kind_word(groups_[place.index].kind).empty()) continue;
    const std::string label = lower(label_of(place));
    const bool of_role = place.group && groups_[place.index].kind == Group::Kind::role;
    if (inner == label || (!place.group && inner == lower(short_label(*this, place.index))) ||
        (!place.group && means_barrier(*this, place.index, inner)) ||
        (of_role && inner == lower(roles()[groups_[place.index].role].name))) {
      return place;
    }
    if (!place.group && !role && label.rfind(std::string(inner) + ": ", 0) == 0) role = place;
  }
  return role;
}

}  // namespace tilescope
