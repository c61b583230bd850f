#include "viz/timeline/timeline_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "viz/scene/command_text.h"

namespace tilescope {
namespace {

using sim::EventFilter;
using sim::EventId;
using sim::EventKind;
using sim::Unit;

struct KindWord {
  std::string_view word;
  std::uint32_t kinds;
};
constexpr std::array kinds = {
    KindWord{"wait", bit(EventKind::wait)},
    KindWord{"waits", bit(EventKind::wait)},
    KindWord{"run", bit(EventKind::run)},
    KindWord{"runs", bit(EventKind::run)},
    KindWord{"operation", bit(EventKind::operation)},
    KindWord{"operations", bit(EventKind::operation)},
    KindWord{"arrival", bit(EventKind::arrival)},
    KindWord{"arrivals", bit(EventKind::arrival)},
    KindWord{"phase", bit(EventKind::phase)},
    KindWord{"phases", bit(EventKind::phase)},
    KindWord{"report", bit(EventKind::report)},
    KindWord{"reports", bit(EventKind::report)},
    KindWord{"fault", bit(EventKind::report)},
    KindWord{"faults", bit(EventKind::report)},
    KindWord{"hazard", bit(EventKind::report)},
    KindWord{"hazards", bit(EventKind::report)},
};

struct UnitWord {
  std::string_view word;
  Unit unit;
};
// Longer ones first: "copies out" is not "copies".
constexpr std::array units = {
    UnitWord{"copies in", Unit::copy_in},
    UnitWord{"copy in", Unit::copy_in},
    UnitWord{"tma loads", Unit::copy_in},
    UnitWord{"tma load", Unit::copy_in},
    UnitWord{"copies out", Unit::copy_out},
    UnitWord{"copy out", Unit::copy_out},
    UnitWord{"tma stores", Unit::copy_out},
    UnitWord{"tma store", Unit::copy_out},
    UnitWord{"tma", Unit::copy_in},
    UnitWord{"cp.async.bulk", Unit::copy_in},
    UnitWord{"cp.async", Unit::async_copy},
    UnitWord{"tensor core", Unit::tensor},
    UnitWord{"products", Unit::tensor},
    UnitWord{"product", Unit::tensor},
    UnitWord{"mmas", Unit::tensor},
    UnitWord{"mma", Unit::tensor},
    UnitWord{"tmem loads", Unit::tensor_load},
    UnitWord{"tmem stores", Unit::tensor_store},
    UnitWord{"tmem copies", Unit::tensor_copy},
    UnitWord{"commits", Unit::commit},
    UnitWord{"commit", Unit::commit},
    UnitWord{"remote", Unit::remote},
    UnitWord{"launches", Unit::launch},
};

// Words for several units together; with `wait`, for what a warp waits.
constexpr std::uint32_t bit(Unit unit) {
  return 1u << static_cast<int>(unit);
}
constexpr std::uint32_t bit(sim::Stall stall) {
  return 1u << static_cast<int>(stall);
}
struct ClassWord {
  std::string_view word;
  std::uint32_t units, stalls;
};
constexpr std::uint32_t copying =
    bit(Unit::copy_in) | bit(Unit::copy_out) | bit(Unit::async_copy) | bit(Unit::tensor_copy);
constexpr std::uint32_t moving =
    bit(Unit::tensor_load) | bit(Unit::tensor_store) | bit(Unit::tensor_copy);
constexpr std::uint32_t meeting = bit(Unit::barrier) | bit(Unit::mbarrier) | bit(Unit::cluster);
constexpr std::uint32_t met =
    bit(sim::Stall::barrier) | bit(sim::Stall::mbarrier) | bit(sim::Stall::cluster);
constexpr std::array classes = {
    ClassWord{"copy", copying, bit(sim::Stall::group)},
    ClassWord{"copies", copying, bit(sim::Stall::group)},
    ClassWord{"barrier", meeting, met},
    ClassWord{"barriers", meeting, met},
    ClassWord{"mbarrier", bit(Unit::mbarrier), bit(sim::Stall::mbarrier)},
    ClassWord{"mbarriers", bit(Unit::mbarrier), bit(sim::Stall::mbarrier)},
    ClassWord{"cluster", bit(Unit::cluster), bit(sim::Stall::cluster)},
    ClassWord{"tmem", moving, bit(sim::Stall::tmem)},
    ClassWord{"warp", bit(Unit::warp), ~0u},
    ClassWord{"warps", bit(Unit::warp), ~0u},
};

// A number from the front; the rest.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t out = 0;
  std::size_t n = 0;
  while (n < text.size() && n < 18 && text[n] >= '0' && text[n] <= '9') {
    out = out * 10 + static_cast<std::uint64_t>(text[n++] - '0');
  }
  if (n == 0) return std::nullopt;
  text.remove_prefix(n);
  return out;
}

// The word at the front of the text, with a blank or nothing behind it, is taken.
bool take(std::string_view& text, std::string_view word) {
  if (word.empty() || text.substr(0, word.size()) != word) return false;
  if (text.size() > word.size() && text[word.size()] != ' ') return false;
  text = trimmed(text.substr(word.size()));
  return true;
}

std::vector<std::uint32_t> pcs_of_line(const sim::Record& record, std::string_view file,
                                       std::uint64_t line) {
  const bool of_ptx = file == "ptx";  // as `look line ptx:564` has it
  const auto fits = [&](std::uint32_t which, std::uint32_t number) {
    if (number != line || number == 0 || which >= record.sources.size()) return false;
    const std::string source = lower(record.sources[which]);
    return source.size() >= file.size() &&
           source.compare(source.size() - file.size(), file.size(), file) == 0;
  };
  std::vector<std::uint32_t> out;
  for (std::uint32_t pc = 0; pc < record.lines.size(); ++pc) {
    const sim::RecordedLine& at = record.lines[pc];
    const bool is = of_ptx ? at.ptx_line == line
                           : fits(at.file, at.line) || fits(at.caller_file, at.caller_line);
    if (is) out.push_back(pc);
  }
  return out;
}

class Reader {
 public:
  Reader(const TimelineView& view, std::string_view text) : view_(view), asked_(text) {}

