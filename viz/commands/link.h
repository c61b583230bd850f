// Links: what a page may open in the window.
//
//     tilescope://lesson/hgemm_v4/3              a step of a lesson, counted from 1; without a
//     number,
//                                                where the learner left off
//     tilescope://course/hgemm_v4                an exercise of the course
//     tilescope://kernel/hgemm_v4                a kernel of the catalog, as it comes
//     tilescope://preset/9x32
//     tilescope://layout/(4,8)%3A(8,1)           an expression
//
// Bytes may be percent-encoded (RFC 3986, 2.1); they are decoded once. A browser hands any page's
// link on, so one may be a stranger's. Law: it opens what the program has by a name, or shows an
// expression. It can name no file, no option and no second command: of a name only letters, digits,
// blanks, `_` and `-` are taken, of an expression what prints in ASCII.
//
// Share strings (viz/commands/share.h) are no links, since they may name files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"
#include "viz/session/backend.h"
#include "viz/session/session.h"

namespace tilescope {

inline constexpr std::size_t most_link = 4096;  // bytes, as it stands in the page

struct Link {
  enum class To : std::uint8_t { lesson, course, kernel, preset, layout } to = To::lesson;
  std::string what;      // a name, or the expression
  std::size_t step = 0;  // of a lesson; 0: it names none
};

// Whether a text begins with `tilescope:`, in letters of any size: what a desktop hands on.
bool has_scheme(std::string_view text);
// Whether it wants to be a link: `tilescope://...`.
bool is_link(std::string_view text);

// Refused, as usage: what has another form.
Outcome<Link> read_link(std::string_view text);

// The window command that a link stands for. Refused as well: what is not there.
Outcome<std::string> command_of_link(Session& session, const Backend& backend,
                                     std::string_view text);

// Does that command, as one step of the history.
Outcome<std::string> open_link(Session& session, Backend& backend, std::string_view text);

}  // namespace tilescope
