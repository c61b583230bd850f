#include "core/sim/checks/around.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <vector>

#include "core/sim/checks/signallers.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// "tcgen05.mma", "mbarrier.arrive", "cp.async.bulk": what products or copies in a row have in
// common.
std::string_view kind_at(const Model& machine, u32 pc) {
  std::string_view text = opcode_text(machine.program().code[pc].text);
  return text.substr(0, text.find('.', text.find('.') + 1));
}

// What a warp executed last of what `is` wants.
std::optional<u32> last_of(const Warp& warp, const std::function<bool(u32 pc)>& is) {
  for (auto v = warp.visited.rbegin(); v != warp.visited.rend(); ++v) {
    if (v->executed && is(v->pc)) return v->pc;
  }
  return {};
}

std::string instruction_text(const Model& machine, const Block& home, u32 thread, u32 pc) {
  return fmt::format("the {} at {}", opcode_text(machine.program().code[pc].text),
                     place_text(machine.site(home, thread, pc)));
}

}  // namespace

std::optional<u32> first_behind(const Model& machine, const Done& done) {
  const std::vector<Visited>& visited = done.block->warps[done.thread / 32].visited;
  const auto it = std::find_if(visited.begin(), visited.end(),
                               [&](const Visited& v) { return v.pc == done.pc; });
  const auto behind = std::find_if(it, visited.end(), [&](const Visited& v) {
    return v.executed && kind_at(machine, v.pc) != kind_at(machine, done.pc);
  });
  return behind == visited.end() ? std::nullopt : std::optional(behind->pc);
}

std::optional<u32> last_before(const Warp& warp, u32 pc) {
  return last_of(warp, [&](u32 other) { return other != pc; });
}

namespace {

bool is_narrow(const Model& machine, u32 pc, std::initializer_list<ptx::Step> steps) {
  const ptx::Instruction& i = machine.program().code[pc];
  if (i.op != ptx::Op::mbarrier || scope_of(i.modifiers, Scope::cta) != Scope::cta) return false;
  return std::count(steps.begin(), steps.end(), i.modifiers.step()) != 0;
}

}  // namespace

std::optional<u32> narrow_behind(const Model& machine, const Done& done) {
  const Warp& warp = done.block->warps[done.thread / 32];
  return last_of(warp, [&](u32 pc) {
    return is_narrow(machine, pc, {ptx::Step::arrive, ptx::Step::arrive_drop});
  });
}

std::optional<u32> narrow_before(const Model& machine, const Warp& warp) {
  return last_of(warp, [&](u32 pc) {
    return is_narrow(machine, pc, {ptx::Step::try_wait, ptx::Step::test_wait});
  });
}

std::string gap_text(const Model& machine, const Block& home, u32 thread, u32 pc,
                     const Done& done) {
  const auto behind = first_behind(machine, done);
  const auto before = last_before(home.warps[thread / 32], pc);
  const auto warp = [&](const Block& block, u32 of) {
    const bool own = &block == &home;
    return fmt::format("warp {}{}", of / 32,
                       own ? "" : fmt::format(" of CTA {} of the cluster", block.rank));
  };
  std::string out;
  if (behind) {
    out = fmt::format("; behind it {} came to {}", warp(*done.block, done.thread),
                      instruction_text(machine, *done.block, done.thread, *behind));
  }
  if (before) {
    out += fmt::format("{} before this {} {}last to {}", behind ? ", and" : ";", warp(home, thread),
                       behind ? "" : "came ", instruction_text(machine, home, thread, *before));
  }
  return out;
}

std::string gap_text(const Core& x, const Done& done) {
  return gap_text(*x.machine, *x.block, x.warp->index * 32, x.pc, done);
}