  Outcome<EventFilter> read() {
    const std::string lowered = lower(trimmed(asked_));
    std::string_view rest = lowered;
    if (rest.empty()) return refused("says nothing to look for: `find wait`, `find tma`");
    std::uint32_t some = 0;
    while (!rest.empty()) {
      if (take_kind(rest, some) || take_unit(rest) || take_barrier(rest)) continue;
      const std::string_view before = rest;
      if (const auto error = take_number_of(rest)) return *error;
      if (rest.size() < before.size() || take_class(rest) || take_role(rest)) continue;
      if (const auto error = take_instruction(rest)) return *error;
      rest = {};
    }
    if (some) out_.kinds = some;
    const std::uint32_t of_warps = bit(EventKind::wait) | bit(EventKind::run);
    const bool warps_alone = (out_.kinds & ~of_warps) == 0;
    if (class_) add_class(warps_alone && out_.kinds == bit(EventKind::wait));
    // Roles and units have names in common: what a warp does is its role's.
    if (out_.unit && warps_alone && take_role(unit_word_)) out_.unit.reset();
    if (out_.unit && warps_alone) {
      return refused(
          "asks for waits or runs of a unit, but these are a warp's: `find wait` finds all waits, "
          "`find tma` all copies, `wait copies` the waits for them");
    }
    leave_to_operations();
    if (weight_) leave_weight();
    return out_;
  }

 private:
  // Of reports, those of one weight: an instruction tells of one alone.
  void leave_weight() {
    EventFilter reports;
    reports.kinds = bit(EventKind::report);
    std::vector<std::uint32_t> pcs;
    for (const EventId id : view_.timeline().find(reports, 0, sim::never_ends, most_hits)) {
      const sim::Event event = view_.record().events[id];
      const bool own =
          out_.pcs.empty() || std::count(out_.pcs.begin(), out_.pcs.end(), event.pc) > 0;
      if (own && view_.record().reports[event.object].weight == *weight_) pcs.push_back(event.pc);
    }
    if (pcs.empty()) only([](const sim::Track&) { return false; });
    std::sort(pcs.begin(), pcs.end());
    out_.pcs = std::move(pcs);
  }

  // What is executed there is the operations that it issues, where it issues any.
  void leave_to_operations() {
    const std::uint32_t run = bit(EventKind::run);
    if (out_.pcs.empty() || out_.kinds != ~0u) return;
    EventFilter operations = out_;
    operations.kinds = bit(EventKind::operation);
    if (view_.timeline().next(operations, 0) != sim::no_event) out_.kinds &= ~run;
  }

  Error refused(std::string_view why) const {
    return {ErrorKind::unknown, fmt::format("`{}` {}.", asked_, why), ""};
  }

