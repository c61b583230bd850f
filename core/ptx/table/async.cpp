// Work that goes on while its thread does, and what waits for it: asynchronous copies (PTX ISA
// 9.7.9.25) and mbarriers (9.7.13.15).
#include "core/ptx/table/rows.h"

namespace tilescope::ptx {

#define OWN_SHARED "space:shared|shared::cta?"
#define ANY_SHARED "space:shared|shared::cta|shared::cluster?"
#define RELEASE "order:release|relaxed? scope:cta|cluster?"
#define ACQUIRE "order:acquire|relaxed? scope:cta|cluster?"
#define DIM "dim:1d|2d|3d|4d|5d"
#define LOAD_MODE "mode:tile|tile::gather4?"
#define IMAGES "dim:3d|4d|5d"
#define IM2COL "mode:im2col|im2col::w|im2col::w::128"
#define STORE_MODE "mode:tile|tile::scatter4|im2col_no_offs?"
#define REDUCE_MODE "mode:tile|im2col_no_offs?"
#define TO_SHARED "space:shared::cta|shared::cluster space2:global"
#define TO_GLOBAL "space:global space2:shared::cta"
#define BY_BYTES "completion:mbarrier::complete_tx::bytes"
#define BY_GROUP "completion:bulk_group"
#define REDUCTION "operation:add|min|max|inc|dec|and|or|xor"
#define REDUCE_BYTES "reduction async bulk " TO_GLOBAL " " BY_GROUP " " HINT
#define BETWEEN_BLOCKS "reduction async bulk space:shared::cluster space2:shared::cta " BY_BYTES " "

// One row an opcode, one line a form.
// clang-format off
std::vector<Opcode> async_rows() {
  using U = Unit;
  return {
      {Op::cp, "cp", U::memory,
       {{"async cache:ca|cg space:shared|shared::cta space2:global " HINT " " PREFETCH,
         "[a] [b] n s? e:b64?"},
        {"async operation:commit_group", ""},
        {"async operation:wait_group", "n"},
        {"async operation:wait_all", ""},
        {"async on_mbarrier step:arrive noinc? " OWN_SHARED " type:b64", "[a]"},
        {"async bulk " TO_SHARED " " BY_BYTES " " HINT, "[a] [b] a:u32 [m] e:b64?"},
        {"async bulk space:shared::cluster space2:global " BY_BYTES " multicast " HINT,
         "[a] [b] a:u32 [m] b:u16 e:b64?"},
        {"async bulk space:shared::cluster space2:shared::cta " BY_BYTES, "[a] [b] a:u32 [m]"},
        {"async bulk " TO_GLOBAL " " BY_GROUP " " HINT, "[a] [b] a:u32 e:b64?"},
        {"async bulk " TO_GLOBAL " " BY_GROUP " " HINT " cp_mask", "[a] [b] a:u32 e:b64? b:b16"},
        {REDUCE_BYTES " operation:add type:u32|s32|u64|f32|f64", "[a] [b] a:u32 e:b64?"},
        {REDUCE_BYTES " operation:add noftz type:f16|bf16", "[a] [b] a:u32 e:b64?"},
        {REDUCE_BYTES " operation:min|max type:u32|s32|u64|s64|f16|bf16", "[a] [b] a:u32 e:b64?"},
        {REDUCE_BYTES " operation:inc|dec type:u32", "[a] [b] a:u32 e:b64?"},
        {REDUCE_BYTES " operation:and|or|xor type:b32|b64", "[a] [b] a:u32 e:b64?"},
        {BETWEEN_BLOCKS "operation:add type:u32|s32|u64", "[a] [b] a:u32 [m]"},
        {BETWEEN_BLOCKS "operation:min|max type:u32|s32", "[a] [b] a:u32 [m]"},
        {BETWEEN_BLOCKS "operation:inc|dec type:u32", "[a] [b] a:u32 [m]"},
        {BETWEEN_BLOCKS "operation:and|or|xor type:b32", "[a] [b] a:u32 [m]"},
        {"async bulk prefetching level:L2 space:global " HINT, "[a] a:u32 e:b64?"},
        {"async bulk operation:commit_group", ""},
        {"async bulk operation:wait_group read?", "n"},
        {"async bulk tensor " DIM " " TO_SHARED " " LOAD_MODE " " BY_BYTES
         " cta_group:cta_group::1|cta_group::2? " HINT, "[a] [t]|{x} [m] e:b64?"},
        {"async bulk tensor " DIM " space:shared::cluster space2:global " LOAD_MODE " " BY_BYTES
         " multicast cta_group:cta_group::1|cta_group::2? " HINT, "[a] [t]|{x} [m] b:u16 e:b64?"},
        {"async bulk tensor " IMAGES " " TO_SHARED " " IM2COL " " BY_BYTES
         " cta_group:cta_group::1|cta_group::2? " HINT, "[a] [t]|{x} [m] {o} e:b64?"},
        {"async bulk tensor " IMAGES " space:shared::cluster space2:global " IM2COL " " BY_BYTES
         " multicast cta_group:cta_group::1|cta_group::2? " HINT,
         "[a] [t]|{x} [m] {o} b:u16 e:b64?"},
        {"async bulk tensor " DIM " " TO_GLOBAL " " STORE_MODE " " BY_GROUP " " HINT,
         "[t]|{x} [b] e:b64?"},
        {"reduction async bulk tensor " DIM " " TO_GLOBAL " " REDUCTION " " REDUCE_MODE " " BY_GROUP
         " " HINT, "[t]|{x} [b] e:b64?"},
        {"async bulk prefetching tensor " DIM " level:L2 space:global " LOAD_MODE " " HINT,
         "[t]|{x} e:b64?"},
        {"async bulk prefetching tensor " IMAGES " level:L2 space:global " IM2COL " " HINT,
         "[t]|{x} {o} e:b64?"}},
       "copies between global and shared memory, asynchronously: a few bytes, bulk, or a box of a tensor; groups of copies, and waits for them", "9.7.9.25",
       {{"async", "sm_80", "7.0", "9.7.9.25"},
        {"async bulk", "sm_90", "8.0", "9.7.9.25"},
        {"bulk space:shared::cta space2:global", "sm_90", "8.6", "9.7.9.25.4.1, 9.7.9.25.5.2"},
        {"cta_group:cta_group::1|cta_group::2", BLACKWELL, "8.6", "9.7.9.25.5.2"},
        {"cp_mask", "sm_100", "8.6", "9.7.9.25.4.1"},
        {"space:shared::cta mode:tile::gather4", "sm_100", "8.6", "9.7.9.25.5.2"},
        {"space:shared::cluster mode:tile::gather4", BLACKWELL, "8.6", "9.7.9.25.5.2"},
        {"mode:tile::scatter4", BLACKWELL, "8.6", "9.7.9.25.5.2"},
        {"mode:im2col::w|im2col::w::128", BLACKWELL, "8.6", "9.7.9.25.5.2"},
        {"prefetching mode:tile::gather4", BLACKWELL, "8.6", "9.7.9.25.5.4"}}},
      {Op::mbarrier, "mbarrier", U::async,
       {{"step:init " OWN_SHARED " type:b64", "[a] b:u32"},
        {"step:inval " OWN_SHARED " type:b64", "[a]"},
        {"step:expect_tx|complete_tx order:relaxed? scope:cta|cluster? " ANY_SHARED " type:b64",
         "[a] b:u32"},
        {"step:arrive|arrive_drop " RELEASE " " ANY_SHARED " type:b64", "d [a] b:u32?"},
        {"step:arrive|arrive_drop expects " RELEASE " " ANY_SHARED " type:b64", "d [a] b:u32"},
        {"step:arrive|arrive_drop no_complete order:release? scope:cta? " OWN_SHARED " type:b64",
         "d [a] b:u32"},
        {"step:test_wait " ACQUIRE " " OWN_SHARED " type:b64", "p [a] b:b64"},
        {"step:test_wait parity " ACQUIRE " " OWN_SHARED " type:b64", "p [a] b:u32"},
        {"step:try_wait " ACQUIRE " " OWN_SHARED " type:b64", "p [a] b:b64 c:u32?"},
        {"step:try_wait parity " ACQUIRE " " OWN_SHARED " type:b64", "p [a] b:u32 c:u32?"},
        {"step:pending_count type:b64", "d:u32 b:b64"}},
       "a barrier in shared memory that counts arrivals and bytes, phase after phase",
       "9.7.13.15",
       {{"", "sm_80", "7.0", "9.7.13.15"},
        {"step:expect_tx|complete_tx", "sm_90", "8.0", "9.7.13.15"},
        {"expects", "sm_90", "8.0", "9.7.13.15"},
        {"step:try_wait", "sm_90", "7.8", "9.7.13.15.16"},
        {"order:relaxed", "sm_90", "8.6", "9.7.13.15"},
        {"scope:cluster", "sm_90", "8.0", "9.7.13.15"},
        {"space:shared::cluster", "sm_90", "8.0", "9.7.13.15"}}},
      {Op::tensormap, "tensormap", U::async,
       {{"replace mode:tile map_field:global_address space:global|shared|shared::cta? map_bits type:b64",
         "[a] b"},
        {"replace mode:tile map_field:global_stride space:global|shared|shared::cta? map_bits type:b64",
         "[a] n b"},
        {"replace mode:tile map_field:box_dim|global_dim|element_stride "
         "space:global|shared|shared::cta? map_bits type:b32", "[a] n b"},
        {"replace mode:tile "
         "map_field:rank|elemtype|interleave_layout|swizzle_mode|swizzle_atomicity|fill_mode "
         "space:global|shared|shared::cta? map_bits type:b32", "[a] b"},
        {"cp_fenceproxy space:global space2:shared::cta proxies:tensormap::generic order:release " SCOPE
         " sync aligned", "[a] [b] n"}},
       "changes a field of a tensor map; or copies one to global memory and lets others see it",
       "9.7.9.28, 9.7.13.16",
       {{"replace", HOPPER_ON, "8.3", "9.7.9.28"},
        {"map_field:swizzle_atomicity", NARROW_FLOATS, "8.6", "9.7.9.28"},
        {"cp_fenceproxy", "sm_90", "8.3", "9.7.13.16"}}},
      {Op::clusterlaunchcontrol, "clusterlaunchcontrol", U::async,
       {{"launch_step:try_cancel async space:shared::cta? " BY_BYTES " multicast_all? type:b128", "[a] [m]"},
        {"launch_step:query_cancel answer:is_canceled type:pred type2:b128", "p b:type2"},
        {"launch_step:query_cancel answer:get_first_ctaid vector:v4 type:b32 type2:b128", "{d} b:type2"},
        {"launch_step:query_cancel answer:get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z "
         "type:b32 type2:b128", "d b:type2"}},
       "asks for a cluster that has not begun, to do its work instead; and what came of it",
       "9.7.13.17, 9.7.13.18",
       {{"", "sm_100", "8.6", "9.7.13.17, 9.7.13.18"},
        {"multicast_all", NARROW_FLOATS, "8.6", "9.7.13.17"}}},
      {Op::setmaxnreg, "setmaxnreg", U::async, {{"registers:inc|dec sync aligned type:u32", "n"}},
       "returns or takes registers of the warpgroup: a warp has as many as it needs here",
       "9.7.19.5",
       {{"", HOPPER_ON, "8.0", "9.7.19.5"}}},
  };
}
// clang-format on

}  // namespace tilescope::ptx
