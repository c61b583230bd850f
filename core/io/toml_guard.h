// TOML text made harmless for toml++: what it gets is ASCII, and not nested without bound.
//
// toml++ 3.3 (Debian 12's) runs into code marked unreachable where it looks for a space and finds a
// letter beyond ASCII, which can be almost anywhere in a broken text; and it destroys nested tables
// by a recursion that dotted keys can make as deep as the file is long. So letters beyond ASCII
// become escapes (\u00e9) in texts and '?' in comments, and places in the escaped text are turned
// back into places in the user's file. Refused: such letters anywhere else, texts over several
// lines, more than 200 dots on a line. No file of ours needs these.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilescope {

// Counted from 1; columns are code points.
struct TomlPlace {
  std::size_t line = 1, column = 1;
};

class GuardedToml {
 public:
  explicit GuardedToml(std::string_view text);

  // The sentence of what is refused; nothing where text() may be parsed.
  const std::optional<std::string>& refusal() const { return refusal_; }
  TomlPlace refused_at() const { return user_; }

  const std::string& text() const { return out_; }
  // Where a place in text() is in the user's file.
  TomlPlace original(TomlPlace place) const;

 private:
  // An escape in text(): from `column` on, a place is `extra` columns further right than the
  // user's.
  struct Shift {
    std::size_t line, column, extra;
  };

  void scan();
  void quoted(char quote);
  void comment();
  void copy();
  // The code point that begins here; nothing (and a refusal) where the bytes are not UTF-8.
  std::optional<char32_t> code_point();
  void escape(char32_t code);
  void refuse(std::string sentence);

  std::string_view in_;
  std::size_t at_ = 0;
  std::string out_;
  TomlPlace user_;
  std::size_t out_column_ = 1;
  int dots_ = 0;  // on this line
  std::vector<Shift> shifts_;
  std::optional<std::string> refusal_;
};

}  // namespace tilescope
