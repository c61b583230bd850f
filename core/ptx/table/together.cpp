// What threads do together: barriers, fences, shuffles, votes (PTX ISA 9.7.9, 9.7.13).
#include "core/ptx/table/rows.h"

namespace tilescope::ptx {

// One row an opcode, one line a form.
// clang-format off
std::vector<Opcode> together_rows() {
  using U = Unit;
  return {
      {Op::bar, "bar", U::barrier,
       {{"cta? operation:sync", "n b:u32?"},
        {"cta? operation:arrive", "n b:u32"},
        {"warp operation:sync", "a:u32"}},
       "waits at (or arrives at) one of 16 barriers of the block; whole warps; or, with .warp, waits "
       "for the lanes of a mask", "9.7.13.1, 9.7.13.2"},
      {Op::barrier, "barrier", U::barrier,
       {{"cta? operation:sync aligned?", "n b:u32?"}, {"cta? operation:arrive aligned?", "n b:u32"}},
       "as bar; without .aligned each thread by itself", "9.7.13.1"},
      {Op::membar, "membar", U::barrier, {{"operation:gl|cta|sys", ""}},
       "orders this thread's accesses before and after it", "9.7.13.4"},
      {Op::fence, "fence", U::barrier, {{"order:sc|acq_rel|acquire|release? " SCOPE, ""}},
       "orders this thread's accesses before and after it", "9.7.13.4"},
      {Op::shfl, "shfl", U::warp,
       {{"sync operation:up|down|bfly|idx type:b32", "d|p a b:u32 c:u32 e:u32"}},
       "a of another lane", "9.7.9.6"},
      {Op::vote, "vote", U::warp,
       {{"sync operation:all|any|uni type:pred", "p q a:u32"},
        {"sync operation:ballot type:b32", "d q a:u32"}},
       "all, any, equal, or which lanes", "9.7.13.10"},
      {Op::activemask, "activemask", U::warp, {{"type:b32", "d"}}, "the lanes that execute this",
       "9.7.13.12"},
  };
}
// clang-format on

}  // namespace tilescope::ptx
