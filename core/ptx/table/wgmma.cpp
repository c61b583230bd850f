// Products of a warpgroup, four warps that issue together (PTX ISA 9.7.15). Which N goes with which
// type is what ptxas 13.0 takes: of integers and bits beyond 32 in sixteens, up to 256.
#include "core/ptx/table/rows.h"

#define MMA(shape) "group_step:mma_async sync aligned group_shape:" shape " "
#define SPARSE_MMA(shape) "group_step:mma_async sparse:sp sync aligned group_shape:" shape " "
#define F8 "e4m3|e5m2"
#define BYTES "s8|u8"
#define METADATA "e:b32 n=0/1 "
#define NO_SELECTOR "e:b32 n=0 "
#define SIGNS " n=1/-1 n=1/-1"
// D, then A (its descriptor, or registers), B's descriptor, of .sp the metadata and its selector,
// whether D is added to, and of floats whether A and B are negated. The transposes of 16 bits only
// for what is in shared memory.
#define FORMS(modifiers, d, between, end)           \
  {modifiers, d " a:b64 b:b64 " between "q" end}, { \
    modifiers, d " {a}4:b32 b:b64 " between "q" end \
  }
#define HALF_FORMS(modifiers, d, between)                            \
  {modifiers, d " a:b64 b:b64 " between "q" SIGNS " n=0/1 n=0/1"}, { \
    modifiers, d " {a}4:b32 b:b64 " between "q" SIGNS " n=0/1"       \
  }

namespace tilescope::ptx {

// One row, one line two forms.
// clang-format off
std::vector<Opcode> wgmma_rows() {
  return {
      {Op::wgmma, "wgmma", Unit::warpgroup,
       {HALF_FORMS(MMA("k16") "type:f32 type2:f16 type3:f16", "{d}N/2:f32", ""),
        HALF_FORMS(MMA("k16") "type:f16 type2:f16 type3:f16", "{d}N/4:b32", ""),
        HALF_FORMS(MMA("k16") "type:f32 type2:bf16 type3:bf16", "{d}N/2:f32", ""),
        FORMS(MMA("k8") "type:f32 type2:tf32 type3:tf32", "{d}N/2:f32", "", SIGNS),
        FORMS(MMA("k32") "type:f32 type2:" F8 " type3:" F8, "{d}N/2:f32", "", SIGNS),
        FORMS(MMA("k32") "type:f16 type2:" F8 " type3:" F8, "{d}N/4:b32", "", SIGNS),
        FORMS(MMA("k32/16") "satfinite? type:s32 type2:" BYTES " type3:" BYTES, "{d}N/2:s32", "", ""),
        FORMS(MMA("k256/16") "type:s32 type2:b1 type3:b1 logic:and reduce:popc", "{d}N/2:s32", "", ""),
        HALF_FORMS(SPARSE_MMA("k32") "type:f32 type2:f16 type3:f16", "{d}N/2:f32", METADATA),
        HALF_FORMS(SPARSE_MMA("k32") "type:f16 type2:f16 type3:f16", "{d}N/4:b32", METADATA),
        HALF_FORMS(SPARSE_MMA("k32") "type:f32 type2:bf16 type3:bf16", "{d}N/2:f32", METADATA),
        FORMS(SPARSE_MMA("k16") "type:f32 type2:tf32 type3:tf32", "{d}N/2:f32", METADATA, SIGNS),
        FORMS(SPARSE_MMA("k64") "type:f32 type2:" F8 " type3:" F8, "{d}N/2:f32", NO_SELECTOR, SIGNS),
        FORMS(SPARSE_MMA("k64") "type:f16 type2:" F8 " type3:" F8, "{d}N/4:b32", NO_SELECTOR, SIGNS),
        FORMS(SPARSE_MMA("k64/16") "satfinite? type:s32 type2:" BYTES " type3:" BYTES, "{d}N/2:s32", NO_SELECTOR, ""),
        {"group_step:fence|commit_group sync aligned", ""},
        {"group_step:wait_group sync aligned", "n"}},
       "D = A * B or D += A * B of a warpgroup: D in registers, A there or in shared memory, B in shared memory",
       "9.7.15.5.2, 9.7.15.6.3, 9.7.15.7",
       {{"", "sm_90a", "8.0", "9.7.15.5.2"},
        {"sparse:sp", "sm_90a", "8.2", "9.7.15.6.3"}}},
  };
}
// clang-format on

}  // namespace tilescope::ptx
