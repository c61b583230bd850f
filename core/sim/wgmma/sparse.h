// A of a wgmma.mma_async.sp: half of its elements are zeros, and which of them are not the metadata
// says (PTX ISA 9.7.15.6). The chip multiplies those that are stored, all in one step, each with
// the element of B that it belongs to; an infinity or NaN of B does not count where A has a zero
// that is not stored (measured on an H100).
#pragma once

#include <array>
#include <cstdint>

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
// Is one of the elements an infinity or NaN?
bool has_specials(ElementType type, const std::vector<std::byte>& elements);

}  // namespace tilescope::sim
