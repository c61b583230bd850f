// Colours of data: categories, owners, quantities, signed differences.
//
// Categories are Okabe and Ito's eight colours, which people with colour-blindness tell apart
// (jfly.uni-koeln.de/color); beyond eight the same hues in steps of lightness. Quantities are
// cividis (Nunez, Anderton, Renslow 2018). A number or letter always says the same as the colour:
// beyond eight, and for eyes that the eight are close for, it is what tells categories apart.
#pragma once

#include <cstdint>
#include <vector>

#include "viz/scene/colour.h"

namespace tilescope {

// The i-th category, i >= 0. The first eight are Okabe-Ito's; their black is the dark theme's
// white, because it must differ from the paper. 56 are distinct, then they repeat.
inline constexpr int distinct_categories = 56;
// The first eight are at least this far apart in Oklab for full, protan, deutan and tritan vision
// (tests/viz/colour_test.cpp; about 0.02 is just noticed).
inline constexpr double distance_of_categories = 0.065;
Rgba category(std::int64_t i, bool dark);

// A thread: the warp is the hue, the lane its lightness. Where one warp holds all threads, its hue
// would say nothing, and the threads are categories.
Rgba thread_colour(std::int64_t thread, std::int64_t threads, bool dark);

// share of [0, 1] on cividis: 0 dark blue, 1 yellow.
Rgba quantity(double share);

// -1 blue, 0 white (the dark theme's white there), +1 orange; beyond, the ends.
Rgba signed_difference(double share, bool dark);

}  // namespace tilescope
