// The open layout: its grid, and as memory that a warp meets (banks, sectors), and as bits.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/layout/text.h"
#include "viz/layout/layout_json.h"
#include "viz/session/look.h"
#include "viz/session/session.h"
#include "viz/session/value_table.h"
#include "viz/session/view_rows.h"

namespace tilescope {
namespace {

// Words give way, the outermost first, where they leave the cells too little: the field and the
// inspector say them too; a legend that was asked for stays. Where that gains little (a large
// layout), they stay. In a low window, as one with large letters is, cells should have room for a
// label.
void make_room(const LayoutView& view, Viewport& viewport, Size size, bool legend, bool asked) {
  constexpr double low = 320, worth = 1.5;           // pixels, and times what a cell had
  const double enough = size.height < low ? 16 : 4;  // pixels a cell
  viewport.size = size;
  viewport.title = viewport.formulas = true;
  viewport.legend = legend;
  const double before = arrange(view, viewport).fit_cell;
  double cell = before;
  for (bool Viewport::*words : {&Viewport::title, &Viewport::formulas, &Viewport::legend}) {
    if (cell >= enough) break;
    if (words == &Viewport::legend && asked) break;
    viewport.*words = false;
    cell = arrange(view, viewport).fit_cell;
  }
  if (cell < worth * before) {
    viewport.title = viewport.formulas = true;
    viewport.legend = legend;
  }
}

void draw_grid(Session& session, Picture& out, const Drawing& how) {
  const LayoutView& view = *session.state.layout;
  make_room(view, session.layout_viewport, how.size, how.legend,
            session.state.settings.legend.has_value());
  out.layout = framed<LayoutView, Frame>(view, session.layout_viewport, how.size, how.pixel_scale,
                                         session.pending_zoom);
  out.scene = build_scene(view, layout_choice(session), session.theme(), *out.layout,
                          &session.layout_rasters);
}

Scene grid_for_file(Session& quiet, const Session&) {
  return build_scene(*quiet.state.layout, layout_choice(quiet), quiet.theme());
}

void point_at_grid(const Session& session, const Picture& picture, Point at, Hovered& out) {
  if (picture.layout) out.cell = cell_at(*session.state.layout, *picture.layout, at);
}

void zoom_grid(Session& session, const Picture& picture, Point at, double factor) {
  if (!picture.layout) return;
  session.layout_viewport = zoomed(*session.state.layout, *picture.layout, at, factor);
}

void pan_grid(Session& session, const Picture& picture, double dx, double dy,
              std::optional<Point>) {
  if (!picture.layout) return;
  session.layout_viewport = panned(*session.state.layout, *picture.layout, dx, dy);
}

std::optional<ViewportPlace> look_at_grid(const Session& session) {
  return look_through(session.state.layout, session.layout_viewport);
}

Json grid_json(const Session& session, const Picture& picture) {
  return describe(*session.state.layout, layout_choice(session), picture.scene);
}

Viewport& viewport_of_grid(Session& session) {
  return session.layout_viewport;
}

// Why the open layout has no banks or sectors, or no bits, to show.
std::optional<Emptiness> nothing_of(std::string sentence) {
  return Emptiness{std::move(sentence), "select layout", "Show the grid"};
}
std::optional<Emptiness> no_access(const Session& session) {
  const auto view = access_of(session);
  return view ? std::optional<Emptiness>() : nothing_of(view.error().sentence);
}
std::optional<Emptiness> no_bits(const Session& session) {
  const auto bits = bit_matrix_of(session);
  return bits ? std::optional<Emptiness>() : nothing_of(bits.error().sentence);
}

Scene bits_scene(const Session& session, Size size) {
  const Outcome<Layout> memory = memory_of(session);
  return build_scene(*bit_matrix_of(session),
                     memory ? text(*memory) : session.state.layout->title(), session.theme(), size);
}

Scene access_scene(const Session& session, bool sectors, Size size) {
  const std::shared_ptr<const AccessView> view = *access_of(session);
  const std::int64_t worst = sectors ? view->worst_in_sectors() : view->worst_in_banks();
  const std::int64_t asked = session.state.study.instruction.value_or(worst);
  return build_scene(*view, sectors, asked < view->instructions() ? asked : worst, session.theme(),
                     size);
}

void draw_banks(Session& session, Picture& out, const Drawing& how) {
  out.scene = access_scene(session, false, how.size);
}
void draw_sectors(Session& session, Picture& out, const Drawing& how) {
  out.scene = access_scene(session, true, how.size);
}
void draw_bits(Session& session, Picture& out, const Drawing& how) {
  out.scene = bits_scene(session, how.size);
}

}  // namespace

const View grid_view = {
    .id = ViewName::layout,
    .name = "layout",
    .tab = "Layout",
    .of = View::Of::layout,
    .legend = true,
    .draw = draw_grid,
    .for_file = grid_for_file,
    .viewport = viewport_of_grid,
    .point = point_at_grid,
    .zoom = zoom_grid,
    .pan = pan_grid,
    .look = look_at_grid,
    .values = cell_values,
    .json = grid_json,
};

const View banks_view = {
    .id = ViewName::wavefronts,
    .name = "banks",
    .of = View::Of::layout,
    .empty = no_access,
    .draw = draw_banks,
    .viewport = viewport_of_grid,
    .values = bank_values,
};

const View sectors_view = {
    .id = ViewName::sectors,
    .name = "sectors",
    .of = View::Of::layout,
    .empty = no_access,
    .draw = draw_sectors,
    .viewport = viewport_of_grid,
    .values = sector_values,
};

const View bits_view = {
    .id = ViewName::bits,
    .name = "bits",
    .of = View::Of::layout,
    .empty = no_bits,
    .draw = draw_bits,
    .viewport = viewport_of_grid,
    .values = bit_values,
};

}  // namespace tilescope
