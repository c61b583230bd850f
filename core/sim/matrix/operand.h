// Operands of a tensor core in shared memory: read by what their descriptor says, and put row after
// row as its sums take them (core/sim/matrix/sums.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/sim/machine/code.h"
#include "core/sim/matrix/shared_matrix.h"
#include "core/sim/matrix/sums.h"

namespace tilescope::sim {

// As it was read: of each row its bytes, and whether one of them is undefined. Elements of 4 and 6
// bits are in a byte each.
struct OperandBytes {
  std::vector<std::byte> bytes;
  std::vector<std::uint8_t> undefined;
};
constexpr std::uint32_t operand_row = 32;  // bytes of a row; of wgmma's B of .sp twice as many

// From shared memory, with a bit for each undefined byte (or null). The matrix's pieces must be
// inside, which pieces() tells beforehand: the offsets of its 16-byte pieces.
std::vector<std::uint32_t> pieces(const SharedMatrix& matrix, std::uint32_t rows, ElementType type,
                                  std::uint32_t row_bytes = operand_row);
// Calls f(row, rows, offset) for each of these pieces: the rows of which it holds elements.
template <class F>
void each_piece(const SharedMatrix& matrix, std::uint32_t rows, ElementType type,
                std::uint32_t row_bytes, F f) {
  const std::uint32_t width = width_of(type), elements = 16 / width;
  const std::uint32_t lines = matrix.k_major ? rows : row_bytes / width;
  const std::uint32_t count = matrix.k_major ? row_bytes / 16 : rows / elements;
  for (std::uint32_t l = 0; l < lines; ++l) {
    for (std::uint32_t p = 0; p < count; ++p) {
      matrix.k_major ? f(l, 1u, matrix.piece(l, p)) : f(p * elements, elements, matrix.piece(l, p));
    }
  }
}
OperandBytes read_operand(const SharedMatrix& matrix, std::uint32_t rows, ElementType type,
                          const std::byte* memory, const std::uint8_t* undefined_bits,
                          std::uint32_t row_bytes = operand_row);

// The bytes of a block's shared memory that a descriptor leads to, neighbours put together: 16 from
// each offset. False after a fault, where one is outside; `what` for the sentence.
bool find_pieces(Core& x, int lane, const Block& block, const SharedMatrix& matrix,
                 std::vector<std::uint32_t> offsets, std::string_view what,
                 std::vector<Range>& out);

}  // namespace tilescope::sim
