// The rows of `tilescope list atoms`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilescope {

// One atom: a name that an expression takes, its shape and types in words, and the same as data.
struct ListedAtom {
  std::string name, about;
  std::string shape, threads, types, varies, source;
};

// One row a family. With a filter, the families whose name holds it, or else the single atoms whose
// name does (`64x40x16`).
std::vector<ListedAtom> listed_atoms(std::string_view filter);

}  // namespace tilescope