std::string told_text(const Model& machine, const Block& home, u32 warp) {
  const ptx::Program& program = machine.program();
  const auto pc = last_of(home.warps[warp], [&](u32 at) {
    const auto at_mbarrier = mbarrier_signaller(program, at);
    return (at_mbarrier && at_mbarrier->arrives &&
            program.code[at].modifiers.tensor_step() != ptx::TensorStep::commit) ||
           bar_signaller(program, at) || cluster_signaller(program, at);
  });
  return pc ? fmt::format("; warp {} told of it last by {}", warp,
                          instruction_text(machine, home, warp * 32, *pc))
            : "";
}

std::string before_text(const Model& machine, const Block& home, u32 thread, u32 pc) {
  const std::vector<Visited>& visited = home.warps[thread / 32].visited;
  const auto end =
      std::find_if(visited.begin(), visited.end(), [&](const Visited& v) { return v.pc == pc; });
  for (auto v = end; v != visited.begin() && end != visited.end();) {
    --v;
    if (!v->executed) continue;
    return fmt::format("; before it warp {} came to {}", thread / 32,
                       instruction_text(machine, home, thread, v->pc));
  }
  return "";
}

std::string exits_text(const Model& machine, const Block& block) {
  std::vector<u32> last;
  std::string out;
  for (const Warp& warp : block.warps) {
    const auto pc = last_before(warp, ~0u);
    if (!pc || std::count(last.begin(), last.end(), *pc)) continue;
    out += (last.empty() ? "; its warps came last to " : ", and to ") +
           instruction_text(machine, block, warp.index * 32, *pc);
    last.push_back(*pc);
  }
  return out;
}

namespace {

// Does `wait` wait for groups of what `operation` is?
bool waits_for_its_group(const ptx::Instruction& wait, const ptx::Instruction& operation) {
  if (operation.op == ptx::Op::wgmma)
    return wait.modifiers.group_step() == ptx::GroupStep::wait_group;
  const ptx::Operation what = wait.modifiers.operation();
  return operation.op == ptx::Op::cp && wait.op == ptx::Op::cp &&
         (what == ptx::Operation::wait_group || what == ptx::Operation::wait_all) &&
         wait.modifiers.has(ptx::Field::bulk) == operation.modifiers.has(ptx::Field::bulk);
}

}  // namespace

std::string waited_text(const Model& machine, const Done& operation) {
  const auto& code = machine.program().code;
  const ptx::Instruction& what = code[operation.pc];
  if (what.op != ptx::Op::wgmma && what.op != ptx::Op::cp) return "";
  const auto pc = last_of(operation.block->warps[operation.thread / 32],
                          [&](u32 wait) { return waits_for_its_group(code[wait], what); });
  if (!pc) return "";
  return "; its warp waited last by " +
         instruction_text(machine, *operation.block, operation.thread, *pc);
}

