#include "app/variants.h"

#include "assets/embedded.h"

namespace tilescope {
namespace {

// "f16_f32_2" -> f16, f32, 2
std::vector<std::string> values_in(std::string_view key) {
  std::vector<std::string> out;
  for (;;) {
    const std::size_t end = key.find('_');
    out.emplace_back(key.substr(0, end));
    if (end == key.npos) return out;
    key.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<CarriedVariant> carried_variants(const CatalogEntry& entry) {
  std::vector<CarriedVariant> out;
  if (!entry.choices_of) return out;
  const std::string folder = entry.ptx.substr(0, entry.ptx.rfind('/') + 1);
  for (std::string_view name : asset_names()) {
    if (name.substr(0, folder.size()) != folder) continue;
    name.remove_prefix(folder.size());
    std::vector<std::string> values = values_in(name.substr(0, name.find('.')));
    std::string words = shortest_words(entry, entry.choices_of(values));
    out.push_back({std::move(values), std::move(words)});
  }
  return out;
}

}  // namespace tilescope
