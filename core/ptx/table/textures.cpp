// Textures and surfaces in unified mode (PTX ISA 9.7.10, 9.7.11): what a 64-bit handle stands for.
#include "core/ptx/table/rows.h"

namespace tilescope::ptx {

#define GEOMETRY "dim:1d|2d|3d|a1d|a2d"

// One row an opcode, one line a form.
// clang-format off
std::vector<Opcode> texture_rows() {
  using U = Unit;
  return {
      {Op::tex, "tex", U::memory,
       {{GEOMETRY "|cube|acube vector:v4 type:f32|u32|s32 type2:f32|s32", "{d} [t]|{x}"}},
       "d from a texture, filtered", "9.7.10.3"},
      {Op::txq, "txq", U::memory,
       {{"query:width|height|depth type:b32", "d [a]"}}, "how large a texture is", "9.7.10.5"},
      {Op::suld, "suld", U::memory,
       {{"unformatted " GEOMETRY " cache:ca|cg|cs|cv? vector:v2|v4? type:b8|b16|b32|b64 outside:trap|clamp|zero",
         "{d} [t]|{x}"}},
       "d from a surface, at a byte of a row", "9.7.11.1"},
      {Op::sust, "sust", U::memory,
       {{"unformatted " GEOMETRY " cache:wb|cg|cs|wt? vector:v2|v4? type:b8|b16|b32|b64 outside:trap|clamp|zero",
         "[t]|{x} {a}"}},
       "to a surface, at a byte of a row", "9.7.11.2"},
  };
}
// clang-format on

}  // namespace tilescope::ptx
