#include "app/python/steppers.h"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <memory>

#include "app/heartbeat.h"
#include "app/python/replay.h"
#include "app/python/values.h"
#include "core/record/timeline.h"
#include "core/sim/tcgen05/tensor_memory.h"
#include "viz/machine/live_run.h"
#include "viz/machine/machine_scene.h"
#include "viz/machine/memory_now.h"

namespace tilescope::python {

// A run that one is in, and the warp that is looked at.
struct Walk {
  std::shared_ptr<const Replay> replay;
  LiveRun live;
  RunCursor spot;
  bool moving = false;  // by some thread; the GIL is not held meanwhile

  const sim::Machine& machine() const { return live.stepper.machine(); }
};

namespace {

using sim::StepBy;

constexpr std::uint64_t copies = std::uint64_t{512} << 20;  // bytes of checkpoints

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

// ---- Moving -------------------------------------------------------------------------------------

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

// The words of the window's `step`.
struct StepWord {
  std::string_view word;
  StepBy by;
};
constexpr StepWord step_words[] = {
    {"instruction", StepBy::instruction},
    {"line", StepBy::line},
    {"barrier", StepBy::phase},
    {"sync", StepBy::barrier},
    {"cluster", StepBy::cluster},
    {"copy", StepBy::copy},
    {"mma", StepBy::product},
    {"fault", StepBy::fault},
    {"report", StepBy::report},
    {"moment", StepBy::moment},
};

StepBy step_by(const std::string& word) {
  std::string all;
  for (const StepWord& each : step_words) {
    if (each.word == word) return each.by;
    all += fmt::format("{}{}", all.empty() ? "" : ", ", each.word);
  }
  refuse(fmt::format("by=\"{}\": {}.", word, all));
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
    if (back || !warps.empty()) step.block = walk.spot.block;
    if (back || (walk.spot.warp < warps.size() && warps[walk.spot.warp].live)) {
      step.block = walk.spot.block;
      step.warp = walk.spot.warp;
    }
  }
  go(walk, [&](sim::Stepper& stepper) { stepper.step(step); });
  follow(walk);
}

// ---- Times --------------------------------------------------------------------------------------

constexpr const char* what_at_is =
    "a time of the run in cycles, as the timeline's axis has it, 1200; or as the window's `go` "
    "takes it: \"1.2us\", \"start\", \"end\", \"instruction 500\", \"position 700\", \"report 0\"";

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

// ---- Blocks -------------------------------------------------------------------------------------

// A CTA's number, or where it is in the grid, (x, y, z).
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

// ---- Arrays -------------------------------------------------------------------------------------

// NumPy's array of these elements.
template <class T>
nb::object array_of(std::vector<T> elements, std::vector<std::size_t> shape,
                    nb::dlpack::dtype type) {
  auto* const held = new std::vector<T>(std::move(elements));
  const nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(
      nb::ndarray<nb::numpy>(held->data(), shape.size(), shape.data(), owner, nullptr, type));
}

nb::dlpack::dtype element(nb::dlpack::dtype_code code, std::uint8_t bits) {
  return {static_cast<std::uint8_t>(code), bits, 1};
}

// numpy.ma's: what is undefined, or not there, is masked.
template <class T>
nb::object masked(std::vector<T> elements, std::vector<std::uint8_t> undefined,
                  const std::vector<std::size_t>& shape, nb::dlpack::dtype type) {
  const nb::object mask =
      array_of(std::move(undefined), shape, element(nb::dlpack::dtype_code::Bool, 8));
  return nb::module_::import_("numpy.ma")
      .attr("array")(array_of(std::move(elements), shape, type), nb::arg("mask") = mask,
                     nb::arg("copy") = false);
}

nb::object register_array(const sim::RegisterValue& value, sim::Mask there) {
  using nb::dlpack::dtype_code;
  const bool predicate = value.type == ptx::Type::pred;
  const int bits = predicate ? 8 : std::max(8, ptx::bits_of(value.type));
  const auto bytes = static_cast<std::size_t>(bits) / 8, of_array = std::min<std::size_t>(bytes, 8);
  const bool wide = bytes > 8;  // two words of 64 bits
  std::vector<std::byte> data(32 * bytes);
  std::vector<std::uint8_t> undefined(wide ? 64 : 32);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    std::memcpy(&data[lane * bytes], &value.low[lane], of_array);
    if (wide) std::memcpy(&data[lane * bytes + 8], &value.high[lane], 8);
    if (predicate) data[lane] &= std::byte{1};
    const std::uint8_t masked = value.undefined[lane] || !(there >> lane & 1);
    if (wide) undefined[2 * lane] = undefined[2 * lane + 1] = masked;
    if (!wide) undefined[lane] = masked;
  }
  dtype_code code = dtype_code::UInt;
  const ptx::Class kind = ptx::class_of(value.type);
  const bool number =
      value.type == ptx::Type::f16 || value.type == ptx::Type::f32 || value.type == ptx::Type::f64;
  if (predicate) code = dtype_code::Bool;
  if (kind == ptx::Class::signed_integer) code = dtype_code::Int;
  if (number) code = dtype_code::Float;
  std::vector<std::size_t> shape{32};
  if (wide) shape.push_back(2);
  return masked(std::move(data), std::move(undefined), shape,
                element(code, static_cast<std::uint8_t>(8 * of_array)));
}

