#include "core/record/memory_use.h"

#include <algorithm>

namespace tilescope::sim {

std::int64_t RecordedBuffer::columns() const {
  return shape.empty() ? 1 : shape.back();
}

std::int64_t RecordedBuffer::rows() const {
  std::int64_t count = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) count *= shape[i];
  return count;
}

std::span<const MemoryUse> uses_of(std::span<const MemoryUse> all, EventId event) {
  const auto first = std::lower_bound(all.begin(), all.end(), event,
                                      [](const MemoryUse& t, EventId e) { return t.event < e; });
  auto last = first;
  while (last != all.end() && last->event == event) ++last;
  return {first, last};
}

}  // namespace tilescope::sim
