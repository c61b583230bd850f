// Going through a run in both directions, and whose state is looked at.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "core/sim/stepping/step_words.h"
#include "viz/machine/breakpoints.h"
#include "viz/scene/command_text.h"
#include "viz/session/diff_walk.h"
#include "viz/session/seek.h"
#include "viz/session/timeline_spot.h"

namespace tilescope {
namespace {

using sim::StepBy;
using sim::StepWord;

constexpr std::uint64_t most_steps = 1'000'000'000;

std::optional<std::uint64_t> count_in(std::string_view word) {
  const auto number = number_in(word);
  if (!number || *number < 0) return {};
  return static_cast<std::uint64_t>(*number);
}

// Who a pair of words names: "block 3", "warp 2".
std::optional<Error> read_who(const std::vector<std::string>& words, std::size_t& i,
                              std::string_view command, std::optional<std::uint64_t>& out) {
  const std::string& name = words[i];
  const auto number = i + 1 < words.size() ? count_in(words[i + 1]) : std::nullopt;
  if (!number) {
    return usage_error(fmt::format("`{} {}` needs a number, counted from 0: `{} {} 2`.", command,
                                   name, command, name));
  }
  out = *number;
  ++i;
  return {};
}

struct Asked {
  sim::Step step;
  bool by_said = false;
  std::optional<std::uint64_t> block, warp;
  std::string on;  // which mbarrier: its name or byte; empty: any
};

Outcome<Asked> read_step(std::string_view arguments) {
  Asked out;
  const std::vector<std::string> words = split_words(arguments);
  bool counted = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (i == 0 && word == "back") {
      out.step.back = true;
      continue;
    }
    if (word == "on") {
      if (i + 1 == words.size()) {
        return usage_error(
            "`step on` needs an mbarrier's name or byte: `step barrier on full[0]`.");
      }
      out.on = words[++i];
      continue;
    }
    if (word == "block" || word == "warp") {
      auto& whose = word == "block" ? out.block : out.warp;
      if (const auto error = read_who(words, i, "step", whose)) return *error;
      continue;
    }
    if (const auto number = count_in(word); number && !counted) {
      if (*number < 1 || *number > most_steps) {
        return usage_error(fmt::format("`step` takes a number of steps from 1 on; not {}.", word));
      }
      out.step.count = *number;
      counted = true;
      continue;
    }
    const auto known = std::find_if(sim::step_words.begin(), sim::step_words.end(),
                                    [&](const StepWord& each) { return each.word == word; });
    if (known == sim::step_words.end() || out.by_said) {
      return usage_error(
          fmt::format("`step` takes back, then one of {}, then how many, and whose (block B, warp "
                      "W; `on NAME`: which mbarrier); `{}` is none of these.",
                      sim::all_step_words(), word));
    }
    out.step.by = known->by;
    out.by_said = true;
  }
  return out;
}

bool has_mbarriers(const sim::Machine& machine) {
  const auto& code = machine.program().code;
  return std::any_of(code.begin(), code.end(), [](const auto& instruction) {
    return instruction.text.find("mbarrier") != std::string_view::npos;
  });
}

bool has_source_lines(const sim::Machine& machine) {
  const auto& code = machine.program().code;
  return std::any_of(code.begin(), code.end(),
                     [](const auto& instruction) { return instruction.source_line != 0; });
}

bool is_alive(const sim::Machine& machine, const RunCursor& spot) {
  const auto warps = sim::warps_of(machine, spot.block);
  if (warps.empty()) return !machine.has_exited(machine.cluster_number(spot.block));  // to come
  return spot.warp < warps.size() && warps[spot.warp].live;
}

// There is such a block of the grid and such a warp in it.
std::optional<Error> wrong_place(const sim::Machine& machine, std::uint64_t block,
                                 std::uint64_t warp) {
  const Launch& launch = machine.launch();
  const std::uint64_t blocks = launch.grid.count(), warps = (launch.block.count() + 31) / 32;
  if (block >= blocks) {
    return Error{ErrorKind::mismatch,
                 fmt::format("There is no CTA {}: the grid has {}, counted from 0.", block, blocks),
                 ""};
  }
  if (warp >= warps) {
    return Error{ErrorKind::mismatch,
                 fmt::format("There is no warp {}: a CTA has {}, counted from 0.", warp, warps),
                 ""};
  }
  return {};
}

Error no_barrier(const sim::Machine& machine, std::string_view command, std::string_view said) {
  std::string some;
  for (const auto& each : machine.barrier_names()) {
    some += fmt::format("{}{}", some.empty() ? "" : ", ", each.second);
  }
  return usage_error(fmt::format("`{} {}`: an mbarrier is named by its byte of shared memory{}{}.",
                                 command, said,
                                 some.empty() ? "" : ", or as the kernel calls it: ", some));
}

Answer run_step(Session& session, Backend& backend, std::string_view arguments) {
  auto asked = read_step(arguments);
  if (!asked) return asked.error();
  const auto live = live_run(session, backend);
  if (!live) return live.error();
  const sim::Machine& machine = (*live)->stepper.machine();
  const RunCursor& spot = session.state.spot;
  if (const auto error = wrong_place(machine, asked->block.value_or(spot.block),
                                     asked->warp.value_or(spot.warp))) {
    return *error;
  }
  sim::Step& step = asked->step;
  step.block = asked->block;
  if (asked->warp) step.warp = static_cast<std::uint32_t>(*asked->warp);
  if (!asked->on.empty()) {
    step.object = barrier_in(machine.barrier_names(), asked->on);
    if (!step.object) return no_barrier(machine, "step barrier on", asked->on);
  }
  if (step.warp && !step.block) step.block = spot.block;
  const bool of_a_warp = step.by == StepBy::instruction || step.by == StepBy::line;
  if (of_a_warp && !step.block && !step.warp && is_alive(machine, spot)) {
    step.block = spot.block;
    step.warp = spot.warp;
  } else if (of_a_warp && !step.block && !step.warp &&
             !sim::warps_of(machine, spot.block).empty()) {
    step.block = spot.block;  // its warp has exited: another one of the CTA
  }
  if (step.by == StepBy::phase && !has_mbarriers(machine)) step.by = StepBy::barrier;
  const bool by_ptx = step.by == StepBy::line && !has_source_lines(machine);
  if (by_ptx) step.by = StepBy::instruction;
  const std::string line = arguments.empty() ? "step" : fmt::format("step {}", arguments);
  Answer gone = begin_seek(session, backend, line, [&](sim::Stepper& s) { s.step(step); });
  if (gone && by_ptx) *gone += " This PTX names no lines of a source: a line is an instruction.";
  return gone;
}

// Cycles; with a unit of time, by the chip's clock.
Outcome<double> cycle_in(std::string_view word, const sim::Machine& machine) {
  double value = 0;
  std::size_t used = 0;
  {
    // No floating from_chars on the web: digits by hand, one point.
    double scale = 0;
    for (; used < word.size(); ++used) {
      const char c = word[used];
      if (c == '.' && scale == 0) {
        scale = 1;
      } else if (c >= '0' && c <= '9') {
        value = value * 10 + (c - '0');
        if (scale > 0) scale *= 10;
      } else if (c != ',' && c != '_') {
        break;
      }
    }
    if (scale > 1) value /= scale;
  }
  const std::string_view unit = word.substr(used);
  if (used == 0 || word.front() == '.' || word.front() == ',') {
    return usage_error(fmt::format("`{}` is no time: `go 1200` (cycles) or `go 1.2us`.", word));
  }
  if (unit.empty()) return value;
  const double seconds = unit == "ns" ? 1e-9 : unit == "us" ? 1e-6 : unit == "ms" ? 1e-3 : 0;
  if (seconds == 0) {
    return usage_error(fmt::format("`{}`: a time is in cycles (no unit), ns, us or ms.", word));
  }
  const DeviceTimes* times = machine.times();
  if (!times || !(times->clock > 0)) {
    return Error{ErrorKind::mismatch,
                 "This run has no clock (its schedule is randomised): its time is counted in "
                 "instructions: `go 1200`.",
                 ""};
  }
  return value * seconds * times->clock * 1e9;
}

Answer run_go(Session& session, Backend& backend, std::string_view arguments) {
  const auto live = live_run(session, backend);
  if (!live) return live.error();
  const auto [word, rest] = first_word(arguments);
  if (word == "write" && (rest.empty() || rest == "next")) {
    return go_to_write(session, backend, !rest.empty());
  }
  const std::string line = fmt::format("go {}", arguments);
  const auto way = [&](const std::function<void(sim::Stepper&)>& begin) {
    return begin_seek(session, backend, line, begin);
  };
  if (arguments == "start") return way([](sim::Stepper& s) { s.to_the_beginning(); });
  if (arguments == "end") return way([](sim::Stepper& s) { s.to_the_end(); });
  if (word == "report") {
    const auto number = count_in(rest);
    if (!number || *number > 0xffff) {
      return usage_error("`go report` needs a number, counted from 0: `go report 0`.");
    }
    return way([&](sim::Stepper& s) { s.go_to_report(static_cast<std::uint32_t>(*number)); });
  }
  if (word == "position" || word == "instruction") {
    const auto number = count_in(rest);
    if (!number) return usage_error(fmt::format("`go {}` needs a number.", word));
    const bool position = word == "position";
    return way(
        [&](sim::Stepper& s) { position ? s.go_to(*number) : s.go_to_instruction(*number); });
  }
  if (word.empty() || !rest.empty()) {
    return usage_error(
        "`go` takes a time (`go 1200` in cycles, `go 1.2us`), start, end, instruction N, "
        "position N, report N or write.");
  }
  const auto cycle = cycle_in(word, (*live)->stepper.machine());
  if (!cycle) return cycle.error();
  return way([&](sim::Stepper& s) { s.go_to_cycle(*cycle); });
}

std::optional<RunCursor::Cell> cell_in(std::string_view word) {
  const std::size_t comma = word.find(',');
  if (comma == std::string_view::npos) return {};
  const auto lane = count_in(word.substr(0, comma)), column = count_in(word.substr(comma + 1));
  if (!lane || !column || *lane >= 128 || *column >= 512) return {};
  return RunCursor::Cell{static_cast<std::uint32_t>(*lane), static_cast<std::uint32_t>(*column)};
}

// "%r5" is said in full: what there is, by the letters that it begins with.
std::optional<Error> no_register(const ptx::Program& program, const std::string& name) {
  std::map<std::string, std::uint32_t> kinds;  // "%r" and how many
  for (std::uint32_t r = 0; r < program.registers.size(); ++r) {
    if (program.name_of_register(r) == name) return {};
    ++kinds[std::string(program.registers[r].name)];
  }
  std::string some;
  constexpr std::size_t most = 6;
  for (const auto& [kind, count] : kinds) {
    if (kind.empty() || count < 2) continue;  // special ones, and names of their own
    if (std::count(some.begin(), some.end(), ',') + 1 >= static_cast<std::ptrdiff_t>(most)) break;

    some += fmt::format("{}{} ({} of them)", some.empty() ? "" : ", ", kind, count);
  }
  return Error{ErrorKind::unknown,
               fmt::format("There is no register {}: this kernel's are called {} and a number, as "
                           "the registers view lists them.",
                           name, some.empty() ? "as the PTX declares them" : some),
               ""};
}

// `look byte none`: true where there is such a place to look away from.
bool look_away(RunCursor& spot, const std::string& what) {
  if (what == "line") spot.line.reset();
  if (what == "byte") spot.byte.reset();
  if (what == "mbarrier") spot.barrier.reset();
  if (what == "cell") spot.cell.reset();
  if (what == "register") spot.name.clear();
  if (what == "report") spot.report.reset();
  return what == "line" || what == "byte" || what == "mbarrier" || what == "cell" ||
         what == "register" || what == "report";
}

std::optional<Error> look_at(RunCursor& spot, const LiveRun& run, const std::string& what,
                             const std::string& value) {
  if (value == "none" && look_away(spot, what)) return {};
  const sim::Machine& machine = run.stepper.machine();
  const auto wrong = [&](std::string_view wanted) {
    return usage_error(fmt::format("`look {} {}`: {}.", what, value, wanted));
  };
  const auto number = count_in(value);
  if (what == "block" || what == "warp" || what == "lane") {
    if (!number) return wrong("a number is missing, counted from 0");
    if (what == "lane") {
      if (*number >= 32) return wrong("a warp has lanes 0 to 31");
      spot.lane = static_cast<std::uint32_t>(*number);
      return {};
    }
    const std::uint64_t block = what == "block" ? *number : spot.block;
    const std::uint64_t warp = what == "warp" ? *number : spot.warp;
    if (auto error = wrong_place(machine, block, warp)) return error;
    spot.block = block;
    spot.warp = static_cast<std::uint32_t>(warp);
    return {};
  }
  if (what == "line") {
    if ((spot.line = source_line_in(value, run.places.files))) return {};
    const auto line = source_line_with(value, run);
    if (!line) return line.error();
    spot.line = *line;
    return {};
  }
  if (what == "mbarrier") {
    const auto byte = barrier_in(machine.barrier_names(), value);
    if (!byte || *byte >= machine.options().shared_limit) {
      return no_barrier(machine, "look mbarrier", value);
    }
    spot.barrier = *byte;
    return {};
  }
  if (what == "byte") {
    const std::uint64_t room = machine.options().shared_limit;
    if (!number || *number >= room) {
      return wrong(fmt::format("a byte of shared memory is a number below {}", room));
    }
    spot.byte = static_cast<std::uint32_t>(*number);
    return {};
  }
  if (what == "cell") {
    spot.cell = cell_in(value);
    if (!spot.cell) return wrong("a cell of TMEM is LANE,COLUMN, below 128 and 512");
    return {};
  }
  if (what == "register") {
    if (auto error = no_register(machine.program(), value)) return *error;
    spot.name = value;
    return {};
  }
  if (what == "report") {
    if (!number || *number > 0xffff) return wrong("a report is a number, counted from 0, or none");
    spot.report = static_cast<std::uint32_t>(*number);
    if (run.stepper.ending() && !report_looked_at(run, spot)) {
      const std::size_t told = run.stepper.known_reports().size();
      return wrong(told ? fmt::format("there are {}, counted from 0", told)
                        : "the run tells no report");
    }
    return {};
  }
  return usage_error(fmt::format(
      "`look` takes block, warp, lane, line, byte, mbarrier, cell, register or report, each with "
      "what it is; `{}` is none of these.",
      what));
}

// The view to look in: `look byte 1024 in memory`.
std::optional<Error> look_in(ViewName& view, const std::string& name) {
  for (const ViewName each : {ViewName::source, ViewName::registers, ViewName::barriers,
                              ViewName::memory, ViewName::tmem, ViewName::matrices}) {
    if (name != name_of(each)) continue;
    view = each;
    return {};
  }
  return usage_error(
      fmt::format("`look ... in {}`: the views to look in are source, registers, barriers, memory, "
                  "tmem and matrices.",
                  name));
}

Answer run_look(Session& session, Backend& backend, std::string_view arguments) {
  const auto live = live_run(session, backend);
  if (!live) return live.error();
  const std::vector<std::string> words = split_words(arguments);
  if (arguments == "nothing") {
    session.state.spot = {};
    session.scrolls.clear();
    return std::string("Looking at CTA 0, and at no place of it.");
  }
  if (words.empty() || words.size() % 2) {
    return usage_error("`look` takes what and which: `look block 3 warp 1 lane 5`.");
  }
  RunCursor spot = session.state.spot;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    if (words[i] == "in") {
      if (auto error = look_in(session.state.view, words[i + 1])) return *error;
      continue;
    }
    if (auto error = look_at(spot, **live, words[i], words[i + 1])) {
      return *error;
    }
  }
  session.state.spot = spot;
  session.scrolls.clear();
  bool line = false;
  for (std::size_t i = 0; i < words.size(); i += 2) line = line || words[i] == "line";
  show_spot(session, line);
  return fmt::format("Looking at{}.",
                     look_words(spot, &(*live)->stepper.machine().barrier_names()));
}

