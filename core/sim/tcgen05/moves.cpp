// tcgen05.ld, st and wait (PTX ISA 9.7.16.8): between TMEM and the registers of a warp.
//
// Warp w reaches lanes 32 * (w % 4) and the 31 behind them; which cell a register holds is in
// move_shape.h. With .pack::16b a register holds the lower halves of two neighbouring columns,
// which are twice as many then; .unpack::16b is the reverse.
//
// Both take effect at their issue, also with --lazy: until the warp's wait whoever touches their
// cells is at fault, so that no later moment could be told from this one; and registers that a ld
// is still to write are waited for by the machine (9.7.16.6.4.5).
//
// With .red a lane gets the least or largest of what it loads besides.
//
// Code: the registers as elements, b the split of 16x32bx2, d the register of .red.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/sim/checks/around.h"
#include "core/sim/checks/evidence.h"
#include "core/sim/checks/undefined.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/model.h"
#include "core/sim/matrix/fragments.h"
#include "core/sim/tcgen05/handlers.h"
#include "core/sim/tcgen05/move_shape.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using ptx::Field;
using u32 = std::uint32_t;
using u8 = std::uint8_t;

// Columns of 32 bits that `registers` registers of a lane fill.
u32 columns_of(MoveShape shape, u32 registers) {
  return shape == MoveShape::x64 || shape == MoveShape::x128 || shape == MoveShape::x256
             ? 2 * registers
             : registers;
}

// One ld or st: where it goes.
struct Move {
  MoveShape shape = MoveShape::none;
  bool packed = false;
  u32 each() const { return packed ? 2 : 1; }  // columns of a register
  u32 lane = 0, column = 0, split = 0, registers = 0;

  std::vector<CellRange> ranges() const {
    const u32 rows = shape == MoveShape::lanes_32x32b ? 32 : 16;
    const u32 columns = columns_of(shape, registers) * (packed ? 2 : 1);
    std::vector<CellRange> out = {{lane, rows, column, columns}};
    if (shape == MoveShape::split) out.push_back({lane, rows, column + split, columns});
    return out;
  }
};

// The lanes that the address names, for this warp. Bits that chips ignore are a hazard; another
// warp's lanes, or lanes that do not begin the shape, are at fault.
bool find_lane(Core& x, u32 address, Move& move) {
  const u32 lane = address >> 16, quarter = x.warp->index % 4;
  const u32 in_quarter = lane % 32, named = lane % 128 / 32;
  if (in_quarter % (move.shape == MoveShape::lanes_32x32b ? 32 : 16)) {
    x.reports->fault(
        x, 0, "tmem_lane",
        fmt::format("the address 0x{:08x} begins at lane {} of TMEM", address, lane),
        move.shape == MoveShape::lanes_32x32b ? "a multiple of 32 lanes" : "a multiple of 16 lanes",
        fmt::format("lane {}", lane));
    return false;
  }
  if (named != quarter && named != 0) {
    x.reports->fault(
        x, 0, "tmem_lane_quarter",
        fmt::format("warp {} accesses lanes {}-{} of TMEM, which are those of warps {} modulo 4",
                    x.warp->index, named * 32, named * 32 + 31, named),
        fmt::format("lanes {}-{} (PTX ISA 9.7.16.8.1)", quarter * 32, quarter * 32 + 31),
        fmt::format("the address 0x{:08x}", address));
    const Evidence::Place place = place_of(*x.block, {named * 32, 32, address & 0xffff, 1});
    Evidence evidence = evidence_at(place);
    evidence.parties = {lane_at(x, 0, fmt::format("warp {} accesses", x.warp->index), place)};
    x.reports->explain(std::move(evidence));
    return false;
  }
  if (named != quarter || lane >= 128) {
    x.reports->hazard(x, 0, "tmem_address_bits", x.pc, [&] {
      Report r;
      r.sentence = fmt::format(
          "the address 0x{:08x} names lane {} of TMEM, but warp {} reaches lanes {}-{}: chips are "
          "seen to ignore these bits, and nothing promises it",
          address, lane, x.warp->index, quarter * 32, quarter * 32 + 31);
      r.expected =
          fmt::format("lane {} in the upper half of the address", quarter * 32 + in_quarter);
      r.found = fmt::format("lane {}", lane);
      const Evidence::Place place = place_of(*x.block, {quarter * 32, 32, address & 0xffff, 1});
      r.evidence = evidence_at(place);
      r.evidence.parties = {lane_at(x, 0, fmt::format("warp {} reaches", x.warp->index), place)};
      return r;
    });
  }
  move.lane = quarter * 32 + in_quarter;
  return true;
}

