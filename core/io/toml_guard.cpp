#include "core/io/toml_guard.h"

#include <fmt/format.h>

namespace tilescope {
namespace {

constexpr int most_dots = 200;  // on one line

// Walks the text as TOML's lexer does, as far as quotes and comments go. A quote that is not closed
// ends at its line: toml++ refuses the text there, and never sees what follows.
class Scan {
 public:
  explicit Scan(std::string_view text) : text_(text) {
    if (text_.substr(0, 3) == "\xef\xbb\xbf") text_.remove_prefix(3);  // a byte order mark is legal
  }

  std::optional<TomlObjection> objection() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') step();
      } else if (c == '"' || c == '\'') {
        if (text_.substr(at_, 3) == std::string(3, c)) {
          return here("A text over several lines (three quotes) is not read; one line would work.");
        }
        // Inside a bare word toml++ takes a quote for a part of it, and so what it encloses.
        if (at_ > 0 && std::string_view(" \t\r\n=,[{.").find(text_[at_ - 1]) == text_.npos) {
          return here(
              "This quote follows a letter or digit; a space or an = before it would work.");
        }
        quoted(c);
      } else if (static_cast<unsigned char>(c) >= 0x80) {
        return here("Letters beyond ASCII may stand in quotes and comments only.");
      } else {
        if (c == '.' && ++dots_ > most_dots) {
          return here(
              fmt::format("This line has more than {} dots outside of quotes; keys nested "
                          "that deep are not read.",
                          most_dots));
        }
        step();
      }
    }
    return std::nullopt;
  }

 private:
  void quoted(char quote) {
    step();
    while (at_ < text_.size() && text_[at_] != '\n') {
      const bool closed = text_[at_] == quote;
      step(quote == '"' && text_[at_] == '\\' ? 2 : 1);
      if (closed) return;
    }
  }

  void step(std::size_t count = 1) {
    for (; count > 0 && at_ < text_.size(); --count, ++at_) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '\n') {
        ++line_, column_ = 1, dots_ = 0;
      } else if ((c & 0xc0) != 0x80) {  // not a continuation byte of UTF-8
        ++column_;
      }
    }
  }

  TomlObjection here(std::string sentence) const { return {std::move(sentence), line_, column_}; }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1, column_ = 1;
  int dots_ = 0;
};

}  // namespace

std::optional<TomlObjection> toml_objection(std::string_view text) {
  return Scan(text).objection();
}

}  // namespace tilescope
