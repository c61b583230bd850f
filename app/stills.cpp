#include "app/stills.h"

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <optional>
#include <span>

#include "app/pictures.h"
#include "viz/layout/layout_still.h"
#include "viz/layout/presets.h"
#include "viz/paint/cairo.h"

namespace tilescope {
namespace {

Outcome<Size> size_named(const std::string& text) {
  int width = 0, height = 0, used = 0;
  const bool whole = std::sscanf(text.c_str(), "%5dx%5d%n", &width, &height, &used) == 2 &&
                     static_cast<std::size_t>(used) == text.size();
  constexpr int least = 64, most = 32000;
  if (!whole || width < least || height < least || width > most || height > most) {
    return Error{
        ErrorKind::usage,
        fmt::format(
            "--size {}: WIDTHxHEIGHT in pixels, each from {} to {} and a PNG of 268 million at "
            "most, as in 1600x1000.",
            text, least, most),
        ""};
  }
  return Size{static_cast<double>(width), static_cast<double>(height)};
}

// A picture whose words leave no room for its cells shows nothing. The size that would do has room
// for labels too, where any size has that: colours alone say little.
std::optional<Error> too_small(const LayoutView& view, const LayoutChoice& choice,
                               const Theme& theme, Size size, double smallest,
                               const std::string& asked) {
  if (has_room(arrange(view, Viewport{size}))) return std::nullopt;
  std::optional<Size> enough = size_that_tells(view, choice, theme, size, smallest);
  if (!enough) enough = size_with_room(view, size);
  const std::string would_do =
      enough ? fmt::format("; {}x{} would do", enough->width, enough->height) : std::string();
  return Error{ErrorKind::usage,
               fmt::format("--size {} leaves no room for the cells beside the words{}. Left out, "
                           "the picture is as large as it needs.",
                           asked, would_do),
               ""};
}

Outcome<std::vector<std::byte>> picture_of(const LayoutView& view, const LayoutChoice& choice,
                                           const Theme& theme, Size size,
                                           const StillOptions& options) {
  if (asks_for_text(options.output)) {
    const std::string text = text_for(view, choice, theme, options.output);
    const auto bytes = std::as_bytes(std::span(text));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  }
  // What can be enlarged afterwards may be set smaller.
  const bool enlarges = options.output.size() > 4 && !options.output.ends_with(".png");
  const double smallest = enlarges ? 0.5 : 0.7;
  if (!options.size.empty()) {
    if (const auto error = too_small(view, choice, theme, size, smallest, options.size)) {
      return *error;
    }
  }
  return paint_for_file(build_scene(view, choice, theme, size, smallest), options.output);
}

// The view is asked for when the words are known to be right.
Outcome<std::vector<std::byte>> still(const std::function<Outcome<LayoutView>()>& view_of,
                                      const StillOptions& options) {
  const Theme* theme = theme_named(options.theme);
  if (!theme) {
    return Error{ErrorKind::usage,
                 fmt::format("--theme {}: there are light and dark.", options.theme), ""};
  }
  LayoutChoice choice;
  if (!options.colour.empty()) {
    const Outcome<ColourBy> by = colour_by_name(options.colour);
    if (!by) return by.error();
    choice.colour = *by;
  }
  Size size;
  if (!options.size.empty()) {
    const Outcome<Size> asked = size_named(options.size);
    if (!asked) return asked.error();
    size = *asked;
    const bool png = options.output.ends_with(".png");
    if (png || options.output.ends_with(".pdf")) {
      if (const auto error = cannot_paint(size, png ? 1 : pdf_scale)) return *error;
    }
  }
  const Outcome<LayoutView> view = view_of();
  if (!view) return view.error();
  if (choice.colour) {
    if (const auto error = view->cannot_colour(*choice.colour)) return *error;
  }
  return picture_of(*view, choice, *theme, size, options);
}

}  // namespace

Outcome<LayoutView> still_view(const std::string& what) {
  constexpr std::string_view preset = "preset ";
  if (what.substr(0, preset.size()) == preset) {
    const Outcome<Preset> found = preset_named(what.substr(preset.size()));
    if (!found) return found.error();
    return open_preset(*found);
  }
  return LayoutView::of_expression(what);
}

Outcome<std::vector<std::byte>> still_of(const LayoutView& view, const StillOptions& options) {
  return still([&]() -> Outcome<LayoutView> { return view; }, options);
}

Outcome<std::vector<std::byte>> still_of(const std::string& what, const StillOptions& options) {
  return still([&] { return still_view(what); }, options);
}

}  // namespace tilescope
