#include "viz/matrix/diff_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "viz/matrix/diff_marks.h"
#include "viz/scene/palette.h"

namespace tilescope {
namespace {

constexpr std::int64_t coarsest = 32;  // bins a side, below which no coarser level helps

// The one that matters more: NaN gives way to any number.
float more_extreme(float a, float b) {
  if (std::isnan(a)) return b;
  return std::fabs(b) > std::fabs(a) ? b : a;
}

// What is wrong is red, the paler the less: violet where got lies below want.
Rgba wrong_colour(const DiffView& view, float value, const Theme& theme) {
  const double v = static_cast<double>(value);
  if (!is_error(view.measured()) || !std::isfinite(v) || v == 0 || !(view.largest() > 0)) {
    return theme.wrong;
  }
  const Rgba full = v > 0 ? theme.wrong : mix(theme.wrong, rgb(0x4B3BE0), 0.6);
  constexpr double palest = 0.4;
  const double size = std::sqrt(std::min(1.0, std::fabs(v) / view.largest()));
  return mix(theme.paper, full, palest + (1 - palest) * size);
}

}  // namespace

bool MarkedRange::holds(double value) const {
  const double size = std::fabs(value);
  if (std::isinf(low)) return !std::isfinite(value);
  if (high == 0) return size == 0;
  return size >= low && size < high;
}

std::string_view words_of(Measured what) {
  constexpr std::string_view words[] = {
      "got minus want",           "|got - want|", "|got - want| / |want|",
      "ulp between got and want", "got",          "want"};
  return words[static_cast<std::size_t>(what)];
}

DiffView::DiffView(std::shared_ptr<const DifferenceSource> source, std::string title, Lines totals,
                   Measured measured)
    : source_(std::move(source)),
      title_(std::move(title)),
      totals_(std::move(totals)),
      measured_(measured) {
  const std::int64_t rows = source_->rows(), columns = source_->columns();
  if (rows <= 0 || columns <= 0) return;
  Level level{2, (rows + 1) / 2, (columns + 1) / 2, {}, {}};
  const std::size_t bins = static_cast<std::size_t>(level.rows * level.columns);
  level.extreme.assign(bins, std::nanf(""));
  level.wrong.assign(bins, 0);
  wrong_in_row_.assign(static_cast<std::size_t>(rows), 0);
  lowest_ = std::numeric_limits<double>::infinity();
  highest_ = -lowest_;
  std::vector<float> values(static_cast<std::size_t>(columns));
  std::vector<std::uint8_t> wrong(static_cast<std::size_t>(columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    source_->values(measured_, i, 0, values, wrong);
    std::uint32_t in_row = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      const float value = values[static_cast<std::size_t>(j)];
      const bool bad = wrong[static_cast<std::size_t>(j)] != 0;
      const std::size_t bin = static_cast<std::size_t>(i / 2 * level.columns + j / 2);
      level.extreme[bin] = more_extreme(level.extreme[bin], value);
      level.wrong[bin] |= bad ? 1 : 0;
      in_row += bad ? 1 : 0;
      count(value, bad);
    }
    wrong_in_row_[static_cast<std::size_t>(i)] = in_row;
    wrong_ += in_row;
  }
  if (lowest_ > highest_) lowest_ = highest_ = 0;
  levels_.push_back(std::move(level));
  while (std::max(levels_.back().rows, levels_.back().columns) > coarsest) {
    levels_.push_back(halved(levels_.back()));
  }
}

void DiffView::count(float value, bool wrong) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  std::size_t at = bits >> 23 & 0xff;
  if (at == 0 && (bits & 0x7fffff) != 0) at = Histogram::smallest;
  ++(wrong ? histogram_.wrong : histogram_.right)[at];
  if (at == Histogram::not_finite) return;
  const double size = std::fabs(static_cast<double>(value));
  largest_ = std::max(largest_, size);
  if (!wrong) largest_right_ = std::max(largest_right_, size);
  lowest_ = std::min(lowest_, static_cast<double>(value));
  highest_ = std::max(highest_, static_cast<double>(value));
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
      source_->values(measured_, row + i, column, extreme, wrong);
      continue;
    }
    const std::ptrdiff_t from = static_cast<std::ptrdiff_t>((row + i) * level->columns + column);
    std::copy_n(level->extreme.begin() + from, columns, extreme.begin());
    std::copy_n(level->wrong.begin() + from, columns, wrong.begin());
  }
  return out;
}

// Differences: -1 to 1; quantities: 0 to 1.
double DiffView::share_of(float value) const {
  const double v = static_cast<double>(value);
  if (!is_error(measured_)) {
    if (std::isnan(v)) return 0;
    return highest_ > lowest_ ? std::clamp((v - lowest_) / (highest_ - lowest_), 0.0, 1.0) : 0;
  }
  if (std::isnan(v) || largest_right_ <= 0) return 0;
  return std::clamp(v / largest_right_, -1.0, 1.0);
}

