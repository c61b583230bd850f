// Elements of a comparison that are marked by their size, at every level of detail: a single one of
// sixteen million is seen.
#pragma once

#include <cstdint>
#include <vector>

#include "viz/matrix/diff_view.h"

namespace tilescope {

class DiffMarks {
 public:
  // What a bin holds, a bit each.
  static constexpr std::uint8_t right = 1, wrong = 2;

  DiffMarks(const DiffView& view, MarkedRange range);

  const MarkedRange& range() const { return range_; }
  std::uint64_t right_count() const { return right_; }
  std::uint64_t wrong_count() const { return wrong_; }
  // Bins [row, row + rows) x [column, column + columns) of a step, of the view it was made for.
  std::vector<std::uint8_t> bins(const DiffView& view, std::int64_t step, std::int64_t row,
                                 std::int64_t column, std::int64_t rows,
                                 std::int64_t columns) const;

 private:
  struct Level {
    std::int64_t step = 1, rows = 0, columns = 0;
    std::vector<std::uint8_t> bits;
  };
  static Level halved(const Level& fine);

  MarkedRange range_;
  std::uint64_t right_ = 0, wrong_ = 0;
  std::vector<Level> levels_;  // steps 2, 4, 8...
};

}  // namespace tilescope
