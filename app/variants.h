// The forms of a kernel that the program carries, of those with more than are shipped
// (CatalogEntry::variant_of).
#pragma once

#include <string>
#include <vector>

#include "core/run/catalog_entry.h"

namespace tilescope {

struct CarriedVariant {
  std::vector<std::string> values;  // of Variant::defines
  std::string words;                // the options that choose it, as few as possible
};

// None of a kernel whose forms are all in one image.
std::vector<CarriedVariant> carried_variants(const CatalogEntry& entry);

}  // namespace tilescope
