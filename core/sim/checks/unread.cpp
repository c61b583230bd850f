#include "core/sim/checks/unread.h"

#include <algorithm>
#include <vector>

#include "core/ptx/definitions.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using ptx::Op;

bool tells(const ptx::Instruction& i) {
  switch (i.op) {
    case Op::mbarrier:
    case Op::bar:
    case Op::barrier:
      return true;
    case Op::cp:
      return i.modifiers.has(ptx::Field::bulk);
    case Op::st:
    case Op::atom:
    case Op::red:
      return i.op != Op::st || i.modifiers.has(ptx::Field::order);
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

bool may_be_overtaken(Model& machine, std::uint32_t pc) {
  if (!machine.global_watch.watches_proxies()) return false;
  const auto [known, fresh] = machine.told_before_use.try_emplace(pc, false);
  if (fresh) known->second = tells_before_use(machine.program(), pc);
  return known->second;
}

}  // namespace tilescope::sim
