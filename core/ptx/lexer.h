// PTX text to tokens (PTX ISA 4). Nothing is copied: a token's text is a view into the source.
//
//   ld.global.v4.f32 {%f1, ...}, [%rd4+16];    // comment
//   ^word ^^^^^^^^^^ dotted      ^punctuation
//
// A dotted token is a '.' with everything that can follow it in a directive or modifier, so
// ".v4", ".L1::no_allocate" and ".32x32b" are one token each. `%tid.x` is a word and a dotted
// token; the parser puts them together.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/error.h"

namespace tilescope::ptx {

struct Token {
  enum class Kind : std::uint8_t { end, word, dotted, number, string, punctuation, bad };
  Kind kind = Kind::end;
  std::string_view text;   // a dotted token keeps its '.'; a string is without its quotes
  std::uint32_t line = 0;  // 1-based
  std::uint32_t at = 0;    // byte offset of the token in the source

  bool is(char c) const { return kind == Kind::punctuation && text[0] == c; }
  bool is(std::string_view s) const { return kind != Kind::string && text == s; }
};

class Lexer {
 public:
  // Starts at byte `at` of `source`, which is on line `line`. Zero bytes at its end are not of the
  // text: nvrtcGetPTX gives one, and programs write it to their files.
  explicit Lexer(std::string_view source, std::uint32_t at = 0, std::uint32_t line = 1);

  const Token& peek() const { return next_; }  // the token that take() will return
  Token take();  // at the end, or where no token begins, the same again and again

  // With peek() at '{': skips to after the matching '}' by counting braces only, which is how
  // bodies that nobody runs and debug sections cost no parsing. False if the text ends first.
  bool skip_braces();

 private:
  void advance();
  bool skip_blanks();  // false: a comment or string that never ends, left in next_ as `bad`
  void set(Token::Kind kind, std::uint32_t begin, std::uint32_t end);

  std::string_view source_;
  std::uint32_t at_;
  std::uint32_t line_;
  Token next_;
};

}  // namespace tilescope::ptx
