// Where the metadata of a sparse A are: four bits for each chunk of a row, which say which of the
// chunk's elements are stored (2 of 4; of tf32 1 of 2; of 4-bit types two pairs of 8).
//
//     register_metadata(16, 32)    (row, chunk, selector) of mma.sp m16n8k32 ->
//                                  ((8,2),(4,2),2):((4@laneid,16@vid),(4@vid,1@laneid),2@laneid)
//     tmem_metadata(16)            (row, chunk, selector) of tcgen05.mma.sp kind::f16 ->
//                                  S[(8,2,8,2,4,2):(16@TLane,16@vid,1@TLane,8@TLane,4@vid,1@TCol)]
//
// The place is that of the four bits' lowest: a lane of the warp (laneid), of wgmma in a warp of
// the warpgroup (warpid), and a bit of its register (vid); or a lane and a column of TMEM (TLane,
// TCol) and a bit of that cell (vid). The sparsity selector of the instruction, or of its
// descriptor, says which of several lanes or columns are read.
// Source: PTX ISA 9.7.14.6.1 (mma.sp, figures 119 to 137), 9.7.15.6.1 (wgmma, figures 176 to 181),
// 9.7.16.10.8.4 (tcgen05, figures 262 to 267), which are pictures: the lanes are CuTe's ElementE
// and tmem_e_frg layouts (mma_traits_sm90_gmma_sparse.hpp, mma_traits_sm100_frag.hpp). wgmma's and
// mma.sp's were measured on an H100.
#pragma once

#include <cstdint>

#include "core/layout/algebra.h"
#include "core/layout/tile_layout.h"

namespace tilescope {

// Elements of a row of A that one chunk has: 2 of tf32 (width 32), 4 of 16 and 8 bits, 8 of 4 bits.
std::int64_t metadata_chunk(std::int64_t width);

// In registers: of mma.sp (16 rows) and wgmma.mma_async.sp (64 rows, 16 a warp), for K elements of
// `width` bits: 4, 8, 16 or 32. One register has 8 chunks of a row of 4 and 8 bits, and 4 of two
// rows else; K has 4, 8 or 16 chunks.
Result<Layout> register_metadata(std::int64_t width, std::int64_t k, std::int64_t rows = 16);

// In TMEM, of tcgen05.mma.sp with 128 rows of A in a CTA, and with .ws of 64 and 32, which stand
// there two and four times. Of 4 and 8 bits (row, chunk) alone: both columns are read. K is the
// instruction's: 16 of tf32, 32 of 16 bits, 64 of 8, 128 of 4.
Result<TileLayout> tmem_metadata(std::int64_t width, std::int64_t rows = 128);

}  // namespace tilescope
