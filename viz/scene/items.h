// Items of a scene in one call: a line of text, a hatched box; and text in several lines.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "viz/scene/scene.h"

namespace tilescope {

inline void put_look(Text& out, const Ink& ink) {
  out.ink = ink;
}
inline void put_look(Text& out, Role role) {
  out.ink = role;
}
inline void put_look(Text& out, Family family) {
  out.family = family;
}
inline void put_look(Text& out, FontWeight weight) {
  out.weight = weight;
}
inline void put_look(Text& out, Across across) {
  out.across = across;
}
inline void put_look(Text& out, double size) {
  out.size = size;
}

// A line of text, and how it looks: ink, family, weight, where it is about its point, size, in
// any order; small and plain where nothing is said.
//
//     scene.add(words({x, y}, "warp", Role::quiet, FontWeight::bold));
template <class... Looks>
Text words(Point at, std::string text, const Looks&... looks) {
  Text out;
  out.at = at;
  out.text = std::move(text);
  (put_look(out, looks), ...);
  return out;
}

// Lines of small letters, broken at blanks, none wider than `width`: a longer word, and the last
// line where there would be more than `most`, is cut in its middle.
std::vector<std::string> wrapped(std::string_view text, double width, std::size_t most = 64,
                                 FontWeight weight = FontWeight::regular);

// Small letters, cut at the end where they are wider: of a line of code, and of a sentence that
// begins with what matters, the beginning says where it belongs.
std::string begin_of(const std::string& text, double width, Family family);

// Lines at 45 degrees across a box, so many pixels apart.
inline void hatch(Scene& scene, const Box& box, const Ink& ink, double apart) {
  Segments lines;
  lines.stroke = {ink, 1, false};
  for (double at = box.x - box.height; at < box.right(); at += apart) {
    const double from = std::max(at, box.x), to = std::min(at + box.height, box.right());
    if (from < to) {
      lines.lines.push_back({{from, box.bottom() - (from - at)}, {to, box.bottom() - (to - at)}});
    }
  }
  scene.add(std::move(lines));
}

// The frame of what is under the pointer: dashed, in the colour of text, between lines of paper.
inline void draw_pointed(Scene& scene, const Box& box) {
  scene.add(Rectangle{box, {}, {Role::paper, 3, false}, 0});
  scene.add(Rectangle{box, {}, {Role::text, 1.5, true}, 0});
}

// The frame of what is selected: the accent between lines of paper, so that it is seen on any
// colour, also on one like its own.
inline void draw_selection(Scene& scene, const Box& box, double width = 2) {
  scene.add(Rectangle{box, {}, {Role::paper, width + 3, false}, 0});
  scene.add(Rectangle{box, {}, {Role::accent, width, false}, 0});
}

}  // namespace tilescope
