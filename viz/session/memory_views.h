// What the window keeps of the memory views between two frames: where they are zoomed to, what is
// under the pointer, what was painted; and the models of the moment, made once for it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "viz/layout/layout_scene.h"
#include "viz/machine/live_run.h"
#include "viz/machine/memory_now.h"
#include "viz/machine/pipeline_now.h"
#include "viz/machine/tensor_now.h"
#include "viz/session/matrices_tiles.h"

namespace tilescope {

struct Session;
class TimelineView;

struct MemoryViews {
  Viewport memory_viewport, tensor_viewport, accumulator_viewport;
  RasterStore memory_rasters, tensor_rasters;

  // The models, and of which moment they are. No state: they can be made anew.
  std::weak_ptr<LiveRun> run;
  std::uint64_t position = 0, block = 0;
  std::shared_ptr<const TimelineView> record;
  std::shared_ptr<const PipelineNow> pipeline;
  std::shared_ptr<const MemoryNow> memory;
  std::shared_ptr<const TensorNow> tensor;
  std::shared_ptr<const MatricesView> matrices, inputs;  // inputs: of which `matrices` are made
  std::optional<std::vector<MatrixTile>> output;         // the tile of the output, if there is one
  std::shared_ptr<const MatricesView> painted;           // of which matrices_rasters are
};

// Of the block looked at; null where no machine is stopped.
std::shared_ptr<const MemoryNow> shared_memory_of(const Session& session);
std::shared_ptr<const TensorNow> tensor_memory_of(const Session& session);
// What the record tells of the moment: empty where none does; null where no machine is stopped.
const PipelineNow* pipeline_of_moment(const Session& session);
// The matrices to show: while a kernel runs its inputs, and of the output what is written
// at this moment, where that is small enough to be looked through; else ViewState::matrices.
std::shared_ptr<const MatricesView> matrices_now(const Session& session);
// The element of the output that the one under the pointer stands for: of a product's factor the
// row or column that it says, and the other as it is selected.
Element pointed_output(const Session& session);
// The kernel writes it: nothing is in it before, or it says its tiles.
bool is_output(const Buffer& shell);

}  // namespace tilescope
