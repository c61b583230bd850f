// Who gets in whose way in TMEM, and what nobody has ordered.
#include "core/sim/tcgen05/unit.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/sim/machine.h"
#include "core/sim/tcgen05/multiplication.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;

const CellRange* meeting(const std::vector<CellRange>& a, const std::vector<CellRange>& b) {
  for (const CellRange& x : a) {
    for (const CellRange& y : b) {
      if (x.meets(y)) return &x;
    }
  }
  return nullptr;
}

const char* verb(TensorUse use) {
  switch (use) {
    case TensorUse::load:
    case TensorUse::operand:
      return "reads";
    case TensorUse::release:
      return "gives back";
    default:
      return "writes";
  }
}

// "tcgen05.ld.sync.aligned.32x32b.x1.b32", without a guard.
std::string_view name_at(const Core& x) {
  std::string_view text = x.machine->program().code[x.pc].text;
  text.remove_prefix(std::min(text.size(), text.find("tcgen05")));
  return text.substr(0, text.find_first_of(" \t"));
}

std::string where(const Core& x, u32 warp, u32 pc) {
  return text(x.machine->site(*x.block, warp * 32, pc));
}

bool report(Core& x, int lane, TensorUse use, const CellRange& cells, const std::string& other,
            std::string expected, std::string found) {
  x.machine->fault(
      x, lane, "tmem_in_use",
      fmt::format("this {} {} {}, but {}", name_at(x), verb(use), cells_text(cells), other),
      std::move(expected), std::move(found));
  return false;
}

// Loads and stores that nobody has waited for. Two loads are no conflict; nor are the stores of a
// warp before its own further stores.
bool check_moves(Core& x, int lane, TensorUse use, const std::vector<CellRange>& cells) {
  for (const TensorMove& move : x.block->tensor.moves) {
    const bool reads = use == TensorUse::load || use == TensorUse::operand;
    if (reads && !move.store) continue;
    if (use == TensorUse::store && move.store && move.warp == x.warp->index) continue;
    const CellRange* met = meeting(cells, move.cells);
    if (!met) continue;
    return report(
        x, lane, use, *met,
        move.store ? fmt::format("the tcgen05.st at {} may not have written it yet: its warp has "
                                 "not waited for it",
                                 where(x, move.warp, move.pc))
                   : fmt::format("the tcgen05.ld at {} may still read it: its warp has not waited "
                                 "for it",
                                 where(x, move.warp, move.pc)),
        move.store ? "tcgen05.wait::st in the storing warp before"
                   : "tcgen05.wait::ld in the loading warp before",
        move.store ? "a store under way" : "a load under way");
  }
  return true;
}

bool check_products(Core& x, int lane, TensorUse use, const std::vector<CellRange>& cells) {
  ProductInFlight other;
  if (!find_product(*x.block, cells, use == TensorUse::load, other)) return true;
  const Site site = x.machine->site(*x.block, other.thread, other.pc);
  return report(
      x, lane, use, cells[0],
      fmt::format("the tcgen05.mma at {} is still {} it: nobody has waited for its commit",
                  text(site), other.writes ? "writing" : "reading"),
      "tcgen05.commit behind the mma, and a wait for its mbarrier", "an mma in flight");
}

bool writes(TensorUse use) {
  return use == TensorUse::store || use == TensorUse::product;
}

// Do they need an order that fences make? Two that only read do not, nor do a warp's own moves; the
// products of a thread keep their order, which is looked at with those in flight.
bool needs_order(const TensorEvent& past, const Core& x, TensorUse use,
                 const std::vector<CellRange>& cells) {
  const bool product = use == TensorUse::product || use == TensorUse::operand;
  if (past.warp == x.warp->index && past.product == product) return false;
  return (past.writes || writes(use)) && meeting(cells, past.cells);
}

