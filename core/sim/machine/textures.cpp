#include "core/sim/machine/textures.h"

#include <utility>

#include "core/sim/machine/machine.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {

void give_textures(Machine& machine, std::vector<Texture> all) {
  machine.model().textures = std::move(all);
}

const Texture* texture_of(const std::vector<Texture>& all, std::uint64_t handle) {
  const std::uint64_t at = handle - texture_base;
  if (handle < texture_base || at % texture_step || at / texture_step >= all.size()) return nullptr;
  return &all[at / texture_step];
}

}  // namespace tilescope::sim
