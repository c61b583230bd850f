// wmma.load and wmma.store (PTX ISA 9.7.14.4.3 and 9.7.14.4.4): a whole matrix between memory and
// the fragment that a warp holds of it. Which lane holds which element is the machine's own choice
// (9.7.14.4.1): as mma holds it (fragments.h), repeated where there are more registers than
// elements.
//
// Elements of 4 bits and of one bit lie along k, as many as fill a register, and move together; the
// distance between rows counts elements.
//
// The ISA wants each row aligned to the size of the fragment; kernels that run pad their rows to 16
// bytes. What is held here to be misaligned is what is so for a single element.
#include <cstring>

#include "core/sim/checks/origin.h"
#include "core/sim/checks/undefined.h"
#include "core/sim/lanes/services.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/model.h"
#include "core/sim/matrix/fragments.h"

namespace tilescope::sim {
namespace {

using ptx::Field;
using ptx::Operation;
using ptx::Space;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

u64 value_of_lane(const Core& x, Reference r, int width, int lane) {
  u64 out = 0;
  std::memcpy(&out, x.bank[r >> 31] + (r & ~constant_bit) + lane * width,
              static_cast<std::size_t>(width));
  return out;
}

struct Place {
  Region* region = nullptr;
  u64 offset = 0;
};

// Where an element lies; no region where it may not lie.
Place place_of(Core& x, const Code& c, u64 address, u32 bytes) {
  Place out;
  out.offset = address;
  if (c.space == Space::shared) {
    out.region = &x.block->shared;
    out.offset = address - x.window;
  } else if (c.space == Space::generic && address - ptx::shared_base < ptx::window_bytes) {
    out.region = &x.block->shared;
    out.offset = address - ptx::shared_base - x.window;
  } else {
    out.region = find_region(x, address);
    if (out.region) out.offset = address - out.region->base();
  }
  if (!out.region) return out;
  const u64 size = out.region->size();
  if (out.offset >= size || size - out.offset < bytes || address % bytes) out.region = nullptr;
  return out;
}

// The elements of one fragment in memory, lane by lane.
class Elements {
 public:
  Elements(Core& x, const Code& c)
      : x_(x), c_(c), access_(matrix_accesses()[c.e]), fragment_(access_.fragment) {}

  u32 bytes() const { return static_cast<u32>(fragment_.bits / 8); }

  // Element `i` of a lane: where its place in the matrix lies.
  u64 address(int lane, int i) const {
    const u64 base = c_.a == nothing ? c_.immediate
                     : c_.narrow_address
                         ? static_cast<u32>(value_of_lane(x_, c_.a, 4, lane) + c_.immediate)
                         : value_of_lane(x_, c_.a, 8, lane) + c_.immediate;
    const int place = fragment_.place[static_cast<std::size_t>(i * lanes + lane)];
    const int row = place / access_.columns, column = place % access_.columns;
    const int line = access_.by_columns ? column : row, along = access_.by_columns ? row : column;
    const u64 packed = static_cast<u64>(access_.by_columns ? access_.rows : access_.columns);
    const u64 together = static_cast<u64>(access_.packed);
    const u64 stride = c_.b == nothing ? packed : value_of_lane(x_, c_.b, 4, lane) / together;
    return base + (static_cast<u64>(line) * stride + static_cast<u64>(along)) * bytes();
  }
  const Fragment& fragment() const { return fragment_; }

  // Register and byte of element i.
  Reference reg(int i) const {
    return x_.elements[c_.target + static_cast<u32>(i / fragment_.in_register)];
  }
  int byte(int lane, int i) const {
    const int width = fragment_.bits == 64 ? 8 : 4;
    return lane * width + i % fragment_.in_register * fragment_.bits / 8;
  }
  int count() const { return fragment_.registers * fragment_.in_register; }

 private:
  Core& x_;
  const Code& c_;
  const MatrixAccess& access_;
  const Fragment& fragment_;
};

// Marks what was loaded from `place` into byte `at` of a register.
void mark(Core& x, Reference d, int at, int lane, const Place& place, u32 bytes) {
  for (u32 k = 0; k < bytes; ++k) {
    const bool undefined = place.region->is_undefined(place.offset + k);
    if (!undefined && x.block->undefined.empty()) continue;
    shadow(x, d)[at + static_cast<int>(k)] = undefined ? 0xff : 0;
    if (undefined && !is_of_memory(x.warp->origin)) {
      x.warp->origin = {true, x.pc, static_cast<u32>(lane), place.offset + k, place.region->kind(),
                        0};
      if (place.region->kind() != Region::Kind::shared) {
        x.warp->origin.region = static_cast<u32>(place.region - x.regions);
      }
    }
  }
}

// For who looks after races.
void note_access(Core& x, const Code& c, Shadow::Kind kind, int lane, const Place& place,
                 u32 bytes) {
  if (!x.block->order.on()) return;
  u64 offsets[lanes];
  offsets[lane] = place.offset;
  watch_access(x, c, kind, *place.region, Mask{1} << lane, offsets, bytes);
}

Flow load(Core& x, const Code& c, Mask m) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  const Elements elements(x, c);
  const u32 bytes = elements.bytes();
  for (int i = 0; i < elements.count(); ++i) {
    const Reference d = elements.reg(i);
    if (d == nothing) continue;
    for (int lane = 0; lane < lanes; ++lane) {
      const u64 address = elements.address(lane, i);
      const Place place = place_of(x, c, address, bytes);
      if (!place.region) return refuse_access(x, c, Access::load, lane, address, bytes);
      note_access(x, c, Shadow::Kind::read, lane, place, bytes);
      std::memcpy(x.bank[0] + d + elements.byte(lane, i), place.region->data() + place.offset,
                  bytes);
      mark(x, d, elements.byte(lane, i), lane, place, bytes);
    }
    if (!x.block->undefined.empty()) recount(x, d, elements.fragment().bits == 64 ? 8 : 4);
  }
  return Flow::next;
}

Flow store(Core& x, const Code& c, Mask m) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  const Elements elements(x, c);
  const u32 bytes = elements.bytes();
  const Writer first = Writer::of(x.block->number, x.warp->index * lanes, x.pc);
  for (int i = 0; i < elements.count(); ++i) {
    const Reference r = elements.reg(i);
    const bool hidden = has_undefined(x, r, elements.fragment().bits == 64 ? 8 : 4);
    for (int lane = 0; lane < lanes; ++lane) {
      const u64 address = elements.address(lane, i);
      const Place place = place_of(x, c, address, bytes);
      if (!place.region || place.region->read_only) {
        return refuse_access(x, c, Access::store, lane, address, bytes);
      }
      note_access(x, c, Shadow::Kind::write, lane, place, bytes);
      const int at = elements.byte(lane, i);
      place.region->write(place.offset, x.bank[r >> 31] + (r & ~constant_bit) + at,
                          hidden ? shadow(x, r) + at : nullptr, bytes,
                          first.lane(static_cast<u32>(lane)));
    }
  }
  return Flow::next;
}

}  // namespace

Handler wmma_access_handler(const ptx::Instruction& i) {
  return i.modifiers.operation() == Operation::store ? store : load;
}

}  // namespace tilescope::sim
