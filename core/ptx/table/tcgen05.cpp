// The tensor cores of Blackwell and their memory (PTX ISA 9.7.16), of one CTA and of a pair.
#include "core/ptx/table/rows.h"

#define ONE "cta_group:cta_group::1 "
#define PAIR "cta_group:cta_group::2 "
#define GROUP "cta_group:cta_group::1|cta_group::2 "
#define KIND "kind:kind::f16|kind::tf32|kind::f8f6f4|kind::i8 "
#define COLLECT_A \
  "collector:collector::a::fill|collector::a::use|collector::a::lastuse|collector::a::discard?"
#define USE(b, how) "collector::" b "::" how
#define COLLECT(b) USE(b, "fill") "|" USE(b, "use") "|" USE(b, "lastuse") "|" USE(b, "discard")
#define COLLECT_B \
  "collector:" COLLECT("b0") "|" COLLECT("b1") "|" COLLECT("b2") "|" COLLECT("b3") "?"
// Products, dense or with `sp` and the address of A's metadata behind B; of a matrix A in shared
// memory, and of one in TMEM, whose rows may be shifted.
#define PRODUCT(sp, group) "tensor_step:mma " sp group KIND COLLECT_A
#define SHIFTED(sp, group) "tensor_step:mma " sp group KIND "ashift? " COLLECT_A
#define PRODUCT_WS(sp) "tensor_step:mma ws " sp ONE KIND COLLECT_B
#define PRODUCTS(sp, meta)                                                \
  {PRODUCT(sp, GROUP), "[a] b:b64 c:b64 " meta "e:b32 q n?"},             \
      {SHIFTED(sp, GROUP), "[a] [b] c:b64 " meta "e:b32 q n?"},           \
      {PRODUCT(sp, ONE), "[a] b:b64 c:b64 " meta "e:b32 {a}4:b32 q n?"},  \
      {SHIFTED(sp, ONE), "[a] [b] c:b64 " meta "e:b32 {a}4:b32 q n?"},    \
      {PRODUCT(sp, PAIR), "[a] b:b64 c:b64 " meta "e:b32 {a}8:b32 q n?"}, \
      {SHIFTED(sp, PAIR), "[a] [b] c:b64 " meta "e:b32 {a}8:b32 q n?"},   \
      {PRODUCT_WS(sp), "[a] b:b64 c:b64 " meta "e:b32 q"},                \
      {PRODUCT_WS(sp), "[a] [b] c:b64 " meta "e:b32 q"},                  \
      {PRODUCT_WS(sp), "[a] b:b64 c:b64 " meta "e:b32 q f:b64"}, {        \
    PRODUCT_WS(sp), "[a] [b] c:b64 " meta "e:b32 q f:b64"                 \
  }
#define SCALED(sp, kind, scales) \
  "tensor_step:mma " sp GROUP "kind:kind::" kind " block_scale scale_vectors:" scales " " COLLECT_A
#define SCALED_PRODUCT(sp, meta, kind, scales)                             \
  {SCALED(sp, kind, scales), "[a] b:b64 c:b64 " meta "e:b32 [b] [b] q"}, { \
    SCALED(sp, kind, scales), "[a] [b] c:b64 " meta "e:b32 [b] [b] q"      \
  }
#define SCALED_PRODUCTS(sp, meta)                                 \
  SCALED_PRODUCT(sp, meta, "mxf8f6f4", "scale_vec::1X|block32?"), \
      SCALED_PRODUCT(sp, meta, "mxf4", "scale_vec::2X|block32?"), \
      SCALED_PRODUCT(sp, meta, "mxf4nvf4", "scale_vec::2X|scale_vec::4X|block16|block32")
// With the least or largest of each lane's elements.
#define REDUCING(times, registers, types)                                                      \
  {"tensor_step:ld red sync aligned cells:32x32b times:" times " operation:min|max " types,    \
   "{d}" registers " d [a]"},                                                                  \
  {                                                                                            \
    "tensor_step:ld red sync aligned cells:16x32bx2 times:" times " operation:min|max " types, \
        "{d}" registers " d [a] n"                                                             \
  }
#define REDUCING_MOVE(times, registers) \
  REDUCING(times, registers, "abs? NaN? type:f32"), REDUCING(times, registers, "type:u32|s32")
#define COPY "tensor_step:cp " GROUP
#define UNPACK "to_format:b8x16 from_format:b6x16_p32|b4x16_p64"
// A shape, how often, and the registers of a lane that this fills.
#define MOVE(shapes, times, registers)                                                            \
  {"tensor_step:ld sync aligned cells:" shapes " times:" times " packing:pack::16b? type:b32",    \
   "{d}" registers " [a]"},                                                                       \
  {                                                                                               \
    "tensor_step:st sync aligned cells:" shapes " times:" times " packing:unpack::16b? type:b32", \
        "[a] {b}" registers                                                                       \
  }
