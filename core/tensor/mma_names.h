// What the names of MMA atoms say: shapes, types, and how registers hold an operand.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/tensor/atom.h"

namespace tilescope::mma_names {

// Takes a number from the front of `text`.
inline std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t value = 0;
  std::size_t digits = 0;
  while (digits < text.size() && digits < 6 && text[digits] >= '0' && text[digits] <= '9') {
    value = value * 10 + (text[digits++] - '0');
  }
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

inline bool take(std::string_view& text, std::string_view what) {
  if (text.substr(0, what.size()) != what) return false;
  text.remove_prefix(what.size());
  return true;
}

// 16x8x16
inline std::optional<Tuple> take_shape(std::string_view& text) {
  Tuple out;
  for (int i = 0; i < 3; ++i) {
    if (i > 0 && !take(text, "x")) return std::nullopt;
    const std::optional<std::int64_t> n = take_number(text);
    if (!n) return std::nullopt;
    out.push(Tuple(*n));
  }
  return out;
}

// F32BF16BF16F32: the types of D, A, B and, where it is named, C.
std::vector<ElementType> take_types(std::string_view& text);

// K elements of `rows` rows in the registers of a warp (128 threads: a warpgroup, of which each
// warp has 16 rows). Four neighbouring lanes hold a row, each as many elements side by side as fill
// 32 bits (a register; f64 takes two); eight such groups hold eight rows; further registers hold
// the rows from 8 on, then the elements after those. PTX ISA 9.7.14.5.1 to .13, and 9.7.15.5.1.
//     (thread, value) -> row + rows*k
Layout rows_in_registers(std::int64_t rows, std::int64_t k, int bits, int threads = 32);

}  // namespace tilescope::mma_names
