#include "app/captures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <span>
#include <utility>

#include "app/files.h"
#include "core/io/npy.h"

namespace tilescope {
namespace {

// More stretches of undefined bytes are no pattern that anybody meant: they are written as if they
// were defined.
constexpr std::size_t most_stretches = 10000;

using Stretches = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Stretches unwritten(const sim::Region& region) {
  Stretches out;
  if (!region.undefined_bits()) return out;
  for (std::uint64_t at = 0; at < region.size(); ++at) {
    while (at % 8 == 0 && at < region.size() && region.undefined_bits()[at / 8] == 0) at += 8;
    if (at >= region.size() || !region.is_undefined(at)) continue;
    if (!out.empty() && out.back().second == at) {
      ++out.back().second;
    } else {
      out.emplace_back(at, at + 1);
    }
    if (out.size() > most_stretches) return {};
  }
  return out;
}

// Every 8 bytes that could be an address.
template <class Use>
void each_word(const std::byte* bytes, std::uint64_t size, Use use) {
  for (std::uint64_t at = 0; at + 8 <= size; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    if (word >= 0x0000'0500'0000'0000) use(word);
  }
}

std::string list_of(const Dim3& d) {
  return fmt::format("[{}, {}, {}]", d.x, d.y, d.z);
}

std::string hex(const std::byte* bytes, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    out += fmt::format("{:02x}", static_cast<unsigned>(bytes[i]));
  }
  return out;
}

std::optional<Error> write_bytes(const std::string& path, const sim::Region& region) {
  Buffer buffer;
  buffer.dtype = DType::u8;
  buffer.shape = {static_cast<std::int64_t>(region.size())};
  buffer.bytes.assign(region.data(), region.data() + region.size());
  const std::vector<std::byte> npy = write_npy(buffer);
  return write_file(path, std::span(npy));
}

}  // namespace

std::vector<const sim::Region*> reachable(const CapturedLaunch& c) {
  std::set<const sim::Region*> known;
  std::vector<const sim::Region*> open;
  const auto reach = [&](std::uint64_t address) {
    const sim::Region* const region = c.memory.find(address);
    if (region && known.insert(region).second) open.push_back(region);
  };
  each_word(c.parameters.data(), c.parameters.size(), reach);
  for (const ptx::Placed& placed : c.module.variables()) reach(placed.address);
  while (!open.empty()) {
    const sim::Region* const region = open.back();
    open.pop_back();
    each_word(region->data(), region->size(), reach);
  }
  std::vector<const sim::Region*> out;
  for (const sim::Region& region : c.memory.regions()) {
    if (known.count(&region) && region.kind() == sim::Region::Kind::buffer) out.push_back(&region);
  }
  return out;
}

std::optional<Error> write_capture(const std::string& folder, const CapturedLaunch& c) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    return Error{ErrorKind::unreadable,
                 fmt::format("The folder {} cannot be made: {}.", folder, failed.message()),
                 folder};
  }
  const Outcome<const ptx::Function*> entry = c.module.entry(c.launch.entry);
  if (!entry.ok()) return entry.error();
  std::string toml = fmt::format(
      "# A launch as a program made it: memory lies where it lay there.\n"
      "entry = \"{}\"\ngrid = {}\nblock = {}\n",
      c.launch.entry, list_of(c.launch.grid), list_of(c.launch.block));
  if (c.launch.cluster) toml += fmt::format("cluster = {}\n", list_of(*c.launch.cluster));
  if (c.launch.dynamic_shared) toml += fmt::format("dynamic_smem = {}\n", c.launch.dynamic_shared);
  if (!c.device.empty()) toml += fmt::format("device = \"{}\"\n", c.device);
  toml += fmt::format("variables_at = 0x{:x}\n", c.module.variables_at());
  const auto in_folder = [&](const std::string& name) {
    return (std::filesystem::path(folder) / name).string();
  };
  std::size_t number = 0;
  for (const sim::Region* region : reachable(c)) {
    const std::string file = fmt::format("b{}.npy", number);
    if (auto error = write_bytes(in_folder(file), *region)) return error;
    // Names need not differ in a program.
    toml += fmt::format(
        "\n[[buffer]]\nname = \"{} ({})\"\ndtype = \"u8\"\nfile = \"{}\"\n"
        "address = 0x{:x}\n",
        region->name(), number++, file, region->base());
    const Stretches stretches = unwritten(*region);
    if (stretches.empty()) continue;
    std::string list;
    for (const auto& [begin, end] : stretches) {
      list += fmt::format("{}[{}, {}]", list.empty() ? "" : ", ", begin, end);
    }
    toml += fmt::format("unwritten = [{}]\n", list);
  }
  for (const ptx::Placed& placed : c.module.variables()) {
    const sim::Region* const region = c.memory.find(placed.address);
    if (!region || region->size() == 0) continue;
    const std::string file = fmt::format("v{}.npy", number++);
    if (auto error = write_bytes(in_folder(file), *region)) return error;
    toml +=
        fmt::format("\n[[variable]]\nname = \"{}\"\nfile = \"{}\"\n", placed.variable.name, file);
  }
  for (const ptx::Parameter& p : (*entry)->parameters) {
    toml += fmt::format("\n[[arg]]\nbytes = \"{}\"\n", hex(&c.parameters[p.offset], p.bytes));
  }
  if (auto error = write_file(in_folder("kernel.ptx"), *c.module.text().text)) return error;
  return write_file(in_folder("launch.toml"), toml);
}

}  // namespace tilescope
