#include "core/sim/machine/textures.h"

#include <utility>

#include "core/sim/machine/machine.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {

void give_textures(Machine& machine, std::vector<Texture> all) {
  machine.model().textures = std::move(all);
}

}  // namespace tilescope::sim
