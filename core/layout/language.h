// The language: layout expressions in CuTe's notation, in the window, the commands, the tests and
// the lessons.
//
//     A = (8,8):(8,1); zipped_divide(A, <4,4>)        bindings, calls, tilers
//     Sw<3,4,3> o 0 o (8,64):(64,1)                    composition by `o`
//     A(3,_)   slice(((_,_),2), A)                     slicing; A(3,5) is an offset
//     # a comment, // another; _8 is 8, as CuTe prints static integers
//
// Evaluation never throws; a bad expression answers a Problem with the place it is about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/layout/algebra.h"

namespace tilescope {

using Numbers = std::vector<std::int64_t>;  // indices(L)
using Tuples = std::vector<Tuple>;          // coordinates(offset, L)

// A composed layout whose left side is only a swizzle is a Layout; a bare swizzle is a Swizzle.
using Value = std::variant<Tuple, Layout, Tiler, Swizzle, Slice, ThreadValue, Numbers, Tuples>;

std::string text(const Value& value);
std::string_view kind_of(const Value& value);  // "a layout", "a tuple", "a number"...

// What is wrong with an expression, and where: bytes [begin, end) of the text.
struct Problem {
  bool refused = false;  // well-formed, but without a value: a Refusal's sentence
  std::string sentence;
  std::size_t begin = 0, end = 0;
};

// The line, and under it a caret line that marks the place:
//     complement((4,4):(1,3), 24)
//                ^~~~~~~~~~~
// The tail of a long line is cut around the place.
std::string caret(std::string_view expression, const Problem& problem);

using Evaluated = std::variant<Value, Problem>;

// Names bound so far. A binding persists when its expression has a value.
class Scope {
 public:
  // Evaluates statements separated by `;` (or one line each); the answer is the last one's value.
  // Nothing is bound when any of them has a problem. Blank text has no value: nothing is answered.
  std::optional<Evaluated> evaluate(std::string_view expression);

  const std::map<std::string, Value, std::less<>>& names() const { return names_; }

 private:
  std::map<std::string, Value, std::less<>> names_;
};

// One expression in an empty scope.
Evaluated evaluate(std::string_view expression);

// The functions of the language, for help and completion.
struct FunctionHelp {
  std::string_view name;
  std::string_view parameters;  // "(A, B)"
  std::string_view help;        // one line
};
std::span<const FunctionHelp> functions();

// The known name nearest to a misspelt one; empty where none is near.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace tilescope
