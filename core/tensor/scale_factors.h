// Scale factors of blocks: where CUTLASS and cuBLAS keep them in memory, and where tcgen05.mma with
// .block_scale finds them in TMEM. A byte each (ue8m0 or ue4m3), one for VS neighbours along K.
//
//     scale_factors(128, 128, 32)      (row, k) -> byte ((32,4),(32,4)):((16,4),(0,1))
//     tmem_scale_factors(128)          row -> lane, column
//                                      S[(4,32):(1@TCol,1@TLane)] + R[4:32@TLane]
//
// In memory 512 bytes hold four factors of each of 128 rows; tcgen05.cp.32x128b.warpx4 takes them
// as 32 lines of 16 bytes, to all four quarters of the lanes: `+ R[4:32@TLane]`. (DeepGEMM's four
// factors of row r, packed in an int, lie at 4 r, and go there by a transposition of 4 x 32 ints.)
// Source: CUTLASS, detail/sm100_blockscaled_layout.hpp (Sm1xxBlockScaledBasicChunk and
// tile_atom_to_shape_SFA); CuTe, mma_traits_sm100_frag.hpp (tmem_sf_frg); PTX ISA 9.7.16.10.7.
#pragma once

#include <cstdint>

#include "core/layout/algebra.h"
#include "core/layout/tile_layout.h"

namespace tilescope {

// Of a matrix of rows (M of A, N of B) by k elements: whole chunks of 128 rows by four factors.
Result<Layout> scale_factors(std::int64_t rows, std::int64_t k, std::int64_t vector);

// Of so many rows, in steps of 32, with so many cells of four factors each: factor f of a row is
// byte f % 4 of its cell f / 4. `halves`: B's columns for a pair with M 128, of which the lanes
// from 64 on have the upper half.
Result<TileLayout> tmem_scale_factors(std::int64_t rows, std::int64_t cells = 1,
                                      bool halves = false);

}  // namespace tilescope
