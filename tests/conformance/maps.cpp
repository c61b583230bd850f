#include "tests/conformance/maps.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "kernels/gpu/device.h"
#include "kernels/gpu/execution.h"
#include "kernels/gpu/resources.h"

namespace tilescope::conformance {

int maps(std::uint64_t count, MapFields (*map_of)(std::uint64_t number)) {
  const char* library = std::getenv("TILESCOPE_CUDA_DRIVER");
  const auto device = gpu::GpuDevice::open(library ? library : "");
  if (!device) {
    fmt::print(stderr, "{}\n", device.error().sentence);
    return 4;
  }
  const gpu::Driver& driver = (*device)->driver();
  const auto context = gpu::Context::retain(  // without one the driver refuses every map
      std::make_shared<const gpu::Driver>(driver), (*device)->chip());
  if (!context) {
    fmt::print(stderr, "{}\n", context.error().sentence);
    return 4;
  }
  (*context)->enter();
  std::uint64_t differ = 0, accepted = 0;
  unsigned digit = 0;
  std::string answers;
  for (std::uint64_t n = 0; n < count; ++n) {
    const MapFields map = map_of(n);
    alignas(64) std::byte bits[map_bytes];
    const bool takes = gpu::encode_map(driver, map, bits) == gpu::Result::success;
    const auto wrong = objection(map);
    accepted += takes;
    if (takes == wrong.has_value()) {
      ++differ;
      fmt::print("{}: the driver {}, but we {}\n", text(map), takes ? "takes it" : "refuses it",
                 wrong ? "say: " + *wrong : "take it");
    }
    digit |= unsigned{takes} << n % 4;
    if (n % 4 == 3) answers += fmt::format("{:x}", std::exchange(digit, 0u));
  }
  fmt::print("{} ({}), CUDA {}\n{}\n{} maps, {} accepted, {} differ\n", (*device)->chip().name,
             count, driver.version_text(), answers, count, accepted, differ);
  return differ ? 1 : 0;
}

}  // namespace tilescope::conformance
