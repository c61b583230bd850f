// Instructions about caches, which are not modelled here: prefetch, applypriority, discard,
// createpolicy (PTX ISA 9.7.9.15 to 9.7.9.18); and isspacep (9.7.9.19).
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/services.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using ptx::Op;
using ptx::Space;
using u64 = std::uint64_t;

Flow nothing_to_do(Core&, const Code&, Mask) {
  return Flow::next;
}

// The policy is opaque, and nothing looks at it.
Flow make_policy(Core& x, const Code& c, Mask m) {
  base::blend(lane_array<u64>(x, c.d), lane_array<u64>(x, c.a), m);
  return Flow::next;
}

// What was not written back is lost: the bytes are as if nobody had written them. To others it is
// "a weak write of an unstable indeterminate value" (9.7.9.17).
Flow discard(Core& x, const Code& c, Mask m) {
  constexpr std::uint32_t bytes = 128;
  for (; m; m &= m - 1) {
    const int lane = __builtin_ctz(m);
    const u64 address = (c.a == nothing ? 0 : lane_array<u64>(x, c.a)[lane]) + c.immediate;
    Region* region = find_region(x, address);
    const u64 offset = region ? address - region->base() : 0;
    if (!region || region->read_only || region->size() - offset < bytes || address % bytes) {
      return refuse_access(x, c, Access::store, lane, address, bytes);
    }
    if (x.block->order.on()) {
      u64 offsets[32];
      offsets[lane] = offset;
      watch_access(x, c, Shadow::Kind::write, *region, Mask{1} << lane, offsets, bytes);
    }
    region->make_undefined(offset, bytes);
  }
  return Flow::next;
}

bool in_window(u64 address, u64 base) {
  return address - base < ptx::window_bytes;
}

template <Space space>
Flow is_in_space(Core& x, const Code& c, Mask m) {
  const u64* a = lane_array<u64>(x, c.a);
  Mask yes = 0;
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    // .shared is the block's own unless .shared::cluster is said (9.7.9.19).
    const bool cluster =
        x.machine->program().code[x.pc].modifiers.reaches_cluster() || x.machine->cluster_size == 1;
    const bool own = (a[lane] - ptx::shared_base) >> ptx::rank_shift == x.block->rank;
    const bool window = in_window(a[lane], ptx::shared_base);
    const bool shared = window && (cluster || own || space == Space::global);
    const bool local = in_window(a[lane], ptx::local_base);
    const bool param = in_window(a[lane], ptx::parameters_base);
    const Region* region = find_region(x, a[lane]);
    const bool constant = region && region->kind() == Region::Kind::variable && region->read_only;
    bool is = false;
    if (space == Space::shared) is = shared;
    if (space == Space::local) is = local;
    if (space == Space::param) is = param;
    // A kernel's parameters are in the window of .global, constants are not: so an H100
    // (2026-11-25).
    if (space == Space::global) is = !shared && !local && !constant;
    if (space == Space::constant) is = constant;
    if (is) yes |= 1u << lane;
  }
  if (c.p) x.predicates[c.p] = (x.predicates[c.p] & ~m) | yes;
  return Flow::next;
}

Handler space_handler(Space space) {
  switch (space) {
    case Space::shared:
      return is_in_space<Space::shared>;
    case Space::local:
      return is_in_space<Space::local>;
    case Space::param:
      return is_in_space<Space::param>;
    case Space::constant:
      return is_in_space<Space::constant>;
    default:
      return is_in_space<Space::global>;
  }
}

}  // namespace

Handler hint_handler(const ptx::Instruction& i) {
  switch (i.op) {
    case Op::prefetch:
    case Op::prefetchu:
    case Op::applypriority:
      return nothing_to_do;
    case Op::discard:
      return discard;
    case Op::createpolicy:
      return make_policy;
    case Op::isspacep:
      return space_handler(i.modifiers.space());
    default:
      return nullptr;
  }
}

}  // namespace tilescope::sim
