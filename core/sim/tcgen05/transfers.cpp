// tcgen05.cp and tcgen05.shift (PTX ISA 9.7.16.9), which a thread issues: what is asked for, and
// whether it may be.
//
// Code: a and immediate the address in TMEM, b the matrix's descriptor.
#include <fmt/format.h>

#include <algorithm>

#include "core/sim/lanes/lanes.h"
#include "core/sim/lanes/units.h"
#include "core/sim/machine/model.h"
#include "core/sim/tcgen05/copy.h"
#include "core/sim/tcgen05/handlers.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using ptx::Field;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

TensorAddress address_of(const Core& x, const Code& c, int lane) {
  return TensorAddress::of(static_cast<u32>(c.immediate) +
                           (c.a == nothing ? 0 : lane_array<u32>(x, c.a)[lane]));
}

bool refuse_lane(Core& x, int lane, u32 found, std::string expected) {
  x.reports->fault(x, lane, "tmem_lane",
                   fmt::format("the address of this {} is at lane {} of TMEM",
                               opcode_text(x.machine->program().code[x.pc].text), found),
                   std::move(expected), fmt::format("lane {}", found));
  return false;
}

// The bytes of a block's shared memory that it reads, neighbours put together.
bool find_bytes(Core& x, int lane, const Block& block, const TensorCopy& copy,
                std::vector<Range>& out) {
  std::vector<u32> all;
  for (u32 line = 0; line < copy.lines(); ++line) {
    for (u32 p = 0; p < copy.pieces(); ++p) all.push_back(copy.from.piece(line, p));
  }
  return find_pieces(x, lane, block, copy.from, std::move(all), "the descriptor", out);
}

// Of the other block of the pair it uses the same cells, and of its shared memory the same bytes.
bool issue_with_peer(Core& x, int lane, AsyncOperation o, const std::vector<CellRange>& cells) {
  Block* peer = find_peer(x, lane, o.work->name);
  if (!peer || !owns_cells(x, lane, *peer, cells, o.work->name) ||
      !check_peer_tensor_use(x, lane, *peer, TensorUse::product, cells)) {
    return false;
  }
  AsyncOperation guard;
  if (is_tensor_copy(o) && !find_bytes(x, lane, *peer, copy_in(o), guard.reads)) return false;
  guard.work = is_tensor_copy(o) ? &tensor_copy_guard : &tensor_shift_guard;
  guard.pipe = o.pipe;
  guard.words = o.words;
  return x.machine->flights.issue(x, lane, *x.block, std::move(o), *peer, std::move(guard));
}

// Behind the checks that both have in common.
bool issue(Core& x, int lane, AsyncOperation o, const std::vector<CellRange>& cells) {
  if (!owns_cells(x, lane, *x.block, cells, o.work->name) ||
      !check_tensor_use(x, lane, TensorUse::product, cells)) {
    return false;
  }
  set_issued_at(o, x.block->tensor.events);
  join_pipe(x, lane, o);
  if (!order_behind_others(x, lane, o)) return false;
  if (is_of_pair(x)) return issue_with_peer(x, lane, std::move(o), cells);
  return x.machine->flights.issue(x, lane, std::move(o));
}

bool copy_one(Core& x, const Code& c, int lane) {
  const ptx::Modifiers& how = x.machine->program().code[x.pc].modifiers;
  TensorCopy copy;
  copy.shape = static_cast<CopyShape>(how[Field::copied]);
  copy.warps = static_cast<CopyWarps>(how[Field::warps]);
  copy.packed = static_cast<Packed>(how[Field::from_format]);
  copy.pair = is_of_pair(x);
  copy.to = address_of(x, c, lane);
  if (const auto error = decode(lane_array<u64>(x, c.b)[lane], false, false, copy.from)) {
    x.reports->fault(x, lane, "bad_descriptor", error->sentence, error->expected, error->found);
    return false;
  }
  const bool refresh = copy.shape == CopyShape::x4x256b;
  if (copy.to.lane >= (refresh ? 32u : 1u)) {
    return refuse_lane(x, lane, copy.to.lane,
                       refresh ? "lanes 0 to 31: the four rows go to this lane of each warp's 32"
                               : "lane 0: this shape fills all 128 lanes");
  }
  if (copy.packed != Packed::none) note_unpacked_bits(x, lane);
  AsyncOperation o = copy_operation(copy);
  return find_bytes(x, lane, *x.block, copy, o.reads) && issue(x, lane, std::move(o), copy.cells());
}

// "The lane of the address operand taddr must be aligned to 32."
bool shift_one(Core& x, const Code& c, int lane) {
  const TensorAddress at = address_of(x, c, lane);
  if (at.lane % 32) return refuse_lane(x, lane, at.lane, "a multiple of 32 (PTX ISA 9.7.16.9.3)");
  std::vector<CellRange> all = written_by_shift(at);
  for (const CellRange& read : read_by_shift(at)) all.push_back(read);
  return issue(x, lane, shift_operation(at, is_of_pair(x)), all);
}

template <bool (*one)(Core&, const Code&, int)>
Flow each(Core& x, const Code& c, Mask m) {
  for (Mask rest = m; rest; rest &= rest - 1) {
    if (!one(x, c, __builtin_ctz(rest))) return Flow::fault;
  }
  return Flow::next;
}

}  // namespace

void note_unpacked_bits(Core& x, int lane) {
  x.reports->note(x, lane, "unpacked_bits", x.pc, [&] {
    Report r;
    r.sentence =
        "where elements of 4 and 6 bits are in the bytes that each has in TMEM, the PTX ISA shows "
        "in "
        "figures only: here 6 bits are the lower ones, and 4 bits are bits 2 to 5";
    r.expected = "a chip's answer (figures 195, 197, 198 and 199 to 201)";
    r.found = "none yet";
    return r;
  });
}

Handler transfer_handler(ptx::TensorStep step) {
  return step == ptx::TensorStep::cp ? each<copy_one> : each<shift_one>;
}

}  // namespace tilescope::sim
