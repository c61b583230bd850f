// Reports that let the run go on: each once a site, with a count.
#include <fmt/format.h>

#include "core/sim/machine.h"

namespace tilescope::sim {
namespace {

const char* verb_of(Races::Kind kind) {
  switch (kind) {
    case Races::Kind::read:
      return "reads";
    case Races::Kind::atomic:
      return "updates";
    default:
      return "writes";
  }
}

}  // namespace

void Machine::hazard(const Core& x, int lane, std::string kind, std::uint32_t other_pc,
                     const std::function<Report()>& tell) {
  const auto [known, added] = hazards_.try_emplace({kind, x.pc, other_pc}, reports_.size());
  if (!added) {
    ++reports_[known->second].count;
    return;
  }
  Report r = tell();
  r.weight = Weight::hazard;
  r.kind = std::move(kind);
  r.site = site(*x.block, x.warp->index * 32 + static_cast<std::uint32_t>(lane), x.pc);
  reports_.push_back(std::move(r));
}

// Shared memory that two warps touch, and nothing says in which order.
void watch(Core& x, const Races::Access& access) {
  Races::Conflict c;
  if (!x.block->races.access(access, c)) return;
  Machine& machine = *x.machine;
  const auto lane = static_cast<int>(c.lane);
  machine.hazard(x, lane, c.pending ? "copy_not_awaited" : "shared_race", c.pc, [&] {
    const ptx::Program& program = machine.program();
    const Site other = machine.site(*x.block, c.warp * 32, c.pc);
    const std::string where =
        other.source.empty()
            ? fmt::format("PTX line {}", other.ptx_line)
            : fmt::format("{}:{} (PTX line {})", other.source, other.source_line, other.ptx_line);
    Report r;
    if (c.pending) {
      r.sentence = fmt::format(
          "{} {} byte {} of shared memory, where the cp.async at {} of warp {} may still be "
          "writing: "
          "nobody has waited for it",
          ptx::opcode(program.code[x.pc].op).name, verb_of(access.kind), c.offset, where, c.warp);
      r.expected = "cp.async.wait_group or wait_all by the thread that copies, then a barrier";
      r.found = "a copy in flight";
      return r;
    }
    r.sentence = fmt::format(
        "{} {} byte {} of shared memory, which warp {} {} at {}, and no barrier lies between",
        ptx::opcode(program.code[x.pc].op).name, verb_of(access.kind), c.offset, c.warp,
        verb_of(c.other), where);
    r.expected = "a barrier, or atomics that order the two";
    r.found = "either could be first";
    return r;
  });
}

}  // namespace tilescope::sim
