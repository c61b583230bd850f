#include "viz/session/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "viz/session/fault_view.h"
#include "viz/session/files.h"
#include "viz/session/open.h"
#include "viz/session/result_view.h"
#include "viz/session/standing.h"

namespace tilescope {
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
  out.hover = session.hovered.cell;
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
  out.hover = session.hovered.element;
  out.selected = choices.element;
  out.only_wrong = choices.only_wrong;
  out.marks = choices.compare.marks;
  if (stands_alone && choices.element && choices.result) {
    out.provenance = provenance(*choices.result, *choices.element);
  }
  return out;
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
    if (const View& view = view_of(session.choices.view); view.lens) view.lens(session) = {};
  }
  session.scrolls.erase(session.choices.view);
  session.pending_zoom = 1;
}

void forget_passing(Session& session) {
  session.hovered = {};
  session.timeline_lens = {};
  session.baseline_scroll = 0;
  session.timeline_rasters = session.baseline_rasters = {};
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
