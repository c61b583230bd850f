// Where a view is zoomed and moved to, in the data's own terms, so that another window shows the
// same part: the size of a cell, and which cell is in the middle.
//
//     ViewportPlace{24, 5.5, 12, 0, 0}    24 px a cell; the middle of row 5 begins column 12 of
//     grid 0
//
// A Viewport (viz/scene/viewport.h) says the same in pixels of one picture. Zoom and pan are no
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

// What a viewport shows; nothing where it shows everything.
std::optional<ViewportPlace> look_of(const LayoutView& view, const Viewport& viewport);
std::optional<ViewportPlace> look_of(const MatricesView& view, const Viewport& viewport);
std::optional<ViewportPlace> look_of(const DiffView& view, const Viewport& viewport);

// The viewport of a size that shows it. A grid or a slice that is not there any more is no reason
// to refuse: the first one is looked at.
Viewport looking(const LayoutView& view, Viewport viewport, const ViewportPlace& look);
Viewport looking(const MatricesView& view, Viewport viewport, const ViewportPlace& look);
Viewport looking(const DiffView& view, Viewport viewport, const ViewportPlace& look);

// Where an open view is looked at, or is to be from the next picture on.
template <class Of>
std::optional<ViewportPlace> look_through(const Of& view, const Viewport& viewport) {
  return viewport.look ? viewport.look
         : view        ? look_of(*view, viewport)
                       : std::optional<ViewportPlace>();
}

// The command that brings the open view to where it is; empty where it shows everything.
std::string zoom_line(const Session& session);

// Where a view is in a picture of this size: as it is looked at, or zoomed since.
template <class Of, class FrameOf>
FrameOf framed(const Of& view, Viewport& viewport, Size size, double pixel_scale,
               double& pending_zoom) {
  viewport.size = size;
  viewport.pixel_scale = pixel_scale;
  if (viewport.look) viewport = looking(view, viewport, ViewportPlace(*viewport.look));
  FrameOf frame = arrange(view, viewport);
  if (pending_zoom != 1) {
    const Point middle{size.width / 2, size.height / 2};
    viewport = zoomed(view, frame, middle, pending_zoom);
    pending_zoom = 1;
    frame = arrange(view, viewport);
  }
  return frame;
}

}  // namespace tilescope
