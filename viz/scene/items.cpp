#include "viz/scene/items.h"

namespace tilescope {

std::vector<std::string> wrapped(std::string_view text, double width, std::size_t most) {
  const auto fits = [&](std::string_view part) {
    return text_width(part, small_text, Family::sans) <= width;
  };
  std::vector<std::string> out;
  while (!text.empty()) {
    std::size_t length = text.size();
    if (!fits(text) && out.size() + 1 < most) {
      // As many whole words as there is room for, one at least.
      length = std::min(text.find(' '), text.size());
      for (std::size_t end = text.find(' ', length + 1);
           length < text.size() && end != text.npos && fits(text.substr(0, end));
           end = text.find(' ', end + 1)) {
        length = end;
      }
    }
    out.push_back(fitted(text.substr(0, length), width, small_text, Family::sans));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return out;
}

}  // namespace tilescope
