// A sparse matrix A: half of the elements of a row are zeros, and which of them are not its
// metadata says (PTX ISA 9.7.15.6, 9.7.16.10.8). Four bits tell of a chunk:
//
//   2 of 4   the places of the two stored elements, two bits each, the first in the lower ones;
//            of elements of 4 bits two by two: 4 of 8
//   1 of 2   0b0100 the first is stored, 0b1110 the second (tf32)
//
// The chip multiplies those that are stored, all in one step, each with the element of B that it
// belongs to; an infinity or NaN of B does not count where A has a zero that is not stored
// (measured on an H100; carried over to tcgen05).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/sim/matrix/operand.h"

namespace tilescope::sim {

// Of each stored element of a row, which of the row's elements it is. With elements of 4 bits a
// pair of them, a byte, counts as one.
struct StoredPlaces {
  std::uint32_t rows = 0, stored = 0;  // elements of a row that are stored: half of them
  std::vector<std::uint8_t> at;        // [row][stored element]
  const std::uint8_t* row(std::uint32_t r) const { return at.data() + std::size_t{r} * stored; }
};

enum class Sparsity : std::uint8_t { two_of_four, one_of_two };
constexpr std::uint32_t chunk_of(Sparsity sparsity) {
  return sparsity == Sparsity::two_of_four ? 4 : 2;
}
// Two places that differ; or one of the two that there are.
constexpr bool is_meaningful(Sparsity sparsity, std::uint32_t bits) {
  if (sparsity == Sparsity::one_of_two) return bits == 0b1110 || bits == 0b0100;
  return (bits & 3) != (bits >> 2);
}

// `bits(row, chunk)`: the four bits of a chunk.
template <class Bits>
StoredPlaces stored_places(Sparsity sparsity, std::uint32_t rows, std::uint32_t stored, Bits bits) {
  StoredPlaces out{rows, stored, {}};
  out.at.reserve(std::size_t{rows} * stored);
  const std::uint32_t chunk = chunk_of(sparsity);
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t c = 0; c < 2 * stored / chunk; ++c) {
      const std::uint32_t say = bits(r, c);
      if (sparsity == Sparsity::one_of_two) {
        out.at.push_back(static_cast<std::uint8_t>(2 * c + (say == 0b1110)));
        continue;
      }
      for (const std::uint32_t place : {say & 3, say >> 2}) {
        out.at.push_back(static_cast<std::uint8_t>(4 * c + place));
      }
    }
  }
  return out;
}

// A's rows with zeros between the elements that are stored, which have `width` bytes.
OperandBytes spread(const StoredPlaces& places, std::uint32_t width, const OperandBytes& packed);
// Of B, n rows, the elements that belong to the stored ones of one row of A.
std::vector<std::byte> chosen(const std::uint8_t* row, std::uint32_t stored, std::uint32_t width,
                              std::uint32_t n, const std::byte* b);
// Is one of the elements an infinity or NaN?
bool has_specials(ElementType type, const std::byte* elements, std::size_t bytes);

}  // namespace tilescope::sim
