// The reductions of cp.reduce.async.bulk (PTX ISA 9.7.9.25.4.2), by the element's type in memory.
#include "core/sim/async/copies.h"
#include "core/sim/lanes/reduction.h"

namespace tilescope::sim {
namespace {

using ptx::Operation;

template <class T, T (*step)(T, T)>
void in_memory(std::byte* memory, const std::byte* with) {
  T old, b;
  std::memcpy(&old, memory, sizeof old);
  std::memcpy(&b, with, sizeof b);
  const T now = step(old, b);
  std::memcpy(memory, &now, sizeof now);
}

// Sums of f32 keep subnormals, as those of atomics in shared memory do, though 9.7.9.25.4.2 says
// that they become 0 (seen on an H200), but for a tensor map that says so.
template <Operation how, class T>
T step(T old, T b) {
  return combined<how, T>(old, b, b, std::is_same_v<T, float>);
}

float flushed_sum(float old, float b) {
  return combined<Operation::add>(old, b, b, false);
}

template <Operation how, class T>
constexpr Reduction of() {
  return in_memory<T, step<how, T>>;
}

// Of s64 there are the lesser and the greater; an H200 traps at the .or of a box of them.
template <class T>
Reduction integer(Operation how) {
  constexpr bool wraps = std::is_same_v<T, std::uint32_t>;  // inc and dec
  const bool ordered = how == Operation::min || how == Operation::max;
  if (std::is_same_v<T, std::int64_t> && !ordered) return nullptr;
  switch (how) {
    case Operation::add:
      return of<Operation::add, T>();
    case Operation::min:
      return of<Operation::min, T>();
    case Operation::max:
      return of<Operation::max, T>();
    case Operation::inc:
      return wraps ? of<Operation::inc, T>() : nullptr;
    case Operation::dec:
      return wraps ? of<Operation::dec, T>() : nullptr;
    case Operation::and_:
      return of<Operation::and_, T>();
    case Operation::or_:
      return of<Operation::or_, T>();
    case Operation::xor_:
      return of<Operation::xor_, T>();
    default:
      return nullptr;
  }
}

template <bool brain>
Reduction narrow(Operation how) {
  using T = std::uint16_t;
  switch (how) {
    case Operation::add:
      return in_memory<T, combine_parts<Operation::add, brain, T>>;
    case Operation::min:
      return in_memory<T, combine_parts<Operation::min, brain, T>>;
    case Operation::max:
      return in_memory<T, combine_parts<Operation::max, brain, T>>;
    default:
      return nullptr;
  }
}

}  // namespace

Reduction reduction_of(Operation how, DType type, bool flushes) {
  switch (type) {
    case DType::u32:
      return integer<std::uint32_t>(how);
    case DType::i32:
      return integer<std::int32_t>(how);
    case DType::u64:
      return integer<std::uint64_t>(how);
    case DType::i64:
      return integer<std::int64_t>(how);
    case DType::f16:
      return narrow<false>(how);
    case DType::bf16:
      return narrow<true>(how);
    case DType::f32:
      if (how != Operation::add) return nullptr;
      return flushes ? in_memory<float, flushed_sum> : of<Operation::add, float>();
    case DType::f64:
      return how == Operation::add ? of<Operation::add, double>() : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace tilescope::sim
