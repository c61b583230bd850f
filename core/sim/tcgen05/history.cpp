#include "core/sim/tcgen05/history.h"

#include <algorithm>

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;

// The units of columns that cells lie in, a bit each.
u32 units_of(const std::vector<CellRange>& cells) {
  u32 out = 0;
  for (const CellRange& c : cells) {
    const u32 first = c.column / TensorMemory::unit;
    const u32 last = (c.column + c.columns - 1) / TensorMemory::unit;
    out |= (2u << last) - (1u << first);
  }
  return out;
}

}  // namespace

void TensorHistory::remember(const TensorEvent& event) {
  for (u32 rest = units_of(event.cells); rest; rest &= rest - 1) {
    std::vector<TensorEvent>& past = past_[static_cast<std::size_t>(__builtin_ctz(rest))];
    const auto same = std::find_if(past.begin(), past.end(), [&](const TensorEvent& e) {
      return e.warp == event.warp && e.by_peer == event.by_peer && e.product == event.product &&
             e.writes == event.writes && e.cells == event.cells;
    });
    if (same != past.end()) {
      *same = event;
    } else {
      past.push_back(event);
    }
  }
}

void TensorHistory::forget(u32 column, u32 columns) {
  for (u32 at = column; at < column + columns; at += TensorMemory::unit) {
    past_[at / TensorMemory::unit].clear();
  }
}

std::vector<const TensorEvent*> TensorHistory::touching(const std::vector<CellRange>& cells) const {
  std::vector<const TensorEvent*> out;
  for (u32 rest = units_of(cells); rest; rest &= rest - 1) {
    for (const TensorEvent& e : past_[static_cast<std::size_t>(__builtin_ctz(rest))]) {
      if (!meeting(cells, e.cells)) continue;
      // Two are never of the same moment.
      const auto known = std::find_if(out.begin(), out.end(),
                                      [&](const TensorEvent* other) { return other->at == e.at; });
      if (known == out.end()) out.push_back(&e);
    }
  }
  return out;
}

}  // namespace tilescope::sim
