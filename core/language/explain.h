// Why an operation gave what it gave: its steps in order, each with the intermediate layout.
//
//     composition((6,2):(8,2), (4,3):(3,1))
//       left side    (6,2):(8,2)    offsets of B are read as digits: 6, then without bound
//       leaf 0       4:3
//         digit 0    2:24           steps of 3 stay below the extent 6 for 2 of them
//         beyond     2:2            the other 2 run on in the last mode
//       leaf 1 ...
//
// The steps come out of the code that computes (detail::Silent names what it tells), never from a
// second account of it. A refused operation has the steps up to the one that failed; the refusal's
// own sentence is with the call.
#pragma once

#include <string>

#include "core/language/language.h"

namespace tilescope {

// A call and its answer as a step of level 0. Where there is no value, the sentence says why.
DerivationStep step_of(std::string operation, std::string operands, const Value* value,
                       std::string sentence);

void explain_coalesce(const Layout& layout, Derivation& steps);
void explain_composition(const Layout& a, const Layout& b, Derivation& steps);
void explain_composition_of(const Layout& a, const Value& b, Derivation& steps);
void explain_complement(const Layout& layout, const Tuple& target, Derivation& steps);
void explain_right_inverse(const Layout& layout, Derivation& steps);
void explain_left_inverse(const Layout& layout, Derivation& steps);
void explain_divide(const Layout& a, const Tiler& tiler, Derivation& steps);
void explain_product(const Layout& a, const Tiler& tiler, Derivation& steps);
void explain_ranked_product(const Layout& a, const Layout& b, Derivation& steps);  // blocked, raked
void explain_tile_to_shape(const Layout& block, const Tuple& target, const Tuple& order,
                           Derivation& steps);
void explain_upcast(const Layout& layout, std::int64_t n, Derivation& steps);
void explain_downcast(const Layout& layout, std::int64_t n, Derivation& steps);
void explain_thread_value(const Layout& threads, const Layout& values, Derivation& steps);
void explain_slice(const Tuple& coordinate, const Layout& layout, Derivation& steps);

// Tiled operations (explain_tiled.cpp): from the tile over the atom's threads and values to what
// one thread has.
void explain_tiled_mma(const TiledMma& mma, Derivation& steps);
void explain_tiled_copy(const TiledCopy& copy, Derivation& steps);
void explain_thread(const TiledMma& mma, const Int& thr, Derivation& steps);  // get_slice
void explain_operand(const TiledMma& mma, OperandName x, Derivation& steps);  // layout_A_TV...
void explain_side(const TiledCopy& copy, Side side, Derivation& steps);       // layout_S_TV...
void explain_partition(const TiledMma& mma, OperandName x, const Int& thr, const Layout& layout,
                       Derivation& steps);
void explain_partition(const TiledCopy& copy, Side side, const Int& thr, const Layout& layout,
                       Derivation& steps);
void explain_fragment(const TiledMma& mma, OperandName x, const Int& thr, const Layout& layout,
                      Derivation& steps);
void explain_retile(const TiledCopy& copy, const Layout& fragment, Derivation& steps);
void explain_local_tile(const Layout& layout, const Tiler& tiler, const Tuple& coordinate,
                        const Tuple& projection, Derivation& steps);
void explain_local_partition(const Layout& layout, const Layout& threads, const Int& index,
                             const Tuple& projection, Derivation& steps);

}  // namespace tilescope
