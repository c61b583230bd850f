// Text inside SVG and HTML.
#pragma once

#include <string>
#include <string_view>

namespace tilescope {

// As it stands between tags, or as an attribute in double quotes; controls, which XML does not
// have, are left out.
void put_markup(std::string& out, std::string_view text);
std::string markup_of(std::string_view text);

}  // namespace tilescope