// ---- What there is at a moment ------------------------------------------------------------------

// The split of the warp that its first lane is in.
const sim::SplitState* split_at(const std::vector<sim::WarpState>& warps, std::uint32_t warp) {
  if (warp >= warps.size() || warps[warp].splits.empty()) return nullptr;
  return &warps[warp].splits.front();
}

nb::object registers_of(const Walk& walk) {
  const auto warps = sim::warps_of(walk.machine(), walk.spot.block);
  const sim::SplitState* const split = split_at(warps, walk.spot.warp);
  if (!split) {
    refuse(fmt::format("CTA {} warp {} has no registers here: {}", walk.spot.block, walk.spot.warp,
                       standing_text(walk.live, walk.spot)));
  }
  nb::dict out;
  for (const sim::RegisterValue& value :
       walk.live.registers.all(walk.machine(), walk.spot.block, walk.spot.warp)) {
    out[nb::str(value.name.c_str())] = register_array(value, split->lanes);
  }
  return out;
}

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

struct BlockMemory {
  nb::object block, shared, parts;
  nb::object tensor = nb::none();
  std::string when;
};

// From when to when a CTA was there, by the record; empty: it is not known.
std::string life_of(const Run* run, std::uint64_t block) {
  if (!run || !run->record) return "";
  sim::Cycle begin = sim::never_ends, end = 0;
  const sim::Record& record = *run->record;
  for (const sim::Event& event : record.events) {
    if (record.tracks[event.track].block != block) continue;
    begin = std::min(begin, event.begin);
    end = std::max(end, event.end == sim::never_ends ? record.end : event.end);
  }
  return end == 0 ? "" : fmt::format(" Its events are from {} to {}.", begin, end);
}

BlockMemory memory_of(const Walk& walk, std::uint64_t block, const Run* run) {
  const sim::Machine& machine = walk.machine();
  const std::string when = moment_text(walk.live);
  const std::string state = state_of_block(machine, block);
  if (state != "resident") {
    refuse(fmt::format("CTA {} {} at {}: it has no shared memory then.{}", block, state, when,
                       life_of(run, block)));
  }
  const auto now = memory_now(machine, block);
  BlockMemory out;
  out.block = tuple_of_block(machine, block);
  out.when = when;
  const std::size_t bytes = now->values.size();
  std::vector<std::uint8_t> undefined(now->undefined.begin(), now->undefined.end());
  out.shared = masked(std::vector<std::byte>(now->values), std::move(undefined), {bytes},
                      element(nb::dlpack::dtype_code::UInt, 8));
  nb::list parts;
  for (const MemoryPart& part : now->parts) {
    if (part.kind == MemoryPart::Kind::untouched) continue;
    nb::dict each;
    each["begin"] = part.begin;
    each["end"] = part.end;
    each["name"] = part.name;
    each["detail"] = part.detail;
    each["state"] = part.state;
    parts.append(std::move(each));
  }
  out.parts = std::move(parts);
  const auto allocated = sim::columns_of(machine, block);
  if (allocated.empty()) return out;
  constexpr std::uint32_t lanes = sim::TensorMemory::lanes, columns = sim::TensorMemory::columns;
  std::vector<std::uint32_t> cells(std::size_t{lanes} * columns);
  std::vector<std::uint8_t> masks(cells.size(), 1);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    for (const sim::Allocation& each : allocated) {
      std::size_t at = std::size_t{lane} * columns + each.column;
      for (const sim::CellState& cell :
           sim::cells_of(machine, block, lane, each.column, each.columns)) {
        cells[at] = cell.bits;
        masks[at++] = cell.undefined != 0;
      }
    }
  }
  out.tensor = masked(std::move(cells), std::move(masks), {lanes, columns},
                      element(nb::dlpack::dtype_code::UInt, 32));
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

void define_memory(nb::module_& module) {
  nb::class_<BlockMemory>(module, "BlockMemory", "What the memory of a CTA held at a time.")
      .def_ro("block", &BlockMemory::block, nb::sig("def block(self) -> tuple[int, int, int]"))
      .def_ro("when", &BlockMemory::when, "The time in words.")
      .def_ro("shared", &BlockMemory::shared, nb::sig("def shared(self) -> Any"),
              "Shared memory: a masked array of uint8; what nobody has written is masked.")
      .def_ro("tensor", &BlockMemory::tensor, nb::sig("def tensor(self) -> Any"),
              "TMEM: a masked array of uint32, (128 lanes, 512 columns); what is not allocated or "
              "not written is masked. None: nothing is allocated then.")
      .def_ro("parts", &BlockMemory::parts, nb::sig("def parts(self) -> list[dict[str, Any]]"),
              "What lies where in shared memory, as the window's memory view names it: tiles of "
              "tensors, mbarriers, what threads wrote; begin and end in bytes.")
      .def("__repr__", [](const BlockMemory& self) {
        const nb::object size = self.shared.attr("size");
        return fmt::format("<BlockMemory of CTA {} at {}: {} bytes of shared memory{}>",
                           str_of(self.block), self.when, str_of(size),
                           self.tensor.is_none() ? "" : ", and TMEM");
      });
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
      "at: {}.\n"
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
