#include "viz/paint/markup.h"

namespace tilescope {

void put_markup(std::string& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
  }
}

std::string markup_of(std::string_view text) {
  std::string out;
  put_markup(out, text);
  return out;
}

}  // namespace tilescope
