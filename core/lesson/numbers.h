// The numbers of an exercise: drawn from a seed, and put into text.
//
//     m = 3..6; n = 4|8|16; i = 1..m-1; at = i*n     in this order, each from those before it
//     "element ({i},{i+1}) of ({m},{n})"             "element (2,3) of (5,8)"
//
// Law: the same rules and seed give the same numbers, on every machine. An expression knows names,
// whole numbers, + - * / % ^ and parentheses; / rounds down, ^ is XOR and binds least.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace tilescope {

using Drawn = std::vector<std::pair<std::string, std::int64_t>>;

// Refused: a rule that cannot be read, a name that is not known yet, a range without numbers.
Outcome<Drawn> draw_numbers(std::string_view rules, std::uint64_t seed);

// The text with each {expression} replaced by its number. The braces of `?{div=16}` are a layout's
// and stay; a number may stand in them: `?{div={n}}`.
Outcome<std::string> filled(std::string_view text, const Drawn& numbers);

// A number that one slip in computing an expression leads to, and what slipped: an operation left
// out or taken for another, two numbers exchanged, a quotient rounded up.
struct NumberSlip {
  std::int64_t number = 0;
  std::string sentence;
};

// Of an expression of at most six operations: what has more is no sum that somebody does in one go.
// None of them is the expression's own number; the first of those with one number is the likeliest.
// Empty where it cannot be read.
std::vector<NumberSlip> number_slips(std::string_view expression, const Drawn& numbers);

}  // namespace tilescope
