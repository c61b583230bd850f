// Pictures of values, as `tilescope draw` makes them (app/stills.h).
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "app/python/values.h"

namespace tilescope::python {

// The picture's text (SVG, TikZ, plain) or bytes (PNG, PDF); None where it went into a file.
nb::object picture_of(const Value& value, const nb::object& colour, const nb::object& size,
                      const nb::object& file, const std::string& theme, const std::string& format);
// For a notebook: None where the value cannot be drawn.
nb::object svg_of(const Value& value);

inline const Layout& held_by(const Layout& layout) {
  return layout;
}
template <class T>
const T& held_by(const Box<T>& box) {
  return box.value;
}

inline constexpr const char* draw_signature =
    "def draw(self, colour: str | None = None, size: str | tuple[int, int] | None = None, file: "
    "str | "
    "os.PathLike | None = None, *, theme: str = 'light', format: str = 'svg') -> str | bytes | "
    "None";
inline constexpr const char* draw_help =
    "The picture that `tilescope draw` makes of it.\n\n"
    "colour: tile, thread, warp, value, offset, bank, axis or none; None: what suits it.\n"
    "size: (1200, 800) pixels; None: as large as it needs.\n"
    "file: where it is written, F.svg, F.png, F.pdf, F.tex or F.txt; without one the picture is\n"
    "answered, in `format`: svg, tex and txt as text, which a notebook shows where it is svg; png\n"
    "and pdf as bytes.\n"
    "Error: there is no such colour, or the value cannot have it; the size leaves no room.";

// draw() and _repr_svg_() of a class.
template <class T>
void define_pictures_of(nb::class_<T>& made) {
  made.def(
          "draw",
          [](const T& self, const nb::object& colour, const nb::object& size,
             const nb::object& file, const std::string& theme, const std::string& format) {
            return picture_of(Value(held_by(self)), colour, size, file, theme, format);
          },
          nb::arg("colour") = nb::none(), nb::arg("size") = nb::none(),
          nb::arg("file") = nb::none(), nb::kw_only(), nb::arg("theme") = "light",
          nb::arg("format") = "svg", nb::sig(draw_signature), draw_help)
      .def(
          "_repr_svg_", [](const T& self) { return svg_of(Value(held_by(self))); },
          nb::sig("def _repr_svg_(self) -> str | None"));
}

}  // namespace tilescope::python
