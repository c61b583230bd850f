// atom and red (PTX ISA 9.7.13.5, 9.7.13.7): lane after lane, each a read and a write as one.
#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/services.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine.h"
#include "core/sim/undefined.h"

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

Target target_of(Core& x, const Code& c, u64 address, std::uint32_t bytes) {
  Region* region = nullptr;
  u64 base = 0;
  const bool window = c.space == Space::generic && address - ptx::shared_base < ptx::window_bytes;
  if (c.space == Space::shared || window) {
    region = &x.block->shared;
    base = window ? ptx::shared_base : 0;
  } else {
    region = find_region(x, address);
    base = region ? region->base() : 0;
  }
  const u64 offset = address - base;
  if (!region || region->read_only || offset >= region->size() || region->size() - offset < bytes ||
      offset % bytes) {
    return {};
  }
  return {region, offset};
}

float flushed(float f) {
  std::uint32_t b;
  std::memcpy(&b, &f, 4);
  if (!(b & 0x7f800000u)) b &= 0x80000000u;
  std::memcpy(&f, &b, 4);
  return f;
}

// Floats add to nearest; f32 in global memory flushes subnormals, in shared memory it does not
// (9.7.13.5). NaN is canonical, as for add.
template <class T>
T sum(T old, T b, bool shared) {
  if constexpr (std::is_same_v<T, float>) {
    float r = shared ? old + b : flushed(flushed(old) + flushed(b));
    if (r != r) {
      const std::uint32_t nan = 0x7fffffffu;
      std::memcpy(&r, &nan, 4);
    }
    return r;
  } else if constexpr (std::is_same_v<T, double>) {
    double r = old + b;
    if (r != r) {
      const u64 nan = 0x7fffffffffffffffu;
      std::memcpy(&r, &nan, 8);
    }
    return r;
  } else {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(old) + static_cast<U>(b));
  }
}

template <Operation how, class T>
T combined(T old, T b, T swap, bool shared) {
  if constexpr (how == Operation::add) return sum(old, b, shared);
  if constexpr (how == Operation::min) return old < b ? old : b;
  if constexpr (how == Operation::max) return old > b ? old : b;
  if constexpr (how == Operation::inc) return old >= b ? T{0} : static_cast<T>(old + 1);
  if constexpr (how == Operation::dec) return old == 0 || old > b ? b : static_cast<T>(old - 1);
  if constexpr (how == Operation::exch) return b;
  if constexpr (how == Operation::cas) return old == b ? swap : old;
  if constexpr (std::is_integral_v<T>) {
    if constexpr (how == Operation::and_) return old & b;
    if constexpr (how == Operation::or_) return old | b;
    if constexpr (how == Operation::xor_) return old ^ b;
  }
  return old;
}

bool undefined_lane(Core& x, Reference r, int width, int lane) {
  if (r == nothing || (r & constant_bit) || !has_undefined(x, r, width)) return false;
  const std::uint8_t* bytes = shadow(x, r) + lane * width;
  for (int k = 0; k < width; ++k) {
    if (bytes[k]) return true;
  }
  return false;
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
    const u64 address =
        c.a == nothing ? c.immediate
        : c.narrow_address
            ? static_cast<std::uint32_t>(lane_array<std::uint32_t>(x, c.a)[lane] + c.immediate)
            : lane_array<u64>(x, c.a)[lane] + c.immediate;
    const Target t = target_of(x, c, address, width);
    if (!t.region) return refuse_access(x, c, Access::atomic, lane, address, width);
    std::memcpy(&old[lane], t.region->data() + t.offset, width);
    const T now =
        combined<how, T>(old[lane], b[lane], swap[lane], t.region->kind() == Region::Kind::shared);
    const bool was = t.region->any_undefined(t.offset, width);
    const bool gives = undefined_lane(x, c.b, width, lane) || undefined_lane(x, c.c, width, lane);
    if (was) undefined |= 1u << lane;
    const bool is = how == Operation::exch ? gives : was || gives;
    std::uint8_t hidden[width];
    std::memset(hidden, 0xff, width);
    t.region->write(
        t.offset, reinterpret_cast<const std::byte*>(&now), is ? hidden : nullptr, width,
        Writer::of(x.block->number, x.warp->index * 32 + static_cast<std::uint32_t>(lane), x.pc));
  }
  if (c.d == nothing) return Flow::next;
  base::blend(lane_array<T>(x, c.d), old, m);
  define(x, c.d, width, m);
  if (undefined) undefine(x, c.d, width, undefined);
  return Flow::next;
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
    case Type::f32:
      return how == Operation::add ? atomic<Operation::add, float> : nullptr;
    case Type::f64:
      return how == Operation::add ? atomic<Operation::add, double> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace tilescope::sim
