#include "core/sim/machine/watcher.h"

#include <algorithm>

#include "core/sim/machine/model.h"
#include "core/sim/tcgen05/in_flight.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

}  // namespace

void Watcher::stop_at(StopAt at) {
  watch_nothing();
  model_->stops.ask(std::move(at), model_->program());
  watch_regions();
}

void Watcher::settle_stops() {
  if (!model_->stops.asked()) return;
  const double cycle = model_->stops.where().cycle;
  const bool at_cycle = cycle < StopAt::no_cycle && model_->scheduler.all_have_reached(cycle);
  model_->stops.settle(model_->position(), model_->instructions, at_cycle);
}

// The region that a watch is of, as long as there is one; of TMEM there is none.
Region* Watcher::watched(const Watch& watch) {
  if (watch.where == Watch::Where::global) return model_->region_of(watch.begin);
  if (watch.where != Watch::Where::shared) return nullptr;
  const auto block = std::find_if(model_->blocks.begin(), model_->blocks.end(),
                                  [&](const Block& b) { return b.number == watch.block; });
  return block == model_->blocks.end() ? nullptr : &block->shared;
}

void Watcher::watch_nothing() {
  for (const Watch& each : model_->stops.where().watches) {
    if (Region* region = watched(each)) region->watch_nothing();
  }
}

// All that is watched; a block that begins brings a region of its own.
void Watcher::watch_regions() {
  watch_nothing();
  const std::vector<Watch>& all = model_->stops.where().watches;
  for (u32 i = 0; i < all.size(); ++i) {
    Region* region = watched(all[i]);
    if (!region) continue;
    const u64 from = all[i].begin - region->base();
    region->watch(i, from, from + (all[i].end - all[i].begin));
  }
}

void Watcher::note_write(u32 number, const Block& by, u32 warp, u32 pc) {
  Happened h;
  h.what = Happening::write;
  h.object = number;
  h.block = by.number;
  h.warp = warp;
  h.pc = pc;
  model_->stops.happened(h);
}

// Bytes that are watched and were written since anybody asked.
void Watcher::note_touched(const Block& by, u32 warp, u32 pc) {
  const std::vector<Watch>& all = model_->stops.where().watches;
  for (u32 n = 0; n < all.size(); ++n) {
    Region* region = watched(all[n]);
    const u64 touched = region ? region->take_touched() : 0;
    for (u32 i = 0; touched >> i; ++i) {
      if (touched >> i & 1) note_write(i, by, warp, pc);
    }
  }
}

// A warp has executed up to here.
void Watcher::look_for_stop(const Block& block, const Warp& warp, u32 pc, Mask mask) {
  const std::vector<Watch>& all = model_->stops.where().watches;
  for (u32 n = 0; n < all.size(); ++n) {
    const Watch& at = all[n];
    if (at.where != Watch::Where::tensor) continue;
    const ptx::Instruction& i = model_->program().code[pc];
    const auto& moves = block.tensor.moves;
    const bool stored = i.op == ptx::Op::tcgen05 && block.number == at.block && !moves.empty() &&
                        moves.back().store && moves.back().pc == pc &&
                        moves.back().warp == warp.index;
    if (stored && meeting(moves.back().cells, {at.cells})) note_write(n, block, warp.index, pc);
  }
  note_touched(block, warp.index, pc);
  model_->stops.executed(model_->program(), block, warp, pc, mask);
  settle_stops();
}

// An operation in flight in `block`, with guards in these others, has come from a stage to another.
void Watcher::look_for_stop(const Block& block, const AsyncOperation& o, Stage from, u32 guards) {
  if (!model_->stops.asked()) return;
  const Block& by = model_->issuer(block, o);
  model_->stops.moved(by, o, from);
  const std::vector<Watch>& all = model_->stops.where().watches;
  for (u32 n = 0; n < all.size(); ++n) {
    const Watch& at = all[n];
    if (at.where != Watch::Where::tensor) continue;
    TensorCells cells;
    const bool writes = from < Stage::written && o.stage >= Stage::written;
    const Block* peer = guards ? model_->member(block, block.rank ^ 1) : nullptr;
    const bool reaches = block.number == at.block || (peer && peer->number == at.block);
    if (writes && reaches && tensor_cells(o, cells) && meeting(cells.written, {at.cells})) {
      note_write(n, by, o.thread / 32, o.pc);
    }
  }
  note_touched(by, o.thread / 32, o.pc);
}

}  // namespace tilescope::sim