// All lanes are to give one address. Where they differ PTX defines nothing, and compilers rely on
// the first one's (CuTeDSL's attention adds each lane's own number): so here.
u32 uniform_address(Core& x, const Code& c) {
  const auto immediate = static_cast<u32>(c.immediate);
  if (c.a == nothing) return immediate;
  const u32* from = lane_array<u32>(x, c.a);
  for (int l = 1; l < lanes; ++l) {
    if (from[l] == from[0]) continue;
    x.reports->hazard(x, l, "tmem_address", x.pc, [&] {
      Report r;
      r.sentence =
          "lanes of one warp give different addresses of TMEM, which is undefined: that of lane 0 "
          "is taken";
      r.expected = fmt::format("0x{:08x} in every lane", from[0]);
      r.found = fmt::format("0x{:08x}", from[l]);
      return r;
    });
    break;
  }
  return immediate + from[0];
}

// Where it is, but for its lanes.
Move move_at(const Core& x, const Code& c, u32 address) {
  const ptx::Modifiers& how = x.machine->program().code[x.pc].modifiers;
  Move move;
  move.shape = static_cast<MoveShape>(how[Field::cells]);
  move.packed = how.has(Field::packing);
  move.registers = c.count;
  move.column = address & 0xffff;
  if (c.b != nothing) move.split = lane_array<u32>(x, c.b)[0];
  return move;
}

bool prepare(Core& x, const Code& c, bool store, Move& move) {
  const u32 address = uniform_address(x, c);
  move = move_at(x, c, address);
  if (!find_lane(x, address, move)) return false;
  const std::vector<CellRange> cells = move.ranges();
  if (!owns_cells(x, 0, *x.block, cells, store ? "tcgen05.st" : "tcgen05.ld") ||
      !check_tensor_use(x, 0, store ? TensorUse::store : TensorUse::load, cells)) {
    return false;
  }
  std::vector<TensorMove>& moves = x.block->tensor.moves;
  // One that was used is over, whether or not anybody ever waits for it.
  const auto again = std::find_if(moves.begin(), moves.end(), [&](const TensorMove& other) {
    return other.used && other.warp == x.warp->index && other.pc == x.pc && other.cells == cells;
  });
  if (again != moves.end()) moves.erase(again);
  moves.push_back({x.warp->index, x.pc, store, cells});
  return true;
}

// The bytes of a register, from one cell or the halves of two.
u32 taken(const TensorMemory& memory, const Move& move, MovedCell at) {
  const u32* row = memory.row(move.lane + at.row) + move.column;
  if (!move.packed) return row[at.column];
  return (row[at.column] & 0xffff) | row[at.column + 1] << 16;
}

u8 undefined_of(const TensorMemory& memory, const Move& move, MovedCell at) {
  const u32 lane = move.lane + at.row;
  if (!move.packed) return memory.undefined(lane, move.column + at.column);
  const u32 first = move.column + at.column;
  return static_cast<u8>((memory.undefined(lane, first) & 3) |
                         (memory.undefined(lane, first + 1) & 3) << 2);
}

// Marks the register's bytes; a bit a byte. `at`: the cell of lane 0.
void mark_register(Core& x, Reference r, const u8* bits, TensorAddress at) {
  const bool any = std::any_of(bits, bits + lanes, [](u8 b) { return b != 0; });
  if (any) {
    x.warp->origin = {true, x.pc, 0, at.lane << 16 | at.column, Region::Kind::buffer, 0, true};
  }
  u8* hidden = shadow(x, r);
  for (int l = 0; l < lanes; ++l) {
    for (int k = 0; k < 4; ++k) hidden[l * 4 + k] = bits[l] >> k & 1 ? 0xff : 0;
  }
  recount(x, r, 4);
}

