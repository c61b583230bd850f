// The way to `tilescope capture`: one question at a time, whichever thread asks.
#pragma once

#include "app/cuda_capture/wire.h"

namespace tilescope::shim {

// False: nobody captures (any more).
bool is_connected();

struct Answer {
  bool came = false;  // false: nobody answers any more
  std::uint32_t result = 0;
  std::string bytes;
  wire::Reader results() const { return wire::Reader(bytes); }
  bool ok() const { return came && result == 0; }
};
Answer ask(wire::Ask what, const wire::Writer& operands);
// The same, with bytes behind the operands that are not copied for it.
Answer ask(wire::Ask what, wire::Writer operands, const void* from, std::uint64_t count);

}  // namespace tilescope::shim
