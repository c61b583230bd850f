// mov, cvta and selp (PTX ISA 9.7.9.3, 9.7.9.4, 9.7.9.20, 9.7.6.3): values go through unchanged.
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/services.h"
#include "core/sim/lanes/units.h"

namespace tilescope::sim::TILESCOPE_LANES {
namespace {

using ptx::Op;
using ptx::Operand;
using ptx::Space;

template <class Part, int bits>
constexpr Part low_bits = static_cast<Part>(~Part{0}) >>
                          (static_cast<int>(sizeof(Part)) * 8 - bits);

template <class T>
struct Same {
  static T apply(T a) { return a; }
};
struct Plus {
  static std::uint64_t apply(std::uint64_t a, std::uint64_t b) { return a + b; }
};

template <class T>
Flow select(Core& x, const Code& c, Mask m) {
  const Mask chosen = x.predicates[c.r] ^ c.flip;
  const T* a = lane_array<T>(x, c.a);
  const T* b = lane_array<T>(x, c.b);
  T* d = lane_array<T>(x, c.d);
  if (m == x.live) {
    TILESCOPE_FOR_LANES(l) d[l] = (chosen & lane_bit[l]) ? a[l] : b[l];
    return Flow::next;
  }
  T t[32];
  TILESCOPE_FOR_LANES(l) t[l] = (chosen & lane_bit[l]) ? a[l] : b[l];
  blend(d, t, m);
  return Flow::next;
}

// {a, b} into one register, the first part lowest. A part of `bits` lies in a register of type
// Part: one of 8 bits in 16.
template <class Whole, class Part, int count, int bits = static_cast<int>(sizeof(Part)) * 8>
Flow pack(Core& x, const Code& c, Mask m) {
  Whole t[32] = {};
  for (int k = 0; k < count; ++k) {
    const Part* part = lane_array<Part>(x, x.elements[c.target + static_cast<std::uint32_t>(k)]);
    TILESCOPE_FOR_LANES(l)
    t[l] |= static_cast<Whole>(static_cast<Whole>(part[l] & low_bits<Part, bits>) << (k * bits));
  }
  blend(lane_array<Whole>(x, c.d), t, m);
  return Flow::next;
}

template <class Whole, class Part, int count, int bits = static_cast<int>(sizeof(Part)) * 8>
Flow unpack(Core& x, const Code& c, Mask m) {
  Whole whole[32];
  std::memcpy(whole, lane_array<Whole>(x, c.a), sizeof whole);
  for (int k = 0; k < count; ++k) {
    const Reference r = x.elements[c.target + static_cast<std::uint32_t>(k)];
    if (r == nothing) continue;
    Part t[32];
    TILESCOPE_FOR_LANES(l)
    t[l] = static_cast<Part>(static_cast<Part>(whole[l] >> (k * bits)) & low_bits<Part, bits>);
    blend(lane_array<Part>(x, r), t, m);
  }
  return Flow::next;
}

Flow move_predicate(Core& x, const Code& c, Mask m) {
  const Mask a = x.predicates[c.r] ^ c.flip;
  if (c.p) x.predicates[c.p] = (x.predicates[c.p] & ~m) | (a & m);
  return Flow::next;
}

// %clock and its kin: one value for all lanes, asked for now.
Flow read_special(Core& x, const Code& c, Mask m) {
  const std::uint64_t value = dynamic_special(x, static_cast<ptx::Special>(c.target));
  if (c.width == 8) {
    std::uint64_t t[32];
    TILESCOPE_FOR_LANES(l) t[l] = value;
    blend(lane_array<std::uint64_t>(x, c.d), t, m);
  } else {
    std::uint32_t t[32];
    TILESCOPE_FOR_LANES(l) t[l] = static_cast<std::uint32_t>(value);
    blend(lane_array<std::uint32_t>(x, c.d), t, m);
  }
  return Flow::next;
}

Handler mov(const ptx::Program& program, const ptx::Instruction& i) {
  using u128 = unsigned __int128;
  const Operand* o = program.operands_of(i);
  if (i.modifiers.type() == ptx::Type::pred) return move_predicate;
  if (o[1].kind == Operand::Kind::special) return read_special;
  const int bits = ptx::bits_of(i.modifiers.type());
  const bool packs = o[1].kind == Operand::Kind::vector;
  if (packs || o[0].kind == Operand::Kind::vector) {
    const int parts = packs ? o[1].count : o[0].count;
    if (bits == 16) return packs ? pack<u16, u16, 2, 8> : unpack<u16, u16, 2, 8>;
    if (bits == 32 && parts == 4) return packs ? pack<u32, u16, 4, 8> : unpack<u32, u16, 4, 8>;
    if (bits == 128 && parts == 2) return packs ? pack<u128, u64, 2> : unpack<u128, u64, 2>;
    if (bits == 128 && parts == 4) return packs ? pack<u128, u32, 4> : unpack<u128, u32, 4>;
    if (bits == 32 && parts == 2) return packs ? pack<u32, u16, 2> : unpack<u32, u16, 2>;
    if (bits == 64 && parts == 2) return packs ? pack<u64, u32, 2> : unpack<u64, u32, 2>;
    if (bits == 64 && parts == 4) return packs ? pack<u64, u16, 4> : unpack<u64, u16, 4>;
    return nullptr;
  }
  if (bits == 16) return unary<Same<u16>, u16, u16>;
  if (bits == 32) return unary<Same<u32>, u32, u32>;
  if (bits == 64) return unary<Same<u64>, u64, u64>;
  if (bits == 128) return unary<Same<u128>, u128, u128>;
  return nullptr;
}

}  // namespace

Handler move_handler(const ptx::Program& program, const ptx::Instruction& i) {
  switch (i.op) {
    case Op::mov:
      return mov(program, i);
    case Op::cvta:
      return binary<Plus, std::uint64_t, std::uint64_t>;  // bind gives the distance
    case Op::selp:
      switch (ptx::bits_of(i.modifiers.type())) {
        case 16:
          return select<std::uint16_t>;
        case 32:
          return select<std::uint32_t>;
        case 64:
          return select<std::uint64_t>;
        default:
          return nullptr;
      }
    default:
      return nullptr;
  }
}

}  // namespace tilescope::sim::TILESCOPE_LANES
