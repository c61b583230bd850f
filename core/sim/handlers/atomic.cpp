// atom and red (PTX ISA 9.7.13.5, 9.7.13.6): lane after lane, each a read and a write as one. Of a
// vector each element is one (9.7.13.5: "atomicity is for each of the individual elements").
#include <cstring>
#include <type_traits>

#include "core/sim/checks/undefined.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/reduction.h"
#include "core/sim/lanes/services.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/heap.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using ptx::Operation;
using ptx::Space;
using u64 = std::uint64_t;

struct Target {
  Region* region = nullptr;
  u64 offset = 0;
};

Target target_of(Core& x, const Code& c, int lane, u64 address, std::uint32_t bytes) {
  Region* region = nullptr;
  u64 base = 0;
  // PTX names no local memory for atomics; at generic addresses an H200 has them there all the
  // same.
  if (c.space == Space::generic && address - ptx::local_base < ptx::window_bytes) {
    const u64 at = address - ptx::local_base;
    if (at + bytes > x.local_bytes || at % bytes) return {};
    const u64 thread = x.warp->index * 32 + static_cast<std::uint32_t>(lane);
    return {&x.block->local, thread * x.local_bytes + at};
  }
  const bool window = c.space == Space::generic && address - ptx::shared_base < ptx::window_bytes;
  if (c.space == Space::shared || window) {
    base = window ? ptx::shared_base : 0;
    region = &x.block->shared;
    if (address - base - x.window >= region->size()) region = peer_region(x, lane, address - base);
    base += ((address - base) >> ptx::rank_shift << ptx::rank_shift) +
            x.machine->program().shared_start;
  } else {
    region = find_region(x, address);
    base = region ? region->base() : 0;
  }
  const u64 offset = address - base;
  if (!region || region->read_only || offset >= region->size() || region->size() - offset < bytes ||
      offset % bytes) {
    return {};
  }
  if (region->is_heap && !is_in_pieces(*region, offset, bytes)) return {};
  return {region, offset};
}

bool undefined_lane(Core& x, Reference r, int width, int lane) {
  if (r == nothing || (r & constant_bit) || !has_undefined(x, r, width)) return false;
  const std::uint8_t* bytes = shadow(x, r) + lane * width;
  for (int k = 0; k < width; ++k) {
    if (bytes[k]) return true;
  }
  return false;
}

// One lane's part: what lies at `address` becomes step(it). False where it may not be touched.
template <class T, class Step>
bool update(Core& x, const Code& c, int lane, u64 address, bool gives_undefined, bool replaces,
            T& old, bool& was_undefined, Step step) {
  const Target t = target_of(x, c, lane, address, sizeof(T));
  if (!t.region) {
    refuse_access(x, c, Access::atomic, lane, address, sizeof(T));
    return false;
  }
  std::memcpy(&old, t.region->data() + t.offset, sizeof(T));
  const T now = step(old, t.region->kind() == Region::Kind::shared);
  was_undefined = t.region->any_undefined(t.offset, sizeof(T));
  const bool is = replaces ? gives_undefined : was_undefined || gives_undefined;
  std::uint8_t hidden[sizeof(T)];
  std::memset(hidden, 0xff, sizeof(T));
  if (x.block->order.on() && t.region->kind() != Region::Kind::local) {
    u64 offsets[32];
    offsets[lane] = t.offset;
    watch_access(x, c, Shadow::Kind::atomic, *t.region, Mask{1} << lane, offsets, sizeof(T), false,
                 nullptr, true);
  }
  // What stays as it was is no change: who waits for one goes round for ever.
  const auto thread = x.warp->index * 32 + static_cast<std::uint32_t>(lane);
  t.region->write_atomically(t.offset, reinterpret_cast<const std::byte*>(&now),
                             is ? hidden : nullptr, sizeof(T),
                             Writer::of(x.block->number, thread, x.pc));
  return true;
}

u64 address_of(const Core& x, const Code& c, int lane) {
  if (c.a == nothing) return c.immediate;
  if (!c.narrow_address) return lane_array<u64>(x, c.a)[lane] + c.immediate;
  return static_cast<std::uint32_t>(lane_array<std::uint32_t>(x, c.a)[lane] + c.immediate);
}

template <Operation how, class T>
Flow atomic(Core& x, const Code& c, Mask m) {
  constexpr int width = sizeof(T);
  const T* b = lane_array<T>(x, c.b);
  const T* swap = c.c == nothing ? b : lane_array<T>(x, c.c);
  T old[32] = {};
  Mask undefined = 0;
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const bool gives = undefined_lane(x, c.b, width, lane) || undefined_lane(x, c.c, width, lane);
    bool was = false;
    const bool good = update<T>(x, c, lane, address_of(x, c, lane), gives, how == Operation::exch,
                                old[lane], was, [&](T before, bool shared) {
                                  return combined<how, T>(before, b[lane], swap[lane], shared);
                                });
    if (!good) return Flow::fault;
    if (was) undefined |= 1u << lane;
  }
  if (c.d == nothing) return Flow::next;
  base::blend(lane_array<T>(x, c.d), old, m);
  define(x, c.d, width, m);
  if (undefined) undefine(x, c.d, width, undefined);
  return Flow::next;
}

