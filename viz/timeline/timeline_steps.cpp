#include "viz/timeline/timeline_steps.h"

namespace tilescope {

void add_steps(const sim::Pipeline& pipeline, TimelineSteps& out) {
  for (const sim::RingStage& stage : pipeline.stages) {
    for (const sim::Filling& filling : stage.fillings) {
      for (const sim::EventId copy : filling.copies) out[copy] = filling.step;
    }
  }
  for (const sim::Accumulator& accumulator : pipeline.accumulators) {
    for (const sim::Accumulation& sum : accumulator.sums) {
      for (std::size_t i = 0; i < sum.products.size() && i < sum.steps.size(); ++i) {
        out[sum.products[i]] = sum.steps[i];
      }
    }
  }
}

}  // namespace tilescope