// .red (9.7.16.8.3): of two values the one that .min or .max asks for. NaN counts with .NaN only,
// and -0 is less than +0, as of min and max (9.7.3.11).
class Extreme {
 public:
  explicit Extreme(const ptx::Modifiers& how)
      : type_(how.type()),
        least_(how.operation() == ptx::Operation::min),
        abs_(how.has(Field::abs)),
        nan_(how.has(Field::nan)) {}

  // As it counts.
  u32 of(u32 value) const { return abs_ ? value & 0x7fffffff : value; }
  u32 of(u32 a, u32 b) const {
    if (type_ == ptx::Type::f32) {
      constexpr u32 canonical = 0x7fffffff;
      if (nan_ && (is_nan(a) || is_nan(b))) return canonical;
      if (is_nan(a)) return is_nan(b) ? canonical : b;
      if (is_nan(b)) return a;
    }
    return (order(a) < order(b)) == least_ ? a : b;
  }

 private:
  static bool is_nan(u32 v) { return (v & 0x7fffffff) > 0x7f800000; }
  // Numbers that are ordered as the values are.
  std::int64_t order(u32 v) const {
    if (type_ == ptx::Type::u32) return v;
    const auto whole = static_cast<std::int32_t>(v);
    if (type_ == ptx::Type::s32 || whole >= 0) return whole;
    return -1 - std::int64_t{v & 0x7fffffff};
  }

  ptx::Type type_;
  bool least_, abs_, nan_;
};

void reduce(Core& x, const Code& c, const Move& move) {
  const Extreme extreme(x.machine->program().code[x.pc].modifiers);
  const TensorMemory& memory = x.block->tensor.memory;
  u32 value[lanes];
  u8 undefined[lanes], any = 0;
  for (u32 l = 0; l < lanes; ++l) {
    const MovedCell first = moved_cell(move.shape, l, 0, move.split, move.each());
    value[l] = extreme.of(taken(memory, move, first));
    undefined[l] = undefined_of(memory, move, first);
    for (u32 r = 1; r < move.registers; ++r) {
      const MovedCell at = moved_cell(move.shape, l, r, move.split, move.each());
      value[l] = extreme.of(value[l], extreme.of(taken(memory, move, at)));
      undefined[l] |= undefined_of(memory, move, at);
    }
    if (undefined[l]) undefined[l] = 0xf;
    any |= undefined[l];
  }
  std::memcpy(x.bank[0] + c.d, value, sizeof value);
  if (any || has_undefined(x, c.d, 4)) {
    mark_register(x, c.d, undefined, {move.lane, move.column});
  }
}

Flow load(Core& x, const Code& c, Mask m) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  Move move;
  if (!prepare(x, c, false, move)) return Flow::fault;
  const TensorMemory& memory = x.block->tensor.memory;
  for (u32 r = 0; r < move.registers; ++r) {
    const Reference d = x.elements[c.target + r];
    if (d == nothing) continue;
    u32 value[lanes];
    u8 undefined[lanes], any = 0;
    for (u32 l = 0; l < lanes; ++l) {
      const MovedCell at = moved_cell(move.shape, l, r, move.split, move.each());
      value[l] = taken(memory, move, at);
      undefined[l] = undefined_of(memory, move, at);
      any |= undefined[l];
    }
    std::memcpy(x.bank[0] + d, value, sizeof value);
    const MovedCell first = moved_cell(move.shape, 0, r, move.split, move.each());
    const TensorAddress place{move.lane + first.row, move.column + first.column};
    if (any || has_undefined(x, d, 4)) mark_register(x, d, undefined, place);
  }
  if (c.d != nothing) reduce(x, c, move);
  return Flow::next;
}

void put(TensorMemory& memory, const Move& move, MovedCell at, u32 value, u8 undefined) {
  const u32 lane = move.lane + at.row;
  u32* row = memory.row(lane) + move.column;
  if (!move.packed) {
    row[at.column] = value;
    memory.set_undefined(lane, move.column + at.column, undefined);
    return;
  }
  // The upper halves mean nothing then.
  row[at.column] = value & 0xffff;
  row[at.column + 1] = value >> 16;
  memory.set_undefined(lane, move.column + at.column, static_cast<u8>((undefined & 3) | 0xc));
  memory.set_undefined(lane, move.column + at.column + 1, static_cast<u8>(undefined >> 2 | 0xc));
}

