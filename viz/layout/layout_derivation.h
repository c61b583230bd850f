// From an expression to its derivation as linked grids: input, operator, one step, result.
//
//     zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)
//         input      the layout that is divided
//         tiler      which of its coordinates one tile takes
//         step 3     complement: how many tiles there are, and where each begins
//         result     ((tiles), (rests))
//
// The steps are those of Scope::explain, none of them our own. Grids are linked by element: a grid
// of offsets shows elements, a grid of coordinates (a tiler, the right side of a composition, a
// complement) leads to them through the layout that it indexes.
#pragma once

#include <string_view>

#include "core/language/language.h"

namespace tilescope {

// The steps of the outermost operation of the last statement, the call itself first; empty where
// there is none: a layout written out, a name, a problem.
Derivation derivation_of(std::string_view expression);

// "complement 3:3, 9 = 3:1"
std::string step_text(const DerivationStep& step);

// Whether a panel's `through` is nothing but a swizzle, which leads back too. What such a grid
// shows is in memory before the swizzle: banks and colours are those of there.
bool only_moves(const std::optional<Layout>& through);

}  // namespace tilescope
