#include "core/language/lexer.h"

namespace tilescope::language {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}
// A byte behind the first of a letter of UTF-8.
bool continues_letter(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

}  // namespace

Token Lexer::next() {
  skip_blanks_and_comments();
  if (at_ == text_.size()) return {Token::Kind::end, text_.substr(at_, 0), at_};
  std::size_t end = at_ + 1;
  Token::Kind kind = Token::Kind::mark;
  const bool static_integer = text_[at_] == '_' && end < text_.size() && is_digit(text_[end]);
  if (is_digit(text_[at_]) || static_integer) {
    kind = Token::Kind::number;
    while (end < text_.size() && is_digit(text_[end])) ++end;
  } else if (is_word(text_[at_])) {
    kind = Token::Kind::word;
    while (end < text_.size() && is_word(text_[end])) ++end;
  } else {
    while (end < text_.size() && continues_letter(text_[end])) ++end;
  }
  const Token token{kind, text_.substr(at_, end - at_), at_};
  at_ = end;
  return token;
}

char Lexer::mark_ahead() const {
  std::size_t k = at_;
  while (k < text_.size() && (text_[k] == ' ' || text_[k] == '\t')) ++k;
  return k < text_.size() ? text_[k] : '\0';
}

// Where an encoding of Triton begins, at `at` or behind the alias that it is printed with:
// "#ttg.blocked<...>", "#blocked1 = #ttg.blocked<...>". Anything else behind `#` is a comment.
std::size_t Lexer::encoding_at(std::size_t at) const {
  const auto begins = [&](std::size_t k) {
    return text_.substr(k, 5) == "#ttg." || text_.substr(k, 12) == "#triton_gpu.";
  };
  if (begins(at)) return at;
  std::size_t k = at + 1;
  while (k < text_.size() && is_word(text_[k])) ++k;
  const auto blanks = [&] {
    while (k < text_.size() && text_[k] == ' ') ++k;
  };
  blanks();
  if (k == at + 1 || k >= text_.size() || text_[k] != '=') return text_.npos;
  ++k;
  blanks();
  return k < text_.size() && begins(k) ? k : text_.npos;
}

void Lexer::skip_blanks_and_comments() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#' && encoding_at(at_) != text_.npos) {
      at_ = encoding_at(at_);
      return;
    }
    if (c == '#' || text_.substr(at_, 2) == "//") {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at_;
    } else {
      return;
    }
  }
}

}  // namespace tilescope::language
