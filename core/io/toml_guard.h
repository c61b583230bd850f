// What is refused before toml++ sees it, so that no text can make it misbehave.
//
// toml++ 3.3 (Debian 12's) runs into code marked unreachable where it looks for a space and finds a
// letter beyond ASCII: between tokens, and after a backslash in a text over several lines. And it
// destroys nested tables by a recursion that dotted keys can make as deep as the file is long. No
// file of ours needs any of these.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tilescope {

struct TomlObjection {
  std::string sentence;
  std::size_t line = 1, column = 1;  // as toml++ counts: code points, from 1
};

std::optional<TomlObjection> toml_objection(std::string_view text);

}  // namespace tilescope
