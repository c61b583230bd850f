// Where a view is zoomed and moved to, in the data's own terms, so that another window shows the
// same part: the size of a cell, and which cell is in the middle.
//
//     Look{24, 5.5, 12, 0, 0}    24 px a cell; the middle of row 5 begins column 12 of grid 0
//
// A Lens (viz/scene/viewport.h) says the same in pixels of one picture. Zoom and pan are no
// steps of undo, since nobody decides on a wheel's tick; but share strings, workspaces and command
// lines carry them, as `zoom at`.
#pragma once

#include <optional>
#include <string>

#include "viz/layout/layout_scene.h"
#include "viz/matrix/diff_view.h"
#include "viz/matrix/matrices_view.h"

namespace tilescope {

struct Session;

// What a lens shows; nothing where it shows everything.
std::optional<Look> look_of(const LayoutView& view, const Lens& lens);
std::optional<Look> look_of(const MatricesView& view, const Lens& lens);
std::optional<Look> look_of(const DiffView& view, const Lens& lens);

// The lens of a size that shows it. A grid or a slice that is not there any more is no reason to
// refuse: the first one is looked at.
Lens looking(const LayoutView& view, Lens lens, const Look& look);
Lens looking(const MatricesView& view, Lens lens, const Look& look);
Lens looking(const DiffView& view, Lens lens, const Look& look);

// Where an open view is looked at, or is to be from the next picture on.
template <class Of>
std::optional<Look> look_through(const Of& view, const Lens& lens) {
  return lens.look ? lens.look : view ? look_of(*view, lens) : std::optional<Look>();
}

// The command that brings the open view to where it is; empty where it shows everything.
std::string zoom_line(const Session& session);

// Where a view stands in a picture of this size: as it is looked at, or zoomed since.
template <class Of, class FrameOf>
FrameOf framed(const Of& view, Lens& lens, Size size, double pixel_scale, double& pending_zoom) {
  lens.size = size;
  lens.pixel_scale = pixel_scale;
  if (lens.look) lens = looking(view, lens, Look(*lens.look));
  FrameOf frame = arrange(view, lens);
  if (pending_zoom != 1) {
    const Point middle{size.width / 2, size.height / 2};
    lens = zoomed(view, frame, middle, pending_zoom);
    pending_zoom = 1;
    frame = arrange(view, lens);
  }
  return frame;
}

}  // namespace tilescope
