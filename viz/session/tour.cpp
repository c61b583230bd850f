#include "viz/session/tour.h"

#include <array>

namespace tilescope {

std::span<const TourStep> tour_steps() {
  using Part = TourStep::Part;
  static constexpr std::array steps = {
      TourStep{
          Part::field, "Type a layout",
          "This is what is open. Write CuTe's own notation, such as (8,8):(8,1), or one of "
          "its functions: the view follows as you type. A kernel's name and Enter open a kernel."},
      TourStep{Part::outline, "Begin with an example",
               "Layouts, lessons, kernels: a click opens one; what belongs to an open kernel is "
               "below it."},
      TourStep{Part::view, "Look at it",
               "Point at a cell to light all that belongs to it. A click selects it, a second one "
               "leaves only its tile or thread in colour, Esc goes back one. The wheel zooms, the "
               "arrow keys move the selection."},
      TourStep{Part::inspector, "Read every number",
               "What is under the pointer, and what is selected, each number with its name. Drag "
               "an edge to resize a panel; Ctrl+Shift+C copies these rows."},
      TourStep{Part::actions, "Everything is a command",
               "Ctrl+Shift+P finds a command by a few letters, ? lists them all. Every choice can "
               "be taken back with Ctrl+Z (zoom is none: Home shows all), and Ctrl+Shift+S copies "
               "a word that opens this view elsewhere."},
      TourStep{Part::view, "Begin",
               "Learn layouts, watch a kernel, or check one of your own: an empty view offers "
               "all three. A kernel opens with a page that says what it computes; Run shows it "
               "move."},
  };
  return steps;
}

}  // namespace tilescope
