// The metadata of a sparse A in TMEM (PTX ISA 9.7.16.10.8): four bits for each chunk of a row
// (core/sim/matrix/sparse.h).
//
//   .kind::f16, .kind::tf32   one column, of the two that begin at an even address the one that the
//                             sparsity selector says; of row r, chunks 0 to 3 are in lane
//                             r % 8 + r / 16 * 16 and chunks 4 to 7 eight lanes on, chunk by chunk
//                             from bit r / 8 % 2 * 16 on
//   the others                two columns: row r in lane r, chunk by chunk from the first bit on
//
// With .ws and M 64 or 32 the lanes behind the rows hold all of it again, for the other columns of
// D. (CuTe's tmem_e_frg and tmem_e_frg_ws, mma_traits_sm100_frag.hpp; CuTe gives the lowest bit of
// the address as the selector. The ISA shows the layouts in figures 262 to 267, which are
// pictures.) Not known, and refused: M 64 without .ws, pairs with M 128, selectors 2 and 3. What
// comes out where the copies differ nobody says: such rows count as undefined.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/sim/matrix/sparse.h"
#include "core/sim/tcgen05/instruction_descriptor.h"
#include "core/sim/tcgen05/tensor_memory.h"

namespace tilescope::sim {

struct SparseMetadata {
  std::uint32_t column = 0;            // with the selector
  std::uint32_t rows = 0, chunks = 0;  // of a block's part of A; of a row
  bool halved = false;                 // a row's chunks lie in two lanes
  Sparsity sparsity = Sparsity::two_of_four;

  std::vector<CellRange> cells() const;
  std::uint32_t bits(const TensorMemory& memory, std::uint32_t row, std::uint32_t chunk) const;
};

// `rows`: of A in one block.
std::optional<DescriptorError> decode_metadata(std::uint32_t address, const MmaShape& shape,
                                               MmaKind kind, bool ws, bool pair, std::uint32_t rows,
                                               SparseMetadata& out);

StoredPlaces stored_places(const SparseMetadata& metadata, const TensorMemory& memory);
// Of each row: 0, or that its metadata are not defined, or not the same in all copies.
std::vector<std::uint8_t> undefined_rows(const SparseMetadata& metadata,
                                         const TensorMemory& memory);
struct BadMetadata {
  std::uint32_t row = 0, chunk = 0, bits = 0;
};
std::optional<BadMetadata> find_bad_metadata(const SparseMetadata& metadata,
                                             const TensorMemory& memory);

}  // namespace tilescope::sim
