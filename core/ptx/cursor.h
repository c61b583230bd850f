// What the two parsers (modules and bodies) share: a lexer that remembers the first thing that was
// wrong, and the small grammars that occur in both: numbers, constant expressions, variables.
//
// Every function answers false once something is wrong; the caller leaves and hands error() on.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "core/ptx/lexer.h"
#include "core/ptx/module.h"

namespace tilescope::ptx {

struct Number {
  std::uint64_t bits = 0;
  bool floating = false;  // bits are an f64's
  bool single = false;    // bits are an f32's
};

class Cursor {
 public:
  // From byte `at` of the module's text on, which is on line `line`, to the end of its file.
  Cursor(const Module& module, std::uint32_t part, std::uint32_t at, std::uint32_t line)
      : module_(module), source_(*module.text), lexer_(source(part), at, line) {}

  const Token& peek() const { return lexer_.peek(); }
  Token take() { return lexer_.take(); }
  bool skip_braces() { return lexer_.skip_braces(); }
  bool skip_to(char c);  // until it is next; false where the text ends, or what it says is no token
  std::string_view source() const { return source_; }

  bool accept(char c);  // takes it if it is next
  bool accept(std::string_view dotted_or_word);
  bool expect(char c, std::string_view context);
  bool word(std::string_view& out, std::string_view context);
  bool number(Number& out, std::string_view context);          // one literal (4.5), with a sign
  bool integer(std::uint64_t& out, std::string_view context);  // a constant expression (4.5.5)
  // The same of what counts something: refused on line `line` where it is negative, or where 64
  // bits wrap on the way.
  bool count(std::uint64_t& out, std::string_view context, std::uint32_t line);
  // After its state space: [.align n] [.v2|.v4] .type name [dims] [= initialiser], without ';'.
  bool variable(Variable& out);
  // Behind a comma after that: name [dims] [= initialiser], of the same type and alignment.
  bool further_variable(Variable& out);

  bool fail(std::string sentence);  // at peek(); keeps the first; always false
  bool fail_at(std::uint32_t line, std::string sentence);
  const Error& error() const { return error_; }

 private:
  bool factor(std::uint64_t& out, std::string_view context);
  bool product(std::uint64_t& out, std::string_view context);
  bool extents(Variable& out, std::uint64_t& elements, bool& open);
  bool too_many_elements(const Variable& out);
  bool initialiser(Variable& out);

  std::string_view source(std::uint32_t part) const {
    return source_.substr(0, module_.parts[part].end);
  }

  const Module& module_;
  std::string_view source_;
  Lexer lexer_;
  Error error_;
  bool failed_ = false;
  struct Declared {
    Type type = Type::b8;
    std::uint32_t align = 1;
    std::uint64_t elements = 1;  // of a vector
    bool managed = false;
  };
  bool attributes();      // of a variable (5.4.8)
  Declared declared_;     // the last variable
  bool wrapped_ = false;  // somewhere in a constant expression
  int depth_ = 0;         // of brackets inside constants and initialisers: bounded, so text cannot
                          // overflow the stack
};

// Text to a literal; false if it is none. Exposed for the tests.
bool parse_number(std::string_view text, Number& out);

}  // namespace tilescope::ptx
