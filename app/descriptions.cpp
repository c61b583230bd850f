#include "app/descriptions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <regex>

#include "app/assets.h"
#include "app/files.h"
#include "assets/embedded.h"
#include "core/io/device_file.h"

namespace tilescope {
namespace {

constexpr std::string_view folder = "devices/", ending = ".toml";

std::vector<std::string> own_names() {
  std::vector<std::string> out;
  for (const std::string_view asset : asset_names()) {
    if (!asset.starts_with(folder) || !asset.ends_with(ending)) continue;
    out.emplace_back(asset.substr(folder.size(), asset.size() - folder.size() - ending.size()));
  }
  return out;
}

}  // namespace

Outcome<DeviceDescription> device_described(const std::string& name) {
  if (name.ends_with(ending)) {
    const Outcome<std::string> file = read_text(name);
    if (!file) return file.error();
    return parse_device_file(*file, name);
  }
  const Outcome<Asset> asset = load_asset(fmt::format("{}{}{}", folder, name, ending));
  if (!asset) {
    return Error{ErrorKind::unknown,
                 fmt::format("--device {}: no such chip is described; there are {}, or a file: "
                             "--device F.toml.",
                             name, fmt::join(own_names(), ", ")),
                 ""};
  }
  return parse_device_file(asset->text(), name);
}

std::vector<std::pair<std::string, DeviceDescription>> described_devices() {
  std::vector<std::pair<std::string, DeviceDescription>> out;
  for (const std::string& name : own_names()) {
    if (auto device = device_described(name)) out.emplace_back(name, *device);
  }
  return out;
}

std::string text(const DeviceDescription& d) {
  std::string out = fmt::format("{}: {} SMs, {} threads and {} KiB of shared memory each", d.name,
                                d.processors, d.threads, d.shared / 1024);
  if (!d.times.known()) return out;
  // A multiply-add is two operations.
  const double tflops = 2e-3 * d.processors * d.times.tensor_f16 * d.times.tensor_clock;
  return out + fmt::format("; {:.2f} GHz, {:.0f} TFLOP/s of f16, {:.2f} TB/s", d.times.clock,
                           tflops, d.times.memory_bandwidth / 1000);
}

Outcome<std::string> target_for(const DeviceDescription& device, std::string_view ptx) {
  static const std::regex form(R"(\.target\s+(sm_(\d+)(\d)([af]?)))");
  std::cmatch found;
  if (!std::regex_search(ptx.data(), ptx.data() + ptx.size(), found, form)) return std::string();
  const int major = std::stoi(found[2]), minor = std::stoi(found[3]);
  const std::string suffix = found[4];
  const bool later = device.major > major || (device.major == major && device.minor >= minor);
  const bool fits = suffix == "a"   ? device.major == major && device.minor == minor
                    : suffix == "f" ? device.major == major && later
                                    : later;
  if (fits) return found[1].str();
  return Error{
      ErrorKind::mismatch,
      fmt::format("The PTX is for {}, which does not run on {} (compute capability {}.{}); "
                  "{}.",
                  found[1].str(), device.name, device.major, device.minor,
                  suffix.empty() ? "it needs that one or a later one"
                  : suffix == "a"
                      ? fmt::format("it needs compute capability {}.{}", major, minor)
                      : fmt::format("it needs {}.{} or a later one of that family", major, minor)),
      ""};
}

std::optional<DeviceDescription> usual_device_for(std::string_view ptx) {
  std::optional<DeviceDescription> first;
  for (const char* name : {"b200", "h200", "a100", "gb300", "rtx5090"}) {
    const Outcome<DeviceDescription> device = device_described(name);
    if (!device) continue;
    if (target_for(*device, ptx)) return *device;
    if (!first) first = *device;
  }
  return first;
}

}  // namespace tilescope
