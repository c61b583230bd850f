#include "kernels/gpu/chip.h"

#include <fmt/format.h>

#include <array>

#include "core/ptx/targets.h"

namespace tilescope::gpu {
std::string Chip::text() const {
  return fmt::format("{}, compute capability {}.{}", name, major, minor);
}

Outcome<std::vector<Chip>> chips(const Driver& driver) {
  int count = 0;
  Result result = driver.cuDeviceGetCount(&count);
  std::vector<Chip> out;
  for (int i = 0; i < count && result == Result::success; ++i) {
    Chip chip;
    std::array<char, 256> name{};
    result = driver.cuDeviceGet(&chip.device, i);
    const auto ask = [&](int& value, int attribute) {
      if (result == Result::success) {
        result = driver.cuDeviceGetAttribute(&value, attribute, chip.device);
      }
    };
    if (result == Result::success) {
      result = driver.cuDeviceGetName(name.data(), static_cast<int>(name.size()), chip.device);
    }
    ask(chip.major, capability_major);
    ask(chip.minor, capability_minor);
    ask(chip.multiprocessors, multiprocessors);
    chip.name = name.data();
    out.push_back(std::move(chip));
  }
  if (result != Result::success) {
    return Error{
        ErrorKind::no_device,
        fmt::format("The CUDA driver does not tell about its GPUs: {}.", driver.name_of(result)),
        ""};
  }
  if (out.empty()) {
    return Error{ErrorKind::no_device,
                 fmt::format("The CUDA driver (CUDA {}) finds no GPU here. Use --on sim.",
                             driver.version_text()),
                 ""};
  }
  return out;
}

std::optional<std::string> unfit(std::string_view text, const Chip& chip) {
  const ptx::Target target = ptx::target_named(text).value_or(ptx::Target{});
  const bool same_family = target.capability / 10 == chip.major;
  const bool newer = target.capability > chip.capability();
  if (target.suffix == 'a' && target.capability != chip.capability()) {
    return fmt::format("is written for {} and runs on no other chip", text);
  }
  if (target.suffix == 'f' && (!same_family || newer)) {
    return fmt::format("is written for {} and runs on chips of that family alone", text);
  }
  if (newer) return fmt::format("is written for {} and later chips", text);
  return std::nullopt;
}

}  // namespace tilescope::gpu
