#include "core/tensor/mma_names.h"

#include <iterator>

namespace tilescope::mma_names {

std::vector<ElementType> take_types(std::string_view& text) {
  struct Spelt {
    std::string_view name;
    ElementType type;
  };
  constexpr Spelt spelt[] = {
      {"BF16", ElementType::bf16}, {"TF32", ElementType::tf32}, {"F16", ElementType::f16},
      {"F32", ElementType::f32},   {"F64", ElementType::f64},   {"E4M3", ElementType::e4m3},
      {"E5M2", ElementType::e5m2}, {"S32", ElementType::s32},   {"S8", ElementType::s8},
      {"U8", ElementType::u8},     {"S4", ElementType::s4},     {"U4", ElementType::u4},
      {"U1", ElementType::u1},     {"GC64", ElementType::c64},  {"C64", ElementType::c64}};
  std::vector<ElementType> out;
  for (bool found = true; found;) {
    found = false;
    for (const Spelt& s : spelt) {
      if (!take(text, s.name)) continue;
      out.push_back(s.type);
      found = true;
      break;
    }
  }
  return out;
}

Layout rows_in_registers(std::int64_t rows, std::int64_t k, int bits, int threads) {
  constexpr std::int64_t lanes_of_a_row = 4, rows_of_a_group = 8, register_bits = 32;
  const std::int64_t side_by_side = bits < register_bits ? register_bits / bits : 1;
  const std::int64_t groups = k / (lanes_of_a_row * side_by_side);
  Layout lanes =
      make_layout_of(Layout(lanes_of_a_row, rows * side_by_side), Layout(rows_of_a_group, 1));
  if (threads == 128) lanes.modes.push(Mode{4, 16});
  Tree<Mode> values;
  if (side_by_side > 1) values.push(Mode{side_by_side, rows});
  if (rows > rows_of_a_group) values.push(Mode{2, rows_of_a_group});
  if (groups > 1) values.push(Mode{groups, rows * lanes_of_a_row * side_by_side});
  if (values.empty()) values.push(Mode{1, 0});
  // CuTe writes 8 values of 4 bits that stand alone as (8), all others without parentheses.
  if (bits != 4) values = values.unwrapped();
  Layout out;
  out.modes.push(lanes.modes);
  out.modes.push(values);
  return out;
}

}  // namespace tilescope::mma_names
