// The text of window commands: how a line becomes words, and several commands one line.
//
//     open layout (8,8):(8,1); colour offset        two commands
//     open layout "A = (8,8):(8,1); coalesce(A)"     one command: `;` inside quotes or brackets
//                                                    separates nothing
//
// A word may be quoted with ' or "; the quotes are not part of it. Nothing else is special.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace tilescope {

// The commands of a line, in order, without surrounding blanks; empty ones are left out. Text that
// `edit line N` and `edit insert N` take without quotes goes to the end, with its semicolons.
// Refused: a quote that does not end.
Outcome<std::vector<std::string>> split_commands(std::string_view line);

// The words of a command. Blanks inside quotes or brackets do not separate.
std::vector<std::string> split_words(std::string_view command);

// The first word, and the rest as it was written, without surrounding blanks.
std::pair<std::string_view, std::string_view> first_word(std::string_view text);

// Text without the pair of quotes around the whole of it, if there is one.
std::string_view unquoted(std::string_view text);

std::string_view trimmed(std::string_view text);

// The letters A to Z as small ones.
std::string lower(std::string_view text);

// The words as one command line again: a word with blanks or `;` in it is quoted.
std::string quoted_word(std::string_view word);

// "%20" as a blank (RFC 3986, 2.1), once. Nothing where a % is not followed by two digits.
std::optional<std::string> percent_decoded(std::string_view text);

// A word as a POSIX shell takes it, quoted where it has to be.
std::string shell_word(std::string_view text);

// The arguments are not what the command takes.
Error usage_error(std::string sentence);

// A whole number and nothing else.
std::optional<std::int64_t> number_in(std::string_view text);

}  // namespace tilescope
