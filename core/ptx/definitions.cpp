#include "core/ptx/definitions.h"

#include <algorithm>

namespace tilescope::ptx {
namespace {

// Ways that join and join again: beyond, what a register holds is not known.
constexpr int deepest_way = 400;

}  // namespace

Definitions::Definitions(const Program& program) : program_(program) {
  end_ = static_cast<std::uint32_t>(program.code.size());
  if (program.routines.size() > 1) {
    for (std::size_t r = 1; r < program.routines.size(); ++r) {
      if (program.routines[r].first > 0) end_ = std::min(end_, program.routines[r].first);
    }
  }
  writes_.resize(program.registers.size());
  for (std::uint32_t pc = 0; pc < end_; ++pc) {
    each_written(program, program.code[pc], [&](std::uint32_t reg) {
      if (writes_[reg].empty() || writes_[reg].back() != pc) writes_[reg].push_back(pc);
    });
  }
  before_.resize(program.blocks.size());
  block_of_.resize(program.code.size());
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b) {
    for (std::uint32_t pc = program.blocks[b].first; pc < program.blocks[b].end; ++pc) {
      block_of_[pc] = b;
    }
    for (const std::uint32_t next : program.blocks[b].next) {
      if (program.blocks[b].first < end_) before_[next].push_back(b);
    }
  }
}

Defined Definitions::found(Defined value) const {
  while (value.kind == Defined::Kind::merge && !(same_as_[value.at] == value)) {
    value = same_as_[value.at];
  }
  return value;
}

bool Definitions::comes_round(const Merge& merge, std::size_t input) const {
  return merge.block != Merge::no_block &&
         program_.blocks[merge.from[input]].rank >= program_.blocks[merge.block].rank;
}

Defined Definitions::before(std::uint32_t pc, std::uint32_t reg) {
  const std::vector<std::uint32_t>& writes = writes_[reg];
  if (writes.empty()) return {};
  if (writes.size() == 1 && !program_.code[writes[0]].guarded) {
    return {Defined::Kind::instruction, writes[0], reg};
  }
  return inside(block_of_[pc], pc, reg);
}

// Before `pc` in a block, which may be the block's end.
Defined Definitions::inside(std::uint32_t block, std::uint32_t pc, std::uint32_t reg) {
  const std::vector<std::uint32_t>& writes = writes_[reg];
  for (std::size_t steps = 0; steps <= program_.blocks.size(); ++steps) {
    const auto after = std::lower_bound(writes.begin(), writes.end(), pc);
    if (after != writes.begin() && *(after - 1) >= program_.blocks[block].first) {
      const std::uint32_t last = *(after - 1);
      if (program_.code[last].guarded) return guarded(last, reg);
      return {Defined::Kind::instruction, last, reg};
    }
    if (before_[block].empty()) return {};
    if (before_[block].size() > 1 || block == 0) return at_top(block, reg);
    block = before_[block][0];
    pc = program_.blocks[block].end;
  }
  return {};
}

Defined Definitions::guarded(std::uint32_t pc, std::uint32_t reg) {
  const std::uint64_t key = (std::uint64_t{1} << 63) | std::uint64_t{pc} << 31 | reg;
  const auto [known, added] = known_.try_emplace(key, static_cast<std::uint32_t>(merges_.size()));
  const std::uint32_t number = known->second;
  const Defined own{Defined::Kind::merge, number, 0};
  if (!added) return found(own);
  if (depth_ >= deepest_way) {
    known_.erase(key);
    return {};
  }
  merges_.push_back({Merge::no_block, reg, {{Defined::Kind::instruction, pc, reg}}, {0}, false});
  same_as_.push_back(own);
  ++depth_;
  const Defined other = before(pc, reg);
  --depth_;
  merges_[number].inputs.push_back(other);
  merges_[number].from.push_back(0);
  return own;
}

Defined Definitions::at_top(std::uint32_t block, std::uint32_t reg) {
  const std::uint64_t key = std::uint64_t{block} << 31 | reg;
  const auto [known, added] = known_.try_emplace(key, static_cast<std::uint32_t>(merges_.size()));
  const std::uint32_t number = known->second;
  const Defined own{Defined::Kind::merge, number, 0};
  if (!added) return found(own);
  if (depth_ >= deepest_way) {
    known_.erase(key);
    return {};
  }
  merges_.push_back({block, reg, {}, {}, false});
  same_as_.push_back(own);
  ++depth_;
  const auto add = [&](Defined value, std::uint32_t from) {
    merges_[number].inputs.push_back(value);
    merges_[number].from.push_back(from);
  };
  for (const std::uint32_t from : before_[block]) {
    const Defined value = inside(from, program_.blocks[from].end, reg);
    add(value, from);
  }
  --depth_;
  Merge& merge = merges_[number];
  for (std::size_t i = 0; i < merge.inputs.size(); ++i) {
    merge.loops = merge.loops || comes_round(merge, i);
  }
  if (block == 0) merge.inputs.push_back({}), merge.from.push_back(0);
  settle(number);
  return found(own);
}

void Definitions::settle(std::uint32_t number) {
  const Defined own{Defined::Kind::merge, number, 0};
  Defined only;
  bool any = false;
  for (Defined input : merges_[number].inputs) {
    input = found(input);
    if (input == own) continue;
    if (any && !(input == only)) return;
    only = input;
    any = true;
  }
  if (any) same_as_[number] = only;
}

}  // namespace tilescope::ptx
