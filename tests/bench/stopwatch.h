// How long launches take on a GPU, in a row, by its own clock.
//
// A launch costs this machine some microseconds. Where the kernel takes less, what is measured
// would be that: so the GPU is first given memory to fill, behind which launches line up.
#pragma once

#include <functional>

#include "kernels/gpu/device.h"

namespace tilescope::bench {

class Stopwatch {
 public:
  using Enqueue = std::function<gpu::Result(std::size_t launch)>;
  explicit Stopwatch(gpu::GpuDevice& device) : device_(device) {}

  // Seconds a launch, of launches for about `seconds`. `each`: what one takes, 0 where that is not
  // known yet; it is afterwards.
  Outcome<double> run(const Enqueue& enqueue, double seconds, double& each);
  // The same without a head start, for launches of which nobody wants the time.
  std::optional<Error> settle(const Enqueue& enqueue, double seconds, double& each);
  // One launch, waited for.
  std::optional<Error> once(const Enqueue& enqueue);

 private:
  Outcome<double> rows(const Enqueue& enqueue, double seconds, double& each, bool head_start);
  Outcome<double> row(const Enqueue& enqueue, int launches, std::size_t first);
  void give_head_start(int launches);

  gpu::GpuDevice& device_;
  std::optional<gpu::Memory> scratch_;
};

}  // namespace tilescope::bench
