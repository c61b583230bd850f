// What helps while an expression is typed: names that the word at the caret may become, and which
// parameter of which function the caret is in.
//
//     completions("zipped_d", 8)             zipped_divide (A, TILER)
//     completions("T = <4,4>; divide(T", 19) T, bound before; then functions and atoms
//     signature_at("composition(A, ", 15)    composition(A, B), the parameter B
//
// Both read the text alone, half an expression as well as a whole one; neither is ever refused.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilescope {

struct Completion {
  enum class Kind { name, function, atom, preset, kernel } kind = Kind::name;
  std::string text;    // what replaces the word
  std::string detail;  // a name's value, a function's parameters and help
};
std::string_view name_of(Completion::Kind kind);

struct Completions {
  std::size_t begin = 0, end = 0;  // bytes of the text that are replaced
  std::vector<Completion> all;     // the likeliest first: names, functions, atoms; at most 64
};

// The word that ends at the caret, completed. Words that begin so come before those that hold it
// somewhere; a word that is whole already completes to nothing. No word, no completions.
Completions completions(std::string_view text, std::size_t caret);
// The same rule for other names: true where `name` may complete `word`, and whether it begins so.
struct Match {
  bool any = false, begins = false;
};
Match matches(std::string_view name, std::string_view word);

struct Signature {
  std::string_view name, parameters, help;  // "zipped_divide", "(A, TILER)", a line
  std::size_t argument = 0;                 // counted from 0
  std::size_t begin = 0, end = 0;           // of that parameter in `parameters`; equal: none
};
// The innermost call around the caret, where it is one of a function of the language.
std::optional<Signature> signature_at(std::string_view text, std::size_t caret);

}  // namespace tilescope
