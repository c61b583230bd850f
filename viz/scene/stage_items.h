// Items of pipelines, alike in every view that shows one: the hue of a step of K, the dial of a
// barrier, and what is in a stage of shared memory.
//
// A hue stands for a step of K wherever a tile is: on its way, in a stage, in a sum.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "viz/scene/scene.h"

namespace tilescope {

// Seven of the eight first categories, then their next shades: the eighth is black or white. 21 are
// distinct, then they repeat; "k21" says which it is.
Rgba step_colour(std::uint32_t step, const Theme& theme);
// Of what has been read, and of what is still to come.
Ink faint_step(std::uint32_t step, const Theme& theme);

// A barrier's phase: how much of what it waits for has come as an arc, the phase's parity in it.
struct Dial {
  std::uint32_t phase = 0;  // the one that is not complete
  double share = 0;         // [0, 1]
  bool used = true;         // some phase has begun
  bool waited = false;      // by somebody: in the accent
};
void draw_dial(Scene& scene, const Dial& dial, Point at, double radius);

enum class StageState : std::uint8_t { empty, coming, full, read, used };
std::string_view name_of(StageState state);  // "empty", "coming", "full", "being read", "read"

// What is in a stage: its tiles side by side, each as far as it is there.
struct StageContents {
  StageState state = StageState::empty;
  std::uint32_t step = 0;
  struct Tile {
    std::string label;  // "A"
    double share = 1;   // that is there
  };
  std::vector<Tile> tiles;
};
// The frame, the tiles, their names where they fit; a strong frame while it is read. `small`: no
// words.
void draw_stage(Scene& scene, const StageContents& stage, const Box& box, bool small);

}  // namespace tilescope
