// A film as one HTML file that plays it: no network, no outside script or
// font. A canvas, a button, a strip of time; space plays, arrows step.
//
// What frames have in common is written once. A script in the page finds `tilescope.times`,
// `tilescope.states` and `tilescope.show(i)`: tests ask there what a frame shows.
#pragma once

#include <string>

#include "viz/scene/film.h"

namespace tilescope {

std::string paint_player(const Film& film);

}  // namespace tilescope
