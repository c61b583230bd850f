// st.bulk (PTX ISA 9.7.9.13): bytes of 0 to the block's own shared memory, as a thread's ordinary
// stores.
#include <fmt/format.h>

#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/services.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u64 zero_grain = 8, most_zeros = 16777216;

u64 zeros_begin(const Core& x, const Code& c, int lane) {
  if (c.a == nothing) return c.immediate;
  if (c.narrow_address) return static_cast<u32>(lane_array<u32>(x, c.a)[lane] + c.immediate);
  return lane_array<u64>(x, c.a)[lane] + c.immediate;
}

bool store_zeros(Core& x, const Code& c, int lane, u64 address, u64 bytes) {
  if (bytes % zero_grain || bytes > most_zeros) {
    x.reports->fault(x, lane, "bad_copy", fmt::format("a st.bulk of {} bytes", bytes),
                     fmt::format("a multiple of 8, at most {} (PTX ISA 9.7.9.13)", most_zeros),
                     fmt::format("{}", bytes));
    return false;
  }
  if (bytes == 0) return true;
  u32 offset = 0;
  if (!shared_offset(x, c, c.space, Access::store, lane, address, static_cast<u32>(bytes),
                     zero_grain, offset)) {
    return false;
  }
  const Writer writer =
      Writer::of(x.block->number, x.warp->index * 32 + static_cast<u32>(lane), x.pc);
  constexpr std::byte zeros[zero_grain] = {};
  for (u64 at = 0; at < bytes; at += zero_grain) {
    u64 offsets[lanes];
    offsets[lane] = offset + at;
    if (x.block->order.on()) {
      watch_access(x, c, Shadow::Kind::write, x.block->shared, Mask{1} << lane, offsets,
                   zero_grain);
    }
    x.block->shared.write(offset + at, zeros, nullptr, zero_grain, writer);
  }
  return true;
}

Flow store_bulk(Core& x, const Code& c, Mask m) {
  for (; m; m &= m - 1) {
    const int lane = __builtin_ctz(m);
    const u64 bytes = c.width == 4 ? lane_array<u32>(x, c.b)[lane] : lane_array<u64>(x, c.b)[lane];
    if (!store_zeros(x, c, lane, zeros_begin(x, c, lane), bytes)) return Flow::fault;
  }
  return Flow::next;
}

}  // namespace

Handler bulk_store_handler() {
  return store_bulk;
}

}  // namespace tilescope::sim
