// Matrices of a warp: mma, and what moves its fragments (PTX ISA 9.7.14.5). Which types go with
// which shape, and how many registers hold a fragment, is what ptxas 13.0 takes.
#include "core/ptx/table/rows.h"

// Operands of N registers each: D, A, B, C.
#define REGISTERS(d, a, b, c) "{d}" #d ":type {a}" #a ":b32 {b}" #b ":b32 {c}" #c ":type"
#define HALF_REGISTERS(d, a, b, c) "{d}" #d ":b32 {a}" #a ":b32 {b}" #b ":b32 {c}" #c ":b32"
#define WIDE_REGISTERS(d, a, b, c) "{d}" #d ":f64 {a}" #a ":f64 {b}" #b ":f64 {c}" #c ":f64"
#define MMA(shape) "sync aligned shape:" shape " a_layout:row b_layout:col "
#define F8 "e4m3|e5m2"
#define BYTES "s8|u8"
#define ALL_LAYOUTS "a_layout:row|col b_layout:row|col "
#define WMMA "operation:mma sync aligned " ALL_LAYOUTS
#define HALF_SHAPES "shape:m16n16k16|m8n32k16|m32n8k16 "
#define LOAD(part, shape, type, registers)                                    \
  {                                                                           \
    "operation:load part:" part " sync aligned a_layout:row|col shape:" shape \
    " space:global|shared|shared::cta? type:" type,                           \
        "{d}" registers " [a] b:u32?"                                         \
  }