  bool take_kind(std::string_view& rest, std::uint32_t& some) {
    for (const KindWord& each : kinds) {
      if (!take(rest, each.word)) continue;
      some |= each.kinds;
      const std::string_view one = each.word.substr(0, each.word.find_last_not_of('s') + 1);
      if (one == "fault") weight_ = Weight::fault;
      if (one == "hazard") weight_ = Weight::hazard;
      return true;
    }
    return false;
  }
  bool take_unit(std::string_view& rest) {
    for (const UnitWord& each : units) {
      if (!take(rest, each.word)) continue;
      out_.unit = each.unit;
      unit_word_ = each.word;
      return true;
    }
    return false;
  }
  bool take_barrier(std::string_view& rest) {
    for (const auto& [offset, name] : view_.barriers()) {
      for (const std::string& said : {lower(barrier_text(view_.barriers(), offset)),
                                      "mbarrier " + lower(name), lower(name)}) {
        if (!take(rest, said)) continue;
        out_.barrier = offset;
        return true;
      }
    }
    return false;
  }

  bool take_class(std::string_view& rest) {
    for (const ClassWord& each : classes) {
      if (!take(rest, each.word)) continue;
      class_ = &each;
      return true;
    }
    return false;
  }
  // Of waits: those for one of the class; of all else: what its units did.
  void add_class(bool waits) {
    if (waits) {
      out_.stalls = class_->stalls;
    } else {
      only([&](const sim::Track& track) { return (class_->units & bit(track.unit)) != 0; });
    }
  }
  bool take_role(std::string_view& rest) {
    for (const sim::Role& role : view_.roles()) {
      if (!take(rest, lower(role.name))) continue;
      only([&](const sim::Track& track) {
        return track.unit == Unit::warp &&
               std::find(role.warps.begin(), role.warps.end(), track.index) != role.warps.end();
      });
      return true;
    }
    return false;
  }
  // Of the tracks that were left so far, these.
  template <typename F>
  void only(const F& f) {
    const auto& tracks = view_.record().tracks;
    if (out_.tracks.empty()) out_.tracks.assign(tracks.size(), true);
    for (std::size_t t = 0; t < tracks.size(); ++t) {
      if (!f(tracks[t])) out_.tracks[t] = false;
    }
  }

  // "block 3", "warp 4", "mbarrier 98304", "barrier 1", "line 100", "v7.cu:100".
  std::optional<Error> take_number_of(std::string_view& rest) {
    const auto [word, behind] = first_word(rest);
    std::string_view number = behind;
    if (word == "block" || word == "warp" || word == "mbarrier" || word == "barrier" ||
        word == "line") {
      const auto value = take_number(number);
      // These are words of their own, too.
      if (!value && word != "block" && word != "line") return std::nullopt;
      if (!value) {
        return refused(fmt::format("has `{}` without a number after it: `{} 1`", word, word));
      }
      number = trimmed(number);
      if (word == "block") {
        out_.block = *value;
        if (*value >= view_.record().launch.grid.count()) {
          return refused(
              fmt::format("names no CTA: the grid has {}", view_.record().launch.grid.count()));
        }
      } else if (word == "warp") {
        const std::uint32_t warps = view_.statistics().warps;
        if (*value >= warps) {
          return refused(fmt::format("names no warp: a CTA has {}, counted from 0", warps));
        }
        only([&](const sim::Track& track) {
          return track.unit == Unit::warp && track.index == *value;
        });
      } else if (word == "line") {
        out_.pcs = pcs_of_line(view_.record(), "", *value);
        if (out_.pcs.empty()) return refused("names a line that became no instruction");
      } else {
        out_.barrier = static_cast<std::uint32_t>(*value);
        if (!known_barrier(word == "mbarrier" ? Unit::mbarrier : Unit::barrier, *value)) {
          return refused("names a barrier that this run does not have");
        }
      }
      rest = number;
      return std::nullopt;
    }
    const std::size_t colon = word.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    std::string_view line = word.substr(colon + 1);
    const auto value = take_number(line);
    if (!value || !line.empty()) return std::nullopt;
    out_.pcs = pcs_of_line(view_.record(), word.substr(0, colon), *value);
    if (out_.pcs.empty()) return refused("names a line that became no instruction");
    rest = behind;
    return std::nullopt;
  }

  bool known_barrier(Unit unit, std::uint64_t number) const {
    const auto& tracks = view_.record().tracks;
    return std::any_of(tracks.begin(), tracks.end(), [&](const sim::Track& track) {
      return track.unit == unit && track.index == number;
    });
  }

