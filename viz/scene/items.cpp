#include "viz/scene/items.h"

namespace tilescope {

std::vector<std::string> wrapped(std::string_view text, double width, std::size_t most,
                                 FontWeight weight) {
  const auto fits = [&](std::string_view part) {
    return text_width(part, small_text, Family::sans, weight) <= width;
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
    out.push_back(fitted(text.substr(0, length), width, small_text, Family::sans, weight));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return out;
}

std::string begin_of(const std::string& text, double width, Family family) {
  if (text_width(text, small_text, family) <= width) return text;
  const std::string more = "\u2026";
  const double room = width - text_width(more, small_text, family);
  std::size_t keep = 0, next = 0;
  while (next < text.size()) {
    std::size_t end = next + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    if (text_width(text.substr(0, end), small_text, family) > room) break;
    keep = next = end;
  }
  return text.substr(0, keep) + more;
}

}  // namespace tilescope
