#include "app/pictures.h"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "app/assets.h"
#include "viz/layout/layout_text.h"
#include "viz/paint/cairo.h"
#include "viz/paint/svg.h"
#include "viz/paint/text.h"
#include "viz/paint/tikz.h"

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

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

TextColours terminal_colours() {
  if (!variable("NO_COLOR").empty() || variable("TERM") == "dumb") return TextColours::none;
  const std::string_view depth = variable("COLORTERM");
  return depth == "truecolor" || depth == "24bit" ? TextColours::full : TextColours::cube;
}

}  // namespace

Outcome<std::vector<std::byte>> paint_for_file(const Scene& scene, std::string_view path) {
  const std::size_t dot = path.rfind('.');
  const std::string_view format = dot == path.npos ? "" : path.substr(dot);
  if (format == ".svg") return bytes_of(paint_svg(scene));
  if (format == ".tex") return bytes_of(paint_tikz(scene));
  if (format == ".png") {
    return with_fonts(scene, [](const Scene& s, const Fonts& f) { return paint_png(s, f); });
  }
  if (format == ".pdf") return with_fonts(scene, paint_pdf);
  if (asks_for_text(path)) {
    return Error{
        ErrorKind::usage,
        fmt::format("{}: text is made by `tilescope draw EXPR -o -`; here .svg, .png, .pdf "
                    "and .tex would work.",
                    path),
        ""};
  }
  return Error{ErrorKind::usage,
               fmt::format("{}: the name says the format, and there are .svg, .png, .pdf, .tex, "
                           ".txt and - for text on stdout.",
                           path),
               ""};
}

bool asks_for_text(std::string_view path) {
  return path == "-" || path.ends_with(".txt");
}

std::string text_for(const LayoutView& view, const LayoutChoice& choice, const Theme& theme,
                     std::string_view path) {
  const bool terminal = path == "-" && ::isatty(STDOUT_FILENO) == 1;
  winsize size{};
  const bool known = terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  const TextPage page = text_page(view, choice, theme, known ? size.ws_col : 0);
  return paint_text(page, terminal ? terminal_colours() : TextColours::none);
}

std::string small_text_for(const LayoutView& view, const LayoutChoice& choice, const Theme& theme,
                           int columns, int lines) {
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  winsize size{};
  if (terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    columns = std::min<int>(columns, size.ws_col);
  }
  const auto painted = [&](const TextPage& page) {
    return paint_text(page, terminal ? terminal_colours() : TextColours::none);
  };
  // Half of it has to be there.
  const auto fits = [&](int only) {
    const TextPage whole = text_page(view, choice, theme, 0, only);
    std::size_t wide = 0;
    for (int i = 0; i < whole.rows(); ++i) wide = std::max(wide, whole.row(i).size());
    return static_cast<int>(wide) <= 2 * columns && whole.rows() <= 2 * lines;
  };
  TextPage all = text_page(view, choice, theme, columns);
  if (all.rows() <= lines && fits(-1)) return painted(all);
  const int last = static_cast<int>(view.panels().size()) - 1;
  if (last > 0 && fits(last)) return painted(text_page(view, choice, theme, columns, last));
  return last == 0 && fits(-1) ? painted(all) : "";
}

}  // namespace tilescope
