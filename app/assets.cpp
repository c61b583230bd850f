#include "app/assets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "app/files.h"
#include "assets/embedded.h"
#include "core/io/gzip.h"

namespace tilescope {

std::string_view Asset::text() const {
  return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
}

namespace {

// The names in the same folder as an unknown one, for its sentence.
std::vector<std::string_view> neighbours(std::string_view name) {
  const std::string_view folder = name.substr(0, name.rfind('/') + 1);
  std::vector<std::string_view> near;
  for (std::string_view known : asset_names()) {
    if (known.substr(0, folder.size()) == folder) near.push_back(known);
  }
  return near;
}

// A file of TILESCOPE_ASSETS; nothing where there is none of this name.
std::optional<std::filesystem::path> on_disk(std::string_view name) {
  const char* folder = std::getenv("TILESCOPE_ASSETS");
  if (!folder || !*folder) return {};
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  std::error_code ignored;
  return std::filesystem::exists(path, ignored) ? std::optional(path) : std::nullopt;
}

// As it is, packed or not; nothing where there is none.
std::optional<Outcome<Asset>> load_as_is(std::string_view name) {
  if (const auto path = on_disk(name)) {
    Outcome<std::vector<std::byte>> read = read_file(path->string());
    if (!read) return Outcome<Asset>(read.error());
    return Outcome<Asset>(Asset(std::move(*read)));
  }
  const std::span<const std::byte> embedded = asset(name);
  if (embedded.data() == nullptr) return {};
  return Outcome<Asset>(Asset(embedded));
}

std::string packed(std::string_view name) {
  return std::string(name) + ".gz";
}

}  // namespace

Outcome<Asset> load_asset(std::string_view name) {
  if (auto plain = load_as_is(name)) return std::move(*plain);
  if (const auto gzip = load_as_is(packed(name))) {
    if (!*gzip) return gzip->error();
    Outcome<std::vector<std::byte>> bytes = unpack_gzip((*gzip)->bytes(), name);
    if (!bytes) return bytes.error();
    return Asset(std::move(*bytes));
  }
  return Error{ErrorKind::unknown,
               fmt::format("The program carries no file \"{}\". It has: {}.", name,
                           fmt::join(neighbours(name), ", ")),
               ""};
}

bool carries(std::string_view name) {
  for (const std::string& each : {std::string(name), packed(name)}) {
    if (on_disk(each) || asset(each).data() != nullptr) return true;
  }
  return false;
}

}  // namespace tilescope
