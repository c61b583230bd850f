// Scenes one after the other, of one size: what painters play or make a moving picture of.
#pragma once

#include <string>
#include <vector>

#include "viz/scene/scene.h"

namespace tilescope {

struct FilmFrame {
  Scene scene;
  double time = 0;    // in Film::unit
  std::string label;  // "cycle 1,234"
  std::string state;  // JSON: what the frame shows, for scripts; empty: nothing
};

struct Film {
  std::string title;
  std::string unit;  // "cycle"
  double frames_a_second = 20;
  std::vector<FilmFrame> frames;
};

}  // namespace tilescope