std::vector<Suggestion> suggest_steps(const Session&, const Backend&) {
  std::vector<Suggestion> out;
  for (const std::string_view back : {"", "back "}) {
    for (const StepWord& each : sim::step_words) {
      out.push_back(
          {fmt::format("{}{}", back, each.word),
           back.empty() ? std::string(each.help) : fmt::format("back to where {}", each.help)});
    }
  }
  return out;
}

constexpr std::array kWalkCommands = {
    WindowCommand{
        "step",
        "[back] [instruction | line | barrier | sync | cluster | copy | mma | fault | report | "
        "moment] [N] [block B] [warp W] [on NAME]",
        "goes through the run, forwards or back, until something happens", "step barrier 3",
        "F10 line, Shift+F10 back line, F11 instruction, Shift+F11 back instruction", run_step,
        suggest_steps},
    WindowCommand{"go",
                  "CYCLES | 1.2us | start | end | instruction N | position N | report N | "
                  "write [next]",
                  "goes to a time of the run", "go 1200", "", run_go, nullptr, true},
    WindowCommand{
        "look",
        "block B | warp W | lane L | line FILE:N | line FILE:\"TEXT\" | byte N | mbarrier NAME "
        "| cell LANE,COLUMN | register NAME | report N (or none) | in VIEW | nothing",
        "looks at a CTA, a warp, a place: all views show it", "look block 0 warp 1", "", run_look,
        nullptr, true},
};

}  // namespace

std::span<const WindowCommand> walk_commands() {
  return kWalkCommands;
}

}  // namespace tilescope
