#include "app/pictures.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/assets.h"
#include "viz/paint/cairo.h"
#include "viz/paint/svg.h"

namespace tilescope {
namespace {

using Painter = Outcome<std::vector<std::byte>> (*)(const Scene&, const Fonts&);

Outcome<std::vector<std::byte>> with_fonts(const Scene& scene, Painter paint) {
  const Outcome<Asset> sans = load_asset("font/DejaVuSans.ttf");
  const Outcome<Asset> bold = load_asset("font/DejaVuSans-Bold.ttf");
  const Outcome<Asset> mono = load_asset("font/DejaVuSansMono.ttf");
  for (const Outcome<Asset>* font : {&sans, &bold, &mono}) {
    if (!*font) return font->error();
  }
  return paint(scene, {sans->bytes(), bold->bytes(), mono->bytes()});
}

}  // namespace

Outcome<std::vector<std::byte>> paint_for_file(const Scene& scene, std::string_view path) {
  const std::size_t dot = path.rfind('.');
  const std::string_view format = dot == path.npos ? "" : path.substr(dot);
  if (format == ".svg") {
    const std::string svg = paint_svg(scene);
    const auto bytes = std::as_bytes(std::span(svg));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  }
  if (format == ".png") {
    return with_fonts(scene, [](const Scene& s, const Fonts& f) { return paint_png(s, f); });
  }
  if (format == ".pdf") return with_fonts(scene, paint_pdf);
  return Error{
      ErrorKind::usage,
      fmt::format("{}: the name says the format, and there are .svg, .png and .pdf.", path), ""};
}

}  // namespace tilescope
