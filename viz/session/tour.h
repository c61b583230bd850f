// The tour of the window for those who open it for the first time: six steps, each about one
// part of it. `tour` begins it again at any time; Esc ends it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tilescope {

struct TourStep {
  enum class Part : std::uint8_t { field, outline, view, inspector, actions };
  Part part;
  std::string_view title, text;
};
std::span<const TourStep> tour_steps();

}  // namespace tilescope
