// Which instruction wrote what a register holds at a place of an entry: static single assignment on
// demand, for whoever asks about a few registers of a large kernel.
//
// Where several writes can reach a place they meet in a Merge: at the top of the block where their
// ways join, or at a guarded instruction, which leaves the register as it was where its guard does
// not hold. A merge of which all inputs are the same value is that value. (Braun et al., Simple and
// Efficient Construction of Static Single Assignment Form, CC 2013.)
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/ptx/program.h"

namespace tilescope::ptx {

// A value: what the instruction `at` writes into `reg`, or a merge.
struct Defined {
  enum class Kind : std::uint8_t { unknown, instruction, merge } kind = Kind::unknown;
  std::uint32_t at = 0;   // an instruction, or a number of Definitions::merge
  std::uint32_t reg = 0;  // of an instruction: which of those that it writes
  friend bool operator==(const Defined& a, const Defined& b) {
    return a.kind == b.kind && a.at == b.at && a.reg == b.reg;
  }
};

struct Merge {
  static constexpr std::uint32_t no_block = ~0u;
  std::uint32_t block = no_block;  // none: at a guarded instruction
  std::uint32_t reg = 0;
  std::vector<Defined> inputs;
  std::vector<std::uint32_t> from;  // of each input: the block that it comes out of
  bool loops = false;               // one of them comes round a loop
};

class Definitions {
 public:
  explicit Definitions(const Program& program);

  // What `reg` holds before the instruction `pc`.
  Defined before(std::uint32_t pc, std::uint32_t reg);
  const Merge& merge(std::uint32_t number) const { return merges_[number]; }
  std::size_t merges() const { return merges_.size(); }
  // A merge that turned out to be another value is that.
  Defined found(Defined value) const;
  // Does the input come round the loop that the merge's block is the top of?
  bool comes_round(const Merge& merge, std::size_t input) const;
  std::uint32_t block_of(std::uint32_t pc) const { return block_of_[pc]; }

 private:
  Defined inside(std::uint32_t block, std::uint32_t pc, std::uint32_t reg);
  Defined at_top(std::uint32_t block, std::uint32_t reg);
  Defined guarded(std::uint32_t pc, std::uint32_t reg);
  void settle(std::uint32_t number);

  const Program& program_;
  std::uint32_t end_ = 0;                           // of the entry's instructions
  std::vector<std::vector<std::uint32_t>> writes_;  // of each register, ascending
  std::vector<std::vector<std::uint32_t>> before_;  // of each block: those that lead to it
  std::vector<std::uint32_t> block_of_;
  std::vector<Merge> merges_;
  std::vector<Defined> same_as_;  // of each merge
  std::unordered_map<std::uint64_t, std::uint32_t> known_;
  int depth_ = 0;
};

// The registers that an instruction writes, and those that it reads: predicates, bases of addresses
// and its guard among them.
template <class F>
void each_written(const Program& program, const Instruction& i, F f) {
  const Operand* o = program.operands_of(i);
  for (std::uint32_t k = 0; k < i.count; ++k) {
    if (o[k].kind == Operand::Kind::vector) {
      for (std::uint32_t e = 0; e < o[k].count; ++e) {
        const Operand& x = program.elements[o[k].index + e];
        if ((o[k].written || x.written) && x.kind == Operand::Kind::reg) f(x.index);
      }
    } else if (o[k].written && o[k].index != no_register &&
               (o[k].kind == Operand::Kind::reg || o[k].kind == Operand::Kind::predicate)) {
      f(o[k].index);
    }
  }
}

template <class F>
void each_read(const Program& program, const Instruction& i, F f) {
  const Operand* o = program.operands_of(i);
  for (std::uint32_t k = 0; k < i.count; ++k) {
    if (o[k].kind == Operand::Kind::vector) {
      for (std::uint32_t e = 0; e < o[k].count; ++e) {
        const Operand& x = program.elements[o[k].index + e];
        if (!o[k].written && !x.written && x.kind == Operand::Kind::reg) f(x.index);
      }
    } else if (!o[k].written && o[k].index != no_register &&
               (o[k].kind == Operand::Kind::reg || o[k].kind == Operand::Kind::predicate ||
                o[k].kind == Operand::Kind::address)) {
      f(o[k].index);
    }
  }
  if (i.guarded && i.guard != no_register) f(i.guard);
}

}  // namespace tilescope::ptx