Flow store(Core& x, const Code& c, Mask m) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  Move move;
  if (!prepare(x, c, true, move)) return Flow::fault;
  TensorMemory& memory = x.block->tensor.memory;
  for (u32 r = 0; r < move.registers; ++r) {
    const Reference from = x.elements[c.target + r];
    const u32* value = lane_array<u32>(x, from);
    const u8* hidden = has_undefined(x, from, 4) ? shadow(x, from) : nullptr;
    for (u32 l = 0; l < lanes; ++l) {
      u8 undefined = 0;
      for (u32 k = 0; hidden && k < 4; ++k) undefined |= hidden[l * 4 + k] ? 1u << k : 0u;
      put(memory, move, moved_cell(move.shape, l, r, move.split, move.each()), value[l], undefined);
    }
  }
  return Flow::next;
}

// It need not wait any more, and is no mistake: but who moved it there may think otherwise.
void note_wait_behind_use(Core& x, const TensorMove& load) {
  x.reports->note(x, 0, "tmem_wait_behind_use", load.pc, [&] {
    Report r;
    r.sentence = fmt::format(
        "this tcgen05.wait::ld stands behind a use of what the tcgen05.ld at {} loads, {}",
        text(x.machine->site(*x.block, x.warp->index * 32, load.pc)),
        text(x.machine->site(*x.block, x.warp->index * 32, load.used_by)));
    r.expected =
        "tcgen05.wait::ld before the registers are used, or none for their sake: true dependencies "
        "are kept (PTX ISA 9.7.16.6.4.5)";
    r.found = "a use before it";
    return r;
  });
}

template <bool stores>
Flow wait(Core& x, const Code&, Mask m) {
  const Flow flow = whole_warp(x, m);
  if (flow != Flow::next) return flow;
  TensorUnit& unit = x.block->tensor;
  if (stores) unit.order[x.warp->index].awaited = ++unit.events;
  std::vector<TensorMove>& moves = unit.moves;
  for (const TensorMove& move : moves) {
    if (move.used && !stores && move.warp == x.warp->index) note_wait_behind_use(x, move);
  }
  moves.erase(std::remove_if(moves.begin(), moves.end(),
                             [&](const TensorMove& move) {
                               return move.store == stores && move.warp == x.warp->index;
                             }),
              moves.end());
  return Flow::next;
}

}  // namespace

std::string given_back_text(const Core& x, const Block& block, u32 column, u32 columns) {
  const Allocation* by = block.tensor.memory.given_back(column, columns);
  if (!by) return "";
  return fmt::format(", or has no more: it freed columns {}-{} at {}", by->column,
                     by->column + by->columns - 1,
                     text(x.machine->site(block, by->thread, by->pc)));
}

namespace {

// Cells that it has not, or has no more.
void explain_use(Core& x, int lane, const Block& block, const CellRange& cells,
                 std::string_view what) {
  const Evidence::Place place = place_of(block, cells);
  Evidence evidence = evidence_at(place);
  evidence.parties = {lane_at(x, lane, fmt::format("{} accesses", what), place)};
  const Allocation* by = block.tensor.memory.given_back(cells.column, cells.columns);
  if (by) {
    evidence.parties.push_back(
        thread_at(*x.machine, block, by->thread, by->pc, "tcgen05.dealloc frees",
                  place_of(block, {0, TensorMemory::lanes, by->column, by->columns})));
  }
  x.reports->explain(std::move(evidence));
}

}  // namespace

namespace {

// Has the other block of the pair allocated them for both?
bool is_promised(const Block& block, const CellRange& range) {
  const auto& all = block.tensor.promised;
  return std::any_of(all.begin(), all.end(), [&](const Allocation& a) {
    return a.column <= range.column && range.column + range.columns <= a.column + a.columns;
  });
}

// "The first warp to perform the operation could block until the second warp in the peer CTA also
// performs it" (9.7.16.5): could. CuTeDSL's persistent products and learn-cuda's count on it, or on
// the first allocation's being that of both.
void note_promised(Core& x, int lane, const Block& block, const CellRange& range,
                   std::string_view what) {
  const u32 pc = block.tensor.promised.front().pc;
  x.reports->hazard(x, lane, "tmem_pair_order", pc, [&] {
    Report r;
    r.sentence = fmt::format(
        "{} accesses {} of CTA {} of the cluster, which has not executed its "
        "tcgen05.alloc.cta_group::2 for them yet: nothing says that the first alloc of a pair "
        "waits for the second",
        what, cells_text(range), block.rank);
    r.expected = "a barrier.cluster between the tcgen05.alloc of both CTAs and the first product";
    r.found = "an allocation of one CTA";
    r.evidence = evidence_at(place_of(block, range));
    r.evidence.parties = {lane_at(x, lane, fmt::format("{} accesses", what), r.evidence.place)};
    return r;
  });
}

}  // namespace

