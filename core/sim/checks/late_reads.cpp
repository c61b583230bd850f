#include "core/sim/checks/late_reads.h"

#include <algorithm>
#include <optional>

#include "core/ptx/definitions.h"
#include "core/sim/checks/unordered.h"
#include "core/sim/lanes/services.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using ptx::Op;
using u32 = std::uint32_t;

constexpr u32 farthest = 512;  // instructions from a load to its last store

bool computes(const ptx::Instruction& i) {
  return i.op < Op::ld && !i.modifiers.has(ptx::Field::cc) && i.op != Op::addc &&
         i.op != Op::subc && i.op != Op::madc;
}

// ld and st that do not synchronise.
bool is_plain(const ptx::Instruction& i) {
  return (i.op == Op::ld || i.op == Op::ldu || i.op == Op::st) &&
         !i.modifiers.has(ptx::Field::order) && !i.modifiers.has(ptx::Field::mmio) &&
         !i.modifiers.has(ptx::Field::async) && !i.modifiers.has(ptx::Field::bulk);
}

bool is_guarded_store(const ptx::Instruction& i) {
  const ptx::Space space = i.modifiers.space();
  return i.op == Op::st && i.guarded && is_plain(i) &&
         (space == ptx::Space::global || space == ptx::Space::shared ||
          space == ptx::Space::generic);
}

// What the value of a load comes to, instruction by instruction behind it.
class Follower {
 public:
  explicit Follower(const ptx::Program& program)
      : program_(program), reads_(program.registers.size()) {
    for (const ptx::Instruction& i : program.code) {
      ptx::each_read(program, i, [&](u32 reg) { ++reads_[reg]; });
    }
    begins_.resize(program.code.size() + 1, false);
    for (const ptx::Block& b : program.blocks) begins_[b.first] = true;
  }

  // The stores of its value; empty: it comes to something else as well, or to nothing.
  std::vector<u32> follow(u32 load) {
    stores_.clear();
    holds_.clear();
    const ptx::Instruction& from = program_.code[load];
    ptx::each_written(program_, from, [&](u32 reg) { holds_.push_back({reg, 0}); });
    for (const Held& h : holds_) {
      if (from.guarded && !is_set_before(load, h.reg)) return {};
    }
    const auto size = static_cast<u32>(program_.code.size());
    bool one_guard = true;  // each store has the load's own: who loads, stores
    for (u32 at = load + 1; at < std::min(size, load + farthest); ++at) {
      const ptx::Instruction& i = program_.code[at];
      if (begins_[at] || (!computes(i) && !is_plain(i))) break;
      bool uses = false;
      ptx::each_read(program_, i, [&](u32 reg) { uses = note_read(reg) || uses; });
      if (!uses) continue;
      if (i.guarded && holds(i.guard)) return {};
      if (computes(i)) {
        ptx::each_written(program_, i, [&](u32 reg) {
          if (!holds(reg)) holds_.push_back({reg, 0});
        });
      } else if (is_guarded_store(i)) {
        one_guard = one_guard && from.guarded && i.guard == from.guard &&
                    i.guard_negated == from.guard_negated;
        stores_.push_back(at);
      } else {
        return {};
      }
    }
    // Somebody else reads a register that holds it, further on or round a loop.
    for (const Held& h : holds_) {
      if (h.reads != reads_[h.reg]) return {};
    }
    return one_guard ? std::vector<u32>{} : stores_;
  }

 private:
  // In the same straight run, whatever guards it.
  bool is_set_before(u32 pc, u32 reg) const {
    bool is = false;
    while (!is && !begins_[pc] && pc-- > 0) {
      const ptx::Instruction& i = program_.code[pc];
      if (!i.guarded) ptx::each_written(program_, i, [&](u32 r) { is = is || r == reg; });
    }
    return is;
  }

  struct Held {
    u32 reg = 0, reads = 0;
  };
  bool holds(u32 reg) const {
    return std::any_of(holds_.begin(), holds_.end(), [&](const Held& h) { return h.reg == reg; });
  }
  bool note_read(u32 reg) {
    for (Held& h : holds_) {
      if (h.reg != reg) continue;
      ++h.reads;
      return true;
    }
    return false;
  }

  const ptx::Program& program_;
  std::vector<u32> reads_;    // of each register, in the whole program
  std::vector<bool> begins_;  // a straight run, by instruction
  std::vector<u32> stores_;
  std::vector<Held> holds_;
};

}  // namespace

std::shared_ptr<const LateReads> LateReads::of(const ptx::Program& program) {
  const auto size = static_cast<u32>(program.code.size());
  std::optional<Follower> follower;
  std::shared_ptr<LateReads> out;
  for (u32 pc = size, store = ~0u; pc-- > 0;) {
    const ptx::Instruction& i = program.code[pc];
    if (is_guarded_store(i)) store = pc;
    if (i.op != Op::ld || !is_plain(i) || store == ~0u || store - pc > farthest) continue;
    if (!follower) follower.emplace(program);
    const std::vector<u32> stores = follower->follow(pc);
    if (stores.empty()) continue;
    if (!out) {
      out = std::make_shared<LateReads>();
      out->stores_of_.assign(size, 0);
      out->stores_.assign(1, 0);
    }
    out->stores_of_[pc] = static_cast<u32>(out->stores_.size());
    out->stores_.insert(out->stores_.end(), stores.begin(), stores.end());
    out->stores_.push_back(pc);
  }
  return out;
}

bool LateReads::is_stored_by(u32 load, u32 store) const {
  for (u32 at = stores_of_[load]; stores_[at] != load; ++at) {
    if (stores_[at] == store) return true;
  }
  return false;
}

bool keep_late_read(Core& x, const Region& region, const MemoryAccess& access) {
  const LateReads* late = x.machine->image->late_reads.get();
  if (!late || access.kind != Shadow::Kind::read || !access.by_lane || !late->is_late(access.pc)) {
    return false;
  }
  std::vector<LateRead>& kept = x.warp->late_reads;
  // Of those that went elsewhere nothing is left (drop_late_reads).
  kept.erase(std::remove_if(kept.begin(), kept.end(), [](const LateRead& r) { return !r.mask; }),
             kept.end());
  LateRead& read = kept.emplace_back();
  read.pc = access.pc;
  read.mask = access.mask;
  read.bytes = access.bytes;
  read.base = region.base();
  for (u32 lane = 0; lane < 32; ++lane) {
    read.offsets[lane] =
        access.run ? access.offsets[0] + std::uint64_t{lane} * access.bytes : access.offsets[lane];
  }
  return true;
}

void count_late_reads(Core& x, u32 m) {
  const LateReads& late = *x.machine->image->late_reads;
  std::vector<LateRead>& kept = x.warp->late_reads;
  const u32 store = x.pc;
  for (std::size_t n = 0; n < kept.size();) {
    LateRead& read = kept[n];
    const u32 now = read.mask & m;
    if (!now || !late.is_stored_by(read.pc, store)) {
      ++n;
      continue;
    }
    Region* region = find_region(x, read.base);
    read.mask &= ~now;
    if (region && region->watched) {
      MemoryAccess access{Shadow::Kind::read,  false,      x.warp->index, read.pc, now,
                          read.offsets.data(), read.bytes, false,         true};
      x.pc = read.pc;  // what is told is told of the load
      look_at_region(x, *region, access);
      x.pc = store;
    }
    if (read.mask) {
      ++n;
    } else {
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(n));
    }
  }
}

}  // namespace tilescope::sim
