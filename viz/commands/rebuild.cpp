#include "viz/commands/rebuild.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "viz/commands/command_table.h"
#include "viz/commands/link.h"
#include "viz/matrix/diff_histogram.h"
#include "viz/scene/command_text.h"
#include "viz/session/files.h"
#include "viz/session/look.h"
#include "viz/session/open.h"
#include "viz/session/product_session.h"
#include "viz/session/seek.h"
#include "viz/session/theatre_session.h"
#include "viz/session/timeline_session.h"
#include "viz/session/why_session.h"

namespace tilescope {
namespace {

bool is_preset(const ViewState& state) {
  return first_word(state.layout_text).first == "preset";
}

// An expression as `open layout` takes it, whatever separates its statements.
std::string open_line(const ViewState& state) {
  if (is_preset(state)) return fmt::format("open {}", state.layout_text);
  const std::string& text = state.layout_text;
  if (text.find_first_of(";\"'") == std::string::npos) return fmt::format("open layout {}", text);
  const char quote = text.find('"') == std::string::npos ? '"' : '\'';
  return fmt::format("open layout {}{}{}", quote, text, quote);
}

// Does the machine stand where its run is over? A position alone does not tell that from just
// before a fault.
bool has_ended(const ViewState& state) {
  return state.live && state.live->stepper.position() == state.moment &&
         state.live->stepper.state() != RunState::running;
}

void add_memory(const MemoryChoice& memory, std::vector<std::string>& lines) {
  if (memory.physical) lines.emplace_back("memory order physical");
  if (memory.both) lines.emplace_back("memory order both");
  if (memory.colour != MemoryChoice::Colour::tile) {
    lines.push_back(fmt::format("memory colour {}", name_of(memory.colour)));
  }
  if (memory.tensor != MemoryChoice::Tensor::step) {
    lines.push_back(fmt::format("tmem colour {}", name_of(memory.tensor)));
  }
  if (memory.sums_by_thread) lines.emplace_back("matrices sums thread");
}

// The kernel and what was chosen of it; answers the view that stands then. Nothing: a report may
// have chosen one.
std::optional<ViewName> add_kernel(const ViewState& state, std::vector<std::string>& lines) {
  if (!state.kernel && state.file.empty()) {
    add_memory(state.memory, lines);  // for the next one
    return ViewName::layout;
  }
  if (state.baseline && state.baseline != state.result) {
    lines.push_back("open " + kernel_words(*state.baseline));
    lines.emplace_back("run");
    lines.emplace_back("baseline");
  }
  lines.push_back(
      fmt::format("open {}", state.kernel ? kernel_words(state) : quoted_word(state.file)));
  const bool ran = state.result && state.result->end != RunResult::End::cancelled;
  if (ran) lines.emplace_back("run");
  if (ran && state.baseline == state.result) lines.emplace_back("baseline");
  // A machine that stands before its first instruction is another view than none.
  // One that stands at the end because it was sent there stays there.
  const bool sent = ran && shows_machine(state.view) && state.result->end == RunResult::End::done;
  const bool gone = ran ? sent || state.moment != state.result->moment : state.live != nullptr;
  if (gone) {
    lines.push_back(has_ended(state) ? "go end" : fmt::format("go position {}", state.moment));
  }
  for (const Breakpoint& each : state.breakpoints) {
    lines.push_back("break " + text(each));
  }
  // On arrival a report that is told there is looked at; here perhaps it was no longer.
  const bool arrives = gone || (ran && state.result->end == RunResult::End::fault);
  add_memory(state.memory, lines);
  if (state.element) {
    lines.push_back(fmt::format("pick {} {}", state.element->row, state.element->column));
  } else if (arrives) {
    lines.emplace_back("pick nothing");
  }
  // What is picked is looked at; since then it may have been something else.
  const std::vector<std::string> picks = timeline_picks(state);
  lines.insert(lines.end(), picks.begin(), picks.end());
  const RunCursor& spot = state.spot;
  if (arrives || !picks.empty()) lines.emplace_back("look nothing");
  if (!(spot == RunCursor{})) lines.push_back("look" + look_words(spot));
  const DiffStudy& compare = state.compare;
  if (!compare.against.empty()) {
    lines.push_back(fmt::format("diff against {}", quoted_word(compare.against)));
  }
  if (compare.marks) lines.push_back(mark_command(compare.marks->range()));
  // Last, as a timeline beside the baseline's is looked at, and marks are in the comparison.
  for (std::string& line : timeline_lines(state)) lines.push_back(std::move(line));
  for (std::string& line : theatre_lines(state)) lines.push_back(std::move(line));
  for (std::string& line : why_lines(state)) lines.push_back(std::move(line));
  const std::vector<std::string> product = product_lines(state);
  lines.insert(lines.end(), product.begin(), product.end());
  if (!product.empty()) return ViewName::product;
  if (state.timeline && state.why.changes()) return ViewName::why;
  if (state.timeline && state.theatre.at) return ViewName::theatre;
  if (state.beside_baseline && state.timeline) return ViewName::timeline;
  if (arrives) return {};
  return ran            ? view_after_run(state)
         : state.diff   ? ViewName::diff
         : state.kernel ? ViewName::kernel
                        : ViewName::matrices;
}

// Where the reader is in the derivation, and how warps walk over the layout.
void add_study(const LayoutStudy& study, std::vector<std::string>& lines) {
  const LayoutStudy usual;
  if (study.step > 0) lines.push_back(fmt::format("derive {}", study.step));
  std::string access;
  if (study.walk != usual.walk) access += fmt::format(" {}", name_of(study.walk));
  if (study.access_bytes != usual.access_bytes) access += fmt::format(" {}", study.access_bytes);
  if (study.access_grid >= 0) access += fmt::format(" grid {}", study.access_grid);
  if (!access.empty()) lines.push_back("access" + access);
  if (!study.access_through.empty()) {
    lines.push_back(fmt::format("access through {}", quoted_word(study.access_through)));
  }
  if (!study.beside.empty()) {
    const char quote = study.beside.find('"') == std::string::npos ? '"' : '\'';
    lines.push_back(fmt::format("beside {}{}{}", quote, study.beside, quote));
  }
  if (const SliceChoice& slice = study.slice; slice.grid >= 0) {
    lines.push_back(fmt::format("slice rows {} grid {}", slice.rows, slice.grid));
    lines.push_back(fmt::format("slice columns {} grid {}", slice.columns, slice.grid));
    if (slice.at >= 0) lines.push_back(fmt::format("slice {} grid {}", slice.at, slice.grid));
  }
  if (study.element_bytes != usual.element_bytes) {
    lines.push_back(fmt::format("element {}", study.element_bytes));
  }
  if (study.instruction) lines.push_back(fmt::format("access instruction {}", *study.instruction));
  if (study.code) lines.push_back(fmt::format("lower ptx {}", study.code->of));
  if (study.lower_from > 0) {
    constexpr std::array titles = {"as written", "slices expanded", "arithmetic",
                                   "LLVM",       "folded LLVM",     "PTX"};
    lines.push_back(
        fmt::format("lower from {}", titles.at(static_cast<std::size_t>(study.lower_from))));
  }
  if (study.lowered) {
    lines.push_back(fmt::format("lower {} {}", study.lowered->level, study.lowered->statement));
  }
}

std::string isolate_line(const Focus& focus) {
  const std::string line = fmt::format("isolate {} {}", name_of(focus.on), focus.number);
  return focus.grid < 0 ? line : fmt::format("{} {}", line, focus.grid);
}

std::optional<ViewName> add_layout(const ViewState& state, std::optional<ViewName> view,
                                   std::vector<std::string>& lines) {
  if (!state.layout) return view;
  lines.push_back(open_line(state));
  add_study(state.study, lines);
  // What was chosen for another layout, and stands idle while this one is open, is not said of it.
  const std::vector<ColourBy> can = state.layout->colours();
  if (state.colour && std::find(can.begin(), can.end(), *state.colour) != can.end()) {
    lines.push_back(fmt::format("colour {}", name_of(*state.colour)));
  }
  if (state.isolate.on != Focus::On::nothing) {
    lines.push_back(isolate_line(state.isolate));
  }
  if (const auto& cell = state.selected) {
    lines.push_back(
        fmt::format("pick {} {} {} {}", cell->row, cell->column, cell->panel, cell->slice));
  }
  if (state.study.lowered || state.study.lower_from > 0 || state.study.code)
    return {};  // seen where it was chosen
  return ViewName::layout;
}

const WindowCommand* command_of(std::string_view line) {
  const std::string_view name = first_word(line).first;
  for (const WindowCommand& command : window_commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

// Whether a line only chooses: it opens no stranger's bundle of lines and writes nothing.
bool only_chooses(std::string_view line) {
  const WindowCommand* command = command_of(line);
  if (!command || !command->chooses) return false;
  const auto [name, arguments] = first_word(line);
  const std::string_view what = first_word(arguments).first;
  const bool bundle =
      what == "share" || what == "workspace" || is_link(what) ||
      (names_file(unquoted(arguments)) && arguments.find(".json") != arguments.npos);
  // `course NAME` and `lesson NAME` go there, `course check` runs a compiler.
  if (name == "course") return arguments.empty() || (arguments == what && !is_course_word(what));
  return name != "open" || !bundle;
}

}  // namespace

std::vector<std::string> rebuilding(const ViewState& state) {
  std::vector<std::string> lines;
  if (state.dark) lines.emplace_back("theme dark");
  if (state.coordinates) lines.emplace_back("label coordinates");
  if (state.only_wrong) lines.emplace_back("show wrong");
  if (state.compare.measured != Measured::difference) {
    lines.push_back(fmt::format("show {}", name_of(state.compare.measured)));
  }
  if (state.compare.as_table) lines.emplace_back("show table");
  std::optional<ViewName> view = add_kernel(state, lines);
  view = add_layout(state, view, lines);
  if (!state.exercise.empty()) {
    lines.push_back("course " + state.exercise);
    view = ViewName::course;
  }
  if (view != state.view) lines.push_back(fmt::format("select {}", name_of(state.view)));
  if (const Lesson* lesson = state.lesson.open()) {
    lines.push_back(fmt::format("lesson at {} {} {} keep", lesson->name, state.lesson.step + 1,
                                state.lesson.round));
    if (!state.lesson.shown) lines.emplace_back("select inspector");
  }
  return lines;
}

namespace {

// A layout says all of itself, and so do matrices; a lesson may ask about either.
ViewState needed(ViewState state) {
  if (state.lesson.open()) return state;
  const bool course = state.view == ViewName::course;
  if (!course) state.exercise.clear();
  if (shows_layout(state.view) || course) {
    state.kernel.reset();
    state.options.clear();
    state.result.reset();
    state.matrices.reset();
    state.diff.reset();
    state.file.clear();
    state.element.reset();
    state.only_wrong = false;
    state.moment = 0;
    state.spot = {};
    state.memory = {};
  }
  if (!shows_layout(state.view)) {
    state.layout.reset();
    state.coordinates = false;
  }
  return state;
}

}  // namespace

std::vector<std::string> rebuilding(const Session& session, const Backend& backend, Extent extent) {
  ViewState state = with_whole_paths(session.state, backend);
  if (extent == Extent::view) state = needed(std::move(state));
  std::vector<std::string> lines = rebuilding(state);
  if (const std::string zoom = zoom_line(session); !zoom.empty()) lines.push_back(zoom);
  return lines;
}

ViewState with_whole_paths(ViewState state, const Backend& backend) {
  if (!state.file.empty()) state.file = backend.whole_path(state.file);
  std::string& against = state.compare.against;
  if (names_file(against)) against = backend.whole_path(against);
  for (auto& [name, value] : state.options) {
    if (names_file(value)) value = backend.whole_path(value);
  }
  if (state.kernel && names_file(state.kernel->name)) {
    auto card = std::make_shared<KernelCard>(*state.kernel);
    card->name = backend.whole_path(card->name);
    state.kernel = std::move(card);
  }
  return state;
}

namespace {

// A session beside the open one, where lines are tried.
Session fresh_beside(const Session& session) {
  Session fresh;
  fresh.state.settings = session.state.settings;
  fresh.progress = session.progress;
  fresh.shelf = session.shelf;
  fresh.course = session.course;
  return fresh;
}

// It takes the open one's place; the lines from `next` on wait for its run.
void take_over(Session& session, Backend& backend, Session fresh,
               const std::vector<std::string>& lines, std::size_t next) {
  if (session.running && !fresh.running) backend.cancel();
  const Viewport layout = fresh.layout_viewport, matrices = fresh.matrices_viewport,
                 diff = fresh.diff_viewport;
  const double zoom = fresh.pending_zoom;
  session.state = std::move(fresh.state);
  session.progress = std::move(fresh.progress);
  session.shelf = std::move(fresh.shelf);
  session.course = std::move(fresh.course);
  session.running = session.running || fresh.running;
  session.seek = std::move(fresh.seek);
  session.edit.building = std::move(fresh.edit.building);
  session.edit.failed = std::move(fresh.edit.failed);
  session.script = {{lines.begin() + static_cast<std::ptrdiff_t>(next), lines.end()}, true};
  forget_passing(session);
  session.layout_viewport = layout;
  session.matrices_viewport = matrices;
  session.diff_viewport = diff;
  session.pending_zoom = zoom;
  show_in_field(session);
}

}  // namespace

Outcome<std::string> rebuild(Session& session, Backend& backend,
                             const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (only_chooses(line)) continue;
    return Error{
        ErrorKind::usage,
        fmt::format("The line `{}` in it does not describe a view, so nothing was opened.", line),
        ""};
  }
  Session fresh = fresh_beside(session);
  std::size_t next = 0;
  while (next < lines.size() && !busy(fresh)) {
    const auto answer = execute(fresh, backend, lines[next]);
    if (!answer) {
      Error error = answer.error();
      error.sentence = fmt::format("Its line `{}` cannot be done: {}", lines[next], error.sentence);
      return error;
    }
    ++next;
  }
  take_over(session, backend, std::move(fresh), lines, next);
  return std::string("Opened the view.");
}

std::vector<std::string> rebuild_what_can_be(Session& session, Backend& backend,
                                             const std::vector<std::string>& lines) {
  std::vector<std::string> refused;
  Session fresh = fresh_beside(session);
  std::size_t next = 0;
  for (; next < lines.size() && !busy(fresh); ++next) {
    const std::string& line = lines[next];
    if (!only_chooses(line)) {
      refused.push_back(fmt::format("`{}` does not describe a view.", line));
    } else if (const auto answer = execute(fresh, backend, line); !answer) {
      refused.push_back(fmt::format("`{}`: {}", line, answer.error().sentence));
    }
  }
  take_over(session, backend, std::move(fresh), lines, next);
  return refused;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += (out.empty() ? "" : "; ") + line;
  return out;
}

std::string command_line(const Session& session, const Backend& backend) {
  const ViewState state = with_whole_paths(session.state, backend);
  const bool drawn = state.view == ViewName::layout && state.layout && !state.selected &&
                     state.isolate.on == Focus::On::nothing && !state.coordinates &&
                     state.study.slice.grid < 0 && state.study.step == 0 &&
                     state.study.beside.empty() && !state.lesson.open() &&
                     zoom_line(session).empty();
  if (!drawn) {
    return fmt::format("tilescope gui --do {}",
                       shell_word(joined(rebuilding(session, backend, Extent::view))));
  }
  std::string out = fmt::format("tilescope draw {}", shell_word(state.layout_text));
  if (state.colour) out += fmt::format(" --colour {}", name_of(*state.colour));
  if (state.dark) out += " --theme dark";
  return out + " -o view.svg";
}

}  // namespace tilescope
