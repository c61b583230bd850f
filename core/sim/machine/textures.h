// Textures and surfaces whose handles outlive launches: those of a device.
#pragma once

#include <cstdint>
#include <vector>

#include "core/run/texture.h"

namespace tilescope::sim {

class Machine;

// All that there ever were, by their handles; their elements lie at Texture::place. Before the
// machine runs.
void give_textures(Machine& machine, std::vector<Texture> all);
// The one of them with this handle, ended or not; null: it is none's.
const Texture* texture_of(const std::vector<Texture>& all, std::uint64_t handle);

}  // namespace tilescope::sim
