#include "app/python/steppers.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cctype>
#include <optional>

#include "app/python/block_memory.h"
#include "app/python/values.h"
#include "app/python/walks.h"
#include "viz/machine/machine_scene.h"

namespace tilescope::python {
namespace {

struct Standing {
  std::string sentence, state;
  nb::object block;
  std::uint32_t warp = 0;
  double time = 0;
  std::uint64_t instructions = 0, position = 0;
  std::optional<Site> site;  // nothing: the warp is not there
  std::string instruction;
};

// Where a CTA that has not begun will.
std::optional<Site> first_site(const ptx::Program& program) {
  const ptx::Instruction& first = program.code.front();
  Site out;
  out.ptx_line = first.line;
  out.source = program.source_file(first);
  out.source_line = first.source_line;
  if (first.caller_line) out.caller = program.caller_file(first);
  out.caller_line = first.caller_line;
  return out;
}

Standing standing_of(const Walk& walk) {
  const sim::Machine& machine = walk.machine();
  Standing out;
  out.sentence = standing_text(walk.live, walk.spot);
  if (std::string story = walk.live.stepper.story(); !story.empty()) {
    story.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(story.front())));
    out.sentence += fmt::format(" {}.", story);
  }
  out.state = machine.state() == RunState::done    ? "done"
              : machine.state() == RunState::fault ? "fault"
                                                   : "running";
  out.block = tuple_of_block(machine, walk.spot.block);
  out.warp = walk.spot.warp;
  out.time = time_of(machine);
  out.instructions = machine.instructions();
  out.position = machine.position();
  const auto warps = sim::warps_of(machine, walk.spot.block);
  if (const sim::SplitState* split = split_at(warps, walk.spot.warp)) {
    out.site = split->site;
    out.instruction = instruction_text(split->text);
  } else if (state_of_block(machine, walk.spot.block) == "has not begun") {
    out.site = first_site(machine.program());
    out.instruction = instruction_text(machine.program().code.front().text);
  }
  return out;
}

BlockMemory memory_at(Run& run, nb::handle block, nb::handle at) {
  // Kept, so that the next question need not begin at the beginning.
  if (!run.walk) run.walk = walk_of(run);
  Walk& walk = *run.walk;
  const std::uint64_t number = block_in(walk.machine(), block);
  go_to(walk, at);
  return memory_of(walk, number, &run);
}

void open_window(const Run& run) {
  if (!run.replay) (void)walk_of(run);  // which says why not
  const nb::module_ window = nb::module_::import_("tilescope._window");
  const nb::object folder = window.attr("folder")();
  try {
    window.attr("open")(run.replay->window(str_of(folder)), folder);
  } catch (...) {
    nb::module_::import_("shutil").attr("rmtree")(folder, nb::arg("ignore_errors") = true);
    throw;
  }
}

// ---- Classes ------------------------------------------------------------------------------------

void define_where(nb::module_& module) {
  nb::class_<Standing>(module, "Where", "Where a run stands, of the warp that is looked at.")
      .def_prop_ro(
          "ptx_line",
          [](const Standing& self) {
            return self.site ? std::optional(self.site->ptx_line) : std::nullopt;
          },
          "Of the instruction that it executes next, or waits at; None: it has exited.")
      .def_prop_ro(
          "instruction",
          [](const Standing& self) {
            return self.site ? std::optional(self.instruction) : std::nullopt;
          },
          "Its text; None likewise.")
      .def_prop_ro(
          "file",
          [](const Standing& self) {
            if (!self.site) return std::string();
            return self.site->caller.empty() ? self.site->source : self.site->caller;
          },
          "The source, where the PTX names it.")
      .def_prop_ro(
          "line",
          [](const Standing& self) {
            if (!self.site) return 0u;
            return self.site->caller.empty() ? self.site->source_line : self.site->caller_line;
          },
          "Of the file, from 1 on; 0: not known.")
      .def_ro("block", &Standing::block, nb::sig("def block(self) -> tuple[int, int, int]"))
      .def_ro("warp", &Standing::warp)
      .def_ro("time", &Standing::time,
              "Cycles since the launch, as the timeline's axis has them; instructions where the "
              "run has no time.")
      .def_ro("instructions", &Standing::instructions,
              "That all warps of the grid have executed: to(\"instruction N\") comes here again.")
      .def_ro("position", &Standing::position,
              "The number of this state of the run: to(\"position N\") comes here again.")
      .def_ro("state", &Standing::state, "running, done or fault.")
      .def("__str__", [](const Standing& self) { return self.sentence; })
      .def("__repr__",
           [](const Standing& self) { return fmt::format("<Where: {}>", self.sentence); });
}

constexpr const char* by_help =
    "by: instruction or line, of the warp looked at; barrier (a phase of an mbarrier is complete), "
    "sync (bar.sync), cluster, copy, mma, fault (just before it), report, moment (whatever comes "
    "next), of all.\n"
    "Where there is no such place it stands at the end, or at the beginning, and .where says so.";

}  // namespace

