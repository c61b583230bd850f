// Matrices, and where a result differs from what it should be.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "viz/machine/fault_scene.h"
#include "viz/machine/machine_scene.h"
#include "viz/matrix/diff_json.h"
#include "viz/session/diff_picture.h"
#include "viz/session/look.h"
#include "viz/session/matrices_tiles.h"
#include "viz/session/result_view.h"
#include "viz/session/seek.h"
#include "viz/session/session.h"
#include "viz/session/value_table.h"
#include "viz/session/view_rows.h"

namespace tilescope {
namespace {

std::optional<Emptiness> still_running(const Session& session, std::string_view what) {
  if (!session.running) return {};
  return Emptiness{
      fmt::format("{} is running. Its {} when it has ended.", session.state.kernel->name, what), "",
      ""};
}

std::optional<Emptiness> no_matrices(const Session& session) {
  const ViewState& state = session.state;
  if (!state.file.empty() || state.matrices) return {};
  if (const auto running = still_running(session, "matrices come here")) return running;
  return Emptiness{fmt::format("The matrices of {} come here when it has run.", state.kernel->name),
                   "run", "Run"};
}

std::optional<Emptiness> no_difference(const Session& session) {
  const ViewState& state = session.state;
  if (state.diff) return {};
  if (const auto running = still_running(session, "difference comes here")) return running;
  const std::string& name = state.kernel->name;
  if (!state.result) {
    if (state.live && state.moment > 0) {
      return Emptiness{fmt::format("{} is at {}. Nothing is compared before its end.", name,
                                   moment_text(*state.live)),
                       "run", "Run to the end"};
    }
    return Emptiness{
        fmt::format("{} has not run. Its result, element by element against a reference, comes "
                    "here.",
                    name),
        "run", "Run"};
  }
  if (state.result->end == RunResult::End::fault) {
    const auto& reports = state.result->reports;
    const bool there = state.live && !reports.empty();
    return Emptiness{fmt::format("{} faulted, so there is no result to compare. {}", name,
                                 reports.empty() ? "" : reports.back().sentence),
                     there ? fmt::format("go report {}", reports.size() - 1) : "select matrices",
                     there ? "Show the fault" : "Show the matrices"};
  }
  return Emptiness{
      fmt::format("The run of {} was stopped, so there is no result to compare.", name), "run",
      "Run again"};
}

// The element that a fault or hazard is about, in its red.
void draw_reported(Scene& scene, const MatricesView& view, const MatricesFrame& frame,
                   const LiveRun& run, const RunCursor& spot) {
  const Report* report = report_looked_at(run, spot);
  const sim::Machine& machine = run.stepper.machine();
  const auto at = report ? element_at(report->evidence.place, machine) : std::nullopt;
  if (!at) return;
  for (std::size_t i = 0; i < view.matrices().size(); ++i) {
    const MatricesView::Matrix& matrix = view.matrices()[i];
    if (matrix.name != machine.shells()[at->buffer].name) continue;
    if (at->row >= matrix.rows || at->column >= matrix.columns) continue;
    const Box& map = frame.maps[i];
    const double wide = map.width / static_cast<double>(matrix.columns),
                 high = map.height / static_cast<double>(matrix.rows);
    const Box cell{map.x + wide * static_cast<double>(at->column),
                   map.y + high * static_cast<double>(at->row), wide, high};
    constexpr double least = 8;  // pixels: of a large matrix an element is less than one
    const Box seen = cell.grown(std::max(1.0, (least - std::min(wide, high)) / 2));
    if (!frame.slots[i].contains(cell.centre())) continue;
    scene.begin("reported");
    scene.add(Rectangle{seen, {}, {Role::wrong, 3, false}, 2});
    scene.end();
  }
}

// The matrices, and on them what of them lies in the memory of the block looked at.
void draw_matrices(Session& session, Picture& out, const Drawing& how) {
  const Size size = how.size;
  const auto view = matrices_now(session);
  if (session.memory.painted != view) {
    session.memory.painted = view;
    session.matrices_rasters = {};
  }
  const ViewState& state = session.state;
  const bool stands = machine_of(session) != nullptr;
  const double told = stands ? report_height(*state.live, state.spot, size.width) : 0;
  const Size room{size.width, std::max(1.0, size.height - told)};
  session.matrices_viewport.legend = how.legend;
  out.matrices = framed<MatricesView, MatricesFrame>(*view, session.matrices_viewport, room,
                                                     how.pixel_scale, session.pending_zoom);
  out.scene = build_scene(*view, session.hovered.element, session.state.element, session.theme(),
                          *out.matrices, &session.matrices_rasters, session.hovered.matrix,
                          session.state.memory.sums_by_thread);
  draw_matrix_tiles(out.scene, *view, *out.matrices, matrix_tiles(session));
  out.scene.size = size;
  if (told > 0) {
    draw_reported(out.scene, *view, *out.matrices, *state.live, state.spot);
    draw_report(out.scene, *state.live, state.spot, {0, room.height, size.width, told});
  }
}

void point_at_matrices(const Session& session, const Picture& picture, Point at, Hovered& out) {
  if (!picture.matrices || !session.state.matrices) return;
  out.element = element_at(*matrices_now(session), *picture.matrices, at);
  if (out.element) out.matrix = matrix_at(*picture.matrices, at);
}

void zoom_matrices(Session& session, const Picture& picture, Point at, double factor) {
  if (!picture.matrices || !session.state.matrices) return;
  session.matrices_viewport = zoomed(*matrices_now(session), *picture.matrices, at, factor);
}

void pan_matrices(Session& session, const Picture& picture, double dx, double dy,
                  std::optional<Point>) {
  if (!picture.matrices || !session.state.matrices) return;
  session.matrices_viewport = panned(*matrices_now(session), *picture.matrices, dx, dy);
}

std::optional<ViewportPlace> look_at_matrices(const Session& session) {
  return look_through(session.state.matrices, session.matrices_viewport);
}

Viewport& viewport_of_matrices(Session& session) {
  return session.matrices_viewport;
}

void draw_difference(Session& session, Picture& out, const Drawing& how) {
  session.diff_viewport.legend = how.legend;
  out = diff_picture(session, how.size, how.pixel_scale, how.stands_alone);
}

void point_at_difference(const Session& session, const Picture& picture, Point at, Hovered& out) {
  if (picture.diff) out.element = element_at(*session.state.diff, *picture.diff, at);
  if (picture.histogram) out.bar = bar_at(*picture.histogram, at);
}

void zoom_difference(Session& session, const Picture& picture, Point at, double factor) {
  if (!picture.diff) return;
  session.diff_viewport = zoomed(*session.state.diff, *picture.diff, at, factor);
}

void pan_difference(Session& session, const Picture& picture, double dx, double dy,
                    std::optional<Point>) {
  if (!picture.diff) return;
  session.diff_viewport = panned(*session.state.diff, *picture.diff, dx, dy);
}

std::optional<ViewportPlace> look_at_difference(const Session& session) {
  return look_through(session.state.diff, session.diff_viewport);
}

Viewport& viewport_of_difference(Session& session) {
  return session.diff_viewport;
}

Json difference_json(const Session& session, const Picture& picture) {
  if (!picture.diff) return describe(picture.scene);
  return describe(*session.state.diff, diff_choice(session, true), picture.scene);
}

}  // namespace

const View matrices_view = {
    .id = ViewName::matrices,
    .name = "matrices",
    .tab = "Matrices",
    .legend = true,
    .empty = no_matrices,
    .draw = draw_matrices,
    .viewport = viewport_of_matrices,
    .point = point_at_matrices,
    .zoom = zoom_matrices,
    .pan = pan_matrices,
    .look = look_at_matrices,
    .values = matrix_values,
};

const View difference_view = {
    .id = ViewName::diff,
    .name = "diff",
    .tab = "Difference",
    .said = "the difference",
    .legend = true,
    .empty = no_difference,
    .draw = draw_difference,
    .viewport = viewport_of_difference,
    .point = point_at_difference,
    .zoom = zoom_difference,
    .pan = pan_difference,
    .look = look_at_difference,
    .values = difference_values,
    .json = difference_json,
};

}  // namespace tilescope
