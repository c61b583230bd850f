#include "viz/session/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "viz/session/fault_view.h"
#include "viz/session/files.h"
#include "viz/session/lesson_evidence.h"
#include "viz/session/open.h"
#include "viz/session/result_view.h"
#include "viz/session/seek.h"

namespace tilescope {

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
  const bool bad = is_bad(ended);
  const bool good = is_right(ended);
  if (shows_machine(session.state.view)) (void)leave_end(session, backend, "run");
  session.message = {outcome_of(ended, session.show_times), bad, good};
  if (!bad && ended.end == RunResult::End::done && session.state.timeline) {
    const std::string& verdict = session.state.timeline->statistics().verdict;
    if (!verdict.empty()) session.message.text += " " + verdict;
  }
  if (const std::string judged = judge_kept_answer(session, backend); !judged.empty()) {
    session.message.text = judged;
  }
  return true;
}

}  // namespace tilescope
