// The zero-column mask of tcgen05.mma.ws: which columns of B count as zeros, whatever is in
// shared memory, and from which column on B is read (PTX ISA 9.7.16.4.3, table 45).
//
//    0-31  start counts, 8 bits each     39  non-zero mask     48-55  use span
//   32-35  first spans, a bit each    40-47  skip span         56-61  column shift
//
// Each sub-mask (one with M 128, two with 64, four with 32, of N divided by as many columns) is
// runs of columns that are used and runs that are skipped, in turn: used ones are `use span` + 1
// long, skipped ones `skip span` + 1. The first is skipped where the first span is 1, and its first
// `start count` columns are left out. (So the ISA's examples have it, and Cutlass,
// mma_sm100_desc.hpp; the words of table 45 say the two spans the other way round. Cutlass' comment
// also turns bit 39 round, against what its own code does.)
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/sim/matrix/shared_matrix.h"

namespace tilescope::sim {

struct ZeroColumns {
  std::array<std::uint64_t, 4> mask{};  // a bit for each column of D: of N, at most 256
  std::uint32_t shift = 0;              // column j of the product is column j + shift of B

  bool is_zero(std::uint32_t column) const { return mask[column / 64] >> column % 64 & 1; }
};

// `instruction`: the instruction descriptor, which says how far B may be shifted at most.
std::optional<DescriptorError> decode_zero_columns(std::uint64_t bits, std::uint32_t m,
                                                   std::uint32_t n, std::uint32_t instruction,
                                                   ZeroColumns& out);

}  // namespace tilescope::sim
