// tilescope draw EXPR -o F.{svg,png,pdf,tex,txt}, or -o - for text on stdout
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/files.h"
#include "app/pictures.h"
#include "viz/layout/layout_still.h"
#include "viz/layout/presets.h"
#include "viz/paint/cairo.h"

namespace tilescope {
namespace {

struct Options {
  std::string expression, output, colour, size, theme = "light";
  bool json = false;
};

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

// "preset NAME", or an expression.
Outcome<LayoutView> view_of(const std::string& what) {
  constexpr std::string_view preset = "preset ";
  if (what.substr(0, preset.size()) == preset) {
    const Outcome<Preset> found = preset_named(what.substr(preset.size()));
    if (!found) return found.error();
    return open_preset(*found);
  }
  return LayoutView::of_expression(what);
}

Outcome<std::vector<std::byte>> picture_of(const LayoutView& view, const LayoutChoice& choice,
                                           const Theme& theme, Size size, const Options& options) {
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

int draw(const Options& options, Terminal& terminal) {
  const Theme* theme = theme_named(options.theme);
  if (!theme) {
    return terminal.fail({ErrorKind::usage,
                          fmt::format("--theme {}: there are light and dark.", options.theme), ""});
  }
  LayoutChoice choice;
  if (!options.colour.empty()) {
    const Outcome<ColourBy> by = colour_by_name(options.colour);
    if (!by) return terminal.fail(by.error());
    choice.colour = *by;
  }
  Size size;
  if (!options.size.empty()) {
    const Outcome<Size> asked = size_named(options.size);
    if (!asked) return terminal.fail(asked.error());
    size = *asked;
    const bool png = options.output.ends_with(".png");
    if (png || options.output.ends_with(".pdf")) {
      if (const auto error = cannot_paint(size, png ? 1 : pdf_scale)) return terminal.fail(*error);
    }
  }
  const Outcome<LayoutView> view = view_of(options.expression);
  if (!view) return terminal.fail(view.error());
  if (choice.colour) {
    if (const auto error = view->cannot_colour(*choice.colour)) return terminal.fail(*error);
  }
  const Outcome<std::vector<std::byte>> picture = picture_of(*view, choice, *theme, size, options);
  if (!picture) return terminal.fail(picture.error());
  if (options.output == "-") {
    terminal.print({reinterpret_cast<const char*>(picture->data()), picture->size()});
  } else if (const std::optional<Error> error = write_file(options.output, std::span(*picture))) {
    return terminal.fail(*error);
  }
  if (terminal.json()) {
    nlohmann::ordered_json body{{"file", options.output}, {"bytes", picture->size()}};
    if (options.output == "-") {
      body["text"] = std::string(reinterpret_cast<const char*>(picture->data()), picture->size());
    }
    terminal.document(std::move(body));
  }
  return 0;
}

}  // namespace

Action define_draw(CommandOptions& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("EXPR", options->expression,
                 "a layout expression, or 'preset NAME' (see `tilescope list presets`)")
      .required();
  app.add_option("-o,--output", options->output,
                 "where to: F.svg, F.png, F.pdf, F.tex, F.txt, or - for text on stdout")
      .type_name("FILE")
      .required();
  app.add_option("--colour,--color", options->colour,
                 "what a cell's colour means (default: what suits the layout)")
      .type_name(colour_names("|"));
  app.add_option("--size", options->size,
                 "in pixels, each side 64 to 32000, a PNG at most 268 million (default: as large "
                 "as the content needs)")
      .type_name("WxH");
  app.add_option("--theme", options->theme, "default: light").type_name("light|dark");
  app.add_flag("--json", options->json, "one JSON document on stdout");
  return [options](Terminal& terminal) { return draw(*options, terminal); };
}

}  // namespace tilescope
