// Atoms: what one instruction multiplies or copies, and which thread holds which element of it.
//
// An atom is data, taken from CuTe's traits and named as there. An MMA atom has three
// thread/value layouts,
//
//     A: (thread, value) -> m + M*k      B: (thread, value) -> n + N*k      C: -> m + M*n
//
// so a thread's value v of A is element (m,k) of the tile that one instruction reads. `thr_id`
// leads from the atom's own thread number to the thread of the warp (warpgroup, CTA pair): Volta's
// quad-pair is (4,2):(1,16), the threads 0..3 and 16..19. For tcgen05 a "thread" is a CTA: one
// instruction is issued by one thread, and its operands are spread over one CTA or two.
//
// A copy atom maps (thread, bit) of its source and of its destination to one numbering of the bits
// that it moves; `ref` is the side that a tiled copy's layout speaks of.
//
// Plain constexpr values, as layouts are. The catalog of all of them is in catalog.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "core/layout/algebra.h"
#include "core/tensor/element.h"

namespace tilescope {

// Where the elements of an operand are. A coordinate tensor holds no elements: its "values" are the
// coordinates themselves.
enum class Memory : std::uint8_t { gmem, smem, rmem, tmem, coordinate };

constexpr std::string_view name_of(Memory memory) {
  constexpr std::string_view names[] = {"gmem", "smem", "rmem", "tmem", "coordinate"};
  return names[static_cast<int>(memory)];
}

std::optional<Memory> memory_named(std::string_view name);  // gmem, smem, rmem, tmem

// Which mode of an operand in shared memory is contiguous; `none` where registers hold it.
enum class Major : std::uint8_t { none, k, mn };

constexpr std::string_view name_of(Major major) {
  constexpr std::string_view names[] = {"", "K", "MN"};
  return names[static_cast<int>(major)];
}

// A name inside a plain value.
struct AtomName {
  std::array<char, 95> characters{};
  std::uint8_t length = 0;

  constexpr AtomName() = default;
  constexpr AtomName(std::string_view text) {  // NOLINT: a text is a name
    for (const char c : text) {
      if (length < characters.size()) characters[length++] = c;
    }
  }
  constexpr std::string_view view() const { return {characters.data(), length}; }
};

struct MmaOperand {
  ElementType type = ElementType::f32;
  Memory memory = Memory::rmem;
  Major major = Major::none;
  Layout tv;  // (thread, value) -> element of the atom's tile
  // So many elements of the tile are stored as one, the others being zeros: 2 for a sparse A (2:4).
  std::uint8_t sparsity = 1;
};

struct MmaAtom {
  AtomName name;
  const char* source = "";  // the header that defines it, and the instruction's section
  Tuple shape_mnk;
  Layout thr_id;
  MmaOperand a, b, c;  // D is as C

  // An extent of the atom: 0 M, 1 N, 2 K.
  constexpr std::int64_t extent(int i) const { return shape_mnk.leaf[i].value; }
};

struct CopyAtom {
  AtomName name;
  const char* source = "";
  Layout thr_id;
  Layout src_bits, dst_bits, ref_bits;  // (thread, bit) -> bit of what is moved
  ElementType value = ElementType::f16;
  Layout src, dst, ref;  // the same in values
  Memory from = Memory::gmem, to = Memory::rmem;
  // tcgen05.ld and .st: bit of what is moved -> bit address in TMEM, where a lane is
  // 2^21 bits (CuTe's ValID and TMEM::DP_b); empty for other copies.
  Layout tmem_bits;
};

// The copy in values of another width. Refused where a value would be torn apart, between bits or
// between threads.
constexpr Result<CopyAtom> with_values(CopyAtom atom, ElementType value) {
  atom.value = value;
  const int bits = bits_of(value);
  for (const auto& [from, to] :
       {std::pair{&atom.src_bits, &atom.src}, std::pair{&atom.dst_bits, &atom.dst},
        std::pair{&atom.ref_bits, &atom.ref}}) {
    const Result<Layout> values = recast_layout(*from, 1, bits);
    if (!values) return values.refusal;
    if (product(values->modes.mode(0).map<Int>([](const Mode& m) { return m.shape; })).value !=
        size(atom.thr_id).value) {
      return detail::refuse(Refusal::Rule::not_divisible, -1, bits, bits);
    }
    *to = *values;
  }
  return atom;
}

}  // namespace tilescope
