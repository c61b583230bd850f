// Bits, logic and shifts, and comparisons (PTX ISA 9.7.1, 9.7.6 to 9.7.8).
#include "core/ptx/table/rows.h"

namespace tilescope::ptx {

// One row an opcode, one line a form.
// clang-format off
std::vector<Opcode> bits_rows() {
  using U = Unit;
  return {
      {Op::popc, "popc", U::integer, {{"type:b32|b64", "d:u32 a"}},
       "the number of one bits", "9.7.1.14"},
      {Op::clz, "clz", U::integer, {{"type:b32|b64", "d:u32 a"}},
       "the number of leading zero bits", "9.7.1.15"},
      {Op::brev, "brev", U::integer, {{"type:b32|b64", "d a"}}, "the bits in reverse order",
       "9.7.1.18"},
      {Op::bfind, "bfind", U::integer, {{"shiftamt? " I32_64, "d:u32 a"}},
       "the position of the highest bit that is not sign", "9.7.1.16"},
      {Op::bfe, "bfe", U::integer, {{I32_64, "d a b:u32 c:u32"}},
       "c bits of a from position b, extended", "9.7.1.19"},
      {Op::bfi, "bfi", U::integer, {{"type:b32|b64", "d a b c:u32 e:u32"}},
       "b with e bits from position c replaced by a", "9.7.1.20"},
      {Op::and_, "and", U::integer, {{B16_64, "d a b"}, {"type:pred", "p q q"}}, "d = a & b",
       "9.7.8.1"},
      {Op::or_, "or", U::integer, {{B16_64, "d a b"}, {"type:pred", "p q q"}}, "d = a | b",
       "9.7.8.2"},
      {Op::xor_, "xor", U::integer, {{B16_64, "d a b"}, {"type:pred", "p q q"}}, "d = a ^ b",
       "9.7.8.3"},
      {Op::not_, "not", U::integer, {{B16_64, "d a"}, {"type:pred", "p q"}}, "d = ~a", "9.7.8.4"},
      {Op::shl, "shl", U::integer, {{B16_64, "d a b:u32"}},
       "a << b; b above the width is the width", "9.7.8.8"},
      {Op::shr, "shr", U::integer,
       {{"type:b16|b32|b64|u16|u32|u64|s16|s32|s64", "d a b:u32"}},
       "a >> b, filled with the sign for s types; b above the width is the width", "9.7.8.9"},
      {Op::shf, "shf", U::integer, {{"funnel:l|r amount:clamp|wrap type:b32", "d a b c:u32"}},
       "32 bits of the pair b:a, shifted by c; .wrap takes c modulo 32", "9.7.8.7"},
      {Op::lop3, "lop3", U::integer, {{"type:b32", "d a b c n"}},
       "any function of three bits, bit by bit: its table is the last operand", "9.7.8.6"},
      {Op::prmt, "prmt", U::integer, {{"type:b32", "d a b c:u32"}},
       "four bytes of the pair b:a, chosen by the nibbles of c", "9.7.9.7"},
      {Op::setp, "setp", U::integer,
       {{COMPARE " ftz? " COMPARED, "p|p a b"}, {COMPARE " " LOGIC " ftz? " COMPARED, "p|p a b q"}},
       "a predicate (and its complement) from a comparison, combined with a third", "9.7.6.2"},
      {Op::selp, "selp", U::move,
       {{"type:b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64", "d a b q"}}, "a if q, else b",
       "9.7.6.3"},
  };
}
// clang-format on

}  // namespace tilescope::ptx
