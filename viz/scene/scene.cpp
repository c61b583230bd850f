#include "viz/scene/scene.h"

#include <atomic>

namespace tilescope {

void draw_title(Scene& scene, const std::string& title, Point at) {
  const double room = scene.size.width - at.x - between;
  Text text;
  text.at = at;
  text.weight = FontWeight::bold;
  text.size = title_text;
  if (text_width(title, text.size, Family::sans, FontWeight::bold) > room) {
    text.size = heading_text;
  }
  text.text = fitted(title, room, text.size, Family::sans, FontWeight::bold);
  scene.begin("title");
  scene.items.emplace_back(std::move(text));
  scene.end();
}

std::uint64_t new_image_version() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace tilescope
