// What the simulator's clock says of kernels, as `tilescope run KERNEL --predict` does: several at
// once, each on a thread of its own. L2 has nothing of the matrices, as where those of a benchmark
// take turns.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/run/catalog_entry.h"
#include "core/run/device_description.h"

namespace tilescope::bench {

// The description of a card, by what its name has in it ("NVIDIA H100 80GB HBM3"), or by the name
// of the description ("h100"). Refused: there is none.
Outcome<DeviceDescription> description_of(const std::string& card);

struct PredictionAsked {
  const CatalogEntry* entry = nullptr;
  Sizes sizes;
};
// Seconds of each, or why not. `threads` 0: as many as there are processors.
std::vector<Outcome<double>> predictions(const std::vector<PredictionAsked>& asked,
                                         const DeviceDescription& device, unsigned threads = 0);

}  // namespace tilescope::bench
