// alloca, stacksave, stackrestore (PTX ISA 9.7.17): memory on the stack of each thread, behind the
// frame of the function that it is in.
#include <fmt/format.h>

#include <algorithm>

#include "core/sim/lanes/lanes.h"
#include "core/sim/machine/calls.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Frames begin at multiples of it, so what follows an allocation does too.
constexpr u64 frame_align = 16;

u64 rounded_up(u64 value, u64 to) {
  return (value + to - 1) / to * to;
}

u32& top_of(Core& x, int lane) {
  return x.warp->calls.top[static_cast<std::size_t>(lane)];
}

bool no_room(Core& x, int lane, u64 bytes, u64 end) {
  x.reports->fault(x, lane, "stack_overflow",
                   fmt::format("alloca asks for {} bytes, and the thread's stack has room for {}",
                               bytes, x.local_bytes - top_of(x, lane)),
                   fmt::format("at most {} bytes of local memory a thread", x.local_bytes),
                   fmt::format("{} bytes", end));
  return false;
}

template <class T>
Flow allocate(Core& x, const Code& c, Mask m) {
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const u64 bytes = lane_array<T>(x, c.a)[lane];
    const u64 at = rounded_up(top_of(x, lane), std::max(c.immediate, frame_align));
    if (bytes > x.local_bytes || rounded_up(at + bytes, frame_align) > x.local_bytes) {
      no_room(x, lane, bytes, at + bytes);
      return Flow::fault;
    }
    x.block->local.make_undefined(local_offset(x, lane, static_cast<u32>(at)), bytes);
    lane_array<T>(x, c.d)[lane] = static_cast<T>(at);
    top_of(x, lane) = static_cast<u32>(rounded_up(at + bytes, frame_align));
  }
  return Flow::next;
}

template <class T>
Flow save(Core& x, const Code& c, Mask m) {
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    lane_array<T>(x, c.d)[lane] = static_cast<T>(top_of(x, lane));
  }
  return Flow::next;
}

// The end of the function's own frame is where its stack began.
template <class T>
Flow restore(Core& x, const Code& c, Mask m) {
  const Warp& w = *x.warp;
  const ptx::Program& p = x.machine->program();
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const auto at = static_cast<std::size_t>(lane);
    u64 begin = p.routines[0].frame_bytes;
    if (const u32 depth = w.calls.depth[at]) {
      const auto& level = w.calls.levels[depth - 1];
      begin = u64{level.frame[at]} + p.routines[level.routine[at]].frame_bytes;
    }
    const u64 to = lane_array<T>(x, c.a)[lane];
    if (to < begin || to > top_of(x, lane)) {
      return x.reports->fault(
          x, lane, "out_of_bounds",
          "stackrestore is given what no stacksave of this function has answered, or a place that "
          "is free already",
          fmt::format("from 0x{:x} to 0x{:x}", begin, top_of(x, lane)), fmt::format("0x{:x}", to));
    }
    top_of(x, lane) = static_cast<u32>(to);
  }
  return Flow::next;
}

}  // namespace

Handler stack_handler(const ptx::Instruction& i) {
  const bool wide = ptx::bits_of(i.modifiers.type()) == 64;
  switch (i.op) {
    case ptx::Op::alloca_:
      return wide ? allocate<u64> : allocate<u32>;
    case ptx::Op::stacksave:
      return wide ? save<u64> : save<u32>;
    default:
      return wide ? restore<u64> : restore<u32>;
  }
}

}  // namespace tilescope::sim
