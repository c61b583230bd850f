#include "core/sim/checks/undecided.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "core/ptx/choice.h"
#include "core/sim/checks/undefined.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

using ptx::Choice;

std::shared_ptr<const Choice> choice_of(Core& x) {
  std::shared_ptr<const Choice>& known = x.machine->choices[x.pc];
  if (!known) known = std::make_shared<Choice>(ptx::choice_of(x.machine->program(), x.pc));
  return known;
}

std::string instruction_text(const ptx::Program& program, std::uint32_t pc) {
  return fmt::format("{} at PTX line {}", opcode_text(program.code[pc].text),
                     program.code[pc].line);
}

// What of it makes it a fault: ", and with it how often the loop goes round". Empty: nothing.
std::string why_fault(const ptx::Program& program, std::uint32_t pc, const Choice& choice) {
  if (choice.meets == Choice::none) return ", and with it all that follows";
  if (choice.repeats) return ", and with it how often the loop goes round";
  if (choice.acts == Choice::none) return "";
  if (choice.acts == pc) return ", as what others see of it cannot be undefined";
  return fmt::format(", and with it whether {} does", instruction_text(program, choice.acts));
}

}  // namespace

const Choice& choice_at(Core& x) {
  return *choice_of(x);
}

void undefine_written(Core& x, const Choice& choice, Mask m) {
  const ptx::Program& program = x.machine->program();
  for (const std::uint32_t written : choice.written) {
    const ptx::Register& r = program.registers[written];
    if (r.place == ptx::no_register) continue;
    if (r.type == ptx::Type::pred) {
      undefine_predicate(x, r.place, m, m);
    } else {
      undefine(x, r.place, std::max(2, ptx::bytes_of(r.type)), m);
    }
  }
}

void meet_undecided(Core& x, Mask all) {
  std::vector<Undecided>& open = x.warp->undecided;
  x.unsure = 0;
  for (std::size_t k = open.size(); k-- > 0;) {
    if (open[k].choice->meets == x.pc && (open[k].lanes & all)) {
      undefine_written(x, *open[k].choice, open[k].lanes & all);
      open[k].lanes &= ~all;
    }
    x.unsure |= open[k].lanes & all;
    if (open[k].lanes) continue;
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(k));
    --x.warp->undefined_registers;
  }
}

bool decide(Core& x, Mask bad) {
  const ptx::Program& program = x.machine->program();
  const ptx::Instruction& i = program.code[x.pc];
  const std::shared_ptr<const Choice> choice = choice_of(x);
  const int lane = __builtin_ctz(bad);
  const bool branch = i.op == ptx::Op::bra;
  const std::string sentence =
      fmt::format("whether this {} executes depends on an undefined predicate",
                  branch ? "branch" : "instruction");
  const std::string guard = program.name_of_register(i.guard) + origin_text(x);
  if (const std::string why = why_fault(program, x.pc, *choice); !why.empty()) {
    x.reports->fault(x, lane, "undefined_predicate", sentence + why, "a defined predicate", guard);
    return false;
  }
  const auto tell = [&](std::string then) {
    Report r;
    r.sentence = sentence + then;
    r.expected = "a defined predicate";
    r.found = guard;
    return r;
  };
  if (choice->stores != Choice::none) {
    x.reports->hazard(x, lane, "undefined_store", x.pc, [&] {
      return tell(branch ? fmt::format(", and with it whether {} does",
                                       instruction_text(program, choice->stores))
                         : "");
    });
  } else {
    x.reports->note(x, lane, "undefined_branch", x.pc,
                    [&] { return tell("; what it decides is undefined, and used by nobody yet"); });
  }
  if (branch) {
    x.warp->undecided.push_back({choice, x.pc, bad});
    ++x.warp->undefined_registers;
  }
  return true;
}

}  // namespace tilescope::sim
