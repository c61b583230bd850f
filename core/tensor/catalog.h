// All atoms by name. A name is CuTe's, with its arguments shortened:
//
//     SM80_16x8x16_F32F16F16F32_TN      UniversalFMA<f32>      SM90_64x64x16_F32BF16BF16_SS<MN,K>
//     SM100_MMA_F16BF16_2x1SM_SS<f16,f16,f32,256,256,K,K>      SM80_CP_ASYNC_CACHEALWAYS<u128,f16>
//
// CuTe's own spelling of an argument (half_t, GMMA::Major::K, UMMA::Major::MN) is understood too.
// A copy's last argument is the type of its values; where it is left out, values are as wide as
// what the instruction moves as one (ldmatrix: 16 bits).
//
// Families with many members (wgmma, tcgen05) are made from their parameters. A name that is no
// atom is refused with what would be one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/error.h"
#include "core/tensor/atom.h"

namespace tilescope {

using Atom = std::variant<MmaAtom, CopyAtom>;

// The atom of a name, or a sentence that says what would be legal.
Outcome<Atom> atom_named(std::string_view name);

// Whether a word begins as the name of an atom does, so that one may be there.
bool begins_like_an_atom(std::string_view word);

// One family for lists: a member, and what may vary in it.
struct AtomFamily {
  std::string example;  // a name that atom_named() knows
  std::string varies;   // "N 8, 16 .. 256; majors K, MN"; empty for a single atom
};
const std::vector<AtomFamily>& atom_families();

// Every name without its arguments, for completion and for the name nearest to a misspelt one.
const std::vector<std::string>& atom_names();

// --- what the families are made of ------------------------------------------------------------

// A name as written: SM90_64x64x16_F32F16F16_SS and its arguments.
struct AtomSpelling {
  std::string whole;
  std::string_view base;
  std::vector<std::string_view> arguments;  // without blanks and namespaces
};

// A family answers nothing where a name is not one of its own.
using AtomAnswer = std::optional<Outcome<Atom>>;
struct AtomMaker {
  AtomAnswer (*make)(const AtomSpelling&);
  void (*list)(std::vector<AtomFamily>&);
  void (*names)(std::vector<std::string>&);
};
extern const AtomMaker register_mmas;  // mma.sync and UniversalFMA: mma_registers.cpp
extern const AtomMaker sm120_mmas;     // mma_sm120.cpp
extern const AtomMaker wgmmas;         // mma_wgmma.cpp
extern const AtomMaker tcgen05_mmas;   // mma_tcgen05.cpp
extern const AtomMaker thread_copies;  // universal copies, cp.async: copy_thread.cpp
extern const AtomMaker matrix_copies;  // ldmatrix, stmatrix, movmatrix: copy_matrix.cpp
extern const AtomMaker tmem_copies;    // tcgen05.ld, st, cp: copy_tmem.cpp
extern const AtomMaker bulk_copies;    // TMA: copy_bulk.cpp

Error no_atom(const AtomSpelling& spelling, std::string_view what_is_wrong);

}  // namespace tilescope
