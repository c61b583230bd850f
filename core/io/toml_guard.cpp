#include "core/io/toml_guard.h"

#include <fmt/format.h>

#include <cstdint>

namespace tilescope {
namespace {

constexpr int most_dots = 200;

bool beyond_ascii(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

GuardedToml::GuardedToml(std::string_view text) : in_(text) {
  if (in_.substr(0, 3) == "\xef\xbb\xbf") in_.remove_prefix(3);  // a byte order mark is legal
  scan();
}

// Follows quotes and comments as TOML's lexer does. In a broken text toml++ may see them otherwise;
// then it refuses that text, and what it is given is ASCII all the same.
void GuardedToml::scan() {
  while (at_ < in_.size() && !refusal_) {
    const char c = in_[at_];
    if (c == '#') {
      comment();
    } else if (c == '"' || c == '\'') {
      quoted(c);
    } else if (beyond_ascii(c)) {
      refuse("Non-ASCII letters are allowed in quotes and comments only.");
    } else if (c == '.' && ++dots_ > most_dots) {
      refuse(
          fmt::format("This line has more than {} dots outside of quotes; keys nested that deep "
                      "are not read.",
                      most_dots));
    } else {
      copy();
    }
  }
}

void GuardedToml::comment() {
  while (at_ < in_.size() && in_[at_] != '\n') {
    if (!beyond_ascii(in_[at_])) {
      copy();
    } else if (code_point()) {
      out_ += '?';
      ++out_column_;
    } else {
      return;
    }
  }
}

// A quote that is not closed ends at its line: toml++ refuses it.
void GuardedToml::quoted(char quote) {
  if (in_.substr(at_, 3) == std::string(3, quote)) {
    refuse("A text over several lines (three quotes) is not read; one line would work.");
    return;
  }
  copy();
  while (at_ < in_.size() && in_[at_] != '\n') {
    const char c = in_[at_];
    if (beyond_ascii(c)) {
      if (quote == '\'') {
        refuse("Letters beyond ASCII are read in double quotes only; \"...\" would work.");
        return;
      }
      const std::optional<char32_t> code = code_point();
      if (!code) return;
      escape(*code);
      continue;
    }
    copy();
    if (c == quote) return;
    if (quote != '"' || c != '\\' || at_ == in_.size() || in_[at_] == '\n') continue;
    if (beyond_ascii(in_[at_])) {  // its own escape would follow this backslash
      refuse("A backslash before this letter is no escape; two backslashes would work.");
      return;
    }
    copy();
  }
}

void GuardedToml::copy() {
  const char c = in_[at_++];
  out_ += c;
  if (c == '\n') {
    ++user_.line;
    user_.column = out_column_ = 1;
    dots_ = 0;
  } else {
    ++user_.column;
    ++out_column_;
  }
}

std::optional<char32_t> GuardedToml::code_point() {
  const auto byte = [&](std::size_t i) {
    return i < in_.size() ? static_cast<unsigned char>(in_[i]) : 0u;
  };
  const unsigned first = byte(at_);
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  char32_t code = first & (0xffu >> (length + 1));
  bool good = first >= 0xc2 && first <= 0xf4;
  for (std::size_t i = 1; i < length; ++i) {
    good = good && (byte(at_ + i) & 0xc0) == 0x80;
    code = code << 6 | (byte(at_ + i) & 0x3f);
  }
  const char32_t least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  if (!good || code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
    refuse(fmt::format("The byte 0x{:02x} here is not UTF-8; save the file as UTF-8.", first));
    return std::nullopt;
  }
  at_ += length;
  ++user_.column;
  return code;
}

void GuardedToml::escape(char32_t code) {
  const auto value = static_cast<std::uint32_t>(code);
  const std::string escaped =
      value > 0xffff ? fmt::format("\\U{:08x}", value) : fmt::format("\\u{:04x}", value);
  out_ += escaped;
  out_column_ += escaped.size();
  shifts_.push_back({user_.line, out_column_, escaped.size() - 1});
}

void GuardedToml::refuse(std::string sentence) {
  refusal_ = std::move(sentence);
}

TomlPlace GuardedToml::original(TomlPlace place) const {
  std::size_t extra = 0;
  for (const Shift& shift : shifts_) {
    if (shift.line == place.line && shift.column <= place.column) extra += shift.extra;
  }
  return {place.line, place.column - extra};
}

}  // namespace tilescope
