// Clusters that never begin, because one that runs asks to do their work (clusterlaunchcontrol, PTX
// ISA 9.7.13.17).
//
// A chip begins clusters in order, as long as it has room, and at once; what it has no room for
// waits, and the first of those is what a request gets. Here clusters may begin later than that,
// which must not show: those that a chip would have begun are none that can be cancelled.
#include <algorithm>

#include "core/sim/machine/model.h"

namespace tilescope::sim {

std::optional<Dim3> Dispatcher::cancel_cluster() {
  const std::uint64_t room = std::max<std::uint64_t>(1, resident_ / model_->cluster_size);
  while (model_->blocks.size() / model_->cluster_size + to_begin_.size() < room &&
         started_ < total_) {
    to_begin_.push_back(started_);
    started_ += model_->cluster_size;
  }
  if (started_ == total_) return std::nullopt;
  Block first;
  place_in_grid(first, started_);
  started_ += model_->cluster_size;
  finished_ += model_->cluster_size;
  return first.index;
}

}  // namespace tilescope::sim
