// Matrices of a warp: mma, and what moves its fragments (PTX ISA 9.7.14.5). Which types go with
// which shape, and how many registers hold a fragment, is what ptxas 13.0 takes.
#include "core/ptx/table/rows.h"

// Operands of N registers each: D, A, B, C.
#define REGISTERS(d, a, b, c) "{d}" #d ":type {a}" #a ":b32 {b}" #b ":b32 {c}" #c ":type"
#define HALF_REGISTERS(d, a, b, c) "{d}" #d ":b32 {a}" #a ":b32 {b}" #b ":b32 {c}" #c ":b32"
#define WIDE_REGISTERS(d, a, b, c) "{d}" #d ":f64 {a}" #a ":f64 {b}" #b ":f64 {c}" #c ":f64"
#define WARP_MMA(shape) "sync aligned shape:" shape " a_layout:row b_layout:col "
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
#define NIBBLES "s4|u4"
#define UNPACKED "to_format:b8x16 from_format:b6x16_p32|b4x16_p64"
#define NARROW_ELEMENTS "e4m3|e5m2|e3m2|e2m3|e2m1"
#define WARP_KIND(shape, kind) WARP_MMA(shape) "mma_kind:kind::" kind " "
#define SCALES " a:b32 {a}2:b16 b:b32 {b}2:b16"
// A sparse A has half of its elements, metadata, and a selector of the lanes that hold these.
#define WARP_SPARSE(shape) "sparse:sp|sp::ordered_metadata " WARP_MMA(shape)
#define ORDERED_SPARSE(shape, kind) "sparse:sp::ordered_metadata " WARP_KIND(shape, kind)
#define OF_FOUR " e:b32 n=0/1/2/3"
#define OF_TWO " e:b32 n=0/1"
#define OF_ONE " e:b32 n=0"
// Elements narrower than a byte lie in memory along k.
#define LOAD_ALONG_K(shape, type)                                  \
  {"operation:load part:a sync aligned a_layout:row shape:" shape  \
   " space:global|shared|shared::cta? type:" type,                 \
   "{d}1:b32 [a] b:u32?"},                                         \
  {                                                                \
    "operation:load part:b sync aligned a_layout:col shape:" shape \
    " space:global|shared|shared::cta? type:" type,                \
        "{d}1:b32 [a] b:u32?"                                      \
  }

