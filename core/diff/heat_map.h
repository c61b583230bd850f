// Where in a matrix the differences are, coarsely: the matrix cut into bins of equal size, each
// with its worst error and its count of wrong elements.
//
// A tensor of any rank is seen as a matrix: its last dimension is the columns, all others folded in
// row-major order are the rows; rank 0 is 1 x 1. Bin (r, c) covers rows [r * row_step,
// (r + 1) * row_step) and columns likewise, cut off at the matrix's edge.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilescope {

struct MatrixShape {
  std::int64_t rows = 1, cols = 1;
};

MatrixShape as_matrix(const std::vector<std::int64_t>& shape);

// Rows [row, row + rows), columns [col, col + cols).
struct MatrixRect {
  std::int64_t row = 0, col = 0, rows = 0, cols = 0;
};

struct HeatBin {
  std::uint64_t compared = 0, wrong = 0;
  double max_absolute = 0, max_relative = 0;  // infinity where a NaN or infinity differs
  std::uint64_t max_ulp = 0;

  void merge(const HeatBin& other) {
    compared += other.compared, wrong += other.wrong;
    max_absolute = std::max(max_absolute, other.max_absolute);
    max_relative = std::max(max_relative, other.max_relative);
    max_ulp = std::max(max_ulp, other.max_ulp);
  }
};

struct HeatMap {
  MatrixRect area;                          // the part of the matrix that the bins cover
  std::int64_t row_step = 1, col_step = 1;  // elements in a bin
  std::int64_t bin_rows = 0, bin_cols = 0;  // bins
  std::vector<HeatBin> bins;                // row-major, bin_rows x bin_cols

  HeatMap() = default;
  // As many bins as fit into at_most, none finer than one element.
  HeatMap(MatrixRect covered, std::int64_t at_most_rows, std::int64_t at_most_cols);

  HeatBin& bin(std::int64_t r, std::int64_t c) { return bins[index(r, c)]; }
  const HeatBin& bin(std::int64_t r, std::int64_t c) const { return bins[index(r, c)]; }
  // Every bin that the rectangle (in elements) touches, as one.
  HeatBin over(MatrixRect rect) const;

 private:
  std::size_t index(std::int64_t r, std::int64_t c) const {
    return static_cast<std::size_t>(r * bin_cols + c);
  }
};

}  // namespace tilescope