// What happened before a barrier that the warp has passed without a fence::after_thread_sync behind
// it: products, whose sums are loaded, stored over or added to; moves of other warps.
bool misses_after(const Core& x, TensorUse use, const std::vector<CellRange>& cells) {
  const TensorUnit& unit = x.block->tensor;
  const TensorOrder& mine = unit.order[x.warp->index];
  return std::any_of(unit.past.begin(), unit.past.end(), [&](const TensorEvent& past) {
    const bool mine_alone = !past.product && past.warp == x.warp->index;
    return !mine_alone && mine.misses_fence(past.at) && needs_order(past, x, use, cells);
  });
}

void note_after(Core& x, int lane) {
  x.machine->hazard(x, lane, "tcgen05_fence", x.pc, [&] {
    Report r;
    r.sentence = fmt::format(
        "this {} follows a barrier without tcgen05.fence::after_thread_sync: nothing orders it "
        "behind what tcgen05 did before the barrier",
        name_at(x));
    r.expected = "tcgen05.fence::after_thread_sync behind the barrier";
    r.found = "none since the barrier";
    return r;
  });
}

// Whoever loaded or stored these cells before has a fence of its own in front of the barrier. (A
// commit is one for products, 9.7.16.6.4.)
void note_before(Core& x, int lane, TensorUse use, const std::vector<CellRange>& cells) {
  const TensorUnit& unit = x.block->tensor;
  for (const TensorEvent& past : unit.past) {
    const bool fenced = past.product || unit.order[past.warp].before > past.at;
    if (past.warp == x.warp->index || fenced || !needs_order(past, x, use, cells)) continue;
    x.machine->hazard(x, lane, "tcgen05_fence", past.pc, [&] {
      Report r;
      r.sentence = fmt::format(
          "this {} follows the tcgen05.ld or st at {}, and that warp did not execute "
          "tcgen05.fence::before_thread_sync between it and the barrier",
          name_at(x), where(x, past.warp, past.pc));
      r.expected = "tcgen05.fence::before_thread_sync in front of the barrier";
      r.found = "none since the load or store";
      return r;
    });
  }
}

}  // namespace

std::string cells_text(const CellRange& cells) {
  return fmt::format("lanes {}-{}, columns {}-{} of TMEM", cells.lane, cells.lane + cells.lanes - 1,
                     cells.column, cells.column + cells.columns - 1);
}

bool check_tensor_use(Core& x, int lane, TensorUse use, const std::vector<CellRange>& cells) {
  if (!check_moves(x, lane, use, cells)) return false;
  const bool product = use == TensorUse::product || use == TensorUse::operand;
  // Products look for each other themselves: those of one thread keep their order.
  if (!product && !check_products(x, lane, use, cells)) return false;
  if (use == TensorUse::release) return true;
  if (misses_after(x, use, cells)) note_after(x, lane);
  note_before(x, lane, use, cells);
  x.block->tensor.remember({0, x.warp->index, x.pc, product, writes(use), cells});
  return true;
}

void TensorUnit::remember(TensorEvent event) {
  if (event.cells.empty()) return;
  event.at = ++events;
  const auto same = std::find_if(past.begin(), past.end(), [&](const TensorEvent& e) {
    return e.warp == event.warp && e.product == event.product && e.writes == event.writes &&
           e.cells == event.cells;
  });
  if (same != past.end()) {
    *same = std::move(event);
  } else {
    past.push_back(std::move(event));
  }
}

bool leave_tensor_memory(Machine& machine, Block& block) {
  if (block.tensor.memory.allocations().empty()) return true;
  const Allocation& left = block.tensor.memory.allocations().front();
  return machine.fault_at(
      block, left.thread, left.pc, "tmem_not_deallocated",
      fmt::format("the block has exited with {} columns of TMEM that it allocated here",
                  left.columns),
      "tcgen05.dealloc of every allocation before the block exits (PTX ISA 9.7.16.7.1)",
      fmt::format("columns {}-{} still allocated", left.column, left.column + left.columns - 1));
}

}  // namespace tilescope::sim
