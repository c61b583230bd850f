#include "viz/session/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/layout/text.h"
#include "viz/machine/fault_scene.h"
#include "viz/machine/machine_scene.h"
#include "viz/session/build_scene.h"
#include "viz/session/diff_picture.h"
#include "viz/session/fault_view.h"
#include "viz/session/files.h"
#include "viz/session/look.h"
#include "viz/session/matrices_tiles.h"
#include "viz/session/open.h"
#include "viz/session/result_view.h"
#include "viz/session/standing.h"
#include "viz/session/timeline_session.h"
#include "viz/session/timeline_spot.h"

namespace tilescope {
namespace {

// Words give way, the outermost first, where they leave the cells too little: the field and the
// inspector say them too. Where that gains little (a large layout), they stay. In a low window, as
// one with large letters is, cells should have room for a label.
void make_room(const LayoutView& view, Lens& lens, Size size) {
  constexpr double low = 320, worth = 1.5;           // pixels, and times what a cell had
  const double enough = size.height < low ? 16 : 4;  // pixels a cell
  lens.size = size;
  lens.title = lens.formulas = lens.legend = true;
  const double before = arrange(view, lens).fit_cell;
  double cell = before;
  for (bool Lens::*words : {&Lens::title, &Lens::formulas, &Lens::legend}) {
    if (cell >= enough) break;
    lens.*words = false;
    cell = arrange(view, lens).fit_cell;
  }
  if (cell < worth * before) lens.title = lens.formulas = lens.legend = true;
}

}  // namespace

Lens& open_lens(Session& session) {
  switch (session.choices.view) {
    case ViewName::layout:
    case ViewName::wavefronts:
    case ViewName::sectors:
    case ViewName::bits:
      return session.layout_lens;
    case ViewName::matrices:
      return session.matrices_lens;
    case ViewName::memory:
      return session.memory.memory_lens;
    case ViewName::tmem:
      return session.memory.tensor_lens;
    default:
      break;
  }
  return session.diff_lens;
}

namespace {

Emptiness no_difference(const Choices& choices) {
  const std::string& name = choices.kernel->name;
  if (!choices.result) {
    if (choices.live && choices.moment > 0) {
      return {fmt::format("{} is at {}. Nothing is compared before its end.", name,
                          moment_text(choices.live->stepper.machine())),
              "run", "Run to the end"};
    }
    return {fmt::format("{} has not run. Its result, element by element against a reference, comes "
                        "here.",
                        name),
            "run", "Run"};
  }
  if (choices.result->end == RunResult::End::fault) {
    const auto& reports = choices.result->reports;
    const bool there = choices.live && !reports.empty();
    return {fmt::format("{} faulted, so there is no result to compare. {}", name,
                        reports.empty() ? "" : reports.back().sentence),
            there ? fmt::format("go report {}", reports.size() - 1) : "select matrices",
            there ? "Show the fault" : "Show the matrices"};
  }
  return {fmt::format("The run of {} was stopped, so there is no result to compare.", name), "run",
          "Run again"};
}

// Why the open layout has no banks, sectors or bits to show.
std::optional<Emptiness> no_memory(const Session& session) {
  std::string sentence;
  switch (session.choices.view) {
    case ViewName::wavefronts:
    case ViewName::sectors:
      if (const auto view = access_of(session); !view) sentence = view.error().sentence;
      break;
    case ViewName::bits:
      if (const auto bits = bit_matrix_of(session); !bits) sentence = bits.error().sentence;
      break;
    default:
      break;
  }
  if (sentence.empty()) return {};
  return Emptiness{sentence, "select layout", "Show the grid"};
}

// The views of the open layout as memory.
Scene memory_scene(const Session& session, Size size) {
  const Theme& theme = session.theme();
  if (session.choices.view == ViewName::bits) {
    const Outcome<Layout> memory = memory_of(session);
    return build_scene(*bit_matrix_of(session),
                       memory ? text(*memory) : session.choices.layout->title(), theme, size);
  }
  const std::shared_ptr<const AccessView> view = *access_of(session);
  const bool sectors = session.choices.view == ViewName::sectors;
  const std::int64_t worst = sectors ? view->worst_in_sectors() : view->worst_in_banks();
  const std::int64_t asked = session.choices.study.instruction.value_or(worst);
  return build_scene(*view, sectors, asked < view->instructions() ? asked : worst, theme, size);
}

// The lens for this size, zoomed as a command asked since.
template <class FrameOf>
FrameOf framed_in(const FrameOf& frame, Session& session, Lens& lens, const auto& again) {
  if (session.pending_zoom == 1) return frame;
  const Size size = lens.size;
  lens = zoomed(frame, {size.width / 2, size.height / 2}, session.pending_zoom);
  session.pending_zoom = 1;
  return again();
}

void draw_memories(Session& session, Picture& out, const MachineShown& shown, const Box& room) {
  const Choices& choices = session.choices;
  MemoryDesk& desk = session.memory;
  if (choices.view == ViewName::memory) {
    const auto now = shared_memory_of(session);
    const auto place = [&] {
      return arrange(now, choices.spot, choices.memory, room, desk.memory_lens);
    };
    desk.memory_lens.size = out.scene.size;
    out.memory = framed_in(place(), session, desk.memory_lens, place);
    draw_memory(out.scene, *out.memory, shown, choices.memory, desk.hover_byte,
                desk.memory_rasters);
    return;
  }
  const auto now = tensor_memory_of(session);
  const auto place = [&] { return arrange(now, room, desk.tensor_lens); };
  desk.tensor_lens.size = out.scene.size;
  out.tensor = framed_in(place(), session, desk.tensor_lens, place);
  draw_tensor_memory(out.scene, *out.tensor, shown, choices.memory, desk.hover_cell,
                     desk.tensor_rasters);
}

// The matrices, and on them what of them lies in the memory of the block looked at.
void draw_matrices(Session& session, Picture& out, Size size, double pixel_scale) {
  const auto view = matrices_now(session);
  if (session.memory.painted != view) {
    session.memory.painted = view;
    session.matrices_rasters = {};
  }
  const Choices& choices = session.choices;
  const bool stands = machine_of(session) != nullptr;
  const double told = stands ? report_height(*choices.live, choices.spot, size.width) : 0;
  const Size room{size.width, std::max(1.0, size.height - told)};
  out.matrices = framed<MatricesView, MatricesFrame>(*view, session.matrices_lens, room,
                                                     pixel_scale, session.pending_zoom);
  out.scene = build_scene(*view, session.hover_element, session.choices.element, session.theme(),
                          *out.matrices, &session.matrices_rasters, session.memory.hover_matrix);
  draw_matrix_tiles(out.scene, *view, *out.matrices, matrix_tiles(session));
  out.scene.size = size;
  if (told > 0) {
    draw_report(out.scene, *choices.live, choices.spot, {0, room.height, size.width, told});
  }
}

// The views of the machine that stands still. How far they can be scrolled.
std::optional<double> draw_machine(Session& session, Picture& out, Size size) {
  Scene& scene = out.scene;
  const Choices& choices = session.choices;
  const MachineShown shown{*choices.live,
                           choices.spot,
                           choices.result ? choices.result->record.get() : nullptr,
                           session.theme(),
                           choices.breakpoints,
                           choices.comparison.get(),
                           selected_event(session)};
  scene.size = size;
  scene.theme = session.theme();
  draw_whose(scene, shown, size.width);
  const double told = report_height(shown.run, shown.spot, size.width);
  const Box room{0, whose_height, size.width, std::max(0.0, size.height - whose_height - told)};
  draw_report(scene, shown.run, shown.spot, {0, room.bottom(), size.width, told});
  Scroll& scroll = session.scrolls[choices.view];
  switch (choices.view) {
    case ViewName::source:
      return draw_source(scene, shown, room, scroll, out.beside, out.scroll_beside);
    case ViewName::registers:
      return draw_registers(scene, shown, room, scroll);
    case ViewName::barriers:
      return draw_barriers(scene, shown, room, scroll);
    default:
      draw_memories(session, out, shown, room);
      return {};
  }
}

// Why there is no timeline to show.
std::optional<Emptiness> no_timeline(const Session& session) {
  const Choices& choices = session.choices;
  if (choices.timeline) return {};
  const std::string& name = choices.kernel->name;
  if (session.running) {
    return Emptiness{fmt::format("{} is running. Its timeline comes here when it has ended.", name),
                     "", ""};
  }
  const std::string what = "what every warp, unit and barrier did, and who waited for whom";
  const sim::Machine* machine = machine_of(session);
  if (machine && machine->position() > 0) {
    const sim::Stepper& stepper = choices.live->stepper;
    const bool faults = machine->state() == RunState::fault || stepper.fault();
    return Emptiness{fmt::format("{} is at {}{}. Steps keep no record: a run records {}{}.", name,
                                 moment_text(*machine), faults ? ", where it faults" : "", what,
                                 faults ? ", up to the fault" : ""),
                     "run", "Run"};
  }
  return Emptiness{fmt::format("The timeline of {} comes here when it has run: {}.", name, what),
                   "run", "Run"};
}

// Why there is nothing to compare.
std::optional<Emptiness> no_comparison(const Session& session) {
  const Choices& choices = session.choices;
  if (choices.comparison) return {};
  if (!choices.baseline) {
    return Emptiness{
        "No baseline. Run a kernel, pin it with `baseline`, and run another: both are shown here.",
        choices.result ? "baseline" : "run", choices.result ? "Pin this run" : "Run"};
  }
  return Emptiness{fmt::format("{} is the baseline. The next run is shown beside it.",
                               choices.baseline->kernel.name),
                   "run", "Run"};
}

// Before the first block begins and when the last one has ended there is only source to see.
std::optional<Emptiness> nobody_resident(const Session& session) {
  const sim::Machine& machine = *machine_of(session);
  const bool resident = std::any_of(machine.blocks().begin(), machine.blocks().end(),
                                    [](const sim::Block& block) { return !block.ended; });
  const Choices& choices = session.choices;
  if (resident || choices.view == ViewName::source) return {};
  const std::string& name = choices.kernel->name;
  if (machine.position() == 0) {
    return Emptiness{fmt::format("{} is before its first instruction: no CTA has started.", name),
                     "step", "Step"};
  }
  const auto event = selected_event(session);
  if (event && !event->command.empty()) {
    return Emptiness{fmt::format("All blocks have exited. Selected in the timeline is {}; {}.",
                                 event->sentence, event->when),
                     event->command, "Go there"};
  }
  return Emptiness{
      fmt::format("All CTAs of {} have exited. Step back to where one was resident.", name),
      "step back", "Step back"};
}

// Why there is no machine to show.
std::optional<Emptiness> no_machine(const Session& session) {
  const std::string& name = session.choices.kernel->name;
  if (shows_build(session)) return {};
  if (const auto missing = not_built(session)) {
    if (session.edit.building) return Emptiness{missing->sentence, "cancel", "Stop"};
    return Emptiness{missing->sentence, "rebuild", "Compile it"};
  }
  if (machine_of(session)) return nobody_resident(session);
  if (on_the_way(session)) {
    return Emptiness{fmt::format("{} is stepping.", name), "cancel", "Stop here"};
  }
  return Emptiness{fmt::format("{} is before its first instruction. Registers appear here.", name),
                   "go start", "Load it"};
}

}  // namespace

namespace {

// A view follows from its text and the study; what was chosen by hand and what is usual is the same
// colour.
bool same_layout(const Choices& a, const Choices& b) {
  if (!a.layout || !b.layout) return a.layout == b.layout && a.colour == b.colour;
  LayoutChoice of_a, of_b;
  of_a.colour = a.colour;
  of_b.colour = b.colour;
  return a.layout_text == b.layout_text && a.study == b.study &&
         a.layout->colour(of_a) == b.layout->colour(of_b);
}

// A kernel's inputs follow from its options, but for those that files hold: a file may have changed
// since.
bool same_kernel(const Choices& a, const Choices& b) {
  if (a.kernel == b.kernel && a.matrices == b.matrices) return true;
  const auto reads = [](const auto& option) { return names_file(option.second); };
  return a.kernel && b.kernel && !a.result && !b.result && a.kernel->name == b.kernel->name &&
         !names_file(a.kernel->name) && std::none_of(a.options.begin(), a.options.end(), reads);
}

}  // namespace

bool operator==(const Choices& a, const Choices& b) {
  return a.view == b.view && same_layout(a, b) && a.layout_origin == b.layout_origin &&
         a.isolate == b.isolate && a.selected == b.selected && a.coordinates == b.coordinates &&
         same_kernel(a, b) && a.options == b.options && a.result == b.result && a.diff == b.diff &&
         a.compare == b.compare && a.file == b.file && a.element == b.element &&
         a.only_wrong == b.only_wrong && a.timeline == b.timeline &&
         a.timeline_choice == b.timeline_choice && a.moment == b.moment && a.spot == b.spot &&
         a.baseline == b.baseline && a.baseline_rows == b.baseline_rows &&
         a.beside_baseline == b.beside_baseline && a.memory == b.memory &&
         a.breakpoints == b.breakpoints && a.lesson == b.lesson && a.dark == b.dark &&
         a.settings == b.settings;
}

LayoutChoice layout_choice(const Session& session) {
  const Choices& choices = session.choices;
  LayoutChoice out;
  out.colour = choices.colour;
  out.hover = session.hover;
  out.selected = choices.selected;
  out.isolate = choices.isolate;
  out.coordinates = choices.coordinates;
  out.element_bytes = choices.study.element_bytes;
  if (choices.isolate.on == Focus::On::phase) {
    const auto access = access_of(session);
    const auto phase = choices.isolate.number;
    if (access && phase < static_cast<std::int64_t>((*access)->phases().size())) {
      out.phase = std::make_shared<const std::vector<std::int64_t>>((*access)->offsets_of(phase));
      if ((*access)->owned() != nullptr) out.phase_grid = (*access)->owned()->grid;
    }
  }
  return out;
}

DiffChoice diff_choice(const Session& session, bool stands_alone) {
  const Choices& choices = session.choices;
  DiffChoice out;
  out.hover = session.hover_element;
  out.selected = choices.element;
  out.only_wrong = choices.only_wrong;
  out.marks = choices.compare.marks;
  if (stands_alone && choices.element && choices.result) {
    out.provenance = provenance(*choices.result, *choices.element);
  }
  return out;
}

std::optional<Emptiness> emptiness(const Session& session) {
  const Choices& choices = session.choices;
  if (shows_layout(choices.view)) {
    if (choices.layout) return no_memory(session);
    return Emptiness{"No layout is open. Type an expression above, or begin with the 9x32 example.",
                     "open preset 9x32", "Open the 9x32 example"};
  }
  if (choices.view == ViewName::matrices && !choices.file.empty()) return {};
  if (choices.view == ViewName::diff && choices.diff) return {};
  if (!choices.kernel) {
    return Emptiness{"No kernel is open. Its matrices and their difference come here.",
                     "open elementwise_add", "Open elementwise_add"};
  }
  if (shows_machine(choices.view)) return no_machine(session);
  if (choices.view == ViewName::timeline) return no_timeline(session);
  if (choices.view == ViewName::compare) return no_comparison(session);
  const bool matrices = choices.view == ViewName::matrices;
  if (matrices ? choices.matrices != nullptr : choices.diff != nullptr) return {};
  if (session.running) {
    return Emptiness{fmt::format("{} is running. Its {} when it has ended.", choices.kernel->name,
                                 matrices ? "matrices come here" : "difference comes here"),
                     "", ""};
  }
  if (matrices) {
    return Emptiness{
        fmt::format("The matrices of {} come here when it has run.", choices.kernel->name), "run",
        "Run"};
  }
  return no_difference(choices);
}

Picture picture(Session& session, Size size, double pixel_scale, bool stands_alone) {
  const Choices& choices = session.choices;
  const Theme& theme = session.theme();
  Picture out;
  if (emptiness(session)) {
    out.scene.size = size;
    out.scene.theme = theme;
    return out;
  }
  switch (choices.view) {
    case ViewName::timeline:
      draw_timeline(session, out, size, pixel_scale, stands_alone);
      break;
    case ViewName::layout:
      make_room(*choices.layout, session.layout_lens, size);
      out.layout = framed<LayoutView, Frame>(*choices.layout, session.layout_lens, size,
                                             pixel_scale, session.pending_zoom);
      out.scene = build_scene(*choices.layout, layout_choice(session), theme, *out.layout,
                              &session.layout_rasters);
      break;
    case ViewName::wavefronts:
    case ViewName::sectors:
    case ViewName::bits:
      out.scene = memory_scene(session, size);
      break;
    case ViewName::matrices:
      draw_matrices(session, out, size, pixel_scale);
      break;
    case ViewName::source:
    case ViewName::registers:
    case ViewName::barriers:
    case ViewName::memory:
    case ViewName::tmem:
      out.scroll = shows_build(session) ? draw_build_of(session, out.scene, size)
                                        : draw_machine(session, out, size);
      break;
    case ViewName::compare:
      out.scene.size = size;
      out.scene.theme = theme;
      out.scroll = draw_comparison(out.scene, *choices.comparison, {0, 0, size.width, size.height},
                                   session.scrolls[choices.view],
                                   choices.baseline_timeline && choices.timeline, out.beside,
                                   out.scroll_beside);
      break;
    case ViewName::diff:
      out = diff_picture(session, size, pixel_scale, stands_alone);
      break;
  }
  return out;
}

Scene export_scene(const Session& session) {
  const Choices& choices = session.choices;
  const Theme& theme = session.theme();
  Session quiet;  // what is under the pointer is no part of a file
  quiet.choices = choices;
  quiet.edit.failed = session.edit.failed;
  switch (choices.view) {
    case ViewName::layout:
      return build_scene(*choices.layout, layout_choice(quiet), theme);
    case ViewName::wavefronts:
    case ViewName::sectors:
    case ViewName::bits:
      return memory_scene(quiet, {1280, 800});
    case ViewName::timeline:
      quiet.timeline_lens = session.timeline_lens;  // the stretch that is looked at
      quiet.baseline_scroll = session.baseline_scroll;
      return picture(quiet, {1280, 800}, 2, true).scene;
    case ViewName::matrices:
    case ViewName::diff:
    case ViewName::source:
    case ViewName::registers:
    case ViewName::barriers:
    case ViewName::memory:
    case ViewName::tmem:
    case ViewName::compare:
      return picture(quiet, {1280, 800}, 1, true).scene;
  }
  return {};
}

bool point_at(Session& session, const Picture& picture, std::optional<Point> at) {
  std::optional<Cell> cell;
  std::optional<Element> element;
  std::optional<std::size_t> matrix;
  const Choices& choices = session.choices;
  if (at && picture.layout && choices.layout) {
    cell = cell_at(*choices.layout, *picture.layout, *at);
  } else if (at && picture.diff && choices.diff) {
    element = element_at(*choices.diff, *picture.diff, *at);
  } else if (at && picture.matrices && choices.matrices) {
    element = element_at(*matrices_now(session), *picture.matrices, *at);
    if (element) matrix = matrix_at(*picture.matrices, *at);
  }
  const sim::EventId event =
      at && picture.timeline ? event_at(session, *picture.timeline, *at) : sim::no_event;
  const sim::EventId above = at && picture.timeline_above
                                 ? event_at(session, *picture.timeline_above, *at)
                                 : sim::no_event;
  const std::optional<UnitIdle> idle =
      at && picture.timeline ? idle_at(session, *picture.timeline, *at) : std::nullopt;
  std::optional<std::uint32_t> byte;
  std::optional<RunSpot::Cell> tensor;
  if (at && picture.memory) byte = byte_at(*picture.memory, *at);
  if (at && picture.tensor) tensor = cell_at(*picture.tensor, *at);
  MemoryDesk& desk = session.memory;
  const std::optional<std::size_t> bar =
      at && picture.histogram ? bar_at(*picture.histogram, *at) : std::nullopt;
  const bool changed =
      cell != session.hover || element != session.hover_element || matrix != desk.hover_matrix ||
      byte != desk.hover_byte || tensor != desk.hover_cell || event != session.hover_event ||
      above != session.hover_baseline || idle != session.hover_idle || bar != session.hover_bar;
  session.hover_bar = bar;
  desk.hover_byte = byte;
  desk.hover_matrix = matrix;
  desk.hover_cell = tensor;
  session.hover = cell;
  session.hover_event = event;
  session.hover_baseline = above;
  session.hover_idle = idle;
  session.hover_element = element;
  return changed;
}

void zoom_view(Session& session, const Picture& picture, Point at, double factor) {
  const Choices& choices = session.choices;
  if (picture.layout && choices.layout) {
    session.layout_lens = zoomed(*choices.layout, *picture.layout, at, factor);
  } else if (picture.diff && choices.diff) {
    session.diff_lens = zoomed(*choices.diff, *picture.diff, at, factor);
  } else if (picture.matrices && choices.matrices) {
    session.matrices_lens = zoomed(*matrices_now(session), *picture.matrices, at, factor);
  } else if (picture.timeline && choices.timeline) {
    session.timeline_lens = zoomed(*choices.timeline, *picture.timeline, at, factor);
  } else if (picture.memory) {
    session.memory.memory_lens = zoomed(*picture.memory, at, factor);
  } else if (picture.tensor) {
    session.memory.tensor_lens = zoomed(*picture.tensor, at, factor);
  }
}

void pan_view(Session& session, const Picture& picture, double dx, double dy,
              std::optional<Point> at) {
  const Choices& choices = session.choices;
  if (picture.layout && choices.layout) {
    session.layout_lens = panned(*choices.layout, *picture.layout, dx, dy);
  } else if (picture.diff && choices.diff) {
    session.diff_lens = panned(*choices.diff, *picture.diff, dx, dy);
  } else if (picture.matrices && choices.matrices) {
    session.matrices_lens = panned(*matrices_now(session), *picture.matrices, dx, dy);
  } else if (picture.timeline && choices.timeline) {
    pan_timeline(session, picture, dx, dy, at);
  } else if (picture.memory) {
    session.memory.memory_lens = panned(*picture.memory, dx, dy);
  } else if (picture.tensor) {
    session.memory.tensor_lens = panned(*picture.tensor, dx, dy);
  }
}

void scroll_view(Session& session, const Picture& picture, double notches,
                 std::optional<Point> at) {
  constexpr double rows = 3;
  Scroll& scroll = session.scrolls[session.choices.view];
  if (at && picture.beside.contains(*at)) {
    scroll.beside =
        std::clamp(scroll.beside - notches * rows * table_row, 0.0, picture.scroll_beside);
    scroll.beside_by_hand = true;
    return;
  }
  scroll.at = std::clamp(scroll.at - notches * rows * table_row, 0.0, picture.scroll.value_or(0));
  scroll.by_hand = true;
}

void fit_view(Session& session) {
  if (session.choices.view == ViewName::timeline) {
    session.timeline_lens = {};
    session.baseline_scroll = 0;
  } else {
    open_lens(session) = {};
  }
  session.scrolls.erase(session.choices.view);
  session.pending_zoom = 1;
}

void forget_passing(Session& session) {
  session.hover.reset();
  session.hover_element.reset();
  session.hover_event = session.hover_baseline = sim::no_event;
  session.hover_idle.reset();
  session.timeline_lens = {};
  session.baseline_scroll = 0;
  session.timeline_rasters = session.baseline_rasters = {};
  session.hover_bar.reset();
  session.layout_lens = session.matrices_lens = session.diff_lens = {};
  session.memory = {};
  session.scrolls.clear();
  session.layout_rasters = session.matrices_rasters = session.diff_rasters = {};
  session.pending_zoom = 1;
}

bool take_result(Session& session, Workshop& workshop) {
  if (!session.running) return false;
  auto result = workshop.take_result();
  if (!result) return false;
  session.running = false;
  session.run_error.reset();
  if (!*result) {
    session.run_error = result->error();
    session.message = {result->error().sentence, true};
    return true;
  }
  const KernelCard* open = session.choices.kernel.get();
  if (!open || open->name != (*result)->result->kernel.name) return true;  // of one since closed
  const Choices before = session.choices;
  show_result(session, **result);
  compare_with_baseline(session.choices);
  if (!session.script.joins) session.past.push_back({"run", before, false});
  session.future.clear();
  let_old_machines_go(session);
  const RunResult& ended = *session.choices.result;
  const bool bad = ended.end == RunResult::End::fault || (ended.diff && !ended.diff->ok());
  session.message = {outcome_of(ended, session.show_times), bad};
  return true;
}

}  // namespace tilescope
