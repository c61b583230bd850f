#include "core/ptx/lexer.h"

namespace tilescope::ptx {
namespace {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool starts_word(char c) {
  return is_letter(c) || c == '_' || c == '$' || c == '%';
}
constexpr bool continues_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

}  // namespace

Lexer::Lexer(std::string_view source, std::uint32_t at, std::uint32_t line)
    : source_(source.substr(0, source.find_last_not_of('\0') + 1)), at_(at), line_(line) {
  advance();
}

Token Lexer::take() {
  Token taken = next_;
  if (taken.kind != Token::Kind::bad) advance();
  return taken;
}

void Lexer::set(Token::Kind kind, std::uint32_t begin, std::uint32_t end) {
  next_ = {kind, source_.substr(begin, end - begin), line_, begin};
  at_ = end;
}

// Blanks, // and /* */ comments, and preprocessor lines (`# 12 "file"`).
bool Lexer::skip_blanks() {
  const auto size = static_cast<std::uint32_t>(source_.size());
  while (at_ < size) {
    const char c = source_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at_;
    } else if (c == '#' || (c == '/' && source_.substr(at_, 2) == "//")) {
      while (at_ < size && source_[at_] != '\n') ++at_;
    } else if (source_.substr(at_, 2) == "/*") {
      const std::size_t close = source_.find("*/", at_ + 2);
      if (close == std::string_view::npos) {
        set(Token::Kind::bad, at_, at_ + 2);
        return false;
      }
      for (; at_ < close + 2; ++at_) line_ += source_[at_] == '\n';
    } else {
      break;
    }
  }
  return true;
}

void Lexer::advance() {
  if (!skip_blanks()) return;
  const auto size = static_cast<std::uint32_t>(source_.size());
  if (at_ >= size) return set(Token::Kind::end, size, size);
  const std::uint32_t begin = at_;
  std::uint32_t end = begin + 1;
  const char c = source_[begin];
  if (starts_word(c)) {
    while (end < size && continues_word(source_[end])) ++end;
    return set(Token::Kind::word, begin, end);
  }
  if (is_digit(c)) {
    // 12, 0x1f, 0b101, 0f3F800000, 1.5, 1.5e-3, 12U
    const bool plain = source_.substr(begin, 2).find_first_of("xXbBfFdD") == std::string_view::npos;
    while (end < size &&
           (is_letter(source_[end]) || is_digit(source_[end]) || (plain && source_[end] == '.') ||
            (plain && (source_[end] == '-' || source_[end] == '+') &&
             (source_[end - 1] == 'e' || source_[end - 1] == 'E')))) {
      ++end;
    }
    return set(Token::Kind::number, begin, end);
  }
  if (c == '.' && end < size && continues_word(source_[end])) {
    while (end < size) {
      if (continues_word(source_[end])) {
        ++end;
      } else if (source_.substr(end, 2) == "::") {
        end += 2;
      } else {
        break;
      }
    }
    return set(Token::Kind::dotted, begin, end);
  }
  if (c == '"') {
    while (end < size && source_[end] != '"' && source_[end] != '\n') ++end;
    if (end >= size || source_[end] != '"') return set(Token::Kind::bad, begin, begin + 1);
    set(Token::Kind::string, begin + 1, end);
    ++at_;
    return;
  }
  if (std::string_view("{}()[]<>,;:+-*/!~=|@&^?.%").find(c) != std::string_view::npos) {
    return set(Token::Kind::punctuation, begin, end);
  }
  set(Token::Kind::bad, begin, end);
}

bool Lexer::skip_braces() {
  int depth = 0;
  while (next_.kind != Token::Kind::end && next_.kind != Token::Kind::bad) {
    if (next_.is('{')) ++depth;
    if (next_.is('}') && --depth == 0) {
      advance();
      return true;
    }
    advance();
  }
  return false;
}

}  // namespace tilescope::ptx
