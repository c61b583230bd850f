#include "core/ptx/flights.h"

#include <utility>

namespace tilescope::ptx {
namespace {

bool waits_for_all(const Program& program, const Instruction& i) {
  return i.modifiers.group_step() == GroupStep::wait_group && program.operands_of(i)[0].value == 0;
}

}  // namespace

std::vector<Stretch> flight_of(const Program& program, const std::vector<std::uint32_t>& block_of,
                               std::uint32_t product) {
  std::vector<Stretch> out;
  std::vector<bool> seen(program.blocks.size());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open = {{block_of[product], product}};
  while (!open.empty()) {
    const auto [block, from] = open.back();
    open.pop_back();
    const std::uint32_t end = program.blocks[block].end;
    std::uint32_t pc = from;
    while (pc < end && !waits_for_all(program, program.code[pc])) ++pc;
    out.push_back({block, from, pc < end ? pc : end - 1});
    if (pc < end) continue;
    for (const std::uint32_t next : program.blocks[block].next) {
      if (seen[next]) continue;
      seen[next] = true;
      open.emplace_back(next, program.blocks[next].first);
    }
  }
  return out;
}

}  // namespace tilescope::ptx
