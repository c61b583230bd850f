// What an empty window shows: the three things that one comes for, each with its first steps.
#pragma once

#include "viz/scene/scene.h"

namespace tilescope {

struct Session;

// Nothing is open, and nothing stands in the view.
bool shows_start(const Session& session);
void draw_start(Scene& scene, Size size);

// The open kernel names layouts, and none is open: the Layout view lists these.
bool shows_own_layouts(const Session& session);
// Scrolled by so many pixels; answers by how many it can be.
double draw_own_layouts(Scene& scene, const Session& session, Size size, double scrolled);

// Where in a page one is, at its right edge; nothing where all of it is seen.
void draw_place_in_page(Scene& scene, Size size, double scrolled, double most);

}  // namespace tilescope
