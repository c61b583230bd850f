// A comparison in a few sentences.
#pragma once

#include <string>
#include <string_view>

#include "core/profile/difference.h"

namespace tilescope::sim {

// By how much the times differ, and by what most of all; first of all, where they did other work,
// which. `a` and `b` are what the two are called: "the baseline".
std::string verdict_of(const Difference& difference, std::string_view a, std::string_view b);

}  // namespace tilescope::sim
