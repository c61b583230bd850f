// Words that many forms share, and what the files of this folder give: the rows of the opcode
// table, a file for each kind. To teach the decoder a form, add it to its row; to teach the
// simulator, add its handler in core/sim (CONTRIBUTING.md says which room).
#pragma once

#include "core/ptx/opcodes.h"

namespace tilescope::ptx {

std::vector<Opcode> arithmetic_rows();
std::vector<Opcode> bits_rows();
std::vector<Opcode> moves_rows();
std::vector<Opcode> memory_rows();
std::vector<Opcode> texture_rows();
std::vector<Opcode> control_rows();
std::vector<Opcode> together_rows();
std::vector<Opcode> matrix_rows();
std::vector<Opcode> async_rows();
std::vector<Opcode> tcgen05_rows();
std::vector<Opcode> wgmma_rows();

}  // namespace tilescope::ptx

#define I16_64 "type:u16|u32|u64|s16|s32|s64"
#define I32_64 "type:u32|u64|s32|s64"
#define S16_64 "type:s16|s32|s64"
#define B16_64 "type:b16|b32|b64"
#define ROUND "round:rn|rz|rm|rp"
#define NARROW "round:rn|rz"
#define INTEGRAL "integral:rni|rzi|rmi|rpi"
#define PACKED8 "e4m3x2|e5m2x2"
#define EQUAL "compare:eq|ne"
#define SIGNED EQUAL "|lt|le|gt|ge"
#define UNSIGNED SIGNED "|lo|ls|hi|hs"
#define ORDERED SIGNED "|equ|neu|ltu|leu|gtu|geu|num|nan"
#define LOGIC "logic:and|or|xor"
#define SELECTED "type:b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64"
#define LOADED "type:b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"
#define SPACES \
  "space:const|global|local|param|param::entry|param::func|shared|shared::cta|shared::cluster?"
#define ORDER "order:relaxed|acquire|release|acq_rel"
#define SCOPE "scope:cta|cluster|gpu|sys"
#define CACHE "cache:ca|cg|cs|lu|cv|wb|wt?"
#define EVICT \
  "evict:L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate?"
#define EVICT2 "evict2:L2::evict_normal|L2::evict_first|L2::evict_last?"
#define HINT "hint?"
#define PREFETCH "prefetch:L2::64B|L2::128B|L2::256B?"
#define VECTOR "vector:v2|v4|v8?"
#define INTEGERS "u8|u16|u32|u64|s8|s16|s32|s64"
#define ATOMIC_SPACE "space:global|shared|shared::cta|shared::cluster?"

// Chips (TargetRule::needs). What a family has its chips have: sm_100a is named beside sm_100f
// because the latter is younger (PTX ISA 8.8).
#define BLACKWELL "sm_100a sm_100f sm_110f"                      // its tensor cores
#define NARROW_FLOATS "sm_100a sm_100f sm_110f sm_120a sm_120f"  // 4 and 6 bits
#define HOPPER_ON "sm_90a sm_100a sm_100f sm_110f sm_120a sm_120f"
