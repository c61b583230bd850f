// Breakpoints, and going on to them.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "viz/scene/command_text.h"
#include "viz/session/seek.h"

namespace tilescope {
namespace {

// As the reader names it: an mbarrier by its name, where it has one.
std::string told(const Breakpoint& breakpoint, const sim::Machine& machine) {
  if (breakpoint.at != Breakpoint::At::mbarrier) return text(breakpoint);
  Breakpoint unnamed = breakpoint;
  unnamed.offset = 0;
  return barrier_text(machine.barrier_names(), breakpoint.offset) +
         text(unnamed).substr(std::string_view("mbarrier 0").size());
}

Answer list_breaks(const std::vector<Breakpoint>& all, const sim::Machine& machine) {
  if (all.empty()) return std::string("There is no breakpoint: `break line FILE:N` sets one.");
  std::string out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    out += fmt::format("{}{} {}", i ? "; " : "", i + 1, told(all[i], machine));
  }
  return fmt::format("{} breakpoint{}: {}.", all.size(), all.size() == 1 ? "" : "s", out);
}

Answer remove_break(std::vector<Breakpoint>& all, std::string_view word,
                    const sim::Machine& machine) {
  const auto number = number_in(word);
  if (!number || *number < 1 || static_cast<std::uint64_t>(*number) > all.size()) {
    return usage_error(
        all.empty() ? std::string("There is no breakpoint to remove.")
                    : fmt::format("`break remove` takes a number from 1 to {}, of those that "
                                  "`break list` lists.",
                                  all.size()));
  }
  const auto at = all.begin() + static_cast<std::ptrdiff_t>(*number - 1);
  const std::string gone = told(*at, machine);
  all.erase(at);
  return fmt::format("No breakpoint any more: {}.", gone);
}

Answer run_break(Session& session, Backend& backend, std::string_view arguments) {
  std::vector<Breakpoint>& all = session.state.breakpoints;
  if (arguments == "clear") {
    if (all.empty()) return std::string("There is no breakpoint.");
    all.clear();
    return std::string("All breakpoints are gone.");
  }
  const auto live = live_run(session, backend);
  if (!live) return live.error();
  const sim::Machine& machine = (*live)->stepper.machine();
  if (arguments == "list") return list_breaks(all, machine);
  const auto [what, which] = first_word(arguments);
  if (what == "remove") return remove_break(all, which, machine);
  auto asked = read_breakpoint(arguments, **live);
  if (!asked) return asked.error();
  if (const auto found = std::find(all.begin(), all.end(), *asked); found != all.end()) {
    all.erase(found);
    return fmt::format("No breakpoint any more: {}.", told(*asked, machine));
  }
  all.push_back(*asked);
  // What cannot be watched is refused at once.
  if (const auto stops = stops_at(all, machine); !stops) return stops.error();
  return fmt::format("`continue` stops at {}.", told(*asked, machine));
}

Answer go_to_breaks(Session& session, Backend& backend, const std::vector<Breakpoint>& all,
                    bool back, std::string line) {
  const auto live = live_run(session, backend);
  if (!live) return live.error();
  auto stops = stops_at(all, (*live)->stepper.machine());
  if (!stops) return stops.error();
  sim::Step step;
  step.by = sim::StepBy::breakpoint;
  step.back = back;
  step.breaks = std::move(*stops);
  return begin_seek(session, backend, std::move(line), [&](sim::Stepper& s) { s.step(step); });
}

Answer run_continue(Session& session, Backend& backend, std::string_view arguments) {
  if (!arguments.empty() && arguments != "back")
    return usage_error("`continue` takes back, or nothing.");
  const std::vector<Breakpoint>& all = session.state.breakpoints;
  const bool back = arguments == "back";
  if (all.empty() && session.state.kernel) {
    // Without breakpoints there are still the ends of the run.
    return begin_seek(session, backend, fmt::format("continue{}", back ? " back" : ""),
                      [&](sim::Stepper& s) { back ? s.to_the_beginning() : s.to_the_end(); });
  }
  return go_to_breaks(session, backend, all, back, fmt::format("continue{}", back ? " back" : ""));
}

// To the line that is looked at, or the one that is said.
Answer run_to(Session& session, Backend& backend, std::string_view arguments) {
  auto [where, rest] = first_word(arguments);
  const bool back = where == "back";
  const std::string_view word = back ? rest : arguments;
  const auto live = live_run(session, backend);
  if (!live) return live.error();
  Breakpoint line;
  if (word.empty() && session.state.spot.line) {
    line.line = *session.state.spot.line;
  } else if (const auto said = source_line_in(word, (*live)->places.files)) {
    line.line = *said;
  } else {
    return usage_error(
        "`to` takes a line, `to hgemm_v7.cu:100`; without one it goes to the "
        "line "
        "that is looked at.");
  }
  return go_to_breaks(session, backend, {line}, back,
                      fmt::format("to {}{}", back ? "back " : "", text(line.line)));
}

std::vector<Suggestion> suggest_breaks(const Session& session, const Backend&) {
  std::vector<Suggestion> out;
  for (const Breakpoint& each : session.state.breakpoints) {
    out.push_back({text(each), "takes this breakpoint away"});
  }
  if (session.state.spot.line) {
    out.push_back({"line " + text(*session.state.spot.line), "the line that is looked at"});
  }
  if (session.state.spot.barrier && session.state.live) {
    const BarrierNames& names = session.state.live->stepper.machine().barrier_names();
    const std::uint32_t byte = *session.state.spot.barrier;
    const auto name = names.find(byte);
    out.push_back(
        {fmt::format("mbarrier {}", name == names.end() ? fmt::format("{}", byte) : name->second),
         "the mbarrier that is looked at"});
  }
  out.push_back({"list", "lists all breakpoints"});
  out.push_back({"clear", "takes all breakpoints away"});
  return out;
}

constexpr std::array kBreakCommands = {
    WindowCommand{"break",
                  "line FILE:N | mbarrier NAME [phase P] [block B] | byte N [block B] | element "
                  "NAME N | list | remove N | clear",
                  "sets a breakpoint, or takes it away", "break mbarrier 0", "", run_break,
                  suggest_breaks, true},
    WindowCommand{"continue", "[back]", "goes on to the next breakpoint, a fault, or the end",
                  "continue", "F8, Shift+F8 back", run_continue},
    WindowCommand{"to", "[back] [FILE:N]", "goes on until a warp comes to a line", "to ptx:13",
                  "Ctrl+F10", run_to},
};

}  // namespace

std::span<const WindowCommand> break_commands() {
  return kBreakCommands;
}

}  // namespace tilescope