namespace {

// What flips a parity, chooses it, or hands it on.
bool makes_parities(ptx::Op op) {
  using ptx::Op;
  return op == Op::mov || op == Op::selp || op == Op::xor_ || op == Op::and_ || op == Op::not_ ||
         op == Op::lop3 || op == Op::add || op == Op::setp;
}

bool is_register(const ptx::Operand& o) {
  using Kind = ptx::Operand::Kind;
  return (o.kind == Kind::reg || o.kind == Kind::predicate) && o.index != ptx::no_register;
}

// The instructions that these registers go back to, each once.
std::vector<u32> makers_of(const ptx::Program& program, u32 first) {
  constexpr std::size_t most = 8;
  std::vector<u32> registers{first}, out;
  for (std::size_t k = 0; k < registers.size() && out.size() <= most; ++k) {
    for (u32 pc = 0; pc < program.code.size(); ++pc) {
      const ptx::Instruction& i = program.code[pc];
      if (!makes_parities(i.op)) continue;
      const ptx::Operand* const operands = program.operands_of(i);
      const auto sets = [&](const ptx::Operand& o) {
        return o.written && is_register(o) && o.index == registers[k];
      };
      if (!std::any_of(operands, operands + i.count, sets)) continue;
      if (!std::count(out.begin(), out.end(), pc)) out.push_back(pc);
      for (u32 n = 0; n < i.count; ++n) {
        const ptx::Operand& o = operands[n];
        if (o.written || !is_register(o)) continue;
        if (!std::count(registers.begin(), registers.end(), o.index)) registers.push_back(o.index);
      }
    }
  }
  if (out.size() > most) out.clear();
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::string parity_text(const Model& machine, u32 wait) {
  const ptx::Program& program = machine.program();
  const ptx::Instruction& i = program.code[wait];
  if (i.op != ptx::Op::mbarrier || !i.modifiers.has(ptx::Field::parity)) return "";
  const ptx::Operand* parity = nullptr;
  for (u32 n = 0; n < i.count; ++n) {
    const ptx::Operand& o = program.operands_of(i)[n];
    if (!o.written && o.kind == ptx::Operand::Kind::reg && o.index != ptx::no_register) {
      parity = &o;
      break;  // the address is of another kind, and a time limit comes behind
    }
  }
  if (!parity) return "";
  const std::vector<u32> makers = makers_of(program, parity->index);
  std::string lines;
  for (std::size_t k = 0; k < makers.size(); ++k) {
    lines += k == 0 ? "" : k + 1 == makers.size() ? " and " : ", ";
    lines += fmt::format("PTX line {}", program.code[makers[k]].line);
  }
  if (lines.empty()) return "";
  return fmt::format("; its parity, {}, is made at {}", program.name_of_register(parity->index),
                     lines);
}

std::string unheard_text(const Core& x, u32 mbarrier) {
  const Model& machine = *x.machine;
  const auto found = x.block->mbarriers.find(mbarrier);
  if (found == x.block->mbarriers.end() || !x.block->order.on()) return "";
  const Mbarrier& b = found->second;
  const std::string name = mbarrier_name(machine, mbarrier);
  const Agent me = x.block->order.of(x.warp->index).me();
  for (const PassedWait& w : b.waited) {
    if (!(w.agent == me)) continue;
    return fmt::format(
               "; it completes on {}, which is in phase {}, and warp {} waited there last at {}, "
               "for {}",
               name, b.phase, x.warp->index, place_text(machine.site(*x.block, w.thread, w.pc)),
               w.phases ? fmt::format("phase {}", w.phases - 1) : "the one before the first") +
           parity_text(machine, w.pc);
  }
  return fmt::format("; it completes on {}, for which warp {} has never waited", name,
                     x.warp->index);
}

std::string last_text(const Model& machine, const Block& home, u32 thread) {
  const auto last = last_before(home.warps[thread / 32], ~0u);
  return last ? fmt::format("; warp {} came last to {}", thread / 32,
                            instruction_text(machine, home, thread, *last))
              : "";
}

std::string undefined_text(const Model& machine, const Region& region, u64 offset) {
  const Writer writer = region.writer(offset);
  if (!writer) return ", which nobody had written" + neighbours_text(machine, region, offset);
  return fmt::format(", which the {} at {} wrote without a value",
                     opcode_text(machine.program().code[writer.pc()].text),
                     place_text(machine.site_of(writer)));
}

std::string neighbours_text(const Model& machine, const Region& region, u64 offset) {
  constexpr u64 near = 1 << 16;
  const auto is_written = [&](u64 byte) {
    return region.writer(byte) && !region.is_undefined(byte);
  };
  std::optional<u64> before, behind;
  for (u64 byte = offset; byte-- > 0 && offset - byte < near && !before;) {
    if (is_written(byte)) before = byte;
  }
  for (u64 byte = offset; byte < region.size() && byte - offset < near && !behind; ++byte) {
    if (is_written(byte)) behind = byte;
  }
  const auto place = [&](u64 byte) { return place_text(machine.site_of(region.writer(byte))); };
  if (before && behind)
    return fmt::format("; what lies before it was written at {}, what lies behind it at {}",
                       place(*before), place(*behind));
  if (before) return "; what lies before it was written at " + place(*before);
  if (behind) return "; what lies behind it was written at " + place(*behind);
  return "";
}

}  // namespace tilescope::sim
