// tensormap.replace (PTX ISA 9.7.9.28) and tensormap.cp_fenceproxy (9.7.13.16): a kernel makes
// tensor maps of its own, from one that the host has made or field by field from zeros. On the way
// the bytes need not be a map that can be used: the copy that uses it looks (bulk.cpp).
//
// Through the tensormap proxy others see a map only after a fence (9.7.13.4); here everything is
// seen at once.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/sim/async/map_bits.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/services.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/model.h"
#include "core/sim/machine/together.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using ptx::Field;
using ptx::Space;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 map_grain = 64;

// Where a map lies: of the block's shared memory or of a region of the grid.
struct Place {
  Region* region = nullptr;
  u64 offset = 0;
};

bool locate(Core& x, const Code& c, Space space, int lane, u64 address, Access access, Place& out) {
  const bool window = space == Space::generic && address - ptx::shared_base < ptx::window_bytes;
  if (space == Space::shared || window) {
    u32 offset = 0;
    if (!shared_offset(x, c, space, access, lane, address, map_bytes, map_grain, offset)) {
      return false;
    }
    out = {&x.block->shared, offset};
    return true;
  }
  Region* region = find_region(x, address);
  const u64 offset = region ? address - region->base() : 0;
  const bool inside = region && region->size() - offset >= map_bytes;
  if (inside && address % map_grain == 0 && !(access != Access::load && region->read_only)) {
    out = {region, offset};
    return true;
  }
  Code there = c;
  there.space = Space::global;
  refuse_access(x, there, access, lane, address, inside ? map_grain : map_bytes);
  return false;
}

void watch_map(Core& x, int lane, Shadow::Kind kind, const Place& place) {
  if (!x.block->order.on()) return;
  u64 offsets[lanes];
  offsets[lane] = place.offset;
  const MemoryAccess access{kind,    false,     x.warp->index, x.pc, Mask{1} << lane,
                            offsets, map_bytes, false};
  if (place.region == &x.block->shared) {
    watch(x, access);
  } else if (place.region->watched) {
    watch_region(x, *place.region, access);
  }
}

MapBits bits_at(const Place& place) {
  MapBits bits;
  std::memcpy(bits.data(), place.region->data() + place.offset, bits.size());
  return bits;
}

// Of each byte whether it is undefined.
using Undefined = std::array<std::uint8_t, map_bytes>;

Undefined undefined_at(const Place& place) {
  Undefined out{};
  for (u32 i = 0; i < map_bytes; ++i) {
    if (place.region->is_undefined(place.offset + i)) out[i] = 0xff;
  }
  return out;
}

// Whether all that a tiled map says is there.
bool is_known(const Undefined& undefined) {
  return std::all_of(undefined.begin(), undefined.begin() + tiled_map_bytes,
                     [](std::uint8_t byte) { return byte == 0; });
}

// A map is written as a whole: what a tiled one says nothing with is no value that anybody reads.
void write_map(Core& x, int lane, const Place& place, const MapBits& bits, Undefined undefined) {
  if (is_known(undefined)) undefined.fill(0);
  const auto thread = x.warp->index * 32 + static_cast<u32>(lane);
  place.region->write(place.offset, bits.data(), undefined.data(), map_bytes,
                      Writer::of(x.block->number, thread, x.pc));
}

u64 value_of(const Core& x, Reference r, int lane, bool wide) {
  return wide ? lane_array<u64>(x, r)[lane] : lane_array<u32>(x, r)[lane];
}

// Code: a and immediate the address, b the new value, c the dimension.
Flow replace(Core& x, const Code& c, Mask m) {
  const ptx::Modifiers& how = x.machine->program().code[x.pc].modifiers;
  const auto field = static_cast<MapField>(how[Field::map_field] - 1);
  const bool wide = ptx::bits_of(how.type()) == 64;
  for (Mask rest = m; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    u64 address = c.immediate;
    if (c.a != nothing) {
      address = c.narrow_address ? static_cast<u32>(lane_array<u32>(x, c.a)[lane] + c.immediate)
                                 : lane_array<u64>(x, c.a)[lane] + c.immediate;
    }
    Place place;
    if (!locate(x, c, c.space, lane, address, Access::atomic, place)) return Flow::fault;
    const u64 value = value_of(x, c.b, lane, wide);
    const u32 dimension = c.c == nothing ? 0 : lane_array<u32>(x, c.c)[lane];
    MapBits bits = bits_at(place);
    const Undefined undefined = undefined_at(place);
    // Undefined bytes are no map, and one field does not make them one.
    if (!is_known(undefined)) bits.fill(std::byte{0xff});
    if (std::optional<std::string> wrong = replace_field(bits, field, dimension, value)) {
      return x.reports->fault(x, lane, "bad_tensor_map", *wrong,
                              "a field and a value that a tensor map can have",
                              fmt::format("{}", value));
    }
    watch_map(x, lane, Shadow::Kind::write, place);
    write_map(x, lane, place, bits, undefined);
  }
  return Flow::next;
}

// All lanes of the warp together copy one map from shared to global memory.
Flow copy_and_fence(Core& x, const Code& c, Mask m) {
  const Flow flow = together(x, m, x.warp->live, Wait::aligned);
  if (flow != Flow::next) return flow;
  const int lane = __builtin_ctz(m);
  const Reference* e = x.elements + c.target;
  const auto address = [&](const Reference* at) {
    const u64 offset = u64{at[2]} | u64{at[3]} << 32;
    if (at[0] == nothing) return offset;
    if (at[1]) return u64{static_cast<u32>(lane_array<u32>(x, at[0])[lane] + offset)};
    return lane_array<u64>(x, at[0])[lane] + offset;
  };
  Place to, from;
  if (!locate(x, c, Space::global, lane, address(e), Access::store, to) ||
      !locate(x, c, Space::shared, lane, address(e + 4), Access::load, from)) {
    return Flow::fault;
  }
  watch_map(x, lane, Shadow::Kind::read, from);
  watch_map(x, lane, Shadow::Kind::write, to);
  write_map(x, lane, to, bits_at(from), undefined_at(from));
  return Flow::next;
}

}  // namespace

Handler map_handler(const ptx::Instruction& i) {
  return i.modifiers.has(Field::map_field) ? replace : copy_and_fence;
}

}  // namespace tilescope::sim
