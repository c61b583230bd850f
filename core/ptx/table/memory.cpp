// Loads, stores and atomics (PTX ISA 9.7.9, 9.7.13).
#include "core/ptx/table/rows.h"

namespace tilescope::ptx {

// One row an opcode, one line a form.
// clang-format off
std::vector<Opcode> memory_rows() {
  using U = Unit;
  return {
      {Op::ld, "ld", U::memory,
       {{"weak? " SPACES " " CACHE " " EVICT " " PREFETCH " " VECTOR " " LOADED, "{d} [a]"},
        {"order:volatile " SPACES " " PREFETCH " " VECTOR " " LOADED, "{d} [a]"},
        {"order:relaxed|acquire " SCOPE " " SPACES " " EVICT " " PREFETCH " " VECTOR " " LOADED,
         "{d} [a]"},
        {"space:global " CACHE " nc " EVICT " " PREFETCH " " VECTOR " " LOADED, "{d} [a]"}},
       "d from memory", "9.7.9.8, 9.7.9.9"},
      {Op::ldu, "ldu", U::memory, {{SPACES " " VECTOR " " LOADED, "{d} [a]"}},
       "d from memory that is the same for the whole warp", "9.7.9.10"},
      {Op::st, "st", U::memory,
       {{"weak? " SPACES " " CACHE " " EVICT " " VECTOR " " LOADED, "[a] {b}"},
        {"order:volatile " SPACES " " VECTOR " " LOADED, "[a] {b}"},
        {"order:relaxed|release " SCOPE " " SPACES " " EVICT " " VECTOR " " LOADED, "[a] {b}"}},
       "b to memory", "9.7.9.11"},
      {Op::atom, "atom", U::memory,
       {{ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:add type:u32|s32|u64|f32|f64", "d [a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:min|max type:u32|s32|u64|s64", "d [a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:inc|dec type:u32", "d [a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:and|or|xor|exch type:b32|b64", "d [a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:cas type:b32|b64", "d [a] b c"}},
       "d = memory, and memory = operation(memory, b), as one", "9.7.13.5"},
      {Op::red, "red", U::memory,
       {{ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:add type:u32|s32|u64|f32|f64", "[a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:min|max type:u32|s32|u64|s64", "[a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:inc|dec type:u32", "[a] b"},
        {ORDER "? " SCOPE "? " ATOMIC_SPACE " operation:and|or|xor type:b32|b64", "[a] b"}},
       "memory = operation(memory, b), as one", "9.7.13.7"},
  };
}
// clang-format on

}  // namespace tilescope::ptx
