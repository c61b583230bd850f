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
        {"cta? operation:red reduce:popc type:u32", "d n b:u32? q"},
        {"cta? operation:red reduce:and|or type:pred", "p n b:u32? q"},
        {"warp operation:sync", "a:u32"}},
       "waits at (or arrives at) one of 16 barriers of the CTA; whole warps; .red also counts or combines a predicate; or, with .warp, waits for the lanes of a mask",
       "9.7.13.1, 9.7.13.2"},
      {Op::barrier, "barrier", U::barrier,
       {{"cta? operation:sync aligned?", "n b:u32?"},
        {"cta? operation:arrive aligned?", "n b:u32"},
        {"cta? operation:red reduce:popc aligned? type:u32", "d n b:u32? q"},
        {"cta? operation:red reduce:and|or aligned? type:pred", "p n b:u32? q"},
        {"cluster operation:arrive order:release|relaxed? aligned?", ""},
        {"cluster operation:wait order:acquire? aligned?", ""}},
       "as bar; without .aligned each thread by itself; or the barrier of all threads of the cluster",
       "9.7.13.1, 9.7.13.3",
       {{"cluster", "sm_90", "7.8", "9.7.13.3"}}},
      {Op::membar, "membar", U::barrier, {{"operation:gl|cta|sys", ""},
        {"proxy proxies:alias", ""},
        {"proxy proxies:async space:global|shared::cta|shared::cluster?", ""}},
       "orders this thread's accesses before and after it", "9.7.13.4",
       {{"proxy", "sm_60", "7.5", "9.7.13.4"},
        {"proxies:async", "sm_90", "8.0", "9.7.13.4"}}},
      {Op::fence, "fence", U::barrier,
       {{"order:sc|acq_rel|acquire|release? " SCOPE, ""},
        {"order:acquire|release restriction:sync_restrict::shared::cta|sync_restrict::shared::cluster "
         "scope:cluster", ""},
        {"mbarrier_init order:release scope:cluster", ""},
        {"proxy proxies:alias", ""},
        {"proxy proxies:async space:global|shared::cta|shared::cluster?", ""},
        {"proxy proxies:tensormap::generic order:release " SCOPE, ""},
        {"proxy proxies:tensormap::generic order:acquire " SCOPE, "[a] n"},
        {"proxy proxies:async::generic order:acquire|release "
         "restriction:sync_restrict::shared::cta|sync_restrict::shared::cluster scope:cluster", ""}},
       "orders this thread's accesses before and after it", "9.7.13.4",
       {{"", "sm_70", "", "9.7.13.4"},
        {"scope:cluster", "sm_90", "7.8", "9.7.13.4"},
        {"mbarrier_init", "sm_90", "8.0", "9.7.13.4"},
        {"proxies:async", "sm_90", "8.0", "9.7.13.4"},
        {"proxies:tensormap::generic|async::generic", "sm_90", "8.3", "9.7.13.4"}}},
      {Op::shfl, "shfl", U::warp,
       {{"sync operation:up|down|bfly|idx type:b32", "d|p a b:u32 c:u32 e:u32"}},
       "a of another lane", "9.7.9.6"},
      {Op::vote, "vote", U::warp,
       {{"sync operation:all|any|uni type:pred", "p q a:u32"},
        {"sync operation:ballot type:b32", "d q a:u32"}},
       "all, any, equal, or which lanes", "9.7.13.9"},
      {Op::match, "match", U::warp,
       {{"operation:any sync type:b32|b64", "d:b32 a e:u32"},
        {"operation:all sync type:b32|b64", "d:b32|p a e:u32"}},
       "which lanes hold the same value as this one; or whether all do", "9.7.13.10",
       {{"", "sm_70", "", "9.7.13.10"}}},
      {Op::redux, "redux", U::warp,
       {{"sync operation:add|min|max type:u32|s32", "d a e:u32"},
        {"sync operation:and|or|xor type:b32", "d a e:u32"},
        {"sync operation:min|max abs? NaN? type:f32", "d a e:u32"}},
       "a of all lanes, combined; of floats for sm_100a", "9.7.13.12",
       {{"", "sm_80", "7.0", "9.7.13.12"},
        {"type:f32", "sm_100a sm_100f", "8.6", "9.7.13.12"}}},
      {Op::elect, "elect", U::warp, {{"sync", "d:b32|p e:u32"}},
       "one of the lanes: the lowest", "9.7.13.14",
       {{"", "sm_90", "8.0", "9.7.13.14"}}},
      {Op::activemask, "activemask", U::warp, {{"type:b32", "d"}}, "the lanes that execute this",
       "9.7.13.11"},
  };
}
// clang-format on

}  // namespace tilescope::ptx
