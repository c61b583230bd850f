// What the inspector says of the open comparison: the patterns of what is wrong, with their
// evidence.
#pragma once

#include "viz/session/panels.h"

namespace tilescope {

// The matrix or run that an element is compared in, in words; empty where nothing is compared.
std::vector<InspectorSection> comparison_sections(const Session& session);
// What can be chosen of the diff view: the measure, map or table, all or only wrong.
std::vector<Choice> comparison_choices(const Session& session);

}  // namespace tilescope
