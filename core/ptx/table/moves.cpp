// Data movement between registers, and conversions (PTX ISA 9.7.9).
#include "core/ptx/table/rows.h"

namespace tilescope::ptx {

// One row an opcode, one line a form.
// clang-format off
std::vector<Opcode> moves_rows() {
  using U = Unit;
  return {
      {Op::mov, "mov", U::move,
       {{"type:b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64", "{d} {a}"}, {"type:pred", "p q"}},
       "d = a: a register, constant, special register or address; packs and unpacks {..}",
       "9.7.9.3, 9.7.9.4"},
      {Op::cvt, "cvt", U::convert,
       {{"sat? type:" INTEGERS " type2:" INTEGERS, "d:type a:type2"},
        {ROUND " sat? type:f32 type2:" INTEGERS, "d:type a:type2"},
        {"round:rn type:f64 type2:" INTEGERS, "d:type a:type2"},
        {"integral:rni|rzi|rmi|rpi ftz? sat? type:" INTEGERS " type2:f32|f64", "d:type a:type2"},
        {"integral:rni|rzi|rmi|rpi? ftz? sat? type:f32 type2:f32", "d:type a:type2"},
        {"integral:rni|rzi|rmi|rpi? type:f64 type2:f64", "d:type a:type2"},
        {ROUND " ftz? sat? type:f32 type2:f64", "d:type a:type2"},
        {"ftz? type:f64 type2:f32", "d:type a:type2"}},
       "a converted from its type to d's", "9.7.9.21"},
      {Op::cvta, "cvta", U::move,
       {{"to space:const|global|local|param|shared|shared::cta type:u64", "d a"},
        {"space:const|global|local|param|shared|shared::cta type:u64", "d a"}},
       "a generic address from an address in a space, or back with .to", "9.7.9.20"},
  };
}
// clang-format on

}  // namespace tilescope::ptx