namespace {

// Cells of the own block that another warp has given back: does this one not know of it? Then the
// access could have come first, as on chips it does where the other warp has a longer way
// (CuTeDSL's attention of mixed types): a race, and no access of what is surely gone.
bool is_freed_unheard(Core& x, int lane, const CellRange& range, std::string_view what) {
  const Allocation* freed = x.block->tensor.memory.given_back(range.column, range.columns);
  if (!freed || !x.block->order.on()) return false;
  const u32 warp = freed->thread / 32;
  if (observer(x).has_met(x.block->order.of(warp).me(), freed->epoch)) return false;
  x.reports->hazard(x, lane, "tmem_race", freed->pc, [&] {
    Report r;
    r.sentence = fmt::format(
        "{} accesses {}, which the tcgen05.dealloc at {} frees, and nothing orders the two", what,
        cells_text(range), text(x.machine->site(*x.block, freed->thread, freed->pc)));
    r.expected = "a barrier between this and the dealloc";
    r.found = "either could be first" + before_text(*x.machine, *x.block, freed->thread, freed->pc);
    const Evidence::Place place = place_of(*x.block, range);
    r.evidence = sim::collision(
        lane_at(x, lane, fmt::format("{} accesses", what), place),
        thread_at(*x.machine, *x.block, freed->thread, freed->pc, "tcgen05.dealloc frees",
                  place_of(*x.block, {0, TensorMemory::lanes, freed->column, freed->columns})));
    return r;
  });
  return true;
}

}  // namespace

bool owns_cells(Core& x, int lane, const Block& block, const std::vector<CellRange>& cells,
                std::string_view what) {
  const TensorMemory& memory = block.tensor.memory;
  for (const CellRange& range : cells) {
    if (range.lane + range.lanes <= TensorMemory::lanes &&
        memory.owns(range.column, range.columns)) {
      continue;
    }
    if (&block != x.block && is_promised(block, range)) {
      note_promised(x, lane, block, range, what);
      continue;
    }
    if (&block == x.block && is_freed_unheard(x, lane, range, what)) continue;
    std::string have;
    for (const Allocation& a : memory.allocations()) {
      have +=
          fmt::format("{}columns {}-{}, allocated at {}", have.empty() ? "" : "; ", a.column,
                      a.column + a.columns - 1, place_text(x.machine->site(block, a.thread, a.pc)));
    }
    x.reports->fault(
        x, lane, "tmem_out_of_allocation",
        fmt::format(
            "{} accesses {}, which {} has not allocated{}", what, cells_text(range),
            &block == x.block ? "the CTA" : fmt::format("CTA {} of the cluster", block.rank),
            given_back_text(x, block, range.column, range.columns)),
        have.empty() ? "an allocation: the CTA has none" : have, cells_text(range));
    explain_use(x, lane, block, range, what);
    return false;
  }
  return true;
}

std::vector<CellRange> cells_of_move(const Core& x, const Code& c) {
  const u32 address =
      static_cast<u32>(c.immediate) + (c.a == nothing ? 0 : lane_array<u32>(x, c.a)[0]);
  Move move = move_at(x, c, address);
  move.lane = x.warp->index % 4 * 32 + (address >> 16) % 32;
  return move.ranges();
}

Handler tensor_move_handler(const ptx::Instruction& i) {
  switch (i.modifiers.tensor_step()) {
    case ptx::TensorStep::ld:
      return load;
    case ptx::TensorStep::st:
      return store;
    case ptx::TensorStep::wait_ld:
      return wait<false>;
    default:
      return wait<true>;
  }
}

}  // namespace tilescope::sim
