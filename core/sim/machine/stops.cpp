#include "core/sim/machine/stops.h"

#include <algorithm>

#include "core/sim/machine/grid.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Is it done by its warp, and not by an operation in flight? That is how copies by cp.async and
// products by mma.sync are.
bool is_executed(const ptx::Instruction& i, Happening what) {
  if (what == Happening::product) return i.op == ptx::Op::mma || i.op == ptx::Op::wmma;
  if (what != Happening::copy || i.op != ptx::Op::cp) return false;
  return !i.modifiers.has(ptx::Field::bulk) && !i.modifiers.has(ptx::Field::on_mbarrier) &&
         i.modifiers.operation() == ptx::Operation::none;
}

// The split that a lane belongs to now; null: it has exited.
const Split* split_of(const Warp& warp, u32 lane) {
  for (const Split& s : warp.splits) {
    if (s.mask >> lane & 1) return &s;
  }
  return nullptr;
}

}  // namespace

bool executes(const ptx::Program& program, Happening what) {
  return std::any_of(program.code.begin(), program.code.end(),
                     [&](const ptx::Instruction& i) { return is_executed(i, what); });
}

void Stops::ask(StopAt at, const ptx::Program& program) {
  at_ = std::move(at);
  wanted_ = at_.what | at_.kept;
  fresh_.clear();
  asked_ = wanted_ || at_.cycle < StopAt::no_cycle || at_.position != StopAt::never ||
           at_.instructions != StopAt::never || at_.executed != StopAt::never;
  const auto by_warps = [&](Happening what) {
    return (at_.what & bit(what)) && executes(program, what);
  };
  // The clock goes on with every instruction.
  each_ =
      at_.cycle < StopAt::no_cycle ||
      (at_.what & (bit(Happening::instruction) | bit(Happening::line) | bit(Happening::write))) ||
      by_warps(Happening::product) || by_warps(Happening::copy);
  go_on();
}

void Stops::go_on() {
  hit_ = false;
  last_.reset();
}

u64 Stops::limit(const Block& block, const Warp& warp, u64 position, u64 instructions) const {
  u64 out = StopAt::never;
  const auto up_to = [&](u64 target, u64 now) {
    if (target != StopAt::never) out = std::min(out, target > now ? target - now : 1);
  };
  up_to(at_.position, position);
  up_to(at_.instructions, instructions);
  const bool meant =
      (!at_.block || *at_.block == block.number) && (!at_.warp || *at_.warp == warp.index);
  if (meant && at_.executed > warp.executed) up_to(at_.executed, warp.executed);
  // Of others than the warp that is meant, single instructions are of no interest; but anybody may
  // write.
  const bool anybody = at_.cycle < StopAt::no_cycle || (at_.what & bit(Happening::write));
  if (each_ && (meant || anybody)) out = 1;
  return out;
}

void Stops::issued(const Block& issuer, const AsyncOperation& o) {
  if (asked_) moved(issuer, o, Stage::issued);
}

void Stops::moved(const Block& issuer, const AsyncOperation& o, Stage from) {
  if (!asked_) return;
  Happened h;
  h.unit = unit_of(o);
  if (h.unit == Unit::commit || h.unit == Unit::launch) return;
  h.what = h.unit == Unit::tensor ? Happening::product : Happening::copy;
  h.stage = o.stage;
  h.passed = o.stage == from ? static_cast<std::uint8_t>(bit(from)) : 0;
  for (int s = static_cast<int>(from) + 1; s <= static_cast<int>(o.stage); ++s) {
    h.passed |= static_cast<std::uint8_t>(1u << s);
  }
  h.block = issuer.number;
  h.warp = o.thread / 32;
  h.pc = o.pc;
  h.number = o.number;
  happened(h);
}

bool Stops::comes_to_line(const Warp& warp, u32 pc, u32 mask) const {
  const auto lane = static_cast<u32>(__builtin_ctz(mask));
  const Split* now = split_of(warp, lane);
  if (!now) return !at_.some_lines;  // its end is a place to stop at, too
  // It has arrived at a barrier and is held there: released() tells when it goes on.
  if (now->wait == Wait::barrier) return false;
  const u32 line = (*at_.lines)[now->pc];
  return warp.calls.depth[lane] <= at_.depth && (*at_.lines)[pc] != line &&
         (line || !at_.some_lines);
}

void Stops::released(const Block& block, const Warp& warp, u32 pc, u32 mask) {
  if (!asked_ || !(at_.what & bit(Happening::line)) || !comes_to_line(warp, pc, mask)) return;
  Happened h;
  h.what = Happening::line;
  h.unit = Unit::warp;
  h.block = block.number;
  h.warp = warp.index;
  h.pc = pc;
  happened(h);
}

void Stops::executed(const ptx::Program& program, const Block& block, const Warp& warp, u32 pc,
                     u32 mask) {
  if (at_.executed != StopAt::never && warp.executed >= at_.executed && at_.block == block.number &&
      at_.warp == warp.index) {
    hit_ = true;
  }
  for (Happened& h : fresh_) {
    if (h.warp != Happened::at_hand) continue;
    h.warp = warp.index;
    h.pc = pc;
  }
  if (!each_) return;
  Happened h;
  h.block = block.number;
  h.warp = warp.index;
  h.pc = pc;
  for (const Happening what : {Happening::product, Happening::copy}) {
    if (!(at_.what & bit(what)) || !is_executed(program.code[pc], what)) continue;
    h.what = what;
    h.unit = what == Happening::product ? Unit::tensor : Unit::async_copy;
    h.stage = what == Happening::product ? Stage::complete : Stage::issued;
    h.passed = static_cast<std::uint8_t>(what == Happening::product
                                             ? bit(Stage::issued) | bit(Stage::complete)
                                             : bit(Stage::issued));
    happened(h);
  }
  h.unit = Unit::warp;
  h.passed = 0;
  h.what = Happening::line;
  if ((at_.what & bit(Happening::line)) && comes_to_line(warp, pc, mask)) happened(h);
  h.what = Happening::instruction;
  happened(h);
}

bool matches(const StopAt& at, const Happened& h) {
  if (!(at.what & bit(h.what))) return false;
  if (h.passed && !(h.passed & at.stages)) return false;
  if (h.what == Happening::write) return true;
  if (h.what == Happening::phase && !at.phases.empty()) {
    return std::any_of(at.phases.begin(), at.phases.end(), [&](const StopAt::Phase& p) {
      return p.object == h.object && (!p.block || *p.block == h.block) &&
             (!p.number || *p.number == h.number);
    });
  }
  return (!at.block || *at.block == h.block) && (!at.warp || *at.warp == h.warp) &&
         (!at.object || *at.object == h.object);
}

void Stops::settle(u64 position, u64 instructions, bool at_cycle) {
  if (position >= at_.position || instructions >= at_.instructions || at_cycle) hit_ = true;
  for (Happened& h : fresh_) {
    h.position = position;
    if (h.what == Happening::phase) h.unit = Unit::mbarrier;
    if (h.what == Happening::barrier) h.unit = Unit::barrier;
    if (h.what == Happening::cluster) h.unit = Unit::cluster;
    if (at_.kept & bit(h.what)) kept_.push_back(h);
    if (!matches(at_, h)) continue;
    hit_ = true;
    last_ = h;
  }
  fresh_.clear();
}

}  // namespace tilescope::sim
