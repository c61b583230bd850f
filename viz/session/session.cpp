#include "viz/session/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "viz/session/fault_view.h"
#include "viz/session/files.h"
#include "viz/session/open.h"
#include "viz/session/result_view.h"
#include "viz/session/seek.h"

namespace tilescope {
namespace {

// A view follows from its text and the study; what was chosen by hand and what is usual is the same
// colour.
bool same_layout(const ViewState& a, const ViewState& b) {
  if (!a.layout || !b.layout) return a.layout == b.layout && a.colour == b.colour;
  LayoutChoice of_a, of_b;
  of_a.colour = a.colour;
  of_b.colour = b.colour;
  return a.layout_text == b.layout_text && a.study == b.study &&
         a.layout->colour(of_a) == b.layout->colour(of_b);
}

// A kernel's inputs follow from its options, but for those that files hold: a file may have changed
// since.
bool same_kernel(const ViewState& a, const ViewState& b) {
  if (a.kernel == b.kernel && a.matrices == b.matrices) return true;
  const auto reads = [](const auto& option) { return names_file(option.second); };
  return a.kernel && b.kernel && !a.result && !b.result && a.kernel->name == b.kernel->name &&
         !names_file(a.kernel->name) && std::none_of(a.options.begin(), a.options.end(), reads);
}

}  // namespace

bool operator==(const ViewState& a, const ViewState& b) {
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
  const ViewState& state = session.state;
  LayoutChoice out;
  out.colour = state.colour;
  out.hover = session.hovered.cell;
  out.selected = state.selected;
  out.isolate = state.isolate;
  out.coordinates = state.coordinates;
  out.element_bytes = state.study.element_bytes;
  if (state.isolate.on == Focus::On::phase) {
    const auto access = access_of(session);
    const auto phase = state.isolate.number;
    if (access && phase < static_cast<std::int64_t>((*access)->phases().size())) {
      out.phase = std::make_shared<const std::vector<std::int64_t>>((*access)->offsets_of(phase));
      if ((*access)->owned() != nullptr) out.phase_grid = (*access)->owned()->grid;
    }
  }
  return out;
}

DiffChoice diff_choice(const Session& session, bool stands_alone) {
  const ViewState& state = session.state;
  DiffChoice out;
  out.hover = session.hovered.element;
  out.selected = state.element;
  out.only_wrong = state.only_wrong;
  out.marks = state.compare.marks;
  if (stands_alone && state.element && state.result) {
    out.provenance = provenance(*state.result, *state.element);
  }
  return out;
}

void scroll_view(Session& session, const Picture& picture, double notches,
                 std::optional<Point> at) {
  constexpr double rows = 3;
  Scroll& scroll = session.scrolls[session.state.view];
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
  if (session.state.view == ViewName::timeline) {
    session.timeline_viewport = {};
    session.baseline_scroll = 0;
  } else {
    if (const View& view = view_of(session.state.view); view.viewport) view.viewport(session) = {};
  }
  session.scrolls.erase(session.state.view);
  session.pending_zoom = 1;
}

void forget_passing(Session& session) {
  session.hovered = {};
  session.timeline_viewport = {};
  session.baseline_scroll = 0;
  session.timeline_rasters = session.baseline_rasters = {};
  session.layout_viewport = session.matrices_viewport = session.diff_viewport = {};
  session.memory = {};
  session.scrolls.clear();
  session.layout_rasters = session.matrices_rasters = session.diff_rasters = {};
  session.pending_zoom = 1;
}

bool take_result(Session& session, Backend& backend) {
  if (!session.running) return false;
  auto result = backend.take_result();
  if (!result) return false;
  session.running = false;
  session.run_error.reset();
  if (!*result) {
    session.run_error = result->error();
    session.message = {result->error().sentence, true};
    return true;
  }
  const KernelCard* open = session.state.kernel.get();
  if (!open || open->name != (*result)->result->kernel.name) return true;  // of one since closed
  const ViewState before = session.state;
  show_result(session, **result);
  compare_with_baseline(session.state);
  if (!session.script.joins) session.past.push_back({"run", before, false});
  session.future.clear();
  let_old_machines_go(session);
  const RunResult& ended = *session.state.result;
  const bool bad = ended.end == RunResult::End::fault || (ended.diff && !ended.diff->ok());
  session.message = {outcome_of(ended, session.show_times), bad};
  return true;
}

}  // namespace tilescope
