// What the outputs of a run are compared with: the reference or a file, and with two devices also
// one with the other.
#pragma once

#include <optional>
#include <vector>

#include "app/devices.h"
#include "app/runs.h"
#include "core/diff/diff.h"

namespace tilescope {

// An output of one device, beside what it should be.
struct Compared {
  const Output* output = nullptr;
  std::size_t ran = 0;         // the device
  std::optional<Buffer> want;  // nothing: it is only written
  std::optional<DiffReport> diff;
};

// One for each output and device, with what the reference or the file says. What cannot be compared
// is said before the run, not after it.
Outcome<std::vector<Compared>> expectations(const PreparedRun& run, std::size_t devices);

// After the runs: fills in the differences. With `gpu`, the device with that place, every output of
// the other devices is compared with its as well.
std::optional<Error> compare(std::vector<Compared>& compared, const std::vector<Ran>& ran,
                             std::optional<std::size_t> gpu);

}  // namespace tilescope
