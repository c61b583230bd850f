// The theatre as a picture: global memory at the left, the ring of stages in shared memory with its
// mbarriers, the tensor core, the accumulators, the output at the right; below them the warps by
// role, and at the foot the run's time to be dragged. Tiles on their way have the colour of their
// step of K, and so have the stages and sums that they went into.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "viz/scene/describe.h"
#include "viz/scene/scene.h"
#include "viz/theatre/theatre_now.h"

namespace tilescope {

// What is followed through the run; marked wherever it is.
struct TheatreFollow {
  enum class What : std::uint8_t { nothing, stage, tile };
  What what = What::nothing;
  std::size_t number = 0;   // of a stage, or of a tile's: Pipeline::stages
  std::size_t filling = 0;  // of a tile: which use of the stage
  friend bool operator==(const TheatreFollow&, const TheatreFollow&) = default;
};

struct TheatreShown {
  const TheatreView& view;
  const TheatreNow& now;
  const Theme& theme;
  std::uint8_t rank = 0;   // of the CTA looked at
  std::uint32_t warp = 0;  // looked at
  bool playing = false;
  TheatreFollow follow = {};
  // The text of a line of a source file; null: none is at hand.
  std::function<std::string(const std::string& file, std::uint32_t line)> source = {};
  // What a lane of a warp of this CTA has in a register now; empty: not known. Null: no machine
  // stands at this time.
  std::function<std::string(std::uint32_t warp, const std::string& name, std::uint32_t lane)>
      value = {};
  // The variable of the source that a register has behind an instruction; empty: none is known.
  // Null: the PTX has no names.
  std::function<std::string(std::uint32_t pc, const std::string& name)> variable = {};
};

// Where in a picture the run's time is: for drags.
struct TheatreFrame {
  Box strip;  // from the begin to the end of the cluster's time
  double begin = 0, end = 0;
  double time_at(double x) const;
};

TheatreFrame draw_theatre(Scene& scene, const TheatreShown& shown, Size size);

// "cycles 1,200 to 1,850 on the way, read until 2,300, free at 2,350": the life of a tile.
std::string life_of(const sim::Filling& filling);
// "stage 2 of A, B", by its number in Pipeline::stages.
std::string stage_text(const TheatreView& view, std::size_t stage);

Json describe_theatre(const TheatreShown& shown);
// The same for reading: what happens, then each stage, mbarrier, copy and sum, and what warps do.
std::string theatre_page(const TheatreShown& shown);

}  // namespace tilescope