#define STORE(shape, type, registers)                                   \
  {                                                                     \
    "operation:store part:d sync aligned a_layout:row|col shape:" shape \
    " space:global|shared|shared::cta? type:" type,                     \
        "[a] {b}" registers " e:u32?"                                   \
  }
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
       "D = A * B + C, of matrices spread over the lanes of a warp", "9.7.14.5.14",
       {{"", "sm_70", "", "9.7.14.5"},
        {"shape:m16n8k8|m8n8k16", "sm_75", "", "9.7.14.5.14"},
        {"shape:m16n8k4|m16n8k16|m16n8k32", "sm_80", "7.0", "9.7.14.5.14"},
        {"type2:bf16|tf32|f64", "sm_80", "7.0", "9.7.14.5.14"},
        {"type2:f64 shape:m16n8k4|m16n8k8|m16n8k16", "sm_90", "7.8", "9.7.14.5.14"},
        {"type2:e4m3|e5m2", "sm_89", "8.4", "9.7.14.5.14"}}},
      {Op::wmma, "wmma", U::matrix,
       {LOAD("a|b", "m16n16k16|m8n32k16|m32n8k16", "f16", "8:b32"),
        LOAD("c", "m16n16k16|m8n32k16|m32n8k16", "f16", "4:b32"),
        LOAD("c", "m16n16k16|m8n32k16|m32n8k16", "f32|s32", "8:type"),
        LOAD("a|b", "m16n16k16", "bf16", "4:b32"),
        LOAD("a", "m8n32k16", "bf16", "2:b32"),
        LOAD("b", "m8n32k16", "bf16", "8:b32"),
        LOAD("a", "m32n8k16", "bf16", "8:b32"),
        LOAD("b", "m32n8k16", "bf16", "2:b32"),
        LOAD("a|b", "m16n16k16", BYTES, "2:b32"),
        LOAD("a", "m8n32k16", BYTES, "1:b32"),
        LOAD("b", "m8n32k16", BYTES, "4:b32"),
        LOAD("a", "m32n8k16", BYTES, "4:b32"),
        LOAD("b", "m32n8k16", BYTES, "1:b32"),
        LOAD("a|b", "m16n16k8", "tf32", "4:b32"),
        LOAD("c", "m16n16k8", "f32", "8:f32"),
        LOAD("a|b", "m8n8k4", "f64", "1:f64"),
        LOAD("c", "m8n8k4", "f64", "2:f64"),
        STORE("m16n16k16|m8n32k16|m32n8k16", "f16", "4:b32"),
        STORE("m16n16k16|m8n32k16|m32n8k16", "f32|s32", "8:type"),
        STORE("m16n16k8", "f32", "8:f32"),
        STORE("m8n8k4", "f64", "2:f64"),
        {WMMA HALF_SHAPES "type:f32 type4:f32", "{d}8:f32 {a}8:b32 {b}8:b32 {c}8:f32"},
        {WMMA HALF_SHAPES "type:f16 type4:f16", "{d}4:b32 {a}8:b32 {b}8:b32 {c}4:b32"},
        {WMMA "shape:m16n16k16 type:f32 type2:bf16 type3:bf16 type4:f32", REGISTERS(8, 4, 4, 8)},
        {WMMA "shape:m8n32k16 type:f32 type2:bf16 type3:bf16 type4:f32", REGISTERS(8, 2, 8, 8)},
        {WMMA "shape:m32n8k16 type:f32 type2:bf16 type3:bf16 type4:f32", REGISTERS(8, 8, 2, 8)},
        {WMMA "shape:m16n16k16 type:s32 type2:s8 type3:s8 type4:s32 satfinite?", REGISTERS(8, 2, 2, 8)},
        {WMMA "shape:m8n32k16 type:s32 type2:s8 type3:s8 type4:s32 satfinite?", REGISTERS(8, 1, 4, 8)},
        {WMMA "shape:m32n8k16 type:s32 type2:s8 type3:s8 type4:s32 satfinite?", REGISTERS(8, 4, 1, 8)},
        {WMMA "shape:m16n16k16 type:s32 type2:u8 type3:u8 type4:s32 satfinite?", REGISTERS(8, 2, 2, 8)},
        {WMMA "shape:m8n32k16 type:s32 type2:u8 type3:u8 type4:s32 satfinite?", REGISTERS(8, 1, 4, 8)},
        {WMMA "shape:m32n8k16 type:s32 type2:u8 type3:u8 type4:s32 satfinite?", REGISTERS(8, 4, 1, 8)},
        {WMMA "shape:m16n16k8 type:f32 type2:tf32 type3:tf32 type4:f32", REGISTERS(8, 4, 4, 8)},
        {WMMA "shape:m8n8k4 type:f64 type2:f64 type3:f64 type4:f64", WIDE_REGISTERS(2, 1, 1, 2)}},
       "matrices between memory and a warp's registers, and D = A * B + C of them",
       "9.7.14.4.3, 9.7.14.4.4, 9.7.14.4.5",
       {{"", "sm_70", "", "9.7.14.4"}}},
      {Op::ldmatrix, "ldmatrix", U::matrix,
       {{"sync aligned shape:m8n8 matrices:x1 trans? " SHARED " type:b16", "{d}1:b32 [a]"},
        {"sync aligned shape:m8n8 matrices:x2 trans? " SHARED " type:b16", "{d}2:b32 [a]"},
        {"sync aligned shape:m8n8 matrices:x4 trans? " SHARED " type:b16", "{d}4:b32 [a]"}},
       "8x8 matrices from shared memory; each lane of a group of eight gives a row's address",
       "9.7.14.5.15",
       {{"", "sm_75", "", "9.7.14.5.15"}}},
      {Op::stmatrix, "stmatrix", U::matrix,
       {{"sync aligned shape:m8n8 matrices:x1 trans? " SHARED " type:b16", "[a] {b}1:b32"},
        {"sync aligned shape:m8n8 matrices:x2 trans? " SHARED " type:b16", "[a] {b}2:b32"},
        {"sync aligned shape:m8n8 matrices:x4 trans? " SHARED " type:b16", "[a] {b}4:b32"}},
       "8x8 matrices to shared memory; each lane of a group of eight gives a row's address",
       "9.7.14.5.16",
       {{"", "sm_90", "7.8", "9.7.14.5.16"}}},
      {Op::movmatrix, "movmatrix", U::matrix,
       {{"sync aligned shape:m8n8 trans type:b16", "d:b32 a:b32"}},
       "an 8x8 matrix transposed across the lanes", "9.7.14.5.17",
       {{"", "sm_75", "7.8", "9.7.14.5.17"}}},
  };
}
// clang-format on

}  // namespace tilescope::ptx