#define SPLIT_MOVE(times, registers)                                                            \
  {"tensor_step:ld sync aligned cells:16x32bx2 times:" times " packing:pack::16b? type:b32",    \
   "{d}" registers " [a] n"},                                                                   \
  {                                                                                             \
    "tensor_step:st sync aligned cells:16x32bx2 times:" times " packing:unpack::16b? type:b32", \
        "[a] n {b}" registers                                                                   \
  }

namespace tilescope::ptx {

// One row, one line a form.
// clang-format off
std::vector<Opcode> tcgen05_rows() {
  return {
      {Op::tcgen05, "tcgen05", Unit::tensor,
       {{"tensor_step:alloc " GROUP "sync aligned space:shared::cta? type:b32", "[a] b:u32"},
        {"tensor_step:dealloc " GROUP "sync aligned type:b32", "a:b32 b:u32"},
        {"tensor_step:relinquish_alloc_permit " GROUP "sync aligned", ""},
        {"tensor_step:wait::ld|wait::st sync aligned", ""},
        {"tensor_step:fence::before_thread_sync|fence::after_thread_sync", ""},
        {"tensor_step:commit " GROUP "arrival:mbarrier::arrive::one space:shared::cluster? type:b64", "[a]"},
        {"tensor_step:commit " GROUP "arrival:mbarrier::arrive::one space:shared::cluster? multicast type:b64",
         "[a] b:u16"},
        PRODUCTS("", ""),
        SCALED_PRODUCTS("", ""),
        PRODUCTS("sparse:sp ", "[b] "),
        SCALED_PRODUCTS("sparse:sp ", "[b] "),
        {COPY "copied:128x256b|4x256b|128x128b", "[a] b:b64"},
        {COPY "copied:128x256b|4x256b|128x128b " UNPACK, "[a] b:b64"},
        {COPY "copied:64x128b warps:warpx2::02_13|warpx2::01_23", "[a] b:b64"},
        {COPY "copied:64x128b warps:warpx2::02_13|warpx2::01_23 " UNPACK, "[a] b:b64"},
        {COPY "copied:32x128b warps:warpx4", "[a] b:b64"},
        {COPY "copied:32x128b warps:warpx4 " UNPACK, "[a] b:b64"},
        {"tensor_step:shift " GROUP "down", "[a]"},
        MOVE("32x32b|16x64b", "x1", "1"),
        MOVE("32x32b|16x64b", "x2", "2"),
        MOVE("32x32b|16x64b", "x4", "4"),
        MOVE("32x32b|16x64b", "x8", "8"),
        MOVE("32x32b|16x64b", "x16", "16"),
        MOVE("32x32b|16x64b", "x32", "32"),
        MOVE("32x32b|16x64b", "x64", "64"),
        MOVE("32x32b|16x64b", "x128", "128"),
        MOVE("16x128b", "x1", "2"),
        MOVE("16x128b", "x2", "4"),
        MOVE("16x128b", "x4", "8"),
        MOVE("16x128b", "x8", "16"),
        MOVE("16x128b", "x16", "32"),
        MOVE("16x128b", "x32", "64"),
        MOVE("16x128b", "x64", "128"),
        MOVE("16x256b", "x1", "4"),
        MOVE("16x256b", "x2", "8"),
        MOVE("16x256b", "x4", "16"),
        MOVE("16x256b", "x8", "32"),
        MOVE("16x256b", "x16", "64"),
        MOVE("16x256b", "x32", "128"),
        SPLIT_MOVE("x1", "1"),
        SPLIT_MOVE("x2", "2"),
        SPLIT_MOVE("x4", "4"),
        SPLIT_MOVE("x8", "8"),
        SPLIT_MOVE("x16", "16"),
        SPLIT_MOVE("x32", "32"),
        SPLIT_MOVE("x64", "64"),
        SPLIT_MOVE("x128", "128"),
        REDUCING_MOVE("x2", "2"),
        REDUCING_MOVE("x4", "4"),
        REDUCING_MOVE("x8", "8"),
        REDUCING_MOVE("x16", "16"),
        REDUCING_MOVE("x32", "32"),
        REDUCING_MOVE("x64", "64"),
        REDUCING_MOVE("x128", "128")},
       "tensor cores: TMEM, MMAs and copies into it, moves between it and registers",
       "9.7.16",
       {{"", BLACKWELL, "8.6", "9.7.16"},
        {"kind:kind::i8", "sm_100a sm_110a", "8.6", "9.7.16.10.9"},
        {"kind:kind::mxf4nvf4", BLACKWELL, "8.7", "9.7.16.10.9.1"},
        {"scale_vectors:block16|block32", BLACKWELL, "8.8", "9.7.16.10.9.1"},
        {"scale_vectors:scale_vec::1X|scale_vec::2X|scale_vec::4X", "sm_100a sm_103a sm_110a", "8.6",
         "9.7.16.10.9.1"},
        {"tensor_step:ld red", "sm_103a sm_103f sm_110a sm_110f", "8.8", "9.7.16.8.3"},
        {"tensor_step:shift", "sm_100a sm_103a sm_110a", "8.6", "9.7.16.9.3"}}},
  };
}
// clang-format on

}  // namespace tilescope::ptx
