#include "viz/matrix/diff_marks.h"

#include <algorithm>

namespace tilescope {
namespace {

constexpr std::int64_t coarsest = 32;  // bins a side, as DiffView's

}  // namespace

DiffMarks::DiffMarks(const DiffView& view, MarkedRange range) : range_(range) {
  const DifferenceSource& source = view.source();
  const std::int64_t rows = source.rows(), columns = source.columns();
  Level level{2, (rows + 1) / 2, (columns + 1) / 2, {}};
  level.bits.assign(static_cast<std::size_t>(level.rows * level.columns), 0);
  std::vector<float> values(static_cast<std::size_t>(columns));
  std::vector<std::uint8_t> wrongs(static_cast<std::size_t>(columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    source.values(view.measured(), i, 0, values, wrongs);
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto at = static_cast<std::size_t>(j);
      if (!range.holds(static_cast<double>(values[at]))) continue;
      const bool bad = wrongs[at] != 0;
      ++(bad ? wrong_ : right_);
      level.bits[static_cast<std::size_t>(i / 2 * level.columns + j / 2)] |= bad ? wrong : right;
    }
  }
  levels_.push_back(std::move(level));
  while (std::max(levels_.back().rows, levels_.back().columns) > coarsest) {
    levels_.push_back(halved(levels_.back()));
  }
}

DiffMarks::Level DiffMarks::halved(const Level& fine) {
  Level out{fine.step * 2, (fine.rows + 1) / 2, (fine.columns + 1) / 2, {}};
  out.bits.assign(static_cast<std::size_t>(out.rows * out.columns), 0);
  for (std::int64_t i = 0; i < fine.rows; ++i) {
    for (std::int64_t j = 0; j < fine.columns; ++j) {
      out.bits[static_cast<std::size_t>(i / 2 * out.columns + j / 2)] |=
          fine.bits[static_cast<std::size_t>(i * fine.columns + j)];
    }
  }
  return out;
}

std::vector<std::uint8_t> DiffMarks::bins(const DiffView& view, std::int64_t step, std::int64_t row,
                                          std::int64_t column, std::int64_t rows,
                                          std::int64_t columns) const {
  const auto wide = static_cast<std::size_t>(columns);
  std::vector<std::uint8_t> out(static_cast<std::size_t>(rows) * wide, 0);
  const Level* level = nullptr;
  for (const Level& each : levels_) {
    if (each.step == step) level = &each;
  }
  std::vector<float> values(wide);
  std::vector<std::uint8_t> wrongs(wide);
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto to = out.begin() + static_cast<std::ptrdiff_t>(i * columns);
    if (level) {
      std::copy_n(
          level->bits.begin() + static_cast<std::ptrdiff_t>((row + i) * level->columns + column),
          columns, to);
      continue;
    }
    view.source().values(view.measured(), row + i, column, values, wrongs);
    for (std::size_t j = 0; j < wide; ++j) {
      if (!range_.holds(static_cast<double>(values[j]))) continue;
      *(to + static_cast<std::ptrdiff_t>(j)) = wrongs[j] != 0 ? wrong : right;
    }
  }
  return out;
}

}  // namespace tilescope
