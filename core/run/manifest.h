// What a kernel's PTX says of itself, in comments that our kernels write into it
// (kernels/device/manifest.h), so that nobody keeps it in a second place:
//
//     // tilescope: shared 197632            bytes of dynamic shared memory
//     // tilescope: barrier full 196608 4    an array of four mbarriers from that byte on
//     // tilescope: barrier done 196672 0    one that is no array
//
// PTX from elsewhere has none; then nothing is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/run/barrier_names.h"

namespace tilescope {

struct Manifest {
  std::optional<std::uint32_t> shared;
  BarrierNames barriers;
};

// Of the entry with exactly this name. A line that is not understood says nothing.
Manifest manifest_in(std::string_view ptx, std::string_view entry);

}  // namespace tilescope
