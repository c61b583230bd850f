#include "viz/scene/rich_lines.h"

#include <algorithm>

#include "viz/scene/items.h"

namespace tilescope {

std::vector<std::vector<RichPiece>> rich_lines(std::string_view text, double width) {
  std::vector<std::vector<RichPiece>> out(1);
  double x = 0;
  bool code = false, blank = false;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ' || text[at] == '`') {
      blank = blank || text[at] == ' ';
      code = code != (text[at] == '`');
      ++at;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" `", at), text.size());
    const Family family = code ? Family::mono : Family::sans;
    std::string word(text.substr(at, end - at));
    const double gap = blank ? text_width(" ", small_text, Family::sans) : 0;
    if (blank && x > 0 && x + gap + text_width(word, small_text, family) > width) {
      out.emplace_back();
      x = 0;
      blank = false;
    }
    std::vector<RichPiece>& line = out.back();
    if (blank && !line.empty() && line.back().family == family) {
      line.back().text += " " + word;
      x = line.back().x + text_width(line.back().text, small_text, family);
    } else {
      x += line.empty() ? 0 : gap;
      line.push_back({std::move(word), family, x});
      x += text_width(line.back().text, small_text, family);
    }
    blank = false;
    at = end;
  }
  return out;
}

double draw_rich(Scene& scene, std::string_view text, Point at, double width, double apart,
                 const Ink& ink) {
  const auto lines = rich_lines(text, width);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const RichPiece& piece : lines[i]) {
      scene.add(words({at.x + piece.x, at.y + apart * static_cast<double>(i)}, piece.text, ink,
                      piece.family));
    }
  }
  return apart * static_cast<double>(lines.size());
}

}  // namespace tilescope
