#include "viz/session/machine_inspector.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/run/report_groups.h"
#include "core/sim/time/wait.h"
#include "viz/machine/machine_line.h"
#include "viz/machine/machine_scene.h"
#include "viz/scene/number_words.h"
#include "viz/scene/site_words.h"
#include "viz/session/seek.h"
#include "viz/session/timeline_spot.h"

namespace tilescope {
namespace {

// In the kernel's own file, or of the PTX.
std::string own_line(const Site& site) {
  const std::uint32_t line = site.caller_line ? site.caller_line : site.source_line;
  return line ? fmt::format("line {}", line) : fmt::format("PTX line {}", site.ptx_line);
}

// "for an mbarrier"
std::string wait_text(const sim::SplitState& split) {
  const std::string words(sim::name_of(sim::stall_of(split.wait)));
  const std::size_t at = words.find("for ");
  return at == words.npos ? words : words.substr(at);
}

std::string lanes_text(std::uint32_t lanes) {
  if (lanes == 0xffff'ffffu) return "all 32";
  std::string out;
  for (std::uint32_t i = 0; i < 32; ++i) {
    if (!(lanes >> i & 1)) continue;
    std::uint32_t last = i;
    while (last < 31 && lanes >> (last + 1) & 1) ++last;
    out += fmt::format("{}{}", out.empty() ? "" : ", ", i);
    if (last > i) out += fmt::format("-{}", last);
    i = last;
  }
  return out;
}

// What a warp is there for, by what it issued in the run: "copies in". Nothing before there was
// one.
std::string role_of(const Session& session, std::uint32_t warp) {
  const TimelineView* timeline = session.state.timeline.get();
  if (!timeline) return "";
  for (const sim::Role& role : timeline->roles()) {
    if (std::count(role.warps.begin(), role.warps.end(), warp)) return role.name;
  }
  return "";
}

InspectorSection warp_section(const Session& session, const sim::WarpState& warp) {
  InspectorSection section{
      fmt::format("Warp {} of CTA {}", warp.index, session.state.spot.block), {}, ""};
  const std::string role = role_of(session, warp.index);
  if (!role.empty()) section.lines.emplace_back("role", role);
  section.lines.emplace_back("executed", fmt::format("{} instructions", grouped(warp.executed)));
  if (!warp.live) section.when_empty = "It has exited.";
  std::vector<sim::SplitState> splits = warp.splits;
  if (!splits.empty()) {
    const std::size_t first = sim::split_of_lane(warp, session.state.spot.lane);
    std::rotate(splits.begin(), splits.begin() + static_cast<std::ptrdiff_t>(first),
                splits.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  }
  for (const sim::SplitState& split : splits) {
    section.lines.emplace_back("lanes active", lanes_text(split.lanes));
    section.lines.emplace_back(split.why.empty() ? "next" : "is at", instruction_text(split.text));
    if (!split.why.empty()) section.lines.emplace_back("waits for", split.why);
    section.lines.emplace_back("line", place_words(split.site));
    if (split.site.caller_line) {
      section.lines.emplace_back(
          "in", fmt::format("{}:{}", file_name(split.site.source), split.site.source_line));
    }
    if (split.depth) section.lines.emplace_back("calls deep", fmt::format("{}", split.depth));
  }
  return section;
}

InspectorSection warps_section(const std::vector<sim::WarpState>& warps, const RunCursor& spot) {
  InspectorSection section{"Its CTA's warps", {}, ""};
  for (const sim::WarpState& warp : warps) {
    const sim::SplitState* split = sim::speaking_split(warp.splits);
    const std::string state = !warp.live || !split ? "has exited"
                              : split->why.empty()
                                  ? "at " + own_line(split->site)
                                  : fmt::format("{}, {}", own_line(split->site), wait_text(*split));
    section.links.push_back({fmt::format("{}", warp.index), state,
                             fmt::format("look warp {}", warp.index), warp.index == spot.warp});
  }
  return section;
}

void add_barrier(const sim::Machine& machine, const RunCursor& spot,
                 std::vector<InspectorSection>& out) {
  if (!spot.barrier) return;
  for (const sim::MbarrierState& b : sim::mbarriers_of(machine, spot.block)) {
    if (b.offset != *spot.barrier) continue;
    InspectorSection section{"Mbarrier", {}, ""};
    section.lines.emplace_back("which", b.name);
    section.lines.emplace_back("phase", fmt::format("{}, not complete", b.phase));
    section.lines.emplace_back("arrivals to come", fmt::format("{} of {}", b.pending, b.expected));
    if (b.bytes) section.lines.emplace_back("bytes to come", grouped(std::uint64_t(b.bytes)));
    section.lines.emplace_back("story", b.story);
    out.push_back(std::move(section));
    return;
  }
}

void add_reports(const sim::Machine& machine, std::vector<InspectorSection>& out) {
  // The last first: a fault is what it ended with.
  constexpr std::size_t most = 3;
  const auto& reports = machine.reports();
  std::vector<ReportGroup> found = groups(reports);
  std::stable_sort(found.begin(), found.end(), [](const ReportGroup& a, const ReportGroup& b) {
    return a.members.back() > b.members.back();
  });
  for (const ReportGroup& group : found) {
    if (out.size() >= most) break;
    const std::size_t first = group.members.front();
    const Report& report = reports[first];
    InspectorSection section{std::string(name_of(report.weight)), {}, ""};
    section.lines.emplace_back("what", report.sentence);
    if (!report.expected.empty()) section.lines.emplace_back("expected", report.expected);
    if (!report.found.empty()) section.lines.emplace_back("found", report.found);
    section.lines.emplace_back("where", text(report.site));
    section.links.push_back({"go there", "", fmt::format("go report {}", first), false});
    if (group.times > 1) section.lines.emplace_back("seen", text_of_counts(group));
    out.push_back(std::move(section));
  }
}

// Of the line that is looked at, in the whole run: nothing before there was one.
void add_line(const Session& session, std::vector<InspectorSection>& out) {
  const ViewState& state = session.state;
  if (state.view != ViewName::source || !state.live || !state.result || !state.result->record) {
    return;
  }
  const auto line = line_looked_at(*state.live, state.spot);
  if (!line) return;
  const sim::Record& record = *state.result->record;
  const sim::LineCounters counters = counters_of(record, *state.live, *line);
  if (!counters.issued) return;
  const char* of = line->file.empty() ? "PTX line" : "Line";
  Lines lines = inspect(counters, record.timed);
  if (std::string each = accesses_of(*state.live, *line); !each.empty()) {
    lines.insert(lines.begin(), {"loads and stores", std::move(each)});
  }
  out.push_back({fmt::format("{} {}, whole run", of, line->line), std::move(lines), ""});
}

// What is selected in the timeline, and how to come to where it happened.
void add_event(const Session& session, std::vector<InspectorSection>& out) {
  const auto event = selected_event(session);
  if (!event) return;
  InspectorSection section{"Selected in the timeline", {}, ""};
  section.lines.emplace_back("what", event->sentence);
  section.lines.emplace_back("when", event->when);
  if (!event->command.empty()) {
    section.links.push_back({"go there", event->command, event->command, false});
  }
  out.push_back(std::move(section));
}

// The moment without its seconds, which stand in the view; those of the whole run are in its time
// (core/profile/run_time.h).
std::string cycle_text(const LiveRun& run) {
  const std::string when = moment_text(run);
  return when.substr(0, when.find(" ("));
}

}  // namespace

void inspect_machine(const Session& session, std::vector<InspectorSection>& out) {
  const sim::Machine* machine = machine_of(session);
  if (!machine) return;
  const RunCursor& spot = session.state.spot;
  add_reports(*machine, out);
  add_event(session, out);
  const auto warps = sim::warps_of(*machine, spot.block);
  add_barrier(*machine, spot, out);
  if (spot.warp < warps.size()) out.push_back(warp_section(session, warps[spot.warp]));
  add_line(session, out);
  if (!warps.empty()) out.push_back(warps_section(warps, spot));
  if (!warps.empty()) return;
  out.push_back({fmt::format("CTA {}", spot.block),
                 {},
                 fmt::format("It {} here: nothing of it can be shown.",
                             state_of_block(*machine, spot.block))});
}

Strip machine_strip(const Session& session) {
  Strip out;
  // The CTA that is looked at goes on being so, as long as it is there or still to come.
  const sim::Machine* stands = machine_of(session);
  const std::uint64_t block = session.state.spot.block;
  const bool gone = stands && sim::warps_of(*stands, block).empty() &&
                    stands->has_exited(stands->cluster_number(block));
  const std::string whose = gone ? "" : fmt::format(" block {}", block);
  out.actions = {{"Back", "step back", false},
                 {"Step", "step", false},
                 {"Line back", "step back line", false},
                 {"Line", "step line", false},
                 {"Barrier back", "step back barrier" + whose, false},
                 {"Barrier", "step barrier" + whose, false}};
  if (seeking(session)) {
    out.share = seek_share(session).value_or(0);
    out.progress = session.state.live ? moment_text(*session.state.live) : "loading";
    out.steps.push_back({"Going", session.seek ? session.seek->line : "", true});
    return out;
  }
  const ViewState& state = session.state;
  if (!state.live) {
    out.steps.push_back({"Now", "before the first instruction", true});
    return out;
  }
  const sim::Stepper& stepper = state.live->stepper;
  const sim::Machine& machine = stepper.machine();
  out.steps.push_back({"Start", machine.times() ? "cycle 0" : "nothing executed",
                       machine.position() == 0, "go start"});
  if (machine.position() > 0 && machine.state() == RunState::running) {
    out.steps.push_back({"Now at", cycle_text(*session.state.live), true});
  }
  const bool at_end = machine.state() != RunState::running;
  const std::string end = at_end ? (machine.state() == RunState::fault ? "fault at " : "") +
                                       cycle_text(*session.state.live)
                          : stepper.ending()
                              ? (*stepper.ending() == RunState::fault ? "a fault" : "all exit")
                              : "not known yet";
  out.steps.push_back({"End", end, at_end, "go end"});
  return out;
}

}  // namespace tilescope
