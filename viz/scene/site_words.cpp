#include "viz/scene/site_words.h"

#include <fmt/format.h>

namespace tilescope {

std::string file_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string place_words(const Site& site) {
  if (site.caller_line) return fmt::format("{}:{}", file_name(site.caller), site.caller_line);
  if (site.source_line) return fmt::format("{}:{}", file_name(site.source), site.source_line);
  return fmt::format("PTX line {}", site.ptx_line);
}

}  // namespace tilescope