Rgba DiffView::at_share(double share, const Theme& theme) const {
  return measured_ == Measured::difference ? signed_difference(share, theme.dark) : quantity(share);
}

Rgba DiffView::colour_of(float value, bool wrong, const DiffChoice& choice,
                         const Theme& theme) const {
  if (choice.marks && !choice.marks->range().holds(static_cast<double>(value))) return theme.panel;
  if (wrong && reddens(choice)) return wrong_colour(*this, value, theme);
  if (choice.marks) return theme.accent;
  if (choice.only_wrong) return theme.panel;
  return at_share(share_of(value), theme);
}

std::vector<Rgba> DiffView::colours_of(std::int64_t step, std::int64_t row, std::int64_t column,
                                       std::int64_t rows, std::int64_t columns,
                                       const DiffChoice& choice, const Theme& theme) const {
  if (choice.marks) {
    const std::vector<std::uint8_t> marked =
        choice.marks->bins(*this, step, row, column, rows, columns);
    std::vector<Rgba> out(marked.size(), theme.panel);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (marked[i] & DiffMarks::wrong) {
        out[i] = theme.wrong;
      } else if (marked[i] & DiffMarks::right) {
        out[i] = theme.accent;
      }
    }
    return out;
  }
  const Level part = part_of(step, row, column, rows, columns);
  std::vector<Rgba> out(part.extreme.size());
  // A table of 513 shares: two hundred times cheaper than mixing each.
  constexpr int half = 256;
  std::vector<Rgba> table;
  for (int i = -half; i <= half; ++i) {
    const double share = static_cast<double>(i) / half;
    table.push_back(choice.only_wrong ? theme.panel : at_share(share, theme));
  }
  const bool red = reddens(choice);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto at = static_cast<int>(std::lround(share_of(part.extreme[i]) * half)) + half;
    out[i] = red && part.wrong[i] != 0 ? wrong_colour(*this, part.extreme[i], theme)
                                       : table[static_cast<std::size_t>(at)];
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
  float value = 0;
  std::uint8_t wrong = 0;
  out.push_back({"element", fmt::format("({}, {})", element.row, element.column)});
  out.push_back({"got", source_->got(element.row, element.column)});
  out.push_back({"want", source_->want(element.row, element.column)});
  for (const Measured what :
       {Measured::difference, Measured::absolute, Measured::relative, Measured::ulp}) {
    source_->values(what, element.row, element.column, {&value, 1}, {&wrong, 1});
    // Ulp are counted: beyond 24 bits a float does not hold them all.
    const bool whole = what == Measured::ulp && value < 0x1p24f;
    out.push_back({std::string(name_of(what)),
                   whole ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value)});
  }
  out.push_back({"verdict", wrong != 0 ? "wrong" : "right"});
  return out;
}

std::vector<std::uint8_t> DiffView::wrong_in(std::int64_t row) const {
  const auto columns = static_cast<std::size_t>(source_->columns());
  std::vector<float> values(columns);
  std::vector<std::uint8_t> wrong(columns);
  source_->values(measured_, row, 0, values, wrong);
  return wrong;
}

std::optional<Element> DiffView::wrong_after(std::optional<Element> element) const {
  const std::int64_t rows = source_->rows(), columns = source_->columns();
  std::int64_t row = element ? element->row : 0, column = element ? element->column + 1 : 0;
  for (; row < rows && wrong_ > 0; ++row, column = 0) {
    if (wrong_in_row_[static_cast<std::size_t>(row)] == 0) continue;
    const std::vector<std::uint8_t> wrong = wrong_in(row);
    for (; column < columns; ++column) {
      if (wrong[static_cast<std::size_t>(column)] != 0) return Element{row, column};
    }
  }
  return {};
}

std::optional<Element> DiffView::wrong_before(std::optional<Element> element) const {
  const std::int64_t rows = source_->rows(), columns = source_->columns();
  std::int64_t row = element ? element->row : rows - 1;
  std::int64_t column = element ? element->column - 1 : columns - 1;
  for (; row >= 0 && wrong_ > 0; --row, column = columns - 1) {
    if (wrong_in_row_[static_cast<std::size_t>(row)] == 0) continue;
    const std::vector<std::uint8_t> wrong = wrong_in(row);
    for (; column >= 0; --column) {
      if (wrong[static_cast<std::size_t>(column)] != 0) return Element{row, column};
    }
  }
  return {};
}

std::int64_t DiffView::wrong_index(Element element) const {
  std::int64_t out = 0;
  for (std::int64_t row = 0; row < element.row; ++row) {
    out += wrong_in_row_[static_cast<std::size_t>(row)];
  }
  const std::vector<std::uint8_t> wrong = wrong_in(element.row);
  for (std::int64_t column = 0; column < element.column; ++column) {
    out += wrong[static_cast<std::size_t>(column)];
  }
  return out;
}

}  // namespace tilescope
