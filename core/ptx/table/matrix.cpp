// Matrices of a warp: mma, and what moves its fragments (PTX ISA 9.7.14.5). Which types go with
// which shape, and how many registers hold a fragment, is what ptxas 13.0 takes.
#include "core/ptx/table/rows.h"

// Operands of N registers each: D, A, B, C.
#define REGISTERS(d, a, b, c) "{d}" #d ":type {a}" #a ":b32 {b}" #b ":b32 {c}" #c ":type"
#define HALF_REGISTERS(d, a, b, c) "{d}" #d ":b32 {a}" #a ":b32 {b}" #b ":b32 {c}" #c ":b32"
#define WIDE_REGISTERS(d, a, b, c) "{d}" #d ":f64 {a}" #a ":f64 {b}" #b ":f64 {c}" #c ":f64"
#define MMA(shape) "sync aligned shape:" shape " a_layout:row b_layout:col "
#define F8 "e4m3|e5m2"
#define SHARED "space:shared|shared::cta?"

namespace tilescope::ptx {

// One row an opcode, one line a form.
// clang-format off
std::vector<Opcode> matrix_rows() {
  using U = Unit;
  return {
      {Op::mma, "mma", U::matrix,
       {{MMA("m16n8k8") "type:f32 type2:f16 type3:f16 type4:f32", REGISTERS(4, 2, 1, 4)},
        {MMA("m16n8k16") "type:f32 type2:f16 type3:f16 type4:f32", REGISTERS(4, 4, 2, 4)},
        {MMA("m16n8k8") "type:f16 type2:f16 type3:f16 type4:f16", HALF_REGISTERS(2, 2, 1, 2)},
        {MMA("m16n8k16") "type:f16 type2:f16 type3:f16 type4:f16", HALF_REGISTERS(2, 4, 2, 2)},
        {MMA("m16n8k8") "type:f32 type2:bf16 type3:bf16 type4:f32", REGISTERS(4, 2, 1, 4)},
        {MMA("m16n8k16") "type:f32 type2:bf16 type3:bf16 type4:f32", REGISTERS(4, 4, 2, 4)},
        {MMA("m16n8k4") "type:f32 type2:tf32 type3:tf32 type4:f32", REGISTERS(4, 2, 1, 4)},
        {MMA("m16n8k8") "type:f32 type2:tf32 type3:tf32 type4:f32", REGISTERS(4, 4, 2, 4)},
        {MMA("m16n8k16") "type:f32 type2:" F8 " type3:" F8 " type4:f32", REGISTERS(4, 2, 1, 4)},
        {MMA("m16n8k32") "type:f32 type2:" F8 " type3:" F8 " type4:f32", REGISTERS(4, 4, 2, 4)},
        {MMA("m16n8k16") "type:f16 type2:" F8 " type3:" F8 " type4:f16", HALF_REGISTERS(2, 2, 1, 2)},
        {MMA("m16n8k32") "type:f16 type2:" F8 " type3:" F8 " type4:f16", HALF_REGISTERS(2, 4, 2, 2)},
        {MMA("m8n8k16") "satfinite? type:s32 type2:s8|u8 type3:s8|u8 type4:s32", REGISTERS(2, 1, 1, 2)},
        {MMA("m16n8k16") "satfinite? type:s32 type2:s8|u8 type3:s8|u8 type4:s32", REGISTERS(4, 2, 1, 4)},
        {MMA("m16n8k32") "satfinite? type:s32 type2:s8|u8 type3:s8|u8 type4:s32", REGISTERS(4, 4, 2, 4)},
        {MMA("m8n8k4") "type:f64 type2:f64 type3:f64 type4:f64", WIDE_REGISTERS(2, 1, 1, 2)},
        {MMA("m16n8k4") "type:f64 type2:f64 type3:f64 type4:f64", WIDE_REGISTERS(4, 2, 1, 4)},
        {MMA("m16n8k8") "type:f64 type2:f64 type3:f64 type4:f64", WIDE_REGISTERS(4, 4, 2, 4)},
        {MMA("m16n8k16") "type:f64 type2:f64 type3:f64 type4:f64", WIDE_REGISTERS(4, 8, 4, 4)}},
       "D = A * B + C, of matrices spread over the lanes of a warp", "9.7.14.5.14"},
      {Op::ldmatrix, "ldmatrix", U::matrix,
       {{"sync aligned shape:m8n8 matrices:x1 trans? " SHARED " type:b16", "{d}1:b32 [a]"},
        {"sync aligned shape:m8n8 matrices:x2 trans? " SHARED " type:b16", "{d}2:b32 [a]"},
        {"sync aligned shape:m8n8 matrices:x4 trans? " SHARED " type:b16", "{d}4:b32 [a]"}},
       "8x8 matrices from shared memory; each lane of a group of eight gives a row's address",
       "9.7.14.5.15"},
      {Op::stmatrix, "stmatrix", U::matrix,
       {{"sync aligned shape:m8n8 matrices:x1 trans? " SHARED " type:b16", "[a] {b}1:b32"},
        {"sync aligned shape:m8n8 matrices:x2 trans? " SHARED " type:b16", "[a] {b}2:b32"},
        {"sync aligned shape:m8n8 matrices:x4 trans? " SHARED " type:b16", "[a] {b}4:b32"}},
       "8x8 matrices to shared memory; each lane of a group of eight gives a row's address",
       "9.7.14.5.16"},
      {Op::movmatrix, "movmatrix", U::matrix,
       {{"sync aligned shape:m8n8 trans type:b16", "d:b32 a:b32"}},
       "an 8x8 matrix transposed across the lanes", "9.7.14.5.17"},
  };
}
// clang-format on

}  // namespace tilescope::ptx
