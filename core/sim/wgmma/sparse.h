// A of a wgmma.mma_async.sp: half of its elements are zeros, and which of them are not the metadata
// says (PTX ISA 9.7.15.6). The chip multiplies those that are stored, all in one step, each with
// the element of B that it belongs to; an infinity or NaN of B does not count where A has a zero
// that is not stored (measured on an H100).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/sim/matrix/operand.h"
#include "core/sim/wgmma/form.h"

namespace tilescope::sim {

// A's rows of form.k elements, the zeros put between those that are stored. `metadata`: the
// operand's 32 lanes, of each of the four warps.
using Metadata = std::array<const std::uint32_t*, 4>;
OperandBytes spread(const GroupForm& form, const Metadata& metadata, const OperandBytes& packed);
// Of B, rows of form.k elements, those that belong to the stored elements of one row of A.
std::vector<std::byte> chosen(const GroupForm& form, const Metadata& metadata, std::uint32_t row,
                              const std::vector<std::byte>& b);
// The first of a warp's chunks whose metadata mean nothing: 0b0000, 0b0101, 0b1010, 0b1111, or for
// tf32 all but 0b1110 and 0b0100 (9.7.15.6.1). `lanes`: the warp's operand. Nothing: all are right.
struct BadChunk {
  std::uint32_t row = 0, chunk = 0, bits = 0;  // row: of the warp's 16
};
std::optional<BadChunk> find_bad_chunk(const GroupForm& form, const std::uint32_t* lanes);
// Is one of the elements an infinity or NaN?
bool has_specials(ElementType type, const std::vector<std::byte>& elements);

}  // namespace tilescope::sim
