// Textures and surfaces whose handles outlive launches: those of a device.
#pragma once

#include <vector>

#include "core/run/texture.h"

namespace tilescope::sim {

class Machine;

// All that there ever were, by their handles; their elements lie at Texture::place. Before the
// machine runs.
void give_textures(Machine& machine, std::vector<Texture> all);

}  // namespace tilescope::sim
