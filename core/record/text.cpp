#include "core/record/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/record/issuer.h"

namespace tilescope::sim {
namespace {

std::string barrier_name(Unit unit, std::uint32_t object, const TextChoice& choice) {
  if (unit == Unit::cluster) return "the cluster's barrier";
  if (unit == Unit::barrier) return fmt::format("barrier {}", object);
  const auto name = choice.barriers.find(object);
  return name == choice.barriers.end() ? fmt::format("mbarrier {}", object)
                                       : fmt::format("mbarrier {}", name->second);
}

std::string_view verb_of(Unit unit) {
  switch (unit) {
    case Unit::copy_in:
      return "copies in";
    case Unit::copy_out:
      return "copies out";
    case Unit::async_copy:
      return "copies by cp.async";
    case Unit::tensor:
      return "multiplies";
    case Unit::tensor_copy:
      return "copies into TMEM";
    case Unit::tensor_load:
      return "loads from TMEM";
    case Unit::tensor_store:
      return "stores to TMEM";
    case Unit::commit:
      return "commits";
    case Unit::remote:
      return "sends words";
    case Unit::launch:
      return "clusterlaunchcontrol";
    default:
      return "works";
  }
}

// "source.cu:51", or the instruction's number where no line is known. Of a function that was
// inlined: "kernel.cu:87 (source.h:51)".
std::string place(const Record& record, std::uint32_t pc) {
  if (pc >= record.lines.size()) return fmt::format("#{}", pc);
  const auto at = [&](std::uint32_t file, std::uint32_t line) {
    if (line == 0 || file >= record.sources.size()) return std::string();
    const std::string& source = record.sources[file];
    const std::size_t slash = source.rfind('/');
    return fmt::format("{}:{}", slash == std::string::npos ? source : source.substr(slash + 1),
                       line);
  };
  const RecordedLine& line = record.lines[pc];
  const std::string inner = at(line.file, line.line);
  const std::string caller = at(line.caller_file, line.caller_line);
  if (inner.empty()) return fmt::format("#{}", pc);
  return caller.empty() || caller == inner ? inner : fmt::format("{} ({})", caller, inner);
}

std::string track_name(const Track& track, const TextChoice& choice) {
  switch (track.unit) {
    case Unit::warp:
      return fmt::format("warp {}", track.index);
    case Unit::barrier:
    case Unit::mbarrier:
    case Unit::cluster:
      return barrier_name(track.unit, track.index, choice);
    default:
      return std::string(name_of(track.unit));
  }
}

std::string block_name(std::uint64_t block) {
  return block == many_blocks ? "many CTAs" : fmt::format("CTA {}", block);
}

bool asked(const Track& track, const TextChoice& choice) {
  return (!choice.block || track.block == *choice.block) &&
         (!choice.unit || track.unit == *choice.unit);
}

std::string with_times(const Record& record, const TextChoice& choice) {
  std::vector<std::pair<Cycle, EventId>> order;
  EventId id = 0;
  for (const Event& event : record.events) {
    if (asked(record.tracks[event.track], choice)) order.emplace_back(event.begin, id);
    ++id;
  }
  std::sort(order.begin(), order.end());
  std::string out;
  for (const auto& [begin, at] : order) {
    const Event event = record.events[at];
    const Track& track = record.tracks[event.track];
    out += fmt::format("{:>9} {:>9}  {} {}  {}", begin,
                       event.end == never_ends ? "..." : fmt::format("{}", event.end),
                       block_name(track.block), track_name(track, choice),
                       description(record, event, choice));
    if (event.cause < record.events.size()) {
      const Event cause = record.events[event.cause];
      out += fmt::format("  <- {} at {}", track_name(record.tracks[cause.track], choice),
                         cause.end == never_ends ? cause.begin : cause.end);
    }
    out += '\n';
  }
  return out;
}

// Who arrived at an mbarrier: a warp, or a unit for it.
struct Arriving {
  Unit by = Unit::count_;
  bool bytes = false;
  std::uint64_t block = 0;
  bool operator<(const Arriving& o) const {
    return std::tie(by, bytes, block) < std::tie(o.by, o.bytes, o.block);
  }
};
struct Arrived {
  std::uint64_t amount = 0;
  std::set<std::uint32_t> warps;
};
using Phase = std::map<Arriving, Arrived>;  // what came to one phase

// What is told of a block without times.
struct Told {
  std::map<std::uint32_t, std::vector<std::pair<Cycle, EventId>>> warps;  // by issue
  std::map<std::pair<Unit, std::uint32_t>, std::uint64_t> phases;
  std::map<std::pair<Unit, std::uint32_t>, std::map<std::uint32_t, Phase>> arrivals;
};

std::string names_of(const std::set<std::uint32_t>& warps) {
  return fmt::format("warp{} {}", warps.size() == 1 ? "" : "s", fmt::join(warps, ", "));
}

// "1 arrival of warp 7; 32768 bytes by copies in". Others than the barrier's block are named.
std::string text(const Phase& phase, std::uint64_t block) {
  std::string out;
  for (const auto& [by, arrived] : phase) {
    out += fmt::format("{}{} {}", out.empty() ? "" : "; ", arrived.amount,
                       by.bytes              ? "bytes"
                       : arrived.amount == 1 ? "arrival"
                                             : "arrivals");
    out += by.by == Unit::warp     ? " of " + names_of(arrived.warps)
           : by.by == Unit::count_ ? std::string()
                                   : fmt::format(" by {}", name_of(by.by));
    if (by.by != Unit::count_ && by.block != block) out += " of " + block_name(by.block);
  }
  return out;
}

void tell_arrival(const Record& record, const Event& event, Told& told) {
  const Track& track = record.tracks[event.track];
  Arriving arriving;
  arriving.bytes = event.bytes;
  std::uint32_t warp = 0;
  if (event.cause < record.events.size()) {
    const Track& by = record.tracks[record.events.track(event.cause)];
    arriving.by = by.unit;
    arriving.block = by.block;
    warp = by.index;
  }
  Arrived& arrived = told.arrivals[{track.unit, track.index}][event.phase][arriving];
  arrived.amount += event.amount;
  arrived.warps.insert(warp);
}

std::string warp_text(const Record& record, std::vector<std::pair<Cycle, EventId>>& steps,
                      const TextChoice& choice) {
  std::sort(steps.begin(), steps.end());
  std::vector<std::pair<std::string, std::size_t>> lines;
  for (const auto& step : steps) {
    std::string line = description(record, record.events[step.second], choice);
    if (lines.empty() || lines.back().first != line) lines.emplace_back(std::move(line), 0);
    ++lines.back().second;
  }
  std::string out;
  for (const auto& [line, times] : lines) {
    out += times == 1 ? fmt::format("    {}\n", line)
                      : fmt::format("    {} ({} times)\n", line, times);
  }
  return out;
}

// Phases that the same came to are one line.
std::string phases_text(const std::map<std::uint32_t, Phase>& arrivals, std::uint64_t complete,
                        std::uint64_t block) {
  std::vector<std::pair<std::string, std::vector<std::uint32_t>>> lines;
  for (const auto& [number, phase] : arrivals) {
    std::string line = text(phase, block);
    if (number >= complete) line += ", and it is not complete";
    auto same =
        std::find_if(lines.begin(), lines.end(), [&](const auto& l) { return l.first == line; });
    if (same == lines.end()) same = lines.insert(lines.end(), {std::move(line), {}});
    same->second.push_back(number);
  }
  std::string out;
  for (const auto& [line, numbers] : lines) {
    out += numbers.size() == complete && complete > 1
               ? fmt::format("    each: {}\n", line)
               : fmt::format("    phase{} {}: {}\n", numbers.size() == 1 ? "" : "s",
                             fmt::join(numbers, ", "), line);
  }
  return out;
}

std::string without_times(const Record& record, const TextChoice& choice) {
  std::map<std::uint64_t, Told> blocks;
  EventId id = 0;
  for (const Event& event : record.events) {
    const EventId number = id++;
    const Track& track = record.tracks[event.track];
    if (!asked(track, choice)) continue;
    if (event.kind == EventKind::phase && event.end != never_ends) {
      ++blocks[track.block].phases[{track.unit, track.index}];
    }
    if (event.kind == EventKind::arrival && track.unit != Unit::async_copy) {
      tell_arrival(record, event, blocks[track.block]);
    }
    if (event.kind != EventKind::operation && event.kind != EventKind::arrival) continue;
    const bool operates = event.kind == EventKind::operation;
    const EventId cause = operates ? issuer_of(record, event) : event.cause;
    if (cause >= record.events.size()) continue;
    // An arrival that an operation makes is told with the barrier.
    const Track& by = record.tracks[record.events.track(cause)];
    if (by.unit == Unit::warp) blocks[by.block].warps[by.index].emplace_back(event.issue, number);
  }
  std::string out;
  for (auto& [block, told] : blocks) {
    out += block_name(block) + "\n";
    std::vector<std::pair<std::string, std::set<std::uint32_t>>> warps;
    for (auto& [warp, steps] : told.warps) {
      std::string lines = warp_text(record, steps, choice);
      auto same =
          std::find_if(warps.begin(), warps.end(), [&](const auto& w) { return w.first == lines; });
      if (same == warps.end()) same = warps.insert(warps.end(), {std::move(lines), {}});
      same->second.insert(warp);
    }
    for (const auto& [lines, which] : warps) {
      out += fmt::format("  {}\n{}", names_of(which), lines);
    }
    for (const auto& [barrier, arrivals] : told.arrivals) told.phases.try_emplace(barrier, 0);
    for (const auto& [barrier, count] : told.phases) {
      out += fmt::format("  {}: {} phase{}\n", barrier_name(barrier.first, barrier.second, choice),
                         count, count == 1 ? "" : "s");
      const auto arrivals = told.arrivals.find(barrier);
      if (barrier.first == Unit::mbarrier && arrivals != told.arrivals.end()) {
        out += phases_text(arrivals->second, count, block);
      }
    }
  }
  return out;
}

}  // namespace

std::string description(const Record& record, const Event& event, const TextChoice& choice) {
  const Unit unit = record.tracks[event.track].unit;
  switch (event.kind) {
    case EventKind::run:
      return fmt::format("executes {} instructions from {} to {}", event.amount,
                         place(record, event.pc), place(record, event.until));
    case EventKind::wait: {
      const std::string at = place(record, event.pc);
      if (event.stall == Stall::mbarrier || event.stall == Stall::barrier) {
        const Unit of = event.stall == Stall::mbarrier ? Unit::mbarrier : Unit::barrier;
        return fmt::format("waits at {} for {} phase {}", at,
                           barrier_name(of, event.object, choice), event.phase);
      }
      const bool sleeps =
          event.pc < record.lines.size() && record.lines[event.pc].text.rfind("nanosleep", 0) == 0;
      if (sleeps) return "sleeps at " + at;
      return fmt::format("{} at {}", name_of(event.stall), at);
    }
    case EventKind::operation: {
      std::string out = fmt::format("{} of {}", verb_of(unit), place(record, event.pc));
      if (event.amount && unit != Unit::commit) {
        out += fmt::format(", {} {}", event.amount,
                           event.bytes            ? "bytes"
                           : unit == Unit::tensor ? "multiply-adds"
                                                  : "items");
      }
      if (event.object) {
        out += fmt::format(", for {} phase {}", barrier_name(Unit::mbarrier, event.object, choice),
                           event.phase);
      }
      return out;
    }
    case EventKind::arrival: {
      if (unit == Unit::async_copy) {
        return fmt::format("has waited for {} group{} of cp.async at {}", event.amount,
                           event.amount == 1 ? "" : "s", place(record, event.pc));
      }
      std::string out = fmt::format("{} {} at {} phase {}", event.amount,
                                    event.bytes         ? "bytes arrive"
                                    : event.amount == 1 ? "arrival"
                                                        : "arrivals",
                                    barrier_name(unit, event.object, choice), event.phase);
      const std::uint64_t block = record.tracks[event.track].block;
      if (event.cause < record.events.size() &&
          record.tracks[record.events.track(event.cause)].block != block) {
        out += " of " + block_name(block);
      }
      return out;
    }
    case EventKind::phase:
      return event.end == never_ends ? fmt::format("phase {} is not complete", event.phase)
                                     : fmt::format("phase {} is complete", event.phase);
    case EventKind::report:
      if (event.object < record.reports.size()) {
        const Report& report = record.reports[event.object];
        return fmt::format("{}: {}", name_of(report.weight), report.sentence);
      }
      return "a report";
    case EventKind::folded:
      return fmt::format("{} events, aggregated", event.amount);
  }
  return "unknown";
}

std::string text(const Record& record, const TextChoice& choice) {
  return choice.times ? with_times(record, choice) : without_times(record, choice);
}

}  // namespace tilescope::sim
