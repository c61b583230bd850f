// A form's modifiers, taken apart: for whoever writes every spelling of a form.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ptx/opcodes.h"

namespace tilescope::ptx {

struct ModifierRule {
  Field field = Field::type;
  std::vector<std::uint8_t> values;  // allowed, as words of the field, from 1
  bool optional = false;
};

const std::vector<ModifierRule>& modifiers_of(const Opcode& opcode, int form);
// Of "field:word|word flag", as in the table's rows (core/ptx/opcodes.h).
std::vector<ModifierRule> modifier_rules(std::string_view text);

}  // namespace tilescope::ptx
