// What TIRx does with its layouts: the operations of TVM's TileLayout, by its names.
//
//     group       the shard split so that each extent of a shape has digits of its own
//     tile        copies of a layout arranged as another, block by block
//     direct_sum  the same with strides as they are
//     slice       a box of the elements, as a layout of its own
//     canonicalize, permute_dims, storage, pack, unpack, broadcast
//
// They speak of numbers x and of shapes whose last extent is the fastest, as tile_layout.h does. A
// swizzle stays in front (TVM's ComposeLayout); unknown numbers are refused. Source: TVM,
// src/tirx/ir/layout/tile_*.cc, compose_layout.cc, and python/tvm/tirx/layout.py. Two things
// differ: canonicalize does not join thread axes (wid_in_wg and laneid to tid_in_wg), which needs
// TVM's target; and replicas keep their order.
#pragma once

#include "core/layout/tile_layout.h"

namespace tilescope {

// One more than the largest number on each axis, replicas and offset included; the swizzle moves
// offsets only inside its own period and does not count.
//     span(S[(32,16):(1@TLane,1@TCol)] + R[4:32@TLane]) = 128@TLane+16@TCol
Result<Place> span(const TileLayout& layout);

// The shard as digits of `shape`, from the outermost on; the shape becomes the logical one. Refused
// where an extent of the shape ends inside a digit that does not split there.
//     group(S[(64,256):(256,1)], (8,8,256)) = S[(8,8,256):(2048,256,1)]
Result<TileLayout> group(const TileLayout& layout, const Tuple& shape);

// Without extents of 1 (all of them 1: one is left) and zero offsets; digits that go on where the
// next one ends are one.
//     canonicalize(S[(8,1,64):(64,64,1)]) = S[512:1]
TileLayout canonicalize(const TileLayout& layout);

// Copies of `inner` (of a shape), arranged as `outer`, mode by mode: element (o0*I0+i0, ...) is
// at outer(o) * span(inner) + inner(i), axis by axis.
//     tile(S[(8,64):(64,1)], S[(2,4):(4,1)], (2,4), (8,64)) = S[(2,8,4,64):(2048,64,512,1)]
Result<TileLayout> tile(const TileLayout& inner, const TileLayout& outer, const Tuple& outer_shape,
                        const Tuple& inner_shape);
// Copies, the last mode fastest, until the layout has the shape `to`.
Result<TileLayout> tile_to(const TileLayout& layout, const Tuple& to, const Tuple& current);

// left(l) + right(r), over coordinates (l0*R0+r0, ...): tile without the factor span(inner).
Result<TileLayout> direct_sum(const TileLayout& right, const TileLayout& left,
                              const Tuple& left_shape, const Tuple& right_shape);

// The elements from `begin` up to, but without, `end` in each extent of the shape. Refused where
// they are no layout: a range over the end of a digit. (TVM answers one such case, the half of a
// digit and the half of the next one, with a stride that steps from one to the other; so does
// this.)
//     slice(S[(64,256):(256,1)], (64,256), ((8,16),(0,128))) = S[(8,128):(256,1)] + 2048
Result<TileLayout> slice(const TileLayout& layout, const Tuple& shape, const Tuple& region);

// The digits of the shard in another order: permute_dims(S[(8,4):(4,1)], (1,0)) = S[(4,8):(1,4)].
Result<TileLayout> permute_dims(const TileLayout& layout, const Tuple& order);

// The part that is memory: without digits, replicas and offsets on thread axes.
//     storage(S[(128,64):(1@tid_in_wg,1)]) = S[64:1]
Result<TileLayout> storage(const TileLayout& layout);

// Elements that are n times as wide, of n adjacent ones each; and each element as n adjacent ones.
//     pack(S[(8,64):(64,1)], 2) = S[(8,32):(32,1)]        unpack(S[8:1], 4) = S[(8,4):(4,1)]
Result<TileLayout> pack(const TileLayout& layout, std::int64_t n);
Result<TileLayout> unpack(const TileLayout& layout, std::int64_t n);

// A digit of n that does not move (stride 0), put in before digit `position`; -1: after the last.
//     broadcast(S[(8,4):(4,1)], 2, 1) = S[(8,2,4):(4,0,1)]
Result<TileLayout> broadcast(const TileLayout& layout, std::int64_t n, std::int64_t position = -1);

}  // namespace tilescope
