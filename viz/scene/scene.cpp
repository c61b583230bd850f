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

std::shared_ptr<const Image> ramp_image(std::vector<Rgba> colours) {
  auto out = std::make_shared<Image>();
  out->columns = static_cast<int>(colours.size());
  out->rows = 1;
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const Rgba c : colours) {
    for (const std::uint8_t part : {c.r, c.g, c.b, c.a}) hash = (hash ^ part) * 0x100000001b3u;
  }
  out->version = hash | std::uint64_t{1} << 63;  // counted versions never get there
  out->rgba = std::move(colours);
  return out;
}

std::uint64_t new_image_version() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace tilescope