namespace tilescope::ptx {

// One row an opcode, one line a form.
// clang-format off
std::vector<Opcode> matrix_rows() {
  using U = Unit;
  return {
      {Op::mma, "mma", U::matrix,
       {{WARP_MMA("m16n8k8") "type:f32 type2:f16 type3:f16 type4:f32", REGISTERS(4, 2, 1, 4)},
        {WARP_MMA("m16n8k16") "type:f32 type2:f16 type3:f16 type4:f32", REGISTERS(4, 4, 2, 4)},
        {WARP_MMA("m16n8k8") "type:f16 type2:f16 type3:f16 type4:f16", HALF_REGISTERS(2, 2, 1, 2)},
        {WARP_MMA("m16n8k16") "type:f16 type2:f16 type3:f16 type4:f16", HALF_REGISTERS(2, 4, 2, 2)},
        {WARP_MMA("m16n8k8") "type:f32 type2:bf16 type3:bf16 type4:f32", REGISTERS(4, 2, 1, 4)},
        {WARP_MMA("m16n8k16") "type:f32 type2:bf16 type3:bf16 type4:f32", REGISTERS(4, 4, 2, 4)},
        {WARP_MMA("m16n8k4") "type:f32 type2:tf32 type3:tf32 type4:f32", REGISTERS(4, 2, 1, 4)},
        {WARP_MMA("m16n8k8") "type:f32 type2:tf32 type3:tf32 type4:f32", REGISTERS(4, 4, 2, 4)},
        {WARP_MMA("m16n8k16") "type:f32 type2:" F8 " type3:" F8 " type4:f32", REGISTERS(4, 2, 1, 4)},
        {WARP_MMA("m16n8k32") "type:f32 type2:" F8 " type3:" F8 " type4:f32", REGISTERS(4, 4, 2, 4)},
        {WARP_MMA("m16n8k16") "type:f16 type2:" F8 " type3:" F8 " type4:f16", HALF_REGISTERS(2, 2, 1, 2)},
        {WARP_MMA("m16n8k32") "type:f16 type2:" F8 " type3:" F8 " type4:f16", HALF_REGISTERS(2, 4, 2, 2)},
        {WARP_MMA("m8n8k16") "satfinite? type:s32 type2:s8|u8 type3:s8|u8 type4:s32", REGISTERS(2, 1, 1, 2)},
        {WARP_MMA("m16n8k16") "satfinite? type:s32 type2:s8|u8 type3:s8|u8 type4:s32", REGISTERS(4, 2, 1, 4)},
        {WARP_MMA("m16n8k32") "satfinite? type:s32 type2:s8|u8 type3:s8|u8 type4:s32", REGISTERS(4, 4, 2, 4)},
        {"sync aligned shape:m8n8k4 " ALL_LAYOUTS "type:f32 type2:f16 type3:f16 type4:f32",
         "{d}8:f32 {a}2:b32 {b}2:b32 {c}8:f32"},
        {"sync aligned shape:m8n8k4 " ALL_LAYOUTS "type:f32 type2:f16 type3:f16 type4:f16",
         "{d}8:f32 {a}2:b32 {b}2:b32 {c}4:b32"},
        {"sync aligned shape:m8n8k4 " ALL_LAYOUTS "type:f16 type2:f16 type3:f16 type4:f16",
         "{d}4:b32 {a}2:b32 {b}2:b32 {c}4:b32"},
        {WARP_MMA("m8n8k32") "satfinite? type:s32 type2:" NIBBLES " type3:" NIBBLES " type4:s32", REGISTERS(2, 1, 1, 2)},
        {WARP_MMA("m16n8k32") "satfinite? type:s32 type2:" NIBBLES " type3:" NIBBLES " type4:s32", REGISTERS(4, 2, 1, 4)},
        {WARP_MMA("m16n8k64") "satfinite? type:s32 type2:" NIBBLES " type3:" NIBBLES " type4:s32", REGISTERS(4, 4, 2, 4)},
        {WARP_MMA("m8n8k128") "type:s32 type2:b1 type3:b1 type4:s32 logic:xor|and reduce:popc", REGISTERS(2, 1, 1, 2)},
        {WARP_MMA("m16n8k128") "type:s32 type2:b1 type3:b1 type4:s32 logic:xor|and reduce:popc", REGISTERS(4, 2, 1, 4)},
        {WARP_MMA("m16n8k256") "type:s32 type2:b1 type3:b1 type4:s32 logic:xor|and reduce:popc", REGISTERS(4, 4, 2, 4)},
        {WARP_KIND("m16n8k32", "f8f6f4") "type:f32 type2:" NARROW_ELEMENTS " type3:" NARROW_ELEMENTS " type4:f32", REGISTERS(4, 4, 2, 4)},
        {WARP_KIND("m16n8k32", "f8f6f4") "type:f16 type2:" NARROW_ELEMENTS " type3:" NARROW_ELEMENTS " type4:f16", HALF_REGISTERS(2, 4, 2, 2)},
        {WARP_KIND("m16n8k32", "mxf8f6f4") "scaled:block_scale scale_vector:scale_vec::1X? type:f32 type2:" NARROW_ELEMENTS " type3:" NARROW_ELEMENTS " type4:f32 type5:ue8m0", REGISTERS(4, 4, 2, 4) SCALES},
        {WARP_KIND("m16n8k64", "mxf4") "scaled:block_scale scale_vector:scale_vec::2X? type:f32 type2:e2m1 type3:e2m1 type4:f32 type5:ue8m0", REGISTERS(4, 4, 2, 4) SCALES},
        {WARP_KIND("m16n8k64", "mxf4nvf4") "scaled:block_scale scale_vector:scale_vec::2X type:f32 type2:e2m1 type3:e2m1 type4:f32 type5:ue8m0", REGISTERS(4, 4, 2, 4) SCALES},
        {WARP_KIND("m16n8k64", "mxf4nvf4") "scaled:block_scale scale_vector:scale_vec::4X type:f32 type2:e2m1 type3:e2m1 type4:f32 type5:ue4m3|ue8m0", REGISTERS(4, 4, 2, 4) SCALES},
        {WARP_SPARSE("m16n8k16") "type:f16 type2:f16 type3:f16 type4:f16", HALF_REGISTERS(2, 2, 2, 2) OF_FOUR},
        {WARP_SPARSE("m16n8k32") "type:f16 type2:f16 type3:f16 type4:f16", HALF_REGISTERS(2, 4, 4, 2) OF_TWO},
        {WARP_SPARSE("m16n8k16") "type:f32 type2:f16 type3:f16 type4:f32", REGISTERS(4, 2, 2, 4) OF_FOUR},
        {WARP_SPARSE("m16n8k32") "type:f32 type2:f16 type3:f16 type4:f32", REGISTERS(4, 4, 4, 4) OF_TWO},
        {WARP_SPARSE("m16n8k16") "type:f32 type2:bf16 type3:bf16 type4:f32", REGISTERS(4, 2, 2, 4) OF_FOUR},
        {WARP_SPARSE("m16n8k32") "type:f32 type2:bf16 type3:bf16 type4:f32", REGISTERS(4, 4, 4, 4) OF_TWO},
        {WARP_SPARSE("m16n8k8") "type:f32 type2:tf32 type3:tf32 type4:f32", REGISTERS(4, 2, 2, 4) OF_FOUR},
        {WARP_SPARSE("m16n8k16") "type:f32 type2:tf32 type3:tf32 type4:f32", REGISTERS(4, 4, 4, 4) OF_TWO},
        {WARP_SPARSE("m16n8k32") "satfinite? type:s32 type2:" BYTES " type3:" BYTES " type4:s32", REGISTERS(4, 2, 2, 4) OF_TWO},
        {WARP_SPARSE("m16n8k64") "satfinite? type:s32 type2:" BYTES " type3:" BYTES " type4:s32", REGISTERS(4, 4, 4, 4) OF_ONE},
        {WARP_SPARSE("m16n8k64") "satfinite? type:s32 type2:" NIBBLES " type3:" NIBBLES " type4:s32", REGISTERS(4, 2, 2, 4) OF_TWO},
        {WARP_SPARSE("m16n8k128") "satfinite? type:s32 type2:" NIBBLES " type3:" NIBBLES " type4:s32", REGISTERS(4, 4, 4, 4) OF_ONE},
        {WARP_SPARSE("m16n8k64") "type:f32 type2:" F8 " type3:" F8 " type4:f32", REGISTERS(4, 4, 4, 4) OF_ONE},
        {WARP_SPARSE("m16n8k64") "type:f16 type2:" F8 " type3:" F8 " type4:f16", HALF_REGISTERS(2, 4, 4, 2) OF_ONE},
        {ORDERED_SPARSE("m16n8k64", "f8f6f4") "type:f32 type2:" NARROW_ELEMENTS " type3:" NARROW_ELEMENTS " type4:f32", REGISTERS(4, 4, 4, 4) OF_ONE},
        {ORDERED_SPARSE("m16n8k64", "f8f6f4") "type:f16 type2:" NARROW_ELEMENTS " type3:" NARROW_ELEMENTS " type4:f16", HALF_REGISTERS(2, 4, 4, 2) OF_ONE},
        {ORDERED_SPARSE("m16n8k64", "mxf8f6f4") "scaled:block_scale scale_vector:scale_vec::1X? type:f32 type2:" NARROW_ELEMENTS " type3:" NARROW_ELEMENTS " type4:f32 type5:ue8m0", REGISTERS(4, 4, 4, 4) OF_ONE SCALES},
        {ORDERED_SPARSE("m16n8k128", "mxf4") "scaled:block_scale scale_vector:scale_vec::2X? type:f32 type2:e2m1 type3:e2m1 type4:f32 type5:ue8m0", REGISTERS(4, 4, 4, 4) OF_ONE SCALES},
        {ORDERED_SPARSE("m16n8k128", "mxf4nvf4") "scaled:block_scale scale_vector:scale_vec::2X type:f32 type2:e2m1 type3:e2m1 type4:f32 type5:ue8m0", REGISTERS(4, 4, 4, 4) OF_ONE SCALES},
        {ORDERED_SPARSE("m16n8k128", "mxf4nvf4") "scaled:block_scale scale_vector:scale_vec::4X type:f32 type2:e2m1 type3:e2m1 type4:f32 type5:ue4m3|ue8m0", REGISTERS(4, 4, 4, 4) OF_ONE SCALES},
        {WARP_MMA("m8n8k4") "round:rn? type:f64 type2:f64 type3:f64 type4:f64", WIDE_REGISTERS(2, 1, 1, 2)},
        {WARP_MMA("m16n8k4") "round:rn? type:f64 type2:f64 type3:f64 type4:f64", WIDE_REGISTERS(4, 2, 1, 4)},
        {WARP_MMA("m16n8k8") "round:rn? type:f64 type2:f64 type3:f64 type4:f64", WIDE_REGISTERS(4, 4, 2, 4)},
        {WARP_MMA("m16n8k16") "round:rn? type:f64 type2:f64 type3:f64 type4:f64", WIDE_REGISTERS(4, 8, 4, 4)}},
       "D = A * B + C, of matrices spread over the lanes of a warp; with .sp half of A's elements are zeros",
       "9.7.14.5.14, 9.7.14.6.3",
       {{"", "sm_70", "", "9.7.14.5"},
        {"shape:m16n8k8|m8n8k16|m8n8k32|m8n8k128", "sm_75", "", "9.7.14.5.14"},
        {"shape:m16n8k4|m16n8k16|m16n8k32|m16n8k64|m16n8k128|m16n8k256", "sm_80", "7.0", "9.7.14.5.14"},
        {"logic:and", "sm_80", "7.1", "9.7.14.5.14"},
        {"sparse:sp", "sm_80", "7.1", "9.7.14.6.3"},
        {"sparse:sp::ordered_metadata", "sm_80", "8.5", "9.7.14.6.3"},
        {"mma_kind:kind::f8f6f4|kind::mxf8f6f4|kind::mxf4|kind::mxf4nvf4", "sm_120a sm_120f", "8.7", "9.7.14.5.14"},
        {"mma_kind:kind::mxf4nvf4 scale_vector:scale_vec::4X type5:ue8m0", "sm_120a sm_120f", "9.1", "9.7.14.5.14"},
        {"sparse:sp|sp::ordered_metadata type:f16 type2:e4m3|e5m2", "sm_120a sm_120f", "8.7", "9.7.14.6.3"},
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
        LOAD_ALONG_K("m8n8k32", NIBBLES),
        LOAD("c", "m8n8k32", "s32", "2:s32"),
        LOAD_ALONG_K("m8n8k128", "b1"),
        LOAD("c", "m8n8k128", "s32", "2:s32"),
        STORE("m8n8k32", "s32", "2:s32"),
        STORE("m8n8k128", "s32", "2:s32"),
        LOAD("a|b", "m8n8k4", "f64", "1:f64"),
        LOAD("c", "m8n8k4", "f64", "2:f64"),
        STORE("m16n16k16|m8n32k16|m32n8k16", "f16", "4:b32"),
        STORE("m16n16k16|m8n32k16|m32n8k16", "f32|s32", "8:type"),
        STORE("m16n16k8", "f32", "8:f32"),
        STORE("m8n8k4", "f64", "2:f64"),
        {WMMA HALF_SHAPES "type:f32 type4:f32", "{d}8:f32 {a}8:b32 {b}8:b32 {c}8:f32"},
        {WMMA HALF_SHAPES "type:f16 type4:f16", "{d}4:b32 {a}8:b32 {b}8:b32 {c}4:b32"},
        {WMMA HALF_SHAPES "type:f32 type4:f16", "{d}8:f32 {a}8:b32 {b}8:b32 {c}4:b32"},
        {WMMA HALF_SHAPES "type:f16 type4:f32", "{d}4:b32 {a}8:b32 {b}8:b32 {c}8:f32"},
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
        {"operation:mma sync aligned a_layout:row b_layout:col shape:m8n8k32 type:s32 type2:s4 type3:s4 type4:s32 satfinite?", REGISTERS(2, 1, 1, 2)},
        {"operation:mma sync aligned a_layout:row b_layout:col shape:m8n8k32 type:s32 type2:u4 type3:u4 type4:s32 satfinite?", REGISTERS(2, 1, 1, 2)},
        {"operation:mma logic:xor|and reduce:popc sync aligned a_layout:row b_layout:col shape:m8n8k128 type:s32 type2:b1 type3:b1 type4:s32", REGISTERS(2, 1, 1, 2)},
        {WMMA "shape:m8n8k4 round:rn? type:f64 type2:f64 type3:f64 type4:f64", WIDE_REGISTERS(2, 1, 1, 2)}},
       "matrices between memory and a warp's registers, and D = A * B + C of them",
       "9.7.14.4.3, 9.7.14.4.4, 9.7.14.4.5",
       {{"", "sm_70", "", "9.7.14.4"},
        {"shape:m8n8k32|m8n8k128", "sm_75", "", "9.7.14.4.5"},
        {"logic:and", "sm_80", "7.1", "9.7.14.4.5"}}},
      {Op::ldmatrix, "ldmatrix", U::matrix,
       {{"sync aligned shape:m8n8 matrices:x1 trans? " SHARED " type:b16", "{d}1:b32 [a]"},
        {"sync aligned shape:m8n8 matrices:x2 trans? " SHARED " type:b16", "{d}2:b32 [a]"},
        {"sync aligned shape:m8n8 matrices:x4 trans? " SHARED " type:b16", "{d}4:b32 [a]"},
        {"sync aligned shape:m16n16 matrices:x1 trans " SHARED " type:b8", "{d}2:b32 [a]"},
        {"sync aligned shape:m16n16 matrices:x2 trans " SHARED " type:b8", "{d}4:b32 [a]"},
        {"sync aligned shape:m16n16 matrices:x1 trans " SHARED " " UNPACKED, "{d}2:b32 [a]"},
        {"sync aligned shape:m16n16 matrices:x2 trans " SHARED " " UNPACKED, "{d}4:b32 [a]"},
        {"sync aligned shape:m8n16 matrices:x1 " SHARED " " UNPACKED, "{d}1:b32 [a]"},
        {"sync aligned shape:m8n16 matrices:x2 " SHARED " " UNPACKED, "{d}2:b32 [a]"},
        {"sync aligned shape:m8n16 matrices:x4 " SHARED " " UNPACKED, "{d}4:b32 [a]"}},
       "8x8 matrices from shared memory; each lane of a group of eight gives a row's address",
       "9.7.14.5.15",
       {{"", "sm_75", "", "9.7.14.5.15"},
        {"shape:m16n16|m8n16", NARROW_FLOATS, "8.6", "9.7.14.5.15"}}},
      {Op::stmatrix, "stmatrix", U::matrix,
       {{"sync aligned shape:m8n8 matrices:x1 trans? " SHARED " type:b16", "[a] {b}1:b32"},
        {"sync aligned shape:m8n8 matrices:x2 trans? " SHARED " type:b16", "[a] {b}2:b32"},
        {"sync aligned shape:m8n8 matrices:x4 trans? " SHARED " type:b16", "[a] {b}4:b32"},
        {"sync aligned shape:m16n8 matrices:x1 trans " SHARED " type:b8", "[a] {b}1:b32"},
        {"sync aligned shape:m16n8 matrices:x2 trans " SHARED " type:b8", "[a] {b}2:b32"},
        {"sync aligned shape:m16n8 matrices:x4 trans " SHARED " type:b8", "[a] {b}4:b32"}},
       "8x8 matrices to shared memory; each lane of a group of eight gives a row's address",
       "9.7.14.5.16",
       {{"", "sm_90", "7.8", "9.7.14.5.16"},
        {"shape:m16n8", NARROW_FLOATS, "8.6", "9.7.14.5.16"}}},
      {Op::movmatrix, "movmatrix", U::matrix,
       {{"sync aligned shape:m8n8 trans type:b16", "d:b32 a:b32"}},
       "an 8x8 matrix transposed across the lanes", "9.7.14.5.17",
       {{"", "sm_75", "7.8", "9.7.14.5.17"}}},
  };
}
// clang-format on

}  // namespace tilescope::ptx
