#include "viz/session/diff_picture.h"

#include <algorithm>

#include "viz/scene/items.h"
#include "viz/session/diff_table.h"
#include "viz/session/look.h"

namespace tilescope {
namespace {

// Lower views keep what room they have for the map.
constexpr double least_map = 240;

}  // namespace

Picture diff_picture(Session& session, Size size, double pixel_scale, bool stands_alone) {
  const ViewState& state = session.state;
  const DiffView& view = *state.diff;
  const Theme& theme = session.theme();
  const DiffChoice choice = diff_choice(session, stands_alone);
  Picture out;
  const bool counts = size.height >= least_map + histogram_height && view.source().rows() > 0;
  const Size upper{size.width, counts ? size.height - histogram_height : size.height};
  if (state.compare.as_table && state.compare.comparison) {
    out.scene.size = upper;
    out.scene.theme = theme;
    out.scene.title = view.title();
    Rectangle paper;
    paper.box = {0, 0, upper.width, upper.height};
    paper.fill = Ink(Role::paper);
    out.scene.add(paper);
    const Table table = worst_table(session);
    const std::string left_out = left_out_words(table, upper.width);
    const Box list{0, 0, upper.width, upper.height - (left_out.empty() ? 0 : table_row)};
    out.scroll = draw_table(out.scene, table, list, session.scrolls[ViewName::diff]);
    if (!left_out.empty()) {
      out.scene.add(words({table_edge, list.bottom() + table_row / 2},
                          fitted(left_out, upper.width - 2 * table_edge, small_text, Family::sans),
                          Role::quiet));
    }
  } else {
    out.diff = framed<DiffView, DiffFrame>(view, session.diff_viewport, upper, pixel_scale,
                                           session.pending_zoom);
    out.scene = build_scene(view, choice, theme, *out.diff, &session.diff_rasters);
  }
  if (!counts) return out;
  const Box strip{0, upper.height, size.width, histogram_height};
  Rectangle paper;
  paper.box = strip;
  paper.fill = Ink(Role::paper);
  out.scene.size = size;
  out.scene.add(paper);
  out.histogram = arrange_histogram(view, strip);
  draw_histogram(out.scene, view, *out.histogram, choice, session.hovered.bar);
  return out;
}

}  // namespace tilescope
