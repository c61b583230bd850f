// The language's functions of TIRx's layouts: owners, shared memory, what TIRx does with them, and
// to and from CuTe.
#include <fmt/format.h>

#include <array>

#include "core/language/functions.h"
#include "core/layout/tile_algebra.h"
#include "core/tensor/element.h"

namespace tilescope::language {
namespace {

using Rule = Refusal::Rule;

Answer to_cute_call(const Arguments& a) {
  const Result<Slice> made = to_cute(*a[0].tile, a.size() == 2 ? a[1].tuple : Tuple{});
  if (!made) return made.refusal;
  return made->offset.zero() ? Value(made->layout) : Value(*made);
}

Answer to_tirx_call(const Arguments& a) {
  return shared(to_tirx(Slice{a[0].layout, a[0].origin}));
}

// 128B: the bytes of a row of the swizzle's atom.
Answer tma_shared_layout_call(const Arguments& a) {
  const std::optional<ElementType> type = element_named(a[0].word);
  if (!type) return Refusal{Rule::unknown_type, -1, 0, 0, 0};
  const std::string& mode = a[1].word;
  const std::int64_t bytes = mode == "32B" ? 32 : mode == "64B" ? 64 : mode == "128B" ? 128 : 0;
  if (bytes == 0) return Refusal{Rule::swizzle_mode, -1, 1, 0, 0};
  return shared(tma_shared_layout(bits_of(*type), bytes, a[2].tuple));
}

Answer tmem_datapath_call(const Arguments& a) {
  const char letter = a[0].word.size() == 1 ? a[0].word[0] : '?';
  const std::int64_t half = a.size() > 3 ? a[3].number : 0;
  if (half != 0 && half != 1) {
    return Reason{fmt::format("The half of a warp's lanes is {}; 0 and 1 are.", half)};
  }
  return shared(tmem_datapath_layout(letter, a[1].number, a[2].number, half == 1));
}

// TVM's ComposeLayout names a swizzle by its bits: M per_element, B swizzle_len, S atom_len.
Answer compose_layout_call(const Arguments& a) {
  const Result<Swizzle> swizzle = make_swizzle(a[1].number, a[0].number, a[2].number);
  if (!swizzle) return swizzle.refusal;
  return compose(Value(*swizzle), a[3].value);
}

Answer owners_call(const Arguments& a) {
  if (a.size() == 2) return answer(owners(*a[0].tile, a[1].tuple));
  const Result<TileLayout> shaped = in_shape(*a[0].tile, a[2].tuple);
  return shaped ? answer(owners(*shaped, a[1].tuple)) : Answer(shaped.refusal);
}

// The shape that a layout has, where none is given.
Tuple shape_or_own(const Arguments& a, std::size_t i) {
  return a.size() > i ? a[i].tuple : logical_shape(*a[0].tile);
}

const std::array table = {
    Function{{"TileLayout", "(X)", "X itself, as TVM writes it"},
             "D",
             [](const Arguments& a) { return Answer(a[0].value); }},
    Function{{"ComposeLayout", "(M, B, S, X)", "Sw<B,M,S> o X, in TVM's order of the numbers"},
             "NNND",
             compose_layout_call},
    Function{{"owners", "(X, ELEMENT[, SHAPE])",
              "all places of an element of a TIRx layout, a number or a coordinate in SHAPE"},
             "DSs",
             owners_call},
    Function{{"in_shape", "(X, SHAPE)", "X for a grid of SHAPE: coordinates are those of SHAPE"},
             "DS",
             [](const Arguments& a) { return shared(in_shape(*a[0].tile, a[1].tuple)); }},
    Function{{"span", "(X)", "one more than the largest number on each axis, of all owners"},
             "D",
             [](const Arguments& a) { return answer(span(*a[0].tile)); }},
    Function{{"group", "(X, SHAPE)", "of a TIRx layout: the shard split at the extents of SHAPE"},
             "DS",
             [](const Arguments& a) { return shared(group(*a[0].tile, a[1].tuple)); }},
    Function{{"canonicalize", "(X)", "without extents of 1; digits that run on are one"},
             "D",
             [](const Arguments& a) { return shared(Result(canonicalize(*a[0].tile))); }},
    Function{{"tile", "(X, OUTER, OUTER_SHAPE[, SHAPE])",
              "copies of X (of SHAPE) arranged as OUTER, block by block"},
             "DDSs",
             [](const Arguments& a) {
               return shared(tile(*a[0].tile, *a[1].tile, a[2].tuple, shape_or_own(a, 3)));
             }},
    Function{{"tile_to", "(X, SHAPE[, OWN_SHAPE])", "copies of X until it has SHAPE"},
             "DSs",
             [](const Arguments& a) {
               return shared(tile_to(*a[0].tile, a[1].tuple, shape_or_own(a, 2)));
             }},
    Function{{"direct_sum", "(X, LEFT, LEFT_SHAPE[, SHAPE])",
              "LEFT(l) + X(x), over blocks of X's SHAPE: tile with strides as they are"},
             "DDSs",
             [](const Arguments& a) {
               return shared(direct_sum(*a[0].tile, *a[1].tile, a[2].tuple, shape_or_own(a, 3)));
             }},
    Function{{"slice", "(X, SHAPE, ((BEGIN,END),...))", "of a TIRx layout: a box of the elements"},
             "DSS",
             [](const Arguments& a) { return shared(slice(*a[0].tile, a[1].tuple, a[2].tuple)); }},
    Function{{"permute_dims", "(X, ORDER)", "the digits of the shard in another order"},
             "DS",
             [](const Arguments& a) { return shared(permute_dims(*a[0].tile, a[1].tuple)); }},
    Function{{"storage", "(X)", "the part that is memory, without threads"},
             "D",
             [](const Arguments& a) { return shared(storage(*a[0].tile)); }},
    Function{{"pack", "(X, N)", "elements N times as wide, of adjacent ones"},
             "DN",
             [](const Arguments& a) { return shared(pack(*a[0].tile, a[1].number)); }},
    Function{{"unpack", "(X, N)", "each element as N adjacent ones"},
             "DN",
             [](const Arguments& a) { return shared(unpack(*a[0].tile, a[1].number)); }},
    Function{{"broadcast", "(X, N[, POSITION])",
              "of a TIRx layout: a digit of N that does not move, before digit POSITION"},
             "DNn",
             [](const Arguments& a) {
               return shared(broadcast(*a[0].tile, a[1].number, a.size() > 2 ? a[2].number : -1));
             }},
    Function{{"wg_local_layout", "(COLUMNS[, ROWS])", "a row for each thread of a warpgroup"},
             "Nn",
             [](const Arguments& a) {
               return shared(wg_local_layout(a[0].number, a.size() > 1 ? a[1].number : 128));
             }},
    Function{{"tmem_datapath_layout", "(LETTER, ROWS, COLUMNS[, HALF])",
              "where tcgen05.mma puts its rows and columns, by the letter of its data path"},
             "WNNn",
             tmem_datapath_call},
    Function{{"to_cute", "(X[, SHAPE])",
              "the CuTe layout with the same place for every number, or coordinate in SHAPE"},
             "Ds",
             to_cute_call},
    Function{{"to_tirx", "(L)", "the TIRx layout with the same place for every number"},
             "O",
             to_tirx_call},
    Function{{"tma_shared_layout", "(TYPE, MODE, SHAPE)",
              "shared memory as TMA fills it, swizzled in rows of 32B, 64B or 128B"},
             "WWS",
             tma_shared_layout_call},
    Function{{"mma_shared_layout", "(TYPE, MODE, SHAPE)", "tma_shared_layout by TVM's later name"},
             "WWS",
             tma_shared_layout_call},
};

}  // namespace

std::span<const Function> functions_tirx() {
  return table;
}

}  // namespace tilescope::language
