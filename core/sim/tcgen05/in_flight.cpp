#include "core/sim/tcgen05/in_flight.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/sim/checks/evidence.h"
#include "core/sim/machine/model.h"
#include "core/sim/tcgen05/copy.h"
#include "core/sim/tcgen05/multiplication.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;

// What two operations do to each other's cells, or null.
const CellRange* collision(const TensorCells& mine, const TensorCells& theirs) {
  if (const CellRange* met = meeting(mine.written, theirs.written)) return met;
  if (const CellRange* met = meeting(mine.written, theirs.read)) return met;
  return meeting(mine.read, theirs.written);
}

// The cells in which two operations meet.
Evidence of_operations(const Core& x, const AsyncOperation& mine, const AsyncOperation& other) {
  TensorCells first, second;
  if (!tensor_cells(mine, first) || !tensor_cells(other, second)) return {};
  const auto all = [](TensorCells& cells) {
    cells.written.insert(cells.written.end(), cells.read.begin(), cells.read.end());
    return cells.written;
  };
  const std::vector<CellRange> a = all(first), b = all(second);
  const CellRange* met = meeting(a, b);
  const CellRange* with = meeting(b, a);
  if (!met || !with) return {};
  return sim::collision(
      operation_in(*x.machine, *x.block, mine, "uses", place_of(*x.block, *met)),
      operation_in(*x.machine, *x.block, other, "uses", place_of(*x.block, *with)));
}

// "Some specific pairs of the asynchronous tcgen05 instructions form tcgen05 pipelines, where the
// two asynchronous operations are guaranteed to execute in the same order as the instructions that
// issued them. The specific pairings are: mma -> mma (same N and accumulator and shape), cp -> mma,
// shift -> mma, shift -> cp.4x256b, mma -> shift" (9.7.16.6.2, each of the same cta_group). So cp
// behind an mma is none: CUTLASS's and DeepGEMM's block-scaled kernels copy the next stage's scale
// factors over those that an mma in flight may still read, and count on the tensor core's taking
// both of a thread in turn. No chip of ours was asked.
Report no_order(const Core& x, const AsyncOperation& mine, const AsyncOperation& other,
                const CellRange& cells) {
  Report r;
  r.sentence = fmt::format(
      "this {} uses {}, as the {} at {} still does, and {} -> {} is none of the pairs that PTX "
      "keeps in order",
      mine.work->name, cells_text(cells), other.work->name,
      text(x.machine->site(x.machine->issuer(*x.block, other), other.thread, other.pc)),
      other.work->name, mine.work->name);
  r.expected = "a commit between them, and a wait for it (PTX ISA 9.7.16.6.2)";
  if (other.pipe == mine.pipe && is_multiplication(other) && is_tensor_copy(mine)) {
    r.expected +=
        "; without it this counts on the chip's taking both in turn, as CUTLASS and DeepGEMM do";
  }
  r.found = fmt::format("a {} in flight", other.work->name);
  r.pair = fmt::format("{}, then {}", other.work->name, mine.work->name);
  r.evidence = of_operations(x, mine, other);
  return r;
}

}  // namespace

bool tensor_cells(const AsyncOperation& o, TensorCells& out) {
  if (is_multiplication(o)) {
    Multiplication m;
    decode(MultiplicationWords::of(o), m);  // it was right when it was issued
    out = {m.written_range(), m.read_range()};
    return true;
  }
  if (is_tensor_copy(o)) {
    out = {copy_in(o).cells(), {}};
    return true;
  }
  if (!is_tensor_shift(o)) return false;
  out = {written_by_shift(shifted(o)), read_by_shift(shifted(o))};
  return true;
}

const AsyncOperation* find_transfer(const Block& block, const std::vector<CellRange>& cells,
                                    bool reads) {
  TensorCells theirs;
  for (const AsyncOperation& o : block.flight.operations) {
    if (o.stage == Stage::complete || is_multiplication(o) || !tensor_cells(o, theirs)) continue;
    if (meeting(cells, theirs.written) || (!reads && meeting(cells, theirs.read))) return &o;
  }
  return nullptr;
}

bool is_pipelined(const AsyncOperation& earlier, const AsyncOperation& later) {
  if (is_multiplication(later) || later.work == &commit_work) return true;
  if (is_tensor_shift(later)) return is_multiplication(earlier);
  return is_tensor_shift(earlier) && copy_in(later).shape == CopyShape::x4x256b;
}

bool order_behind_others(Core& x, int lane, AsyncOperation& o) {
  TensorCells mine, theirs;
  tensor_cells(o, mine);
  for (const AsyncOperation& other : x.block->flight.operations) {
    if (other.stage == Stage::complete || !tensor_cells(other, theirs)) continue;
    if (is_multiplication(o) && is_multiplication(other) && other.pipe == o.pipe) continue;
    const CellRange* met = collision(mine, theirs);
    // What a thread of the other block of a pair has issued is not held to come first.
    const bool elsewhere = other.leader != no_leader;
    const bool pipelined = !elsewhere && is_pipelined(other, o);
    if (!met || (pipelined && other.pipe == o.pipe)) continue;
    if (!elsewhere) o.behind.push_back(other.number);
    // The fences that this wants across threads (9.7.16.6.4.3) are asked for with the history of
    // the cells.
    if (pipelined) continue;
    Report r = no_order(x, o, other, *met);
    if (other.pipe == o.pipe) {
      x.reports->hazard(x, lane, "tmem_order", other.pc, [&] { return r; });
      continue;
    }
    x.reports->fault(x, lane, "tmem_in_use", r.sentence, r.expected, r.found);
    x.reports->explain(std::move(r.evidence));
    return false;
  }
  return true;
}

}  // namespace tilescope::sim
