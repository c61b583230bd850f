// How a timeline's tree of a track is walked; for timeline*.cpp alone.
#pragma once

#include <algorithm>
#include <array>

#include "core/record/timeline.h"

namespace tilescope::sim {

// Levels of a row: the events themselves, then nodes, up to eight at most.
struct Levels {
  std::array<std::size_t, 24> count{}, first{};  // first: among the row's nodes
  std::size_t top = 0;

  Levels(std::size_t events, std::size_t fanout) {
    count[0] = events;
    while (count[top] > fanout) {
      first[top + 1] = top ? first[top] + count[top] : 0;
      count[top + 1] = (count[top] + fanout - 1) / fanout;
      ++top;
    }
  }
};

template <class Enter, class Visit>
bool Timeline::walk(const Row& row, Enter enter, Visit visit) const {
  const Levels levels(row.count, fanout);
  const auto descend = [&](const auto& self, std::size_t level, std::size_t i) -> bool {
    if (level == 0) return visit(order_[row.first + i]);
    if (!enter(nodes_[row.nodes + levels.first[level] + i])) return true;
    const std::size_t end = std::min(levels.count[level - 1], (i + 1) * fanout);
    if (level == 1) {
      for (std::size_t c = i * fanout; c < end; ++c) {
        record_.events.prefetch(order_[row.first + c]);
      }
    }
    for (std::size_t c = i * fanout; c < end; ++c) {
      if (!self(self, level - 1, c)) return false;
    }
    return true;
  };
  for (std::size_t i = 0; i < levels.count[levels.top]; ++i) {
    if (!descend(descend, levels.top, i)) return false;
  }
  return true;
}

template <class Enter, class Visit>
bool Timeline::walk_back(const Row& row, Enter enter, Visit visit) const {
  const Levels levels(row.count, fanout);
  const auto descend = [&](const auto& self, std::size_t level, std::size_t i) -> bool {
    if (level == 0) return visit(order_[row.first + i]);
    if (!enter(nodes_[row.nodes + levels.first[level] + i])) return true;
    for (std::size_t c = std::min(levels.count[level - 1], (i + 1) * fanout); c-- > i * fanout;) {
      if (!self(self, level - 1, c)) return false;
    }
    return true;
  };
  for (std::size_t i = levels.count[levels.top]; i-- > 0;) {
    if (!descend(descend, levels.top, i)) return false;
  }
  return true;
}

}  // namespace tilescope::sim
