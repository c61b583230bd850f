// Loads, stores and atomics (PTX ISA 9.7.9, 9.7.13).
#include "core/ptx/table/rows.h"

namespace tilescope::ptx {

#define POLICY                                                                 \
  "level:L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged " \
  "level2:L2::evict_first|L2::evict_unchanged?"
#define ATOMIC ORDER "? " SCOPE "? " ATOMIC_SPACE " "
#define ATOMIC_GLOBAL ORDER "? " SCOPE "? space:global? "
#define REDUCE "order:relaxed|release? " SCOPE "? " ATOMIC_SPACE " "
#define REDUCE_GLOBAL "order:relaxed|release? " SCOPE "? space:global? "

// To shared memory of the cluster, with an mbarrier there that is told; or to global memory, where
// nobody is. (ptxas 13 takes st.async to .shared::cta, and .mmio with the scope .gpu.)
#define TOLD "space:shared::cluster|shared::cta? completion:mbarrier::complete_tx::bytes "
#define UNTOLD "async mmio? order:release scope:gpu|sys space:global? "
#define REDUCE_ASYNC "async order:relaxed scope:cluster " TOLD

// One row an opcode, one line a form.
// clang-format off
std::vector<Opcode> memory_rows() {
  using U = Unit;
  return {
      {Op::ld, "ld", U::memory,
       {{"weak? " SPACES " " CACHE " " HINT " " PREFETCH " " VECTOR " " LOADED, "{d} [a] e:b64?"},
        {"weak? " SPACES " " EVICT " " EVICT2 " " HINT " " PREFETCH " " VECTOR " " LOADED,
         "{d} [a] e:b64?"},
        {"order:volatile " SPACES " " PREFETCH " " VECTOR " " LOADED, "{d} [a]"},
        {"order:relaxed|acquire " SCOPE " " SPACES " " EVICT " " EVICT2 " " HINT " " PREFETCH
         " " VECTOR " " LOADED, "{d} [a] e:b64?"},
        {"mmio order:relaxed scope:sys space:global? " LOADED, "{d} [a]"},
        {"space:global " CACHE " nc " HINT " " PREFETCH " " VECTOR " " LOADED, "{d} [a] e:b64?"},
        {"space:global nc " EVICT " " EVICT2 " " HINT " " PREFETCH " " VECTOR " " LOADED,
         "{d} [a] e:b64?"}},
       "d from memory", "9.7.9.8, 9.7.9.9"},
      {Op::ldu, "ldu", U::memory, {{SPACES " " VECTOR " " LOADED, "{d} [a]"}},
       "d from memory that is the same for the whole warp", "9.7.9.10"},
      {Op::st, "st", U::memory,
       {{"weak? " SPACES " " CACHE " " HINT " " VECTOR " " LOADED, "[a] {b} e:b64?"},
        {"weak? " SPACES " " EVICT " " EVICT2 " " HINT " " VECTOR " " LOADED, "[a] {b} e:b64?"},
        {"order:volatile " SPACES " " VECTOR " " LOADED, "[a] {b}"},
        {"order:relaxed|release " SCOPE " " SPACES " " EVICT " " EVICT2 " " HINT " " VECTOR
         " " LOADED, "[a] {b} e:b64?"},
        {"mmio order:relaxed scope:sys space:global? " LOADED, "[a] {b}"},
        {"async weak? " TOLD "vector:v2|v4? type:b32|u32|s32|f32", "[a] {b} [m]"},
        {"async weak? " TOLD "vector:v2? type:b64|u64|s64|f64", "[a] {b} [m]"},
        {"async scope:cluster " TOLD "vector:v2|v4? type:b32|u32|s32|f32", "[a] {b} [m]"},
        {"async scope:cluster " TOLD "vector:v2? type:b64|u64|s64|f64", "[a] {b} [m]"},
        {UNTOLD "type:b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64", "[a] {b}"}},
       "stores b; with .async asynchronously", "9.7.9.11, 9.7.9.12"},
      {Op::prefetch, "prefetch", U::memory,
       {{"space:global|local? level:L1|L2", "[a]"},
        {"space:global level:L2::evict_last|L2::evict_normal", "[a]"},
        {"space:const|param? tensormap", "[a]"}},
       "brings a line, or a tensor map, into a cache: nothing here", "9.7.9.15"},
      {Op::prefetchu, "prefetchu", U::memory, {{"level:L1", "[a]"}},
       "brings a line into the uniform cache: nothing here", "9.7.9.15"},
      {Op::applypriority, "applypriority", U::memory,
       {{"space:global? level:L2::evict_normal", "[a] n"}},
       "changes how long a line stays in the cache: nothing here", "9.7.9.16"},
      {Op::discard, "discard", U::memory, {{"space:global? level:L2", "[a] n"}},
       "drops 128 bytes without writing them: they mean nothing any more", "9.7.9.17"},
      {Op::createpolicy, "createpolicy", U::move,
       {{"operation:fractional " POLICY " type:b64", "d a:f32?"},
        {"operation:range space:global? " POLICY " type:b64", "d a:b64 b:u32 c:u32"},
        {"operation:cvt level:L2 type:b64", "d a"}},
       "a cache policy, which means nothing here: 0", "9.7.9.18"},
      {Op::isspacep, "isspacep", U::move,
       {{"space:const|global|local|param|param::entry|shared|shared::cta|shared::cluster", "p a:b64"}},
       "is a generic address in this space?", "9.7.9.19"},
      {Op::atom, "atom", U::memory,
       {{ATOMIC "operation:add " HINT " type:u32|s32|u64|f32|f64", "d [a] b e:b64?"},
        {ATOMIC "operation:min|max " HINT " type:u32|s32|u64|s64", "d [a] b e:b64?"},
        {ATOMIC "operation:inc|dec " HINT " type:u32", "d [a] b e:b64?"},
        {ATOMIC "operation:and|or|xor " HINT " type:b32|b64", "d [a] b e:b64?"},
        {ATOMIC "operation:exch " HINT " type:b32|b64|b128", "d [a] b e:b64?"},
        {ATOMIC "operation:cas type:b16|b32|b64|b128", "d [a] b c"},
        {ATOMIC "operation:add noftz " HINT " type:f16|f16x2|bf16|bf16x2", "d [a] b e:b64?"},
        {ATOMIC_GLOBAL "operation:add " HINT " vector:v2|v4 type:f32", "{d} [a] {b} e:b64?"},
        {ATOMIC_GLOBAL "operation:add|min|max noftz " HINT " vector:v2|v4|v8 type:f16|bf16",
         "{d} [a] {b} e:b64?"},
        {ATOMIC_GLOBAL "operation:add|min|max noftz " HINT " vector:v2|v4 type:f16x2|bf16x2",
         "{d} [a] {b} e:b64?"}},
       "d = memory, and memory = operation(memory, b), as one", "9.7.13.5"},
      {Op::red, "red", U::memory,
       {{REDUCE "operation:add " HINT " type:u32|s32|u64|f32|f64", "[a] b e:b64?"},
        {REDUCE "operation:min|max " HINT " type:u32|s32|u64|s64", "[a] b e:b64?"},
        {REDUCE "operation:inc|dec " HINT " type:u32", "[a] b e:b64?"},
        {REDUCE "operation:and|or|xor " HINT " type:b32|b64", "[a] b e:b64?"},
        {REDUCE "operation:add noftz " HINT " type:f16|f16x2|bf16|bf16x2", "[a] b e:b64?"},
        {REDUCE_GLOBAL "operation:add " HINT " vector:v2|v4 type:f32", "[a] {b} e:b64?"},
        {REDUCE_GLOBAL "operation:add|min|max noftz " HINT " vector:v2|v4|v8 type:f16|bf16",
         "[a] {b} e:b64?"},
        {REDUCE_GLOBAL "operation:add|min|max noftz " HINT " vector:v2|v4 type:f16x2|bf16x2",
         "[a] {b} e:b64?"},
        {REDUCE_ASYNC "operation:inc|dec type:u32", "[a] {b} [m]"},
        {REDUCE_ASYNC "operation:min|max type:u32|s32", "[a] {b} [m]"},
        {REDUCE_ASYNC "operation:and|or|xor type:b32", "[a] {b} [m]"},
        {REDUCE_ASYNC "operation:add type:u32|s32|u64|s64", "[a] {b} [m]"},
        {UNTOLD "operation:add type:u32|s32|u64|s64", "[a] {b}"}},
       "memory = operation(memory, b), atomically; with .async asynchronously",
       "9.7.13.6, 9.7.13.7"},
  };
}
// clang-format on

}  // namespace tilescope::ptx
