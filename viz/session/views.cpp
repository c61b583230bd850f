#include "viz/session/views.h"

#include <algorithm>

#include "viz/session/session.h"
#include "viz/session/start_card.h"
#include "viz/session/view_rows.h"

namespace tilescope {
namespace {

constexpr const View* table[] = {&grid_view,     &banks_view,     &sectors_view,    &bits_view,
                                 &lower_view,    &course_view,    &kernel_view,     &theatre_view,
                                 &timeline_view, &why_view,       &handoffs_view,   &product_view,
                                 &source_view,   &registers_view, &barriers_view,   &memory_view,
                                 &tmem_view,     &matrices_view,  &difference_view, &compare_view};

}  // namespace

std::span<const View* const> views() {
  return table;
}

const View& view_of(ViewName name) {
  const auto row = std::find_if(std::begin(table), std::end(table),
                                [&](const View* view) { return view->id == name; });
  return row == std::end(table) ? grid_view : **row;
}

bool shows_layout(ViewName view) {
  return view_of(view).of == View::Of::layout;
}
bool shows_machine(ViewName view) {
  return view_of(view).of == View::Of::machine;
}
std::string_view name_of(ViewName view) {
  return view_of(view).name;
}

std::optional<Emptiness> emptiness(const Session& session) {
  const ViewState& state = session.state;
  const View& view = view_of(state.view);
  if (view.of == View::Of::layout && !state.layout) {
    return Emptiness{"No layout is open. Type an expression above, or begin with the 9x32 example.",
                     "open preset 9x32", "Open the 9x32 example"};
  }
  // Of files there are matrices and a difference without a kernel.
  const bool of_files = (state.view == ViewName::matrices && !state.file.empty()) ||
                        (state.view == ViewName::diff && state.diff);
  const bool of_kernel = view.of == View::Of::kernel || view.of == View::Of::machine;
  if (of_kernel && !state.kernel && !of_files) {
    return Emptiness{"No kernel is open. Its matrices and their difference come here.",
                     "open elementwise_add", "Open elementwise_add"};
  }
  return view.empty ? view.empty(session) : std::nullopt;
}

namespace {

// In a small view the data has all of the room, unless the legend was asked for.
// A file has the theme's paper below what is drawn: without it a PNG is black, and letters of the
// light theme cannot be read.
void put_on_paper(Scene& scene) {
  Rectangle paper;
  paper.box = {0, 0, scene.size.width, scene.size.height};
  paper.fill = Ink(Role::paper);
  const auto covers = [&](const Item& item) {
    const Rectangle* r = std::get_if<Rectangle>(&item);
    return r && r->fill && r->fill->role == Role::paper && r->fill->alpha == 1 && r->box.x <= 0 &&
           r->box.y <= 0 && r->box.right() >= scene.size.width &&
           r->box.bottom() >= scene.size.height;
  };
  const auto first = std::find_if(scene.items.begin(), scene.items.end(), [](const Item& item) {
    return !std::holds_alternative<GroupBegin>(item);
  });
  if (first == scene.items.end() || !covers(*first)) scene.items.insert(scene.items.begin(), paper);
}

bool has_room_for_legend(const WindowSettings& settings, Size size) {
  constexpr Size least{520, 400};
  return settings.legend.value_or(size.width >= least.width && size.height >= least.height);
}

}  // namespace

Picture picture(Session& session, Size size, double pixel_scale, bool stands_alone) {
  Picture out;
  out.scene.size = size;
  out.scene.theme = session.theme();
  if (shows_start(session)) {
    draw_start(out.scene, size);
  } else if (shows_own_layouts(session)) {
    Scroll& scroll = session.scrolls[session.state.view];
    Scene tried = out.scene;
    out.scroll = draw_own_layouts(tried, session, size, 0);
    scroll.at = std::clamp(scroll.at, 0.0, *out.scroll);
    (void)draw_own_layouts(out.scene, session, size, scroll.at);
    draw_place_in_page(out.scene, size, scroll.at, *out.scroll);
  } else if (!emptiness(session)) {
    const bool legend = stands_alone || has_room_for_legend(session.state.settings, size);
    if (!stands_alone) session.legend_shown = legend;
    view_of(session.state.view).draw(session, out, {size, pixel_scale, stands_alone, legend});
  }
  return out;
}

Scene export_scene(const Session& session) {
  Session quiet;  // what is under the pointer is no part of a file
  quiet.state = session.state;
  quiet.edit.failed = session.edit.failed;
  const View& view = view_of(session.state.view);
  Scene out = view.for_file && !emptiness(session) ? view.for_file(quiet, session)
                                                   : picture(quiet, {1280, 800}, 1, true).scene;
  put_on_paper(out);
  return out;
}

bool point_at(Session& session, const Picture& picture, std::optional<Point> at) {
  Hovered now;
  const View& view = view_of(session.state.view);
  if (at && view.point) view.point(session, picture, *at, now);
  const bool changed = now != session.hovered;
  session.hovered = std::move(now);
  return changed;
}

bool is_zoomed_at(const Picture& picture, Point at) {
  return !picture.scroll || (picture.accumulator && is_on_matrix(*picture.accumulator, at));
}

void zoom_view(Session& session, const Picture& picture, Point at, double factor) {
  const View& view = view_of(session.state.view);
  if (view.zoom) view.zoom(session, picture, at, factor);
}

void pan_view(Session& session, const Picture& picture, double dx, double dy,
              std::optional<Point> at) {
  const View& view = view_of(session.state.view);
  if (view.pan) view.pan(session, picture, dx, dy, at);
}

}  // namespace tilescope
