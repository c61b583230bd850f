// The functions of the language: a table of name, parameters, help and what they do. The evaluator,
// the help and the window's completion all read it.
#pragma once

#include <cstddef>
#include <string_view>
#include <variant>
#include <vector>

#include "core/layout/language.h"

namespace tilescope::language {

// An argument as written, and as what the parameter asks for.
struct Argument {
  Value value;
  std::size_t begin = 0, end = 0;  // its place in the text
  Layout layout;
  Tiler tiler;
  Tuple tuple;
  std::int64_t number = 0;
};

using Arguments = std::vector<Argument>;
using Answer = std::variant<Value, Refusal>;

struct Function {
  FunctionHelp help;
  // One letter a parameter, lower case where it may be left out: L layout, T tiler (a layout, a
  // shape, `<...>` or a number), S shape or coordinate, N number, V anything.
  std::string_view kinds;
  Answer (*call)(const Arguments&);
};

const Function* find_function(std::string_view name);

// Calls `function` on the arguments, converting each to what its parameter asks for; [begin, end)
// is the whole call, for the problem that concerns no single argument.
Evaluated call(const Function& function, Arguments arguments, std::size_t begin, std::size_t end);

// A o B as the language means it: swizzle o layout, number o layout, layout o layout or tiler.
Answer compose(const Value& left, const Value& right);

}  // namespace tilescope::language