void define_steppers(nb::module_& module) {
  define_where(module);
  define_memory(module);
  static const std::string forward = fmt::format("Goes on, n times.\n\n{}", by_help);
  static const std::string back =
      fmt::format("Goes back to where n steps forward lead here.\n\n{}", by_help);
  static const std::string to =
      fmt::format("Goes to a time, in either direction.\n\nat: {}.", what_at_is);
  nb::class_<Walk>(
      module, "Stepper",
      "Goes through a run forwards and backwards, as the window does: the same machine "
      "on the same way, bit for bit.")
      .def(
          "forward",
          [](nb::handle_t<Walk> self, std::int64_t n, const std::string& by) {
            step(nb::cast<Walk&>(self), n, by, false);
            return nb::borrow(self);
          },
          nb::arg("n") = 1, nb::arg("by") = "instruction",
          nb::sig("def forward(self, n: int = 1, by: str = 'instruction') -> Stepper"),
          forward.c_str())
      .def(
          "back",
          [](nb::handle_t<Walk> self, std::int64_t n, const std::string& by) {
            step(nb::cast<Walk&>(self), n, by, true);
            return nb::borrow(self);
          },
          nb::arg("n") = 1, nb::arg("by") = "instruction",
          nb::sig("def back(self, n: int = 1, by: str = 'instruction') -> Stepper"), back.c_str())
      .def(
          "to",
          [](nb::handle_t<Walk> self, nb::handle at) {
            go_to(nb::cast<Walk&>(self), at);
            return nb::borrow(self);
          },
          nb::arg("at").none(), nb::sig("def to(self, at: int | float | str) -> Stepper"),
          to.c_str())
      .def(
          "look",
          [](nb::handle_t<Walk> self, nb::handle block, std::int64_t warp) {
            Walk& walk = nb::cast<Walk&>(self);
            const std::uint64_t number = block_in(walk.machine(), block);
            walk.spot.warp = warp_in(walk.machine(), warp);
            walk.spot.block = number;
            return nb::borrow(self);
          },
          nb::arg("block").none(), nb::arg("warp") = 0,
          nb::sig("def look(self, block: int | tuple, warp: int = 0) -> Stepper"),
          "Looks at another warp, without going anywhere: .where, .registers and .memory are its.")
      .def_prop_ro("where", &standing_of, "Where it stands, of the warp looked at.")
      .def_prop_ro("registers", &registers_of, nb::sig("def registers(self) -> dict[str, Any]"),
                   "Those of the warp looked at that are still wanted here, by name: masked arrays "
                   "of 32 lanes; a lane that is undefined or elsewhere is masked. Error: the warp "
                   "is not there.")
      .def_prop_ro(
          "memory", [](const Walk& self) { return memory_of(self, self.spot.block, nullptr); },
          "What the memory of the CTA looked at holds. Error: the CTA is not there.")
      .def("__repr__", [](const Walk& self) {
        return fmt::format("<Stepper: {}>", standing_of(self).sentence);
      });
}

void define_stepping_methods(nb::class_<Run>& run) {
  static const std::string memory_help = fmt::format(
      "What the shared memory of a CTA held at a time, and its TMEM, as masked arrays: the launch "
      "is gone through once more.\n\n"
      "block: a CTA's number, x + y * grid.x + z * grid.x * grid.y, or (x, y, z).\n"
      "at: {}. All that comes before a cycle has happened then, and of what comes within some 64 "
      "cycles behind it some has; a position (.where.position of a Stepper) is exact.\n"
      "Error: the CTA was not there then; or record=True was not asked for.",
      what_at_is);
  run.def("memory", &memory_at, nb::arg("block").none(), nb::arg("at").none(),
          nb::sig("def memory(self, block: int | tuple, at: int | float | str) -> BlockMemory"),
          memory_help.c_str())
      .def(
          "step",
          [](const Run& self, nb::handle block, std::int64_t warp) {
            std::shared_ptr<Walk> walk = walk_of(self);
            walk->spot.block = block_in(walk->machine(), block);
            walk->spot.warp = warp_in(walk->machine(), warp);
            return walk;
          },
          nb::arg("block").none() = 0, nb::arg("warp") = 0,
          nb::sig("def step(self, block: int | tuple = 0, warp: int = 0) -> Stepper"),
          "Goes through the launch once more, forwards and backwards: stands before its first "
          "instruction.\n\n"
          ">>> import tilescope as ts\n"
          ">>> run = ts.run(\"elementwise_add\", m=32, n=128, record=True)\n"
          ">>> steps = run.step(block=1).forward(5)\n"
          ">>> steps.where.instructions, steps.where.block, steps.back(2).where.instructions\n"
          "(..., (1, 0, 0), ...)\n\n"
          "block, warp: that is looked at first. Error: record=True was not asked for.")
      .def("window", &open_window, nb::sig("def window(self) -> None"),
           "Opens the window of `tilescope gui` on this launch, and returns at once. Error: the "
           "program or a display is not there; or record=True was not asked for.");
}

}  // namespace tilescope::python
