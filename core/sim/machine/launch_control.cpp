// Clusters that never begin, because one that runs asks to do their work (clusterlaunchcontrol, PTX
// ISA 9.7.13.17).
//
// A chip begins clusters in order, as long as it has room, and at once; what it has no room for
// waits, and the first of those is what a request gets. Here clusters may begin later than that,
// which must not show: those that a chip would have begun are none that can be cancelled.
#include <algorithm>

#include "core/sim/machine/machine.h"

namespace tilescope::sim {

std::optional<Dim3> Machine::cancel_cluster() {
  const std::uint64_t room = std::max<std::uint64_t>(1, resident_ / cluster_size_);
  while (blocks_.size() / cluster_size_ + to_begin_.size() < room && started_ < total_) {
    to_begin_.push_back(started_);
    started_ += cluster_size_;
  }
  if (started_ == total_) return std::nullopt;
  Block first;
  place_in_grid(first, started_);
  started_ += cluster_size_;
  finished_ += cluster_size_;
  return first.index;
}

}  // namespace tilescope::sim
