#include "core/sim/checks/unread.h"

#include <algorithm>
#include <vector>

#include "core/ptx/definitions.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using ptx::Op;

// Nobody of another warp hears of it by a wait, by bar.warp.sync, or by what only makes an mbarrier
// or asks it.
bool tells(const ptx::Instruction& i) {
  using ptx::Operation;
  using ptx::Step;
  const ptx::Modifiers& how = i.modifiers;
  switch (i.op) {
    case Op::mbarrier:
      return how.step() == Step::arrive || how.step() == Step::arrive_drop;
    case Op::bar:
      return !how.has(ptx::Field::warp);
    case Op::barrier:
      return how.operation() != Operation::wait;
    case Op::cp:
      return how.has(ptx::Field::bulk) && how.operation() != Operation::commit_group &&
             how.operation() != Operation::wait_group && !how.has(ptx::Field::prefetching);
    case Op::st:
    case Op::atom:
    case Op::red:
      return i.op != Op::st || how.has(ptx::Field::order);
    default:
      return false;
  }
}

bool divides(Op op) {
  return op == Op::bra || op == Op::brx || op == Op::call || op == Op::ret || op == Op::exit ||
         op == Op::trap;
}

}  // namespace

bool tells_before_use(const ptx::Program& program, std::uint32_t pc) {
  constexpr std::uint32_t farthest = 512;
  std::vector<std::uint32_t> loaded;
  ptx::each_written(program, program.code[pc], [&](std::uint32_t reg) { loaded.push_back(reg); });
  if (loaded.empty()) return false;
  const std::uint32_t end =
      std::min(static_cast<std::uint32_t>(program.code.size()), pc + farthest);
  for (std::uint32_t at = pc + 1; at < end; ++at) {
    const ptx::Instruction& i = program.code[at];
    bool used = false;
    ptx::each_read(program, i, [&](std::uint32_t reg) {
      used = used || std::find(loaded.begin(), loaded.end(), reg) != loaded.end();
    });
    if (used || divides(i.op)) return false;
    if (tells(i)) return true;
  }
  return false;
}

namespace {

bool waits(const ptx::Instruction& i) {
  const ptx::Step step = i.modifiers.step();
  return i.op == Op::mbarrier && (step == ptx::Step::test_wait || step == ptx::Step::try_wait);
}

// A branch that goes on at the same place whichever way it goes: its predicate decides nothing.
bool decides_nothing(const ptx::Program& program, std::uint32_t pc) {
  const ptx::Instruction& i = program.code[pc];
  if (i.op != Op::bra || !i.guarded) return false;
  // Where unconditional branches lead to, one after the other.
  const auto end_of = [&](std::uint32_t at) {
    for (int steps = 0; steps < 8 && at < program.code.size(); ++steps) {
      const ptx::Instruction& next = program.code[at];
      if (next.op != Op::bra || next.guarded) break;
      at = program.operands_of(next)[0].index;
    }
    return at;
  };
  return end_of(program.operands_of(i)[0].index) == end_of(pc + 1);
}

// Of which waits somebody reads the answer, by way of what reads a predicate that holds it there.
class ReadAnswers {
 public:
  ReadAnswers(const ptx::Program& program, std::uint32_t end)
      : program_(program), end_(end), definitions_(program) {}

  void follow(std::vector<bool>& unread) {
    std::vector<bool> answers(program_.registers.size(), false);
    for (std::uint32_t pc = 0; pc < end_; ++pc) {
      if (!unread[pc]) continue;
      ptx::each_written(program_, program_.code[pc],
                        [&](std::uint32_t reg) { answers[reg] = true; });
    }
    for (std::uint32_t pc = 0; pc < end_; ++pc) {
      if (decides_nothing(program_, pc)) continue;
      ptx::each_read(program_, program_.code[pc], [&](std::uint32_t reg) {
        if (answers[reg]) read(definitions_.before(pc, reg), reg, unread);
      });
      while (!merges_.empty()) {
        const ptx::Merge merge = definitions_.merge(merges_.back());
        merges_.pop_back();
        for (const ptx::Defined& input : merge.inputs) read(input, merge.reg, unread);
      }
    }
  }

 private:
  void read(ptx::Defined value, std::uint32_t reg, std::vector<bool>& unread) {
    value = definitions_.found(value);
    if (value.kind == ptx::Defined::Kind::instruction) {
      unread[value.at] = false;
    } else if (value.kind == ptx::Defined::Kind::merge) {
      if (seen_.size() <= value.at) seen_.resize(value.at + 1, false);
      if (!seen_[value.at]) merges_.push_back(value.at);
      seen_[value.at] = true;
    } else {  // whatever wrote it
      for (std::uint32_t pc = 0; pc < end_; ++pc) {
        ptx::each_written(program_, program_.code[pc],
                          [&](std::uint32_t r) { unread[pc] = unread[pc] && r != reg; });
      }
    }
  }

  const ptx::Program& program_;
  std::uint32_t end_;
  ptx::Definitions definitions_;
  std::vector<std::uint32_t> merges_;
  std::vector<bool> seen_;
};

}  // namespace

std::vector<bool> unread_waits(const ptx::Program& program) {
  // Functions that are called are not looked at.
  const std::size_t end =
      program.routines.size() > 1 ? program.routines[1].first : program.code.size();
  std::vector<bool> out(program.code.size(), false);
  bool any = false;
  for (std::size_t pc = 0; pc < end; ++pc) any = (out[pc] = waits(program.code[pc])) || any;
  if (any) ReadAnswers(program, static_cast<std::uint32_t>(end)).follow(out);
  return out;
}

std::vector<bool> unread_atomics(const ptx::Program& program) {
  std::vector<bool> out(program.code.size(), false);
  bool any = false;
  for (std::size_t pc = 0; pc < out.size(); ++pc) {
    const Op op = program.code[pc].op;
    any = (out[pc] = op == Op::atom || op == Op::red) || any;
  }
  if (!any) return out;
  std::vector<bool> read(program.registers.size(), false);
  for (const ptx::Instruction& i : program.code) {
    ptx::each_read(program, i, [&](std::uint32_t reg) { read[reg] = true; });
  }
  for (std::size_t pc = 0; pc < out.size(); ++pc) {
    if (!out[pc]) continue;
    ptx::each_written(program, program.code[pc],
                      [&](std::uint32_t reg) { out[pc] = out[pc] && !read[reg]; });
  }
  return out;
}

bool may_be_overtaken(Model& machine, std::uint32_t pc) {
  if (!machine.global_watch.watches_proxies()) return false;
  const auto [known, fresh] = machine.told_before_use.try_emplace(pc, false);
  if (fresh) known->second = tells_before_use(machine.program(), pc);
  return known->second;
}

}  // namespace tilescope::sim
