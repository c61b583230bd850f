// Several texts of PTX that are to be linked with each other, as one: what stands for the machine
// code that a linker would have made. No PTX has this line by itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilescope {

inline constexpr std::string_view link_mark = "\n//// tilescope: linked with what follows ////\n";

inline std::string one_text(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) {
    if (!out.empty()) out += link_mark;
    out += text;
  }
  return out;
}

inline std::vector<std::string_view> several_texts(std::string_view one) {
  std::vector<std::string_view> out;
  for (std::size_t end = 0; (end = one.find(link_mark)) != one.npos;) {
    out.push_back(one.substr(0, end));
    one.remove_prefix(end + link_mark.size());
  }
  out.push_back(one);
  return out;
}

}  // namespace tilescope
