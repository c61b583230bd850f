#include "core/sim/stepping/checkpoints.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace tilescope::sim {

Checkpoints::Checkpoints(const Machine& machine, CheckpointLimits limits) : limits_(limits) {
  const std::uint64_t bytes = machine.bytes();
  all_.emplace(machine.position(), Checkpoint{machine, 0, bytes});
  bytes_ = bytes;
}

const Checkpoint& Checkpoints::before(std::uint64_t position) const {
  const auto next = all_.upper_bound(position);
  return next == all_.begin() ? next->second : std::prev(next)->second;
}

// What a copy takes, too, so that keeping them costs half of the time at most.
double Checkpoints::gap(double distance) const {
  const double least = std::max(limits_.spacing, copying_);
  const double most = full_ ? 2 * furthest_ / static_cast<double>(all_.size()) : least;
  return std::max(least, std::min(distance / 2, most));
}

bool Checkpoints::wants(std::uint64_t position, double cost, double remaining) const {
  return cost - before(position).cost >= gap(remaining);
}

void Checkpoints::keep(const Machine& machine, double cost) {
  const std::uint64_t position = machine.position();
  if (all_.count(position)) return;
  const auto start = std::chrono::steady_clock::now();
  // A copy into the place of one that goes costs a third of one that is made anew.
  const std::uint64_t bytes = machine.bytes();
  Map::node_type node;
  while (bytes_ + bytes > limits_.bytes && all_.size() > 1) {
    full_ = true;
    const auto worth = [&](Map::iterator i) {
      const auto after = std::next(i);
      const double end = after == all_.end() ? std::max(cost, i->second.cost) : after->second.cost;
      return (end - std::prev(i)->second.cost) / gap(std::abs(cost - i->second.cost));
    };
    auto least = std::next(all_.begin());
    double least_worth = std::numeric_limits<double>::max();
    for (auto i = least; i != all_.end(); ++i) {
      if (const double w = worth(i); w < least_worth) {
        least_worth = w;
        least = i;
      }
    }
    bytes_ -= least->second.bytes;
    node = all_.extract(least);
  }
  if (bytes_ + bytes > limits_.bytes) return;  // there is room for the first one only
  if (node) {
    node.key() = position;
    node.mapped().machine = machine;
    node.mapped().cost = cost;
    node.mapped().bytes = bytes;
    all_.insert(std::move(node));
  } else {
    all_.emplace(position, Checkpoint{machine, cost, bytes});
  }
  bytes_ += bytes;
  furthest_ = std::max(furthest_, cost);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  copying_ = copying_ ? (3 * copying_ + took.count()) / 4 : took.count();
}

}  // namespace tilescope::sim
