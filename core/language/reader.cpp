#include "core/language/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/layout/int.h"

namespace tilescope::language {

void Reader::next() {
  previous_end_ = token_.end();
  token_ = lexer_.next();
}

Value Reader::fail(std::string sentence, std::size_t begin, std::size_t end, bool refused) {
  if (!problem_) problem_ = Problem{refused, std::move(sentence), begin, std::max(end, begin + 1)};
  return {};
}

Value Reader::fail_here(std::string_view expected) {
  const std::string found = token_.kind == Token::Kind::end
                                ? std::string("the end of the expression")
                                : fmt::format("`{}`", token_.text);
  return fail(fmt::format("{}, found {}.", expected, found), token_.begin, token_.end());
}

bool Reader::expect(char mark, std::string_view context) {
  if (problem_) return false;
  if (!token_.is(mark)) {
    fail_here(fmt::format("Expected `{}` {}", mark, context));
    return false;
  }
  next();
  return true;
}

std::int64_t Reader::digits() {
  if (token_.kind != Token::Kind::number) {
    fail_here("Expected a number");
    return 0;
  }
  std::int64_t value = 0;
  bool fits = true;
  for (char c : token_.text) {
    if (c != '_') value = checked_add(checked_mul(value, 10, fits), c - '0', fits);
  }
  if (!fits) fail("This number does not fit in 64 bits.", token_.begin, token_.end());
  next();
  return value;
}

}  // namespace tilescope::language