  // All that is left is looked for in the text of instructions.
  std::optional<Error> take_instruction(std::string_view text) {
    const auto& lines = view_.record().lines;
    for (std::uint32_t pc = 0; pc < lines.size(); ++pc) {
      if (lower(sim::text(lines[pc])).find(text) != std::string::npos) out_.pcs.push_back(pc);
    }
    if (!out_.pcs.empty()) return std::nullopt;
    return refused(fmt::format(
        "is nothing of this run: `{}` is no kind of event, unit, role or barrier, and no "
        "instruction has it. There are the kinds run, wait, operation, arrival, phase and report; "
        "{}block N, warp N, line N, and the text of an instruction",
        text, words_of_record()));
  }

  // "the units copies in and tensor core; the barriers full[0] to empty[2]; "
  std::string words_of_record() const {
    std::string units_here, names;
    for (const Unit unit :
         {Unit::copy_in, Unit::copy_out, Unit::async_copy, Unit::tensor, Unit::tensor_copy,
          Unit::tensor_load, Unit::tensor_store, Unit::commit, Unit::remote, Unit::launch}) {
      const auto& tracks = view_.record().tracks;
      const bool there = std::any_of(tracks.begin(), tracks.end(),
                                     [&](const sim::Track& t) { return t.unit == unit; });
      if (!there) continue;
      const auto word = std::find_if(units.begin(), units.end(),
                                     [&](const UnitWord& each) { return each.unit == unit; });
      if (word == units.end()) continue;
      units_here += fmt::format("{}{}", units_here.empty() ? "" : ", ", word->word);
    }
    const auto roles = view_.roles();
    std::string roles_here;
    for (std::size_t i = 0; roles.size() > 1 && i < roles.size(); ++i) {
      roles_here += fmt::format("{}{}", i ? ", " : "", roles[i].name);
    }
    constexpr std::size_t most = 8;
    std::size_t count = 0;
    for (const auto& each : view_.barriers()) {
      if (count++ == most) {
        names += " and others";
        break;
      }
      names += fmt::format("{}{}", names.empty() ? "" : ", ", each.second);
    }
    std::string out;
    if (!units_here.empty()) out += fmt::format("the units {}; ", units_here);
    if (!roles_here.empty()) out += fmt::format("the roles {}; ", roles_here);
    if (!names.empty()) out += fmt::format("the barriers {}; ", names);
    return out + "copies, barriers, ";
  }

  const TimelineView& view_;
  std::string_view asked_;
  std::string_view unit_word_;
  const ClassWord* class_ = nullptr;
  std::optional<Weight> weight_;  // of reports
  EventFilter out_;
};

}  // namespace

Outcome<EventFilter> search_of(const TimelineView& view, std::string_view text) {
  return Reader(view, text).read();
}

namespace {

// Those that begin at a time, by number.
std::vector<EventId> together(const TimelineView& view, const EventFilter& filter, sim::Cycle at) {
  std::vector<EventId> out;
  for (const EventId id : view.timeline().find(filter, at, at + 1, 4096)) {
    if (view.record().events[id].begin == at) out.push_back(id);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

EventId next_hit(const TimelineView& view, const EventFilter& filter, EventId from, double at) {
  const auto begin = static_cast<sim::Cycle>(std::max(0.0, at));
  if (from >= view.record().events.size()) return view.timeline().next(filter, begin);
  const sim::Cycle now = view.record().events[from].begin;
  for (const EventId id : together(view, filter, now)) {
    if (id > from) return id;
  }
  return view.timeline().next(filter, now + 1);
}

EventId previous_hit(const TimelineView& view, const EventFilter& filter, EventId from, double at) {
  const auto begin = static_cast<sim::Cycle>(std::max(0.0, at));
  if (from >= view.record().events.size()) return view.timeline().previous(filter, begin);
  const sim::Cycle now = view.record().events[from].begin;
  const std::vector<EventId> same = together(view, filter, now);
  for (auto id = same.rbegin(); id != same.rend(); ++id) {
    if (*id < from) return *id;
  }
  const EventId before = view.timeline().previous(filter, now);
  if (before == sim::no_event) return before;
  const std::vector<EventId> last = together(view, filter, view.record().events[before].begin);
  return last.empty() ? before : last.back();
}

std::size_t hits_in(const TimelineView& view, const EventFilter& filter, CycleRange range) {
  return view.timeline()
      .find(filter, static_cast<sim::Cycle>(std::max(0.0, range.from)),
            static_cast<sim::Cycle>(std::max(0.0, std::ceil(range.to))) + 1, most_hits)
      .size();
}

}  // namespace tilescope
