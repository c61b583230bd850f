#include "assets/embedded.h"

#include <algorithm>

#include "assets/embedded_file.h"

namespace tilescope {

std::span<const std::byte> asset(std::string_view name) {
  const auto found = std::lower_bound(
      embedded_files.begin(), embedded_files.end(), name,
      [](const EmbeddedFile& file, std::string_view wanted) { return file.name < wanted; });
  if (found == embedded_files.end() || found->name != name) return {};
  return {found->begin, found->end};
}

std::vector<std::string_view> asset_names() {
  std::vector<std::string_view> names;
  for (const EmbeddedFile& file : embedded_files) names.push_back(file.name);
  return names;
}

}  // namespace tilescope
