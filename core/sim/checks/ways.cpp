#include "core/sim/checks/ways.h"

#include <algorithm>

namespace tilescope::sim {
namespace {

using ptx::Op;
using u32 = std::uint32_t;

}  // namespace

Ways::Ways(Derivation& derivation, Block& block, Warp& warp, Mask lanes)
    : derivation_(derivation),
      program_(derivation.program()),
      block_(block),
      warp_(warp),
      lanes_(lanes) {
  close();
  from_start_ = forwards(block_of(program_.routines[0].first), true);
}

u32 Ways::block_of(u32 pc) const {
  const auto behind = std::upper_bound(program_.blocks.begin(), program_.blocks.end(), pc,
                                       [](u32 at, const ptx::Block& b) { return at < b.first; });
  return static_cast<u32>(behind - program_.blocks.begin()) - 1;
}

// Without the ways that none of the lanes takes.
void Ways::close() {
  open_.reserve(program_.blocks.size());
  for (u32 b = 0; b < program_.blocks.size(); ++b) {
    const ptx::Block& block = program_.blocks[b];
    open_.push_back(block.next);
    const u32 pc = block.end - 1;
    const ptx::Instruction& last = program_.code[pc];
    if (!last.guarded || (last.op != Op::bra && last.op != Op::exit && last.op != Op::ret))
      continue;
    const auto taken = derivation_.guard(block_, warp_, pc);
    if (!taken) continue;
    const u32 label = last.op == Op::bra ? block_of(program_.operands_of(last)[0].index) : ~0u;
    const u32 behind = block.end < program_.code.size() ? block_of(block.end) : ~0u;
    if (label == behind) continue;
    std::vector<u32>& next = open_.back();
    const auto closed = [&](u32 to) {
      return (to == label && !(*taken & lanes_)) || (to == behind && !(~*taken & lanes_));
    };
    next.erase(std::remove_if(next.begin(), next.end(), closed), next.end());
  }
}

Ways::Marks Ways::forwards(u32 block, bool with_itself) const {
  Marks out(program_.blocks.size(), 0);
  std::vector<u32> waiting{block};
  if (with_itself) out[block] = 1;
  while (!waiting.empty()) {
    const u32 at = waiting.back();
    waiting.pop_back();
    for (const u32 to : open_[at]) {
      if (out[to]) continue;
      out[to] = 1;
      waiting.push_back(to);
    }
  }
  return out;
}

// The blocks from which `block` can be come to, and itself. `open_only`: by ways that are open.
Ways::Marks Ways::backwards(u32 block, bool open_only) const {
  std::vector<std::vector<u32>> before(program_.blocks.size());
  for (u32 b = 0; b < program_.blocks.size(); ++b) {
    for (const u32 to : open_only ? open_[b] : program_.blocks[b].next) before[to].push_back(b);
  }
  Marks out(program_.blocks.size(), 0);
  std::vector<u32> waiting{block};
  out[block] = 1;
  while (!waiting.empty()) {
    const u32 at = waiting.back();
    waiting.pop_back();
    for (const u32 from : before[at]) {
      if (out[from]) continue;
      out[from] = 1;
      waiting.push_back(from);
    }
  }
  return out;
}

// The blocks that can be come to from the start without coming through `block`.
Ways::Marks Ways::around(u32 block) const {
  Marks out(program_.blocks.size(), 0);
  std::vector<u32> waiting{block_of(program_.routines[0].first)};
  while (!waiting.empty()) {
    const u32 at = waiting.back();
    waiting.pop_back();
    if (at == block || out[at]) continue;
    out[at] = 1;
    waiting.insert(waiting.end(), open_[at].begin(), open_[at].end());
  }
  return out;
}

bool Ways::surely_been(u32 from, u32 to) const {
  const u32 there = block_of(to);
  const Marks others = around(there);
  if (from != exited) {
    const u32 here = block_of(from);
    if (here == there) return from > to;
    return from_start_[here] && !others[here];
  }
  for (u32 b = 0; b < program_.blocks.size(); ++b) {
    const Op last = program_.code[program_.blocks[b].end - 1].op;
    if (others[b] && (open_[b].empty() || last == Op::exit || last == Op::ret)) return false;
  }
  return from_start_[there] != 0;
}

bool Ways::ahead(u32 from, u32 to) {
  if (from == exited) return false;
  const u32 here = block_of(from), there = block_of(to);
  if (here == there && from <= to) return true;
  return forwards(here, false)[there] != 0;
}

bool Ways::possible(u32 to) {
  return from_start_[block_of(to)] != 0;
}

std::optional<Ways::Branch> Ways::past(u32 from, u32 to, bool been) {
  const u32 there = block_of(to);
  const auto last_of = [&](u32 b) { return program_.blocks[b].end - 1; };
  if (!possible(to)) {
    // Closed for good, by the last of those branches that they come to.
    const Marks leads = backwards(there, false);
    std::optional<Branch> out;
    for (u32 b = 0; b < program_.blocks.size(); ++b) {
      if (!from_start_[b] || !leads[b]) continue;
      const std::vector<u32>& open = open_[b];
      for (const u32 next : program_.blocks[b].next) {
        if (!leads[next] || std::count(open.begin(), open.end(), next)) continue;
        if (!out || program_.rank[out->pc] < program_.rank[last_of(b)]) out = {last_of(b), true};
      }
    }
    return out;
  }
  const Marks leads = backwards(there, true);
  const Marks here =
      from == exited ? Marks(program_.blocks.size(), 1) : backwards(block_of(from), true);
  const Marks may = been ? from_start_ : around(there);
  std::optional<Branch> out;
  for (u32 b = 0; b < program_.blocks.size(); ++b) {
    if (!may[b] || !leads[b]) continue;
    const ptx::Instruction& last = program_.code[last_of(b)];
    bool leaves = from == exited && last.guarded && (last.op == Op::exit || last.op == Op::ret);
    for (const u32 next : open_[b]) leaves = leaves || (!leads[next] && here[next]);
    if (!leaves) continue;
    if (out || (!last.guarded && last.op != Op::brx)) return {};
    out = {last_of(b), false};
  }
  return out;
}

}  // namespace tilescope::sim
