#include "app/assets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>

#include "app/files.h"
#include "assets/embedded.h"

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

}  // namespace

Outcome<Asset> load_asset(std::string_view name) {
  if (const char* folder = std::getenv("TILESCOPE_ASSETS"); folder && *folder) {
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) {
      Outcome<std::vector<std::byte>> read = read_file(path.string());
      if (!read) return read.error();
      return Asset(std::move(*read));
    }
  }
  const std::span<const std::byte> embedded = asset(name);
  if (embedded.data() != nullptr) return Asset(embedded);
  return Error{ErrorKind::unknown,
               fmt::format("The program carries no file \"{}\". It has: {}.", name,
                           fmt::join(neighbours(name), ", ")),
               ""};
}

}  // namespace tilescope
