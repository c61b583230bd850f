// The pipeline of the CTA looked at, at the moment at which the machine stands, as far as the
// record of a run tells it (core/profile/pipeline.h): stages of shared memory, mbarriers, sums. Who
// has no record yet sees the machine's views without it.
//
// Strips of it stand above the views: stages above shared memory, dials above the list of barriers,
// sums above TMEM. A click on a part looks at it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/profile/pipeline.h"
#include "viz/machine/memory_now.h"
#include "viz/scene/scene.h"
#include "viz/scene/stage_items.h"

namespace tilescope {

struct BarrierDial {
  std::uint32_t offset = 0;  // of the mbarrier in shared memory
  std::string name;          // "full[1]"
  Dial dial;
  std::string waiting;  // "warps 0-3 wait"; empty: nobody does
  std::string hint;
};

struct StageNow {
  std::string name;  // "stage 1"
  std::string of;    // "A, B": what its ring holds
  StageContents contents;
  std::vector<sim::ByteSpan> spans;
  std::optional<BarrierDial> full, free;
  std::string hint;
};

struct SumNow {
  sim::MemoryUse where;               // lanes and columns of TMEM
  std::string state;                  // "k0-k6 added, k7 now", "being read, 25%"
  std::string tile;                   // "D [0:128, 0:128]"; empty: not known
  std::vector<std::uint32_t> added;   // of each product that is done: its step
  std::size_t products = 0;           // of this sum
  std::optional<std::uint32_t> step;  // that was added last; nothing: the cells hold no sum
  bool read = false;                  // all of it has been read
};

struct PipelineNow {
  std::vector<StageNow> stages;
  std::vector<SumNow> sums;
  std::vector<BarrierDial> barriers;  // mbarriers, by offset
  struct Load {                       // tcgen05.ld that is under way
    sim::MemoryUse cells;
    std::optional<std::uint32_t> warp;
  };
  std::vector<Load> loads;
  // The step of K that lies, or is to lie, at a byte of shared memory; the sum of a cell of TMEM.
  std::optional<std::uint32_t> step_at(std::uint32_t byte) const;
  const SumNow* sum_at(std::uint32_t lane, std::uint32_t column) const;
};

// Tiles get the hue of their step, and are read as long as their stage is: until the product ends.
void mark_steps(MemoryNow& now, const PipelineNow& pipeline);

// How high the strips are in a room; 0: there is nothing in it, or no room.
double stage_strip_height(const PipelineNow* pipeline, const Box& room);
double dial_strip_height(std::size_t dials, const Box& room);
double sum_strip_height(const PipelineNow* pipeline, const Box& room);

void draw_stage_strip(Scene& scene, const PipelineNow& pipeline, std::optional<std::uint32_t> byte,
                      const Box& room);
void draw_dial_strip(Scene& scene, const std::vector<BarrierDial>& dials,
                     std::optional<std::uint32_t> selected, const Box& room);
void draw_sum_strip(Scene& scene, const PipelineNow& pipeline, const Box& room);

}  // namespace tilescope