// Elements of a vector, or a single narrow one: E is an element as bits, `step` combines two.
template <class E, E (*step)(E, E)>
Flow elements(Core& x, const Code& c, Mask m) {
  constexpr int width = sizeof(E);
  const std::uint32_t count = c.count ? c.count : 1;
  E old[8][32] = {};
  Mask undefined[8] = {};
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const u64 address = address_of(x, c, lane);
    if (count > 1 && (c.space == Space::shared || address - ptx::shared_base < ptx::window_bytes)) {
      return x.reports->fault(x, lane, "bad_space",
                              "a vector of atomics goes to shared memory, where there are none",
                              "an address in global memory", "an address in shared memory");
    }
    if (address % (width * count)) {
      return refuse_access(x, c, Access::atomic, lane, address, width * count);
    }
    for (std::uint32_t k = 0; k < count; ++k) {
      const Reference from = c.count ? x.elements[c.target + count + k] : c.b;
      const E b = lane_array<E>(x, from)[lane];
      bool was = false;
      if (!update<E>(x, c, lane, address + k * width, undefined_lane(x, from, width, lane), false,
                     old[k][lane], was, [&](E before, bool) { return step(before, b); })) {
        return Flow::fault;
      }
      if (was) undefined[k] |= 1u << lane;
    }
  }
  for (std::uint32_t k = 0; k < count; ++k) {
    const Reference d = c.count ? x.elements[c.target + k] : c.d;
    if (d == nothing) continue;
    base::blend(lane_array<E>(x, d), old[k], m);
    define(x, d, width, m);
    if (undefined[k]) undefine(x, d, width, undefined[k]);
  }
  return Flow::next;
}

std::uint32_t add_floats(std::uint32_t old, std::uint32_t b) {
  float x, y;
  std::memcpy(&x, &old, 4);
  std::memcpy(&y, &b, 4);
  const float s = sum(x, y, false);
  std::uint32_t out;
  std::memcpy(&out, &s, 4);
  return out;
}

template <bool brain, class T>
Handler narrow(Operation how) {
  switch (how) {
    case Operation::add:
      return elements<T, combine_parts<Operation::add, brain, T>>;
    case Operation::min:
      return elements<T, combine_parts<Operation::min, brain, T>>;
    case Operation::max:
      return elements<T, combine_parts<Operation::max, brain, T>>;
    default:
      return nullptr;
  }
}

template <class T>
Handler integer(Operation how) {
  switch (how) {
    case Operation::add:
      return atomic<Operation::add, T>;
    case Operation::min:
      return atomic<Operation::min, T>;
    case Operation::max:
      return atomic<Operation::max, T>;
    case Operation::inc:
      return atomic<Operation::inc, T>;
    case Operation::dec:
      return atomic<Operation::dec, T>;
    case Operation::and_:
      return atomic<Operation::and_, T>;
    case Operation::or_:
      return atomic<Operation::or_, T>;
    case Operation::xor_:
      return atomic<Operation::xor_, T>;
    case Operation::exch:
      return atomic<Operation::exch, T>;
    case Operation::cas:
      return atomic<Operation::cas, T>;
    default:
      return nullptr;
  }
}

}  // namespace

Handler atomic_handler(const ptx::Instruction& i) {
  using ptx::Type;
  const Operation how = i.modifiers.operation();
  switch (i.modifiers.type()) {
    case Type::b32:
    case Type::u32:
      return integer<std::uint32_t>(how);
    case Type::b64:
    case Type::u64:
      return integer<u64>(how);
    case Type::s32:
      return integer<std::int32_t>(how);
    case Type::s64:
      return integer<std::int64_t>(how);
    case Type::b16:
      return how == Operation::cas ? atomic<Operation::cas, std::uint16_t> : nullptr;
    case Type::b128:
      if (how == Operation::exch) return atomic<Operation::exch, unsigned __int128>;
      return how == Operation::cas ? atomic<Operation::cas, unsigned __int128> : nullptr;
    case Type::f16:
      return narrow<false, std::uint16_t>(how);
    case Type::bf16:
      return narrow<true, std::uint16_t>(how);
    case Type::f16x2:
      return narrow<false, std::uint32_t>(how);
    case Type::bf16x2:
      return narrow<true, std::uint32_t>(how);
    case Type::f32:
      if (i.modifiers.vector() > 1) return elements<std::uint32_t, add_floats>;
      return how == Operation::add ? atomic<Operation::add, float> : nullptr;
    case Type::f64:
      return how == Operation::add ? atomic<Operation::add, double> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace tilescope::sim
