#include "tests/conformance/spellings.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/ptx/modifiers.h"
#include "tests/conformance/copy_kernel.h"
#include "tests/conformance/flow_kernel.h"

namespace tilescope::conformance {
namespace {

using ptx::Field;
using ptx::ModifierRule;

bool is_hint(const ptx::Opcode& opcode, const ModifierRule& rule) {
  // Of these they are what the instruction is for.
  const bool orders = opcode.op == ptx::Op::fence || opcode.op == ptx::Op::mbarrier;
  switch (rule.field) {
    case Field::order:
    case Field::scope:
      return !orders;
    case Field::level:
    case Field::level2:
      return opcode.op != ptx::Op::createpolicy;
    case Field::weak:
    case Field::cache:
    case Field::evict:
    case Field::prefetch:
    case Field::evict2:
    case Field::hint:
      return true;
    default:
      return false;
  }
}

// The values of each modifier of a form; 0 is "left out".
using Choice = std::vector<std::uint8_t>;

std::vector<Choice> meanings(const ptx::Opcode& opcode, const std::vector<ModifierRule>& rules) {
  std::vector<Choice> out = {{}};
  for (const ModifierRule& rule : rules) {
    std::vector<std::uint8_t> values;
    if (rule.optional) values.push_back(0);
    // A hint that must be said is said in its first way here.
    const std::size_t said = !is_hint(opcode, rule) ? rule.values.size() : rule.optional ? 0 : 1;
    for (std::size_t i = 0; i < said; ++i) values.push_back(rule.values[i]);
    std::vector<Choice> longer;
    for (const Choice& before : out) {
      for (const std::uint8_t value : values) {
        longer.push_back(before);
        longer.back().push_back(value);
      }
    }
    out = std::move(longer);
  }
  return out;
}

// Each hint with a few of the meanings, spread over them.
void add_hints(const ptx::Opcode& opcode, const std::vector<ModifierRule>& rules,
               std::vector<Choice>& state) {
  constexpr std::size_t samples = 4;
  const std::vector<Choice> plain = state;
  std::size_t turn = 0;
  for (std::size_t r = 0; r < rules.size(); ++r) {
    if (!is_hint(opcode, rules[r]) || rules[r].field == Field::hint) continue;
    for (const std::uint8_t value : rules[r].values) {
      for (std::size_t s = 0; s < std::min(samples, plain.size()); ++s) {
        state.push_back(plain[(turn++ * 37) % plain.size()]);
        state.back()[r] = value;
      }
    }
  }
}

// .L2::cache_hint, whose policy is an operand more: with a few of the meanings, and with each of
// the other hints. It is for global memory alone (PTX ISA 9.7.9.8).
void add_policies(const ptx::Opcode& opcode, const std::vector<ModifierRule>& rules,
                  const std::vector<Choice>& plain, std::vector<Choice>& state) {
  constexpr std::size_t samples = 6;
  const auto in_global = [&](const Choice& choice) {
    for (std::size_t r = 0; r < rules.size(); ++r) {
      if (rules[r].field != Field::space || choice[r] == 0) continue;
      if (opcode.op != ptx::Op::cp && ptx::words_of(Field::space)[choice[r] - 1u] != "global") {
        return false;
      }
    }
    return true;
  };
  const auto at = std::find_if(rules.begin(), rules.end(),
                               [](const ModifierRule& r) { return r.field == Field::hint; });
  if (at == rules.end()) return;
  const auto hint = static_cast<std::size_t>(at - rules.begin());
  std::vector<Choice> global;
  std::copy_if(plain.begin(), plain.end(), std::back_inserter(global), in_global);
  if (global.empty()) return;
  std::size_t turn = 0;
  const auto add = [&](std::size_t other, std::uint8_t value) {
    state.push_back(global[(turn++ * 37) % global.size()]);
    state.back()[other] = value;
    state.back()[hint] = 1;
  };
  for (std::size_t s = 0; s < std::min(samples, global.size()); ++s) add(hint, 1);
  for (std::size_t r = 0; r < rules.size(); ++r) {
    if (!is_hint(opcode, rules[r]) || r == hint) continue;
    for (const std::uint8_t value : rules[r].values) add(r, value);
  }
}

// Integer constants that are tried with a form that takes one: for lop3 functions of one, two and
// three inputs, symmetric and not; for barriers their numbers. Of mov: into how many parts it takes
// a register apart, or from how many (+ 16) it puts one together (PTX ISA 9.7.9.4).
std::vector<std::optional<std::uint32_t>> constants_of(const ptx::Opcode& opcode, int form,
                                                       const ptx::Modifiers& modifiers) {
  const ptx::Type type = modifiers.type();
  // Which program of several is made around it.
  const std::uint32_t programs = flow_variants(opcode.op, modifiers);
  if (programs > 1) {
    std::vector<std::optional<std::uint32_t>> out;
    for (std::uint32_t v = 0; v < programs; ++v) out.emplace_back(v);
    return out;
  }
  if (opcode.op == ptx::Op::cp) {
    const std::vector<std::uint32_t> variants = copy_variants(modifiers);
    return {variants.begin(), variants.end()};
  }
  if (opcode.op == ptx::Op::setmaxnreg) {
    if (modifiers[Field::registers] == 1) return {48, 104, 128};  // .inc
    return {24, 64, 104};
  }
  if (opcode.op == ptx::Op::pmevent) return {1, 15};
  // Sizes and counts that the kernel says.
  if (opcode.op == ptx::Op::applypriority || opcode.op == ptx::Op::discard ||
      opcode.op == ptx::Op::fence) {
    return {std::nullopt};
  }
  if (opcode.op == ptx::Op::mov && type == ptx::Type::b32) return {std::nullopt, 2, 18};
  if (opcode.op == ptx::Op::mov && type == ptx::Type::b64) return {std::nullopt, 2, 4, 18, 20};
  // Where A is: 0 in shared memory, 1 in registers.
  if (opcode.op == ptx::Op::wgmma) return {static_cast<std::uint32_t>(form % 2)};
  for (const ptx::OperandRule& rule : ptx::operands_of(opcode, form)) {
    if (rule.kind == ptx::OperandRule::Kind::constant) {
      if (opcode.unit == ptx::Unit::barrier) return {0, 15};
      return {0x00, 0x01, 0x80, 0x96, 0xCA, 0xE8, 0xF0, 0x1B, 0xFF};
    }
  }
  return {std::nullopt};
}

Spelling spelling(const ptx::Opcode& opcode, int form, const std::vector<ModifierRule>& rules,
                  const Choice& choice) {
  Spelling out{&opcode, form, {}, std::string(opcode.name), {}};
  for (std::size_t r = 0; r < rules.size(); ++r) {
    if (choice[r] == 0) continue;
    out.modifiers.set(rules[r].field, choice[r]);
    out.text += '.';
    out.text += ptx::words_of(rules[r].field)[choice[r] - 1u];
  }
  return out;
}

}  // namespace

std::string Spelling::key() const {
  return constant ? fmt::format("{} 0x{:02x}", text, *constant) : text;
}

std::vector<Spelling> spellings(const ptx::Opcode& opcode) {
  std::vector<Spelling> out;
  for (int form = 0; form < static_cast<int>(opcode.forms.size()); ++form) {
    const std::vector<ModifierRule>& rules = ptx::modifiers_of(opcode, form);
    const std::vector<Choice> plain = meanings(opcode, rules);
    std::vector<Choice> state = plain;
    add_hints(opcode, rules, state);
    add_policies(opcode, rules, plain, state);
    for (const Choice& choice : state) {
      Spelling one = spelling(opcode, form, rules, choice);
      for (const auto& constant : constants_of(opcode, form, one.modifiers)) {
        one.constant = constant;
        // The same text can be a spelling of two forms; the decoder takes the first.
        const bool known = std::any_of(out.begin(), out.end(), [&](const Spelling& s) {
          return s.text == one.text && s.constant == one.constant;
        });
        if (!known) out.push_back(one);
      }
    }
  }
  return out;
}

std::string_view word(const Spelling& s, ptx::Field field) {
  return s.modifiers.has(field) ? ptx::words_of(field)[s.modifiers[field] - 1u] : "";
}

}  // namespace tilescope::conformance
