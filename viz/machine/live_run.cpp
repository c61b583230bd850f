#include "viz/machine/live_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/sim/time/reached.h"
#include "viz/machine/machine_scene.h"
#include "viz/scene/number_words.h"
#include "viz/scene/time_words.h"

namespace tilescope {
namespace {

using sim::Happened;
using sim::Happening;

std::string what_happened(const Happened& h, const sim::Machine& machine) {
  const std::string whose = fmt::format("CTA {}", h.block);
  const auto instruction = [&] {
    const auto& code = machine.program().code;
    if (h.pc >= code.size()) return std::string();
    const std::string_view text = code[h.pc].text;
    return std::string(text.substr(0, text.find_first_of(" \t;")));
  };
  switch (h.what) {
    case Happening::copy:
    case Happening::product: {
      if (h.what == Happening::product && h.stage == sim::Stage::complete && h.number == 0) {
        return fmt::format("{} of {}, warp {}, is executed", instruction(), whose, h.warp);
      }
      const std::string_view became = h.stage == sim::Stage::issued     ? "is issued"
                                      : h.stage == sim::Stage::complete ? "is complete"
                                                                        : sim::name_of(h.stage);
      return fmt::format("{} {} of {}, warp {}, {}", instruction(), h.number, whose, h.warp,
                         became);
    }
    case Happening::phase: {
      for (const sim::MbarrierState& b : sim::mbarriers_of(machine, h.block)) {
        if (b.offset != h.object) continue;
        return fmt::format("Phase {} of {}, {}, is complete", h.number, b.name, whose);
      }
      return fmt::format("Phase {} of {} of {} is complete", h.number,
                         barrier_text(machine.barrier_names(), h.object), whose);
    }
    case Happening::barrier:
      return fmt::format("Barrier {} of {} is complete", h.object, whose);
    case Happening::cluster:
      return fmt::format("The barrier of the cluster of {} is complete", whose);
    case Happening::write:
      return fmt::format("Warp {} of {} has written what is watched", h.warp, whose);
    case Happening::report: {
      const auto& reports = machine.reports();
      return h.object < reports.size() ? reports[h.object].sentence : "";
    }
    case Happening::line:
    case Happening::instruction:
    case Happening::count_:
      break;
  }
  return "";
}

// The split that the lane looked at is in, else the first.
const sim::SplitState* split_of(const std::vector<sim::WarpState>& warps, const RunCursor& spot) {
  if (spot.warp >= warps.size() || warps[spot.warp].splits.empty()) return nullptr;
  return &warps[spot.warp].splits[sim::split_of_lane(warps[spot.warp], spot.lane)];
}

std::string warp_stands(const sim::Machine& machine, const RunCursor& spot) {
  const auto warps = sim::warps_of(machine, spot.block);
  const sim::SplitState* split = split_of(warps, spot);
  if (!split) {
    const std::string state = state_of_block(machine, spot.block);
    if (state != "resident") return fmt::format("CTA {} {}", spot.block, state);
    return fmt::format("CTA {}, warp {} has exited", spot.block, spot.warp);
  }
  std::string where = split->why.empty() ? "is at" : "waits at";
  std::string out = fmt::format("CTA {}, warp {} {} {}", spot.block, spot.warp, where, split->text);
  if (split->site.source_line) {
    out += fmt::format(" ({}:{})", split->site.source, split->site.source_line);
  }
  return out;
}

}  // namespace

SourcePlaces::SourcePlaces(const ptx::Program& program) {
  std::map<std::string_view, std::uint32_t> numbers;
  const auto number = [&](std::string_view file) {
    const auto [found, fresh] = numbers.try_emplace(file, static_cast<std::uint32_t>(files.size()));
    if (fresh) files.emplace_back(file);
    return found->second;
  };
  Place last;
  for (const ptx::Instruction& i : program.code) {
    if (i.caller_line) {
      last = {number(program.caller_file(i)), i.caller_line};
    } else if (i.source_line) {
      last = {number(program.source_file(i)), i.source_line};
    }
    of.push_back(last);
  }
  // What comes before the first known line belongs to that.
  std::size_t known = 0;
  while (known < of.size() && !of[known].line) ++known;
  for (std::size_t i = 0; i < known && known < of.size(); ++i) of[i] = of[known];
}

const Report* report_looked_at(const LiveRun& run, const RunCursor& spot) {
  if (!spot.report) return nullptr;
  const auto& told = run.stepper.machine().reports();
  if (*spot.report < told.size()) return &told[*spot.report];
  const auto& known = run.stepper.known_reports();
  return *spot.report < known.size() ? &known[*spot.report] : nullptr;
}

std::string look_words(const RunCursor& spot, const BarrierNames* names) {
  std::string out = fmt::format(" block {} warp {} lane {}", spot.block, spot.warp, spot.lane);
  if (spot.line) out += fmt::format(" line {}", text(*spot.line));
  if (spot.byte) out += fmt::format(" byte {}", *spot.byte);
  if (spot.barrier) {
    out += names ? " " + barrier_text(*names, *spot.barrier)
                 : fmt::format(" mbarrier {}", *spot.barrier);
  }
  if (spot.cell) out += fmt::format(" cell {},{}", spot.cell->lane, spot.cell->column);
  if (!spot.name.empty()) out += fmt::format(" register {}", spot.name);
  if (spot.report) out += fmt::format(" report {}", *spot.report);
  return out;
}

std::string text(const RunCursor::SourceLine& line) {
  return line.file.empty() ? fmt::format("ptx:{}", line.line)
                           : fmt::format("{}:{}", line.file, line.line);
}

double time_of(const sim::Machine& machine) {
  return machine.state() == RunState::done ? machine.end() : sim::time_reached(machine);
}

double clock_of(const LiveRun& run) {
  const DeviceTimes* times = run.stepper.machine().times();
  return !times ? 0 : run.clock > 0 ? run.clock : times->clock;
}

std::string moment_text(const LiveRun& run) {
  const sim::Machine& machine = run.stepper.machine();
  const double now = time_of(machine);
  const auto whole = static_cast<std::uint64_t>(std::llround(now));
  if (!machine.times()) return fmt::format("instruction {}", grouped(whole));
  const std::string seconds = seconds_text(now, clock_of(run));
  if (seconds.empty()) return fmt::format("cycle {}", grouped(whole));
  return fmt::format("cycle {} ({})", grouped(whole), seconds);
}

std::string standing_text(const LiveRun& run, const RunCursor& spot) {
  const sim::Stepper& stepper = run.stepper;
  const sim::Machine& machine = stepper.machine();
  const std::string when = moment_text(run);
  if (machine.state() == RunState::fault && !machine.reports().empty()) {
    return fmt::format("{} {}", machine.reports().back().sentence, when);
  }
  if (machine.state() == RunState::done) return fmt::format("All CTAs have exited; {}.", when);
  std::string out = stepper.reason() ? what_happened(*stepper.reason(), machine) : "";
  const std::string warp = warp_stands(machine, spot);
  out += (out.empty() ? "" : "; ") + warp;
  return fmt::format("{}; {}.", out, when);
}

}  // namespace tilescope
