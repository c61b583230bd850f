// What the word for the shape of a texture or surface says (PTX ISA 9.7.10.3, 9.7.11).
#pragma once

#include <cstdint>

#include "core/ptx/opcodes.h"

namespace tilescope::ptx {

struct Geometry {
  std::uint8_t given = 0;       // coordinates in the text
  std::uint8_t dimensions = 0;  // of them that count, behind the layer; the others are ignored
  bool layered = false;         // the first one is the layer, a whole number without sign
  bool cube = false;            // the three are a direction
};

inline Geometry geometry_of(const Modifiers& how) {
  constexpr Geometry all[] = {{},
                              {1, 1},
                              {2, 2},
                              {4, 3},
                              {},
                              {},
                              {2, 1, true},
                              {4, 2, true},
                              {4, 3, false, true},
                              {4, 3, true, true}};  // by the words of Field::dim
  return all[how[Field::dim]];
}

}  // namespace tilescope::ptx
