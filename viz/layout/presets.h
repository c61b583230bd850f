// The layouts everyone starts with, as data.
#pragma once

#include <span>
#include <string_view>

#include "viz/layout/layout_view.h"

namespace tilescope {

struct Preset {
  enum class Kind { plain, divided, thread_value };
  std::string_view name;   // "9x32": what `open preset NAME` takes
  std::string_view title;  // a sentence's worth, for the picture
  Kind kind;
  std::string_view first;   // plain: the layout; divided: the input; thread_value: the TV layout
  std::string_view second;  // divided: the tiler; thread_value: the tile's shape
  std::string_view help;    // what there is to see
};

std::span<const Preset> presets();
// By name, exactly or by a unique part of it, in any case. Unknown: a sentence with the names.
Outcome<Preset> preset_named(std::string_view name);
Outcome<LayoutView> open_preset(const Preset& preset);
// The same as an expression of the language; empty where none says as much.
std::string expression_of(const Preset& preset);

}  // namespace tilescope
