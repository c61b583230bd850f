// Share strings: a view in one word that survives mails, chats and terminals.
//
//     tilescope:1:b3BlbiBwcmVzZXQgOXgzMh5jb2xvdXIgb2Zmc2V0Xk9x
//               ^ the version: who reads an older one migrates it, a newer one gets a sentence
//                 ^ base64url of the commands that make the view, a 0x1e between two, and the last
//                   three bytes of their FNV-1a hash: a cut or mistyped string is told, not opened
//
// Version 0 is what a person writes by hand: the commands themselves, percent-encoded as in an
// address, `;` between them, blanks as + or %20, and `color` for `colour` if one likes:
//
//     tilescope:0:open+layout+(8,8):(8,1);color+offset
//
// Blanks and line breaks that pasting brought in, quotes or brackets around, and a full stop after
// are no part of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace tilescope {

inline constexpr int share_version = 1;

// Law: read_share(share_string(lines)) is lines.
std::string share_string(const std::vector<std::string>& lines);

// Whether a text wants to be one: it begins as they do.
bool is_share(std::string_view text);

// The lines of today's commands. Refused: no share string, a broken one, a newer version.
Outcome<std::vector<std::string>> read_share(std::string_view text);

// A command line of an older version as today's.
std::string migrated(std::string line, int version);

}  // namespace tilescope
