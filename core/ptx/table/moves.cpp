// Data movement between registers, and conversions (PTX ISA 9.7.9).
#include "core/ptx/table/rows.h"

namespace tilescope::ptx {

// One row an opcode, one line a form.
// clang-format off
std::vector<Opcode> moves_rows() {
  using U = Unit;
  return {
      {Op::mov, "mov", U::move,
       {{"type:b16|b32|b64|b128|u16|u32|u64|s16|s32|s64|f32|f64", "{d} {a}"}, {"type:pred", "p q"}},
       "d = a: a register, constant, special register or address; packs and unpacks {..}",
       "9.7.9.3, 9.7.9.4"},
      {Op::cvt, "cvt", U::convert,
       {{"sat? type:" INTEGERS " type2:" INTEGERS, "d:type a:type2"},
        {ROUND " ftz? sat? type:f32 type2:" INTEGERS, "d:type a:type2"},
        {ROUND " sat? type:f16|f64 type2:" INTEGERS, "d:type a:type2"},
        {ROUND " type:bf16 type2:u16|u32|u64|s16|s32|s64", "d:type a:type2"},
        {INTEGRAL " ftz? sat? type:" INTEGERS " type2:f32", "d:type a:type2"},
        {INTEGRAL " sat? type:" INTEGERS " type2:f16|f64", "d:type a:type2"},
        {INTEGRAL " type:u16|u32|u64|s16|s32|s64 type2:bf16", "d:type a:type2"},
        {INTEGRAL "? ftz? sat? type:f32 type2:f32", "d:type a:type2"},
        {INTEGRAL "? sat? type:f16 type2:f16", "d:type a:type2"},
        {INTEGRAL "? type:bf16 type2:bf16", "d:type a:type2"},
        {INTEGRAL "? sat? type:f64 type2:f64", "d:type a:type2"},
        {"ftz? sat? type:f32 type2:f16", "d:type a:type2"},
        {"ftz? sat? type:f64 type2:f32", "d:type a:type2"},
        {"sat? type:f64 type2:f16", "d:type a:type2"},
        {ROUND "? ftz? type:f32 type2:bf16", "d:type a:type2"},
        {ROUND "? type:f64 type2:bf16", "d:type a:type2"},
        {ROUND "? type:f16 type2:bf16", "d:type a:type2"},
        {ROUND "? type:bf16 type2:f16", "d:type a:type2"},
        {ROUND " ftz? sat? type:f32 type2:f64", "d:type a:type2"},
        {ROUND " sat? type:f16 type2:f64", "d:type a:type2"},
        {ROUND " type:bf16 type2:f64", "d:type a:type2"},
        {ROUND " ftz? sat? type:f16 type2:f32", "d:type a:type2"},
        {ROUND " ftz? type:bf16 type2:f32", "d:type a:type2"},
        {NARROW " relu? satfinite? type:f16|bf16|tf32 type2:f32", "d:type a:type2"},
        {"round:rna satfinite? type:tf32 type2:f32", "d:type a:type2"},
        {NARROW " relu? satfinite? type:f16x2|bf16x2 type2:f32", "d:type a:type2 b:type2"},
        {"round:rn relu? satfinite type:" PACKED8 "|e2m1x2|e2m3x2|e3m2x2 type2:f32",
         "d:type a:type2 b:type2"},
        {"round:rn relu? satfinite type:" PACKED8 "|e2m1x2 type2:f16x2", "d:type a:type2"},
        {"round:rn relu? type:f16x2 type2:" PACKED8 "|e2m1x2|e2m3x2|e3m2x2", "d:type a:type2"},
        {"round:rz|rp satfinite? type:ue8m0x2 type2:f32", "d:type a:type2 b:type2"},
        {"round:rz|rp satfinite? type:ue8m0x2 type2:bf16x2", "d:type a:type2"},
        {"round:rn type:bf16x2 type2:ue8m0x2", "d:type a:type2"},
        {"pack sat packed:u16|s16 type2:s32", "d:u32 a:type2 b:type2"},
        {"pack sat packed:u8|s8|u4|s4|u2|s2 type2:s32 type:b32", "d:u32 a:type2 b:type2 c:u32"}},
       "a converted from its type to d's; with .pack two integers, cut to a range", "9.7.9.21, 9.7.9.22"},
      {Op::cvta, "cvta", U::move,
       {{"to space:const|global|local|param|shared|shared::cta type:u64", "d a"},
        {"space:const|global|local|param|shared|shared::cta type:u64", "d a"}},
       "a generic address from an address in a space, or back with .to", "9.7.9.20"},
      {Op::mapa, "mapa", U::move, {{"space:shared::cluster? type:u32|u64", "d a b:u32"}},
       "the address in CTA b of the cluster of what is at a in another", "9.7.9.23"},
      {Op::getctarank, "getctarank", U::move, {{"space:shared::cluster? type:u32|u64", "d:u32 a"}},
       "the rank of the CTA whose shared memory an address is in", "9.7.9.24"},
  };
}
// clang-format on

}  // namespace tilescope::ptx
