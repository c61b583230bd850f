// Text as tokens: numbers, words and single marks. Blanks, `# comments` and `// comments` are
// passed over, but `#ttg.` and `#triton_gpu.` begin an encoding of Triton's; `_8` is the number 8,
// as CuTe prints static integers.
#pragma once

#include <cstddef>
#include <string_view>

namespace tilescope::language {

struct Token {
  enum class Kind { end, number, word, mark } kind = Kind::end;
  std::string_view text;
  std::size_t begin = 0;  // in the text

  std::size_t end() const { return begin + text.size(); }
  bool is(char mark) const { return kind == Kind::mark && text[0] == mark; }
  bool is_word(std::string_view word) const { return kind == Kind::word && text == word; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // The next token; Kind::end at the end, again and again.
  Token next();
  // The mark after the last token, blanks of the line passed over; 0 at the end.
  char mark_ahead() const;

 private:
  void skip_blanks_and_comments();
  std::size_t encoding_at(std::size_t at) const;

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace tilescope::language
