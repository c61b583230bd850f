#include "tests/conformance/spellings.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ptx/modifiers.h"

namespace tilescope::conformance {
namespace {

using ptx::Field;
using ptx::ModifierRule;

bool is_hint(const ModifierRule& rule) {
  switch (rule.field) {
    case Field::weak:
    case Field::order:
    case Field::scope:
    case Field::cache:
    case Field::evict:
    case Field::prefetch:
    case Field::evict2:
    case Field::level:
    case Field::level2:
    case Field::hint:
      return true;
    default:
      return false;
  }
}

// The values of each modifier of a form; 0 is "left out".
using Choice = std::vector<std::uint8_t>;

std::vector<Choice> meanings(const std::vector<ModifierRule>& rules) {
  std::vector<Choice> out = {{}};
  for (const ModifierRule& rule : rules) {
    std::vector<std::uint8_t> values;
    if (rule.optional) values.push_back(0);
    // A hint that must be said is said in its first way here.
    const std::size_t said = !is_hint(rule) ? rule.values.size() : rule.optional ? 0 : 1;
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
void add_hints(const std::vector<ModifierRule>& rules, std::vector<Choice>& state) {
  constexpr std::size_t samples = 4;
  const std::vector<Choice> plain = state;
  std::size_t turn = 0;
  for (std::size_t r = 0; r < rules.size(); ++r) {
    // A cache hint needs a policy as an operand, which is the chip's own matter.
    if (!is_hint(rules[r]) || rules[r].field == Field::hint) continue;
    for (const std::uint8_t value : rules[r].values) {
      for (std::size_t s = 0; s < std::min(samples, plain.size()); ++s) {
        state.push_back(plain[(turn++ * 37) % plain.size()]);
        state.back()[r] = value;
      }
    }
  }
}

// Integer constants that are tried with a form that takes one: for lop3 functions of one, two and
// three inputs, symmetric and not; for barriers their numbers. Of mov: into how many parts it takes
// a register apart, or from how many (+ 16) it puts one together (PTX ISA 9.7.9.4).
std::vector<std::optional<std::uint32_t>> constants_of(const ptx::Opcode& opcode, int form,
                                                       ptx::Type type) {
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
    std::vector<Choice> state = meanings(rules);
    add_hints(rules, state);
    for (const Choice& choice : state) {
      Spelling one = spelling(opcode, form, rules, choice);
      for (const auto& constant : constants_of(opcode, form, one.modifiers.type())) {
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

}  // namespace tilescope::conformance
