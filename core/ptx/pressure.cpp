#include "core/ptx/pressure.h"

#include <algorithm>

#include "core/ptx/bits.h"
#include "core/ptx/flights.h"

namespace tilescope::ptx {
namespace {

using u32 = std::uint32_t;

class Pressure {
 public:
  explicit Pressure(const Program& program)
      : program_(program), weights_(program.registers.size()) {
    for (u32 r = 0; r < weights_.size(); ++r) weights_[r] = words_of(r);
    drop_what_is_uniform();
    live();
  }

  // Of each routine the most that is alive in it.
  std::vector<u32> most() const {
    std::vector<u32> out(program_.routines.size());
    for (std::size_t b = 0; b < program_.blocks.size(); ++b) {
      u32& own = out[routine_of(program_.blocks[b].first)];
      own = std::max(own, walk(b));
    }
    return out;
  }

 private:
  template <class F>
  void each_register(const Operand& o, F f) const {
    if (o.kind == Operand::Kind::vector) {
      for (u32 e = 0; e < o.count; ++e) each_register(program_.elements[o.index + e], f);
    } else if (o.index != no_register &&
               (o.kind == Operand::Kind::reg || o.kind == Operand::Kind::predicate ||
                o.kind == Operand::Kind::address)) {
      f(o.index, o.written);
    }
  }
  template <class F>
  void each_register(const Instruction& i, F f) const {
    if (i.guarded) f(i.guard, false);
    for (u32 o = 0; o < i.count; ++o) each_register(program_.operands_of(i)[o], f);
    if (is_group_product(i) && adds_to_registers(program_, i)) {
      each_register(program_.operands_of(i)[0], [&](u32 reg, bool) { f(reg, false); });
    }
  }

  // Registers that are one are counted once.
  u32 one(u32 reg) const {
    const u32 same = program_.registers[reg].same;
    return same == no_register ? reg : same;
  }

  u32 words_of(u32 reg) const {
    const int bits = bits_of(program_.registers[reg].type);
    return bits == 1 ? 0 : static_cast<u32>((bits + 31) / 32);
  }

  static bool computes(const Instruction& i) {
    return i.unit == Unit::move || i.unit == Unit::integer;
  }

  // What all lanes of a block compute alike of what is constant, each by one instruction.
  void drop_what_is_uniform() {
    std::vector<u32> writes(weights_.size());
    for (const Instruction& i : program_.code) {
      each_register(i, [&](u32 reg, bool written) { writes[reg] += written; });
    }
    std::vector<bool> uniform(weights_.size());
    for (const auto& [special, reg] : program_.specials) {
      uniform[reg] = !is_of_lane(special);
      if (is_of_lane(special)) continue;
      weights_[reg] = 0;
    }
    for (const Instruction& i : program_.code) {
      const bool loads = i.op == Op::ld && i.modifiers.space() == Space::param;
      if (i.guarded || !(loads || computes(i))) continue;
      bool all = true;
      each_register(i, [&](u32 reg, bool written) {
        all = all && (written ? writes[reg] == 1 : static_cast<bool>(uniform[reg]));
      });
      if (!all) continue;
      each_register(i, [&](u32 reg, bool written) {
        if (!written) return;
        uniform[reg] = true;
        weights_[reg] = 0;
      });
    }
  }
  static bool is_of_lane(Special s) {
    return s == Special::tid_x || s == Special::tid_y || s == Special::tid_z ||
           s == Special::laneid || s == Special::warpid ||
           (s >= Special::lanemask_eq && s <= Special::lanemask_gt);
  }

  void live() {
    const std::size_t count = weights_.size();
    const auto& blocks = program_.blocks;
    std::vector<Bits> needs(blocks.size(), Bits(count)), writes(blocks.size(), Bits(count));
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      for (u32 pc = blocks[b].first; pc < blocks[b].end; ++pc) {
        const Instruction& i = program_.code[pc];
        each_register(i, [&](u32 reg, bool written) {
          if (!written && !writes[b].has(one(reg))) needs[b].set(one(reg));
        });
        if (i.guarded) continue;
        each_register(i, [&](u32 reg, bool written) {
          if (written) writes[b].set(one(reg));
        });
      }
    }
    out_.assign(blocks.size(), Bits(count));
    for (bool grew = true; grew;) {
      grew = false;
      for (std::size_t b = blocks.size(); b-- > 0;) {
        for (const u32 to : blocks[b].next) {
          grew |= out_[b].add(needs[to]);
          grew |= out_[b].add(out_[to], &writes[to]);
        }
      }
    }
  }

  // The most that is alive before or behind an instruction of the block.
  u32 walk(std::size_t b) const {
    const Block& block = program_.blocks[b];
    Bits alive = out_[b];
    u32 now = 0, most = 0;
    alive.each([&](u32 reg) { now += weights_[reg]; });
    most = now;
    for (u32 pc = block.end; pc-- > block.first;) {
      const Instruction& i = program_.code[pc];
      each_register(i, [&](u32 reg, bool written) {
        reg = one(reg);
        if (!written || i.guarded || !alive.has(reg)) return;
        alive.clear(reg);
        now -= weights_[reg];
      });
      each_register(i, [&](u32 reg, bool written) {
        reg = one(reg);
        if (written || alive.has(reg)) return;
        alive.set(reg);
        now += weights_[reg];
      });
      most = std::max(most, now);
    }
    return most;
  }

  std::size_t routine_of(u32 pc) const {
    std::size_t out = 0;
    for (std::size_t r = 1; r < program_.routines.size(); ++r) {
      if (program_.routines[r].builtin == Builtin::none && program_.routines[r].first <= pc)
        out = r;
    }
    return out;
  }

  const Program& program_;
  std::vector<u32> weights_;  // words of each register
  std::vector<Bits> out_;     // alive behind each block
};

u32 product(const std::array<u32, 3>& block) {
  return block[0] * std::max(block[1], 1u) * std::max(block[2], 1u);
}

}  // namespace

u32 estimated_registers(const Program& program) {
  const std::vector<u32> most = Pressure(program).most();
  u32 words = most[0];
  // What a caller keeps and what those it calls need: together, where that is known.
  for (std::size_t r = 1; r < most.size(); ++r) words = std::max(words, most[r] + 16);
  const u32 out = words * 21 / 20 + 8;  // FITTED, on the kernels that the header tells of
  const Function& entry = program.entry;
  u32 allowed = most_registers;
  if (entry.maximum_registers) allowed = std::min(allowed, entry.maximum_registers);
  const u32 threads = std::max(product(entry.required_block), product(entry.maximum_block));
  if (threads) {
    const u32 blocks = std::max(1u, entry.minimum_blocks_per_sm);
    const u32 warps = (threads + 31) / 32;
    allowed = std::min(allowed, std::max(16u, registers_of_sm / (32 * warps * blocks) / 8 * 8));
  }
  return std::min(out, allowed);
}

}  // namespace tilescope::ptx
