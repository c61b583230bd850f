// TileLayout: a layout as TIRx writes it, `S[(32,16):(1@TLane,1@TCol)] + R[4:32@TLane] + 4@TCol`.
//
//     S  the shard: the element x, flattened row-major in its logical shape, is split over these
//        extents, the last one innermost; each adds digit * stride to its axis
//     R  replicas: the element is at its place plus each place of R, all of them copies
//     +  an offset, a place that is added to all
//
//     X(x) = { swizzle(S(x) + r + offset) for r in R }        a set: its owners
//
// Axes have names: threads (tx, warpid, laneid, tid_in_wg, bx, ...) and memories (m, TLane, TCol,
// Bank, P, F); a stride without one is on the memory axis m. A swizzle permutes what is on m.
//
// That is the same value as a CuTe layout (layout.h) but for three things: CuTe counts its
// coordinates with the first mode fastest, so that the modes are in the other order; CuTe has no
// replicas, as a coordinate has one place; and CuTe's axes are numbered. Where none of them is in
// the way, to_cute and to_tirx translate. Sources: TVM's TIRx, TileLayout and its notation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/layout/algebra.h"

namespace tilescope {

struct TileLayout {
  Layout shard;    // flat, the last mode innermost; no modes: nothing but replicas yet
  Layout replica;  // flat; no modes: a single copy
  Place offset;
  Swizzle swizzle;
  Tuple shape;                    // flat; no extents: see logical_shape
  std::int64_t element_bits = 0;  // 0: not known

  // Equal where every element has the same owners by the same numbers: what shape it was asked in,
  // and how wide it is, are not part of the function, nor of the text.
  friend bool operator==(const TileLayout& a, const TileLayout& b) {
    return a.shard == b.shard && a.replica == b.replica && a.offset == b.offset &&
           a.swizzle == b.swizzle;
  }
};

// The grid whose coordinates (i,j,...) the elements have. TIRx admits every shape of as many
// elements, and a buffer brings its own; here it is the one that the layout was made for, else the
// extents of the shard.
//     logical_shape(tma_shared_layout(f16, 128B, (64,256))) = (64,256)
//     logical_shape(S[(64,4,64):(64,4096,1)])               = (64,4,64)
Tuple logical_shape(const TileLayout& layout);
// The same layout for another grid of as many elements: flat, extents of 1 or more.
Result<TileLayout> in_shape(const TileLayout& layout, const Tuple& shape);

// The two parts by themselves. Refused for nesting and for axes that are not TIRx's.
Result<TileLayout> make_shard(const Layout& layout);
Result<TileLayout> make_replica(const Layout& layout);
// S + R, R + R, and either plus an offset.
Result<TileLayout> add(const TileLayout& a, const TileLayout& b);
Result<TileLayout> add(const TileLayout& a, const Place& offset);

// All places of an element, each once: replicas that coincide are one owner. The element is a
// number x, or a coordinate in the logical shape, or (where the two have different ranks) in the
// extents of the shard.
Result<std::vector<Place>> owners(const TileLayout& layout, const Tuple& element);

// The CuTe layout with the same place for every number x, and the offset after it: the modes in
// the other order. With a shape, the layout has a mode for each of its extents, and coordinates in
// that shape have the same places; its product is the number of elements.
//     to_cute(S[(64,4,64):(64,4096,1)])           = (64,4,64):(1,4096,64)
//     to_cute(S[(64,4,64):(64,4096,1)], (64,256)) = (64,(64,4)):(64,(1,4096))
Result<Slice> to_cute(const TileLayout& layout, const Tuple& shape = {});
// And back: to_tirx(to_cute(X)) == X where X has no replicas. What to_cute() makes with a shape
// counts down that shape's columns, so that to_tirx() of it is X transposed.
Result<TileLayout> to_tirx(const Slice& cute);

// The shared memory that TMA and the tensor cores expect: atoms of 8 rows of 32, 64 or 128 bytes,
// swizzled; rows of atoms first, then columns. Extents before the last two are outermost.
//     tma_shared_layout(f16, 128B, (64,256)) = Sw<3,3,3> o S[(64,4,64):(64,4096,1)]
Result<TileLayout> tma_shared_layout(std::int64_t element_bits, std::int64_t swizzle_bytes,
                                     const Tuple& shape);

// The rows of a tile over the threads of a warpgroup, one row each.
//     wg_local_layout(64) = S[(128,64):(1@tid_in_wg,1)]
Result<TileLayout> wg_local_layout(std::int64_t columns, std::int64_t rows = 128);

// Where tcgen05.mma puts a CTA's rows and columns of its result, by the letter of the data path
// (PTX ISA, tcgen05 data path layouts): A, D 128 rows, one a lane; C, F 64 rows, 16 in each warp's
// lanes (`upper`: in the upper half of them); B, E 64 rows, the columns' halves 64 lanes apart; G
// 32 rows, the columns' quarters 32 lanes apart.
//     tmem_datapath_layout(B, 64, 128) = S[(64,2,64):(1@TLane,64@TLane,1@TCol)]
Result<TileLayout> tmem_datapath_layout(char letter, std::int64_t rows, std::int64_t columns,
                                        bool upper = false);

std::string text(const TileLayout& layout);

}  // namespace tilescope
