#include "core/sim/checks/signallers.h"

namespace tilescope::sim {

std::optional<Signaller> mbarrier_signaller(const ptx::Program& program, std::uint32_t pc) {
  const ptx::Instruction& i = program.code[pc];
  const auto& rules = ptx::operands_of(ptx::opcode(i.op), i.form);
  const ptx::Operand* const operands = program.operands_of(i);
  Signaller out;
  out.pc = pc;
  const ptx::Operand* address = nullptr;
  for (std::uint32_t k = 0; k < i.count && k < rules.size(); ++k) {
    using Kind = ptx::OperandRule::Kind;
    if (rules[k].kind == Kind::mbarrier_address) {
      address = &operands[k];
      out.brings = true;
      break;
    }
    if (!address && operands[k].kind == ptx::Operand::Kind::address) address = &operands[k];
  }
  if (!address) return {};
  out.place = *address;
  if (out.brings) return out;
  if (i.op == ptx::Op::mbarrier) {
    out.by_rank = true;
    switch (i.modifiers.step()) {
      case ptx::Step::expect_tx:
        out.expects = true;
        return out;
      case ptx::Step::complete_tx:
        out.brings = true;
        return out;
      case ptx::Step::arrive:
      case ptx::Step::arrive_drop:
        out.arrives = true;
        out.expects = i.modifiers.has(ptx::Field::expects);
        return out;
      default:
        return {};
    }
  }
  out.arrives = i.modifiers.has(ptx::Field::on_mbarrier) ||
                i.modifiers.tensor_step() == ptx::TensorStep::commit;
  if (out.arrives) return out;
  return {};
}

std::optional<Signaller> bar_signaller(const ptx::Program& program, std::uint32_t pc) {
  const ptx::Instruction& i = program.code[pc];
  const bool bar =
      (i.op == ptx::Op::bar || i.op == ptx::Op::barrier) && i.unit == ptx::Unit::barrier;
  if (!bar || i.modifiers.has(ptx::Field::cluster) || i.modifiers.has(ptx::Field::warp)) return {};
  Signaller out;
  out.pc = pc;
  out.arrives = true;
  for (std::uint32_t k = 0; k < i.count; ++k) {
    const ptx::Operand& o = program.operands_of(i)[k];
    if (o.written || o.kind == ptx::Operand::Kind::predicate || o.kind == ptx::Operand::Kind::none)
      continue;
    out.place = o;
    return out;
  }
  return {};
}

std::optional<Signaller> cluster_signaller(const ptx::Program& program, std::uint32_t pc) {
  const ptx::Instruction& i = program.code[pc];
  if (i.unit != ptx::Unit::barrier || !i.modifiers.has(ptx::Field::cluster) ||
      i.modifiers.operation() == ptx::Operation::wait) {
    return {};
  }
  Signaller out;
  out.pc = pc;
  out.arrives = true;
  return out;
}

bool brings_others_on(const ptx::Program& program, std::uint32_t pc) {
  return program.code[pc].modifiers.group_step() == ptx::GroupStep::mma_async ||
         mbarrier_signaller(program, pc) || bar_signaller(program, pc) ||
         cluster_signaller(program, pc);
}

}  // namespace tilescope::sim
