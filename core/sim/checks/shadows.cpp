// The shadow of registers and predicates: what of them is undefined.
#include "core/sim/checks/shadows.h"

#include <algorithm>
#include <cstring>

#include "core/sim/checks/undefined.h"

namespace tilescope::sim {
namespace {

constexpr std::uint32_t unit_bytes = 64;  // of registers, each with a count

}  // namespace

std::uint8_t* shadow(Core& x, Reference r) {
  Block& b = *x.block;
  if (b.undefined.empty()) {
    b.undefined.assign(b.registers.size(), 0);
    b.undefined_units.assign((b.registers.size() + unit_bytes - 1) / unit_bytes, 0);
    b.undefined_predicates.assign(b.predicates.size(), 0);
  }
  return b.undefined.data() + register_base(x) + r;
}

bool has_undefined(const Core& x, Reference r, int width) {
  if (!in_file(r) || x.block->undefined.empty()) return false;
  const std::size_t first = (register_base(x) + r) / unit_bytes;
  const std::size_t count = static_cast<std::size_t>(width) * lanes / unit_bytes;
  for (std::size_t u = first; u < first + count; ++u) {
    if (x.block->undefined_units[u]) return true;
  }
  return false;
}

void recount(Core& x, Reference r, int width) {
  Block& b = *x.block;
  const std::size_t first = (register_base(x) + r) / unit_bytes;
  const std::size_t count = static_cast<std::size_t>(width) * lanes / unit_bytes;
  for (std::size_t u = first; u < first + count; ++u) {
    const std::uint8_t* bytes = b.undefined.data() + u * unit_bytes;
    const bool any = std::any_of(bytes, bytes + unit_bytes, [](std::uint8_t v) { return v != 0; });
    if (any && !b.undefined_units[u]) ++x.warp->undefined_registers;
    if (!any && b.undefined_units[u]) --x.warp->undefined_registers;
    b.undefined_units[u] = any;
  }
}

void define(Core& x, Reference r, int width, Mask m) {
  if (!has_undefined(x, r, width)) return;
  std::uint8_t* bytes = shadow(x, r);
  for (int l = 0; l < lanes; ++l) {
    if (m >> l & 1) std::memset(bytes + l * width, 0, static_cast<std::size_t>(width));
  }
  recount(x, r, width);
}

void undefine(Core& x, Reference r, int width, Mask m) {
  x.warp->undefined_sums.forget(r, m);
  std::uint8_t* bytes = shadow(x, r);
  for (int l = 0; l < lanes; ++l) {
    if (m >> l & 1) std::memset(bytes + l * width, 0xff, static_cast<std::size_t>(width));
  }
  recount(x, r, width);
}

namespace {
// Of these lanes as many as are to be true, or all: drawn by SplitMix64, of whoever executes it for
// the how-manieth time.
Mask drawn_of(const Core& x, std::uint32_t p, Mask open) {
  std::uint64_t state = (x.block->number << 5 | x.warp->index) * 0x9e3779b97f4a7c15 +
                        (x.warp->executed + (x.executed ? *x.executed : 0)) * 0x2545f4914f6cdd1d +
                        p;
  auto left = static_cast<std::uint32_t>(__builtin_popcount(open));
  std::uint32_t wanted = std::min(left, x.machine->options.true_of_32);
  Mask out = 0;
  for (Mask rest = open; rest; rest &= rest - 1, --left) {
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    if ((z >> 33) % left >= wanted) continue;
    out |= rest & (~rest + 1);
    --wanted;
  }
  return out;
}

// What undefined lanes of a predicate are instead.
Mask values_instead(const Core& x, std::uint32_t p, Mask open) {
  switch (x.machine->options.undefined_predicates) {
    case UndefinedPredicates::inverted:
      return ~x.predicates[p] & open;
    case UndefinedPredicates::set:
      return open;
    case UndefinedPredicates::clear:
      return 0;
    case UndefinedPredicates::drawn:
      return drawn_of(x, p, open);
    default:
      return x.predicates[p] & open;
  }
}

}  // namespace

void undefine_predicate(Core& x, std::uint32_t p, Mask undefined, Mask m) {
  if (p == 0) return;
  if (x.machine->options.undefined_predicates != UndefinedPredicates::followed) {
    const Mask open = undefined & m;
    x.predicates[p] = (x.predicates[p] & ~open) | values_instead(x, p, open);
    return;
  }
  shadow(x, 0);
  const std::size_t base = static_cast<std::size_t>(x.predicates - x.block->predicates.data());
  Mask& mask = x.block->undefined_predicates[base + p];
  const bool before = mask != 0;
  mask = (mask & ~m) | (undefined & m);
  if (!before && mask) ++x.warp->undefined_registers;
  if (before && !mask) --x.warp->undefined_registers;
}

void undefine_registers(Core& x, const ptx::Routine& routine, Mask m) {
  for (std::uint32_t reg : routine.undefined_at_start) {
    const ptx::Register& r = x.machine->program().registers[reg];
    if (r.type == ptx::Type::pred) {
      undefine_predicate(x, r.place, m, m);
    } else {
      undefine(x, r.place, std::max(2, ptx::bytes_of(r.type)), m);
    }
  }
}

}  // namespace tilescope::sim
