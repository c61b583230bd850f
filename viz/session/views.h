// The views, one row each: its name, what it needs, what it says when it is empty, how it is drawn,
// pointed into, zoomed, written to files and described. The window, commands, pictures and
// --describe ask the row of the view that is open.
//
// A new view is a name in viz/scene/view_name.h, a file view_NAME.cpp here with its row, and that
// row in the table of views.cpp. tests/viz/views_test.cpp holds what every row keeps.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"
#include "viz/scene/describe.h"
#include "viz/scene/view_name.h"
#include "viz/scene/viewport.h"

namespace tilescope {

struct Session;
struct Picture;
struct Hovered;
struct ValueTable;

// Why there is nothing in a view, and the command that brings something (empty: time does).
struct Emptiness {
  std::string sentence, command, button;
};

// How a picture is asked for.
struct Drawing {
  Size size;
  double pixel_scale = 1;     // device pixels for one of the picture
  bool stands_alone = false;  // a file, with nothing around it
  bool legend = true;         // it is not folded
};

struct View {
  ViewName id;
  std::string_view name;       // as `select` takes it
  std::string_view tab = {};   // the label of its tab; empty: it has none
  std::string_view said = {};  // "Showing the difference."; empty: its name
  // What it is of: the open layout, the open kernel, the kernel's machine where it is now, or the
  // course, which needs nothing that is open.
  enum class Of : std::uint8_t { layout, kernel, machine, course };
  Of of = Of::kernel;
  bool legend = false;  // it has one at its foot, which can be folded
  bool list = false;    // scrolled by rows, not zoomed, but for what a picture has over them
  // Whether its tab is there though it is not open; null: whenever a kernel is.
  bool (*offered)(const Session&) = nullptr;
  // Nothing where there is something to see. Asked only where what it is of is open.
  std::optional<Emptiness> (*empty)(const Session&) = nullptr;
  // Into a picture that has size and theme already.
  void (*draw)(Session&, Picture&, const Drawing&) = nullptr;
  // For a file, in its natural size; null: as it is drawn at 1280 x 800.
  Scene (*for_file)(Session& quiet, const Session& session) = nullptr;

  // The rest is null where it cannot be done.
  Viewport& (*viewport)(Session&) = nullptr;
  // What is under a point becomes the hover.
  void (*point)(const Session&, const Picture&, Point, Hovered&) = nullptr;
  void (*zoom)(Session&, const Picture&, Point at, double factor) = nullptr;
  void (*pan)(Session&, const Picture&, double dx, double dy, std::optional<Point> at) = nullptr;
  // Where it is zoomed to, in the data's own terms.
  std::optional<ViewportPlace> (*look)(const Session&) = nullptr;
  // What it shows as a table of values.
  Outcome<ValueTable> (*values)(const Session&) = nullptr;
  // The same as a page to be read, for a .txt; null: the table of values, aligned.
  std::string (*text)(const Session&) = nullptr;
  // What it says of itself beyond the texts of its picture.
  Json (*json)(const Session&, const Picture&) = nullptr;
};

// In the order of their tabs.
std::span<const View* const> views();
const View& view_of(ViewName name);

bool shows_layout(ViewName view);
bool shows_machine(ViewName view);
std::string_view name_of(ViewName view);

}  // namespace tilescope
