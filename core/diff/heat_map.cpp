#include "core/diff/heat_map.h"

namespace tilescope {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0);
}

}  // namespace

MatrixShape as_matrix(const std::vector<std::int64_t>& shape) {
  MatrixShape matrix;
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) matrix.rows *= shape[d];
  if (!shape.empty()) matrix.cols = shape.back();
  return matrix;
}

HeatMap::HeatMap(MatrixRect covered, std::int64_t at_most_rows, std::int64_t at_most_cols)
    : area(covered) {
  row_step =
      std::max<std::int64_t>(1, ceil_div(area.rows, std::max<std::int64_t>(1, at_most_rows)));
  col_step =
      std::max<std::int64_t>(1, ceil_div(area.cols, std::max<std::int64_t>(1, at_most_cols)));
  bin_rows = ceil_div(area.rows, row_step);
  bin_cols = ceil_div(area.cols, col_step);
  bins.resize(static_cast<std::size_t>(bin_rows * bin_cols));
}

HeatBin HeatMap::over(MatrixRect rect) const {
  const std::int64_t top = std::max<std::int64_t>(0, rect.row - area.row);
  const std::int64_t left = std::max<std::int64_t>(0, rect.col - area.col);
  const std::int64_t bottom = std::min(area.rows, rect.row + rect.rows - area.row);
  const std::int64_t right = std::min(area.cols, rect.col + rect.cols - area.col);
  HeatBin sum;
  if (top >= bottom || left >= right) return sum;
  for (std::int64_t r = top / row_step; r <= (bottom - 1) / row_step; ++r) {
    for (std::int64_t c = left / col_step; c <= (right - 1) / col_step; ++c) sum.merge(bin(r, c));
  }
  return sum;
}

}  // namespace tilescope
