#include "viz/scene/diff_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/scene/palette.h"

namespace tilescope {
namespace {

constexpr std::int64_t coarsest = 32;  // bins a side, below which no coarser level helps

// The one that matters more: NaN gives way to any number.
float more_extreme(float a, float b) {
  if (std::isnan(a)) return b;
  return std::fabs(b) > std::fabs(a) ? b : a;
}

}  // namespace

DiffView::DiffView(std::shared_ptr<const DifferenceSource> source, std::string title, Lines totals)
    : source_(std::move(source)), title_(std::move(title)), totals_(std::move(totals)) {
  const std::int64_t rows = source_->rows(), columns = source_->columns();
  if (rows <= 0 || columns <= 0) return;
  Level level{2, (rows + 1) / 2, (columns + 1) / 2, {}, {}};
  const std::size_t bins = static_cast<std::size_t>(level.rows * level.columns);
  level.extreme.assign(bins, std::nanf(""));
  level.wrong.assign(bins, 0);
  std::vector<float> difference(static_cast<std::size_t>(columns));
  std::vector<std::uint8_t> wrong(static_cast<std::size_t>(columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    source_->read(i, 0, difference, wrong);
    for (std::int64_t j = 0; j < columns; ++j) {
      const float d = difference[static_cast<std::size_t>(j)];
      const bool bad = wrong[static_cast<std::size_t>(j)] != 0;
      const std::size_t bin = static_cast<std::size_t>(i / 2 * level.columns + j / 2);
      level.extreme[bin] = more_extreme(level.extreme[bin], d);
      level.wrong[bin] |= bad ? 1 : 0;
      wrong_ += bad ? 1 : 0;
      if (!std::isfinite(d)) continue;
      const double size = std::fabs(static_cast<double>(d));
      largest_ = std::max(largest_, size);
      if (!bad) largest_right_ = std::max(largest_right_, size);
    }
  }
  levels_.push_back(std::move(level));
  while (std::max(levels_.back().rows, levels_.back().columns) > coarsest) {
    levels_.push_back(halved(levels_.back()));
  }
}

DiffView::Level DiffView::halved(const Level& fine) {
  Level out{fine.step * 2, (fine.rows + 1) / 2, (fine.columns + 1) / 2, {}, {}};
  const std::size_t bins = static_cast<std::size_t>(out.rows * out.columns);
  out.extreme.assign(bins, std::nanf(""));
  out.wrong.assign(bins, 0);
  for (std::int64_t i = 0; i < fine.rows; ++i) {
    for (std::int64_t j = 0; j < fine.columns; ++j) {
      const std::size_t from = static_cast<std::size_t>(i * fine.columns + j);
      const std::size_t to = static_cast<std::size_t>(i / 2 * out.columns + j / 2);
      out.extreme[to] = more_extreme(out.extreme[to], fine.extreme[from]);
      out.wrong[to] |= fine.wrong[from];
    }
  }
  return out;
}

// Bins [row, row + rows) x [column, column + columns) of a step: read, or cut from a level. A step
// beyond the coarsest level is the coarsest level's.
DiffView::Level DiffView::part_of(std::int64_t step, std::int64_t row, std::int64_t column,
                                  std::int64_t rows, std::int64_t columns) const {
  Level out{step, rows, columns, {}, {}};
  const std::size_t count = static_cast<std::size_t>(rows * columns);
  out.extreme.resize(count);
  out.wrong.resize(count);
  const Level* level = nullptr;
  for (const Level& each : levels_) {
    if (each.step == step) level = &each;
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::size_t to = static_cast<std::size_t>(i * columns);
    const std::span<float> extreme =
        std::span(out.extreme).subspan(to, static_cast<std::size_t>(columns));
    const std::span<std::uint8_t> wrong =
        std::span(out.wrong).subspan(to, static_cast<std::size_t>(columns));
    if (level == nullptr) {
      source_->read(row + i, column, extreme, wrong);
      continue;
    }
    const std::ptrdiff_t from = static_cast<std::ptrdiff_t>((row + i) * level->columns + column);
    std::copy_n(level->extreme.begin() + from, columns, extreme.begin());
    std::copy_n(level->wrong.begin() + from, columns, wrong.begin());
  }
  return out;
}

Rgba DiffView::colour_of(float difference, bool wrong, const DiffChoice& choice,
                         const Theme& theme) const {
  if (wrong) return theme.wrong;
  if (choice.only_wrong) return theme.panel;
  const double share = largest_right_ > 0 ? static_cast<double>(difference) / largest_right_ : 0;
  return signed_difference(share, theme.dark);
}

std::vector<Rgba> DiffView::colours_of(std::int64_t step, std::int64_t row, std::int64_t column,
                                       std::int64_t rows, std::int64_t columns,
                                       const DiffChoice& choice, const Theme& theme) const {
  const Level part = part_of(step, row, column, rows, columns);
  std::vector<Rgba> out(part.extreme.size());
  // A table of 513 shares: two hundred times cheaper than mixing each.
  constexpr int half = 256;
  std::vector<Rgba> table;
  for (int i = -half; i <= half; ++i) {
    const double share = static_cast<double>(i) / half;
    table.push_back(choice.only_wrong ? theme.panel : signed_difference(share, theme.dark));
  }
  const double scale = largest_right_ > 0 ? half / largest_right_ : 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    double at = static_cast<double>(part.extreme[i]) * scale;
    if (std::isnan(at)) at = 0;
    at = std::clamp(at, -static_cast<double>(half), static_cast<double>(half));
    out[i] = part.wrong[i] != 0
                 ? theme.wrong
                 : table[static_cast<std::size_t>(static_cast<int>(std::lround(at)) + half)];
  }
  return out;
}

std::vector<Element> DiffView::wrong_bins(std::int64_t step, std::int64_t row, std::int64_t column,
                                          std::int64_t rows, std::int64_t columns,
                                          std::size_t most) const {
  std::vector<Element> out;
  if (wrong_ == 0) return out;
  const Level part = part_of(step, row, column, rows, columns);
  for (std::size_t i = 0; i < part.wrong.size() && out.size() < most; ++i) {
    if (part.wrong[i] == 0) continue;
    const std::int64_t at = static_cast<std::int64_t>(i);
    out.push_back({row + at / columns, column + at % columns});
  }
  return out;
}

Lines DiffView::inspect(Element element) const {
  Lines out;
  if (element.row < 0 || element.row >= source_->rows() || element.column < 0 ||
      element.column >= source_->columns()) {
    return out;
  }
  float difference = 0;
  std::uint8_t wrong = 0;
  source_->read(element.row, element.column, {&difference, 1}, {&wrong, 1});
  out.push_back({"element", fmt::format("({}, {})", element.row, element.column)});
  out.push_back({"got", source_->got(element.row, element.column)});
  out.push_back({"want", source_->want(element.row, element.column)});
  out.push_back({"difference", fmt::format("{:.6g}", difference)});
  out.push_back({"verdict", wrong != 0 ? "wrong" : "right"});
  return out;
}

}  // namespace tilescope
