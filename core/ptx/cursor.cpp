#include "core/ptx/cursor.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

namespace tilescope::ptx {
namespace {

constexpr int deepest = 64;
constexpr std::uint64_t most_elements = std::uint64_t{1} << 40;  // of an array

std::string shown(const Token& token) {
  switch (token.kind) {
    case Token::Kind::end:
      return "the end of the file";
    case Token::Kind::bad:
      if (token.text == "/*") return "a comment that never ends";
      if (token.text == "\"") return "a string that never ends";
      break;
    case Token::Kind::string:
      return fmt::format("the string \"{}\"", token.text.substr(0, 40));
    default:
      break;
  }
  const auto first = static_cast<unsigned char>(token.text.empty() ? 0 : token.text[0]);
  if (first < 0x20 || first > 0x7e) return fmt::format("the byte 0x{:02x}", first);
  return fmt::format("'{}'", token.text.substr(0, 40));
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

bool digits(std::string_view s, int base, std::uint64_t& out) {
  if (s.empty()) return false;
  out = 0;
  for (char c : s) {
    if (digit(c) >= base) return false;
    const std::uint64_t next = out * base + digit(c);
    if (out > ~std::uint64_t{0} / base || next < out * base) return false;
    out = next;
  }
  return true;
}

bool starts_with(std::string_view s, char second) {
  return s.size() > 2 && s[0] == '0' && (s[1] | 0x20) == second;
}

}  // namespace

bool parse_number(std::string_view s, Number& out) {
  out = {};
  if (starts_with(s, 'f')) {
    out.single = true;
    return s.size() == 10 && digits(s.substr(2), 16, out.bits);
  }
  if (starts_with(s, 'd')) {
    out.floating = true;
    return s.size() == 18 && digits(s.substr(2), 16, out.bits);
  }
  if (s.find('.') != std::string_view::npos ||
      (!starts_with(s, 'x') && s.find_first_of("eE") != std::string_view::npos)) {
    const std::string copy(s);  // strtod wants an end; there is no floating from_chars here
    char* end = nullptr;
    const double value = std::strtod(copy.c_str(), &end);
    if (*end != '\0') return false;
    out.floating = true;
    std::memcpy(&out.bits, &value, sizeof value);
    return true;
  }
  if (s.size() > 1 && (s.back() == 'U' || s.back() == 'u')) s.remove_suffix(1);
  if (starts_with(s, 'x')) return digits(s.substr(2), 16, out.bits);
  if (starts_with(s, 'b')) return digits(s.substr(2), 2, out.bits);
  if (s.size() > 1 && s[0] == '0') return digits(s.substr(1), 8, out.bits);
  return digits(s, 10, out.bits);
}

bool Cursor::fail_at(std::uint32_t line, std::string sentence) {
  if (!failed_) {
    failed_ = true;
    error_ = {ErrorKind::unsupported, std::move(sentence), module_.place(line)};
  }
  return false;
}

bool Cursor::fail(std::string sentence) {
  return fail_at(peek().line, std::move(sentence));
}

bool Cursor::skip_to(char c) {
  while (!peek().is(c)) {
    if (peek().kind == Token::Kind::end || peek().kind == Token::Kind::bad) return false;
    take();
  }
  return true;
}

bool Cursor::accept(char c) {
  if (!peek().is(c)) return false;
  take();
  return true;
}

bool Cursor::accept(std::string_view s) {
  if (!peek().is(s)) return false;
  take();
  return true;
}

bool Cursor::expect(char c, std::string_view context) {
  if (accept(c)) return true;
  return fail(fmt::format("expected '{}' {}, found {}", c, context, shown(peek())));
}

bool Cursor::word(std::string_view& out, std::string_view context) {
  if (peek().kind != Token::Kind::word) {
    return fail(fmt::format("expected {}, found {}", context, shown(peek())));
  }
  out = take().text;
  return true;
}

bool Cursor::number(Number& out, std::string_view context) {
  const bool minus = accept('-');
  const Token token = peek();
  if (token.kind != Token::Kind::number || !parse_number(token.text, out)) {
    return fail(fmt::format("expected {}, found {}", context, shown(token)));
  }
  take();
  if (minus && out.single) out.bits ^= 0x80000000u;
  if (minus && out.floating) out.bits ^= std::uint64_t{1} << 63;
  if (minus && !out.single && !out.floating) out.bits = 0 - out.bits;
  return true;
}

bool Cursor::factor(std::uint64_t& out, std::string_view context) {
  if (++depth_ > deepest) return fail("a constant expression is nested more than 64 deep");
  bool good = false;
  if (accept('-')) {
    good = factor(out, context);
    wrapped_ = wrapped_ || out != 0;
    out = 0 - out;
  } else if (accept('+')) {
    good = factor(out, context);
  } else if (accept('~')) {
    good = factor(out, context);
    out = ~out;
  } else if (accept('(')) {
    good = integer(out, context) && expect(')', "after a constant expression");
  } else {
    Number literal;
    good = number(literal, context);
    if (good && (literal.floating || literal.single)) {
      good = fail(fmt::format("expected {}, found a floating-point constant", context));
    }
    out = literal.bits;
  }
  --depth_;
  return good;
}

bool Cursor::product(std::uint64_t& out, std::string_view context) {
  if (!factor(out, context)) return false;
  while (accept('*')) {
    std::uint64_t right = 0;
    if (!factor(right, context)) return false;
    if (__builtin_mul_overflow(out, right, &out)) wrapped_ = true;
  }
  return true;
}

bool Cursor::integer(std::uint64_t& out, std::string_view context) {
  if (!product(out, context)) return false;
  while (peek().is('+') || peek().is('-')) {
    const bool minus = take().is('-');
    std::uint64_t right = 0;
    if (!product(right, context)) return false;
    const bool wraps =
        minus ? __builtin_sub_overflow(out, right, &out) : __builtin_add_overflow(out, right, &out);
    wrapped_ = wrapped_ || wraps;
  }
  return true;
}

bool Cursor::count(std::uint64_t& out, std::string_view context, std::uint32_t line) {
  wrapped_ = false;
  if (!integer(out, context)) return false;
  return !wrapped_ || fail_at(line, fmt::format("{} is negative or beyond 64 bits", context));
}

bool Cursor::too_many_elements(const Variable& out) {
  return fail_at(out.line, fmt::format("the array {} has more than 2^40 elements", out.name));
}

// [4][8], [] (as many as the initialiser or the launch gives)
bool Cursor::extents(Variable& out, std::uint64_t& elements, bool& open) {
  while (accept('[')) {
    if (accept(']')) {
      open = true;
      continue;
    }
    std::uint64_t extent = 0;
    if (!count(extent, "the extent of an array", out.line) ||
        !expect(']', "after an array's extent")) {
      return false;
    }
    if (__builtin_mul_overflow(elements, extent, &elements) || elements > most_elements) {
      return too_many_elements(out);
    }
  }
  return true;
}

bool Cursor::initialiser(Variable& out) {
  if (accept('{')) {
    if (++depth_ > deepest) return fail("an initialiser is nested more than 64 deep");
    while (!peek().is('}')) {
      if (!initialiser(out)) return false;
      if (!accept(',')) break;
    }
    --depth_;
    return expect('}', "at the end of an initialiser");
  }
  Initial element;
  if (peek().kind == Token::Kind::word) {
    element.symbol = take().text;
    if (element.symbol == "generic" && accept('(')) {
      if (!word(element.symbol, "a symbol in generic()") || !expect(')', "after generic(")) {
        return false;
      }
    }
    if (accept('+') && !integer(element.bits, "an offset after a symbol")) return false;
    out.initial.push_back(element);
    return true;
  }
  if (peek().is('(') || peek().is('~')) {
    if (!integer(element.bits, "an initial value")) return false;
    out.initial.push_back(element);
    return true;
  }
  Number literal;
  if (!number(literal, "an initial value")) return false;
  element.bits = literal.bits;
  if (literal.floating && out.type == Type::f32) {
    double wide = 0;
    std::memcpy(&wide, &literal.bits, sizeof wide);
    const float narrow = static_cast<float>(wide);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &narrow, sizeof bits);
    element.bits = bits;
  }
  out.initial.push_back(element);
  return true;
}

bool Cursor::attributes() {
  if (!expect('(', "after .attribute")) return false;
  if (!accept(".managed")) {
    return fail(fmt::format("'{}' is not understood as an .attribute of a variable: .managed is",
                            peek().text));
  }
  declared_.managed = true;
  return expect(')', "at the end of .attribute");
}

bool Cursor::variable(Variable& out) {
  declared_ = {};
  bool aligned = false;
  for (; peek().kind == Token::Kind::dotted; take()) {
    while (peek().is(".align") || peek().is(".attribute")) {
      if (take().text == ".attribute") {
        if (!attributes()) return false;
        continue;
      }
      std::uint64_t value = 0;
      if (!integer(value, "an alignment")) return false;
      if (value == 0 || value > 4096 || (value & (value - 1))) {
        return fail(fmt::format("an alignment of {} is not a power of two up to 4096", value));
      }
      declared_.align = static_cast<std::uint32_t>(value);
      aligned = true;
    }
    if (peek().kind != Token::Kind::dotted) break;
    const std::string_view next = peek().text;
    if (next == ".v2") {
      declared_.elements = 2;
    } else if (next == ".v4") {
      declared_.elements = 4;
    } else if (Type type = type_named(next.substr(1)); type != Type::none && type != Type::pred) {
      declared_.type = type;
      take();
      break;
    } else {
      return fail(fmt::format("'{}' is not a type that a variable can have", next));
    }
  }
  if (!aligned) {
    declared_.align = static_cast<std::uint32_t>(
        static_cast<std::uint64_t>(bytes_of(declared_.type)) * declared_.elements);
  }
  return further_variable(out);
}

bool Cursor::further_variable(Variable& out) {
  out.line = peek().line;
  out.type = declared_.type;
  out.align = declared_.align;
  out.managed = declared_.managed;
  std::uint64_t elements = declared_.elements;
  bool open = false;
  if (!word(out.name, "the name of a variable") || !extents(out, elements, open)) return false;
  if (accept('=')) {
    if (!initialiser(out)) return false;
    if (open && (__builtin_mul_overflow(elements, out.initial.size(), &elements) ||
                 elements > most_elements)) {
      return too_many_elements(out);
    }
    if (out.initial.size() > elements) {
      return fail(fmt::format("{} has {} elements but {} initial values", out.name, elements,
                              out.initial.size()));
    }
    open = false;
  }
  out.bytes = open ? 0 : elements * static_cast<std::uint64_t>(bytes_of(out.type));
  return true;
}

}  // namespace tilescope::ptx
