// Tokens one after another, and the first problem with them: what the rules of parser.cpp and
// triton_syntax.cpp read from. After a problem every answer is empty and means nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/language/language.h"
#include "core/language/lexer.h"

namespace tilescope::language {

class Reader {
 public:
  explicit Reader(std::string_view text) : lexer_(text) { next(); }

  const Token& token() const { return token_; }
  bool failed() const { return problem_.has_value(); }
  void next();
  // The first problem stays. The value is empty, for rules that end with one.
  Value fail(std::string sentence, std::size_t begin, std::size_t end, bool refused = false);
  Value fail_here(std::string_view expected);  // "Expected a number, found `)`."
  bool expect(char mark, std::string_view context);
  std::int64_t digits();

 protected:
  Lexer lexer_;
  Token token_;
  std::size_t previous_end_ = 0;  // of the token before
  std::optional<Problem> problem_;
};

}  // namespace tilescope::language
