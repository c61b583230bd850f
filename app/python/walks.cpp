#include "app/python/walks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "app/heartbeat.h"
#include "app/python/values.h"
#include "core/sim/stepping/step_words.h"
#include "viz/machine/machine_scene.h"

namespace tilescope::python {
namespace {

using sim::StepBy;

constexpr std::uint64_t copies = std::uint64_t{512} << 20;  // bytes of checkpoints

// All of the way that has begun, without the GIL; Ctrl-C leaves the machine where it is.
void arrive(Walk& walk) {
  const nb::gil_scoped_release released;
  Pieces pieces;
  for (;;) {
    const auto from = std::chrono::steady_clock::now();
    const std::uint64_t piece = pieces.next();
    if (walk.live.stepper.go_on(piece) != sim::Arrival::going) return;
    pieces.took(piece, std::chrono::steady_clock::now() - from);
    const nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

template <class Begin>
void go(Walk& walk, Begin begin) {
  if (walk.moving) refuse("Another thread moves this Stepper: one at a time.");
  struct Moving {
    bool& flag;
    explicit Moving(bool& moves) : flag(moves) { flag = true; }
    ~Moving() { flag = false; }
  } moving(walk.moving);
  begin(walk.live.stepper);
  arrive(walk);
}

StepBy step_by(const std::string& word) {
  for (const sim::StepWord& each : sim::step_words) {
    if (each.word == word) return each.by;
  }
  refuse(fmt::format("by=\"{}\": {}.", word, sim::all_step_words()));
}

// Who did what it stopped for is looked at.
void follow(Walk& walk) {
  const sim::Stepper& stepper = walk.live.stepper;
  if (const auto report = stepper.report_here()) {
    const Site& site = stepper.known_reports()[*report].site;
    const Dim3& grid = walk.machine().launch().grid;
    walk.spot.block = site.block.x +
                      std::uint64_t{grid.x} * (site.block.y + std::uint64_t{grid.y} * site.block.z);
    walk.spot.warp = site.warp;
    return;
  }
  const auto& reason = stepper.reason();
  if (!reason) return;
  if (reason->what == sim::Happening::instruction || reason->what == sim::Happening::line) {
    const sim::Executed& last = walk.machine().last_executed();
    const bool at_hand =
        reason->warp == sim::Happened::at_hand || reason->what == sim::Happening::instruction;
    walk.spot.block = at_hand ? last.block : reason->block;
    walk.spot.warp = at_hand ? last.warp : reason->warp;
    return;
  }
  walk.spot.block = reason->block;
  if (reason->what != sim::Happening::phase && reason->warp != sim::Happened::at_hand) {
    walk.spot.warp = reason->warp;
  }
}

bool has_source_lines(const sim::Machine& machine) {
  const auto& code = machine.program().code;
  return std::any_of(code.begin(), code.end(), [](const auto& each) { return each.source_line; });
}

[[noreturn]] void no_time(nb::handle at) {
  refuse(fmt::format("at={}: {}.", about(at), what_at_is));
}

double cycles_in(const Walk& walk, nb::handle at, std::string_view word) {
  const std::size_t digits = std::min(word.find_first_not_of("0123456789.,_"), word.size());
  std::string number(word.substr(0, digits));
  std::erase_if(number, [](char c) { return c == ',' || c == '_'; });
  const std::string_view unit = word.substr(digits);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (number.empty() || *end) no_time(at);
  if (unit.empty()) return value;
  const double seconds = unit == "ns" ? 1e-9 : unit == "us" ? 1e-6 : unit == "ms" ? 1e-3 : 0;
  if (seconds == 0) no_time(at);
  const double clock = clock_of(walk.live);
  if (!(clock > 0)) {
    refuse(fmt::format(
        "at={}: this run has no clock (its schedule is another one): its time is counted in "
        "instructions, 1200.",
        about(at)));
  }
  return value * seconds * clock * 1e9;
}

}  // namespace

std::shared_ptr<Walk> walk_of(const Run& run) {
  if (!run.replay) {
    refuse(
        "This run has not kept how it began: launch(..., record=True) keeps it, and run(..., "
        "record=True).");
  }
  sim::CheckpointLimits limits;
  limits.bytes = copies;
  return std::make_shared<Walk>(
      Walk{run.replay, LiveRun(sim::Stepper(run.replay->machine(), limits)), {}});
}

void step(Walk& walk, std::int64_t n, const std::string& by, bool back) {
  if (n < 1 || n > 1'000'000'000) {
    refuse(fmt::format("{}: n={}: a number of steps from 1 on.", back ? "back" : "forward", n));
  }
  sim::Step step;
  step.by = step_by(by);
  step.back = back;
  step.count = static_cast<std::uint64_t>(n);
  if (step.by == StepBy::line && !has_source_lines(walk.machine())) step.by = StepBy::instruction;
  // Of the warp looked at; where that has exited, of its CTA.
  if (step.by == StepBy::instruction || step.by == StepBy::line) {
    const auto warps = sim::warps_of(walk.machine(), walk.spot.block);
    const bool begun = state_of_block(walk.machine(), walk.spot.block) != "has not begun";
    if (back || !begun || !warps.empty()) step.block = walk.spot.block;
    if (back || !begun || (walk.spot.warp < warps.size() && warps[walk.spot.warp].live)) {
      step.warp = walk.spot.warp;
    }
  }
  go(walk, [&](sim::Stepper& stepper) { stepper.step(step); });
  follow(walk);
}

void go_to(Walk& walk, nb::handle at) {
  if (PyUnicode_Check(at.ptr())) {
    const std::string_view text = text_in(at);
    if (text == "start") return go(walk, [](sim::Stepper& s) { s.to_the_beginning(); });
    if (text == "end") return go(walk, [](sim::Stepper& s) { s.to_the_end(); });
    for (const std::string_view word : {"instruction ", "position ", "report "}) {
      if (!text.starts_with(word)) continue;
      const std::string_view rest = text.substr(word.size());
      if (rest.empty() || rest.size() > 18 || rest.find_first_not_of("0123456789") != rest.npos) {
        no_time(at);
      }
      const std::uint64_t number = std::stoull(std::string(rest));
      return go(walk, [&](sim::Stepper& s) {
        if (word[0] == 'i') {
          s.go_to_instruction(number);
        } else if (word[0] == 'p') {
          s.go_to(number);
        } else {
          s.go_to_report(static_cast<std::uint32_t>(std::min<std::uint64_t>(number, 0xffff)));
        }
      });
    }
    const double cycle = cycles_in(walk, at, text);
    return go(walk, [&](sim::Stepper& s) { s.go_to_cycle(cycle); });
  }
  double cycle = 0;
  if (PyFloat_Check(at.ptr())) {
    cycle = PyFloat_AS_DOUBLE(at.ptr());
  } else if (PyBool_Check(at.ptr()) || !PyIndex_Check(at.ptr())) {
    no_time(at);
  } else {
    cycle = static_cast<double>(number_of(at));
  }
  if (!(cycle >= 0) || cycle > 1e15) no_time(at);
  go(walk, [&](sim::Stepper& s) { s.go_to_cycle(cycle); });
}

std::uint64_t block_in(const sim::Machine& machine, nb::handle block) {
  const Dim3& grid = machine.launch().grid;
  const std::uint64_t all = grid.count();
  const auto wrong = [&] {
    refuse(
        fmt::format("block={}: the grid is ({},{},{}); a CTA is its number, from 0 to {}, or (x, "
                    "y, z).",
                    about(block), grid.x, grid.y, grid.z, all - 1));
  };
  if (!PyTuple_Check(block.ptr())) {
    const std::int64_t number = number_of(block);
    if (number < 0 || static_cast<std::uint64_t>(number) >= all) wrong();
    return static_cast<std::uint64_t>(number);
  }
  const std::uint64_t sides[] = {grid.x, grid.y, grid.z};
  std::uint64_t out = 0, times = 1;
  std::size_t i = 0;
  for (const nb::handle each : nb::iter(block)) {
    const std::int64_t at = i < 3 ? number_of(each) : -1;
    if (at < 0 || static_cast<std::uint64_t>(at) >= sides[i]) wrong();
    out += static_cast<std::uint64_t>(at) * times;
    times *= sides[i++];
  }
  if (i == 0) wrong();
  return out;
}

nb::object tuple_of_block(const sim::Machine& machine, std::uint64_t block) {
  const Dim3& grid = machine.launch().grid;
  return nb::make_tuple(block % grid.x, block / grid.x % grid.y, block / grid.x / grid.y);
}

std::uint32_t warp_in(const sim::Machine& machine, std::int64_t warp) {
  const std::uint64_t all = (machine.launch().block.count() + 31) / 32;
  if (warp < 0 || static_cast<std::uint64_t>(warp) >= all) {
    refuse(fmt::format("warp={}: a CTA has warps 0 to {}.", warp, all - 1));
  }
  return static_cast<std::uint32_t>(warp);
}

}  // namespace tilescope::python
