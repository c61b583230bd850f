#include "core/sim/time/cached.h"

#include <algorithm>

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

u64 each_of(u64 extent, u64 cells) {
  return (extent + cells - 1) / std::max<u64>(1, cells);
}

}  // namespace

CachedBuffer cached_of(const Level2& level2, std::size_t part, u64 base, u64 bytes, u32 number,
                       const RecordedBuffer& buffer) {
  CachedBuffer out;
  out.buffer = number;
  const u64 width = std::max<u64>(1, tilescope::bytes_of(buffer.dtype));
  const u64 rows = static_cast<u64>(std::max<std::int64_t>(1, buffer.rows()));
  const u64 columns = static_cast<u64>(std::max<std::int64_t>(1, buffer.columns()));
  if (bytes == 0 || rows * columns * width > bytes) return out;
  // No cell is narrower than a sector: lines are told by their sectors' columns.
  const u64 narrowest = std::max<u64>(1, 32 / width);
  const u64 across = rows == 1 ? CachedBuffer::most_of_one_row : CachedBuffer::most_cells;
  const u64 high = each_of(rows, std::min<u64>(rows, CachedBuffer::most_cells));
  const u64 wide = std::max(narrowest, each_of(columns, std::min(columns, across)));
  out.rows = static_cast<u32>(each_of(rows, high));
  out.columns = static_cast<u32>(each_of(columns, wide));
  out.since.assign(std::size_t{out.rows} * out.columns, never_ends);
  bool any = false;
  const u64 end = base + rows * columns * width;
  for (u64 line = base / line_bytes; line * line_bytes < end; ++line) {
    const std::optional<double> came = level2.came(part, line);
    if (!came) continue;
    any = true;
    const auto at = static_cast<Cycle>(std::max(0.0, *came));
    const u64 from = std::max(base, line * line_bytes) - base;
    const u64 to = std::min(end, (line + 1) * line_bytes) - base;
    for (u64 byte = from; byte < to; byte += 32) {
      const u64 element = byte / width;
      Cycle& cell = out.since[element / columns / high * out.columns + element % columns / wide];
      cell = cell == never_ends ? at : std::max(cell, at);
    }
  }
  if (!any) out.since.clear();
  return out;
}

}  // namespace tilescope::sim
