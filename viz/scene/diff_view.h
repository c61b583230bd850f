// The run view's difference: an M x N heat map of got - want, in which every wrong element is seen.
//
// Blue-white-orange around zero, and red for an element that is wrong (outside the tolerance, or
// NaN against a number). Where a pixel stands for many elements it shows the largest difference
// among them, and is wrong if any of them is: a single wrong element of sixteen million is seen.
// Values come row by row from a source, so that no second copy of a large matrix is made; coarser
// levels are made once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "viz/scene/layout_scene.h"
#include "viz/scene/scene.h"

namespace tilescope {

// What the view asks of a comparison.
class DifferenceSource {
 public:
  virtual ~DifferenceSource() = default;
  virtual std::int64_t rows() const = 0;
  virtual std::int64_t columns() const = 0;
  // got - want of elements [column, column + difference.size()) of a row, and whether each is
  // wrong. Not a number: the difference is NaN.
  virtual void read(std::int64_t row, std::int64_t column, std::span<float> difference,
                    std::span<std::uint8_t> wrong) const = 0;
  virtual std::string got(std::int64_t row, std::int64_t column) const = 0;
  virtual std::string want(std::int64_t row, std::int64_t column) const = 0;
};

struct Element {
  std::int64_t row = 0, column = 0;
  friend bool operator==(Element a, Element b) { return a.row == b.row && a.column == b.column; }
};

using Lines = std::vector<std::pair<std::string, std::string>>;  // name, value

struct DiffChoice {
  std::optional<Element> hover, selected;
  Lines provenance;         // of the selected element: who wrote it, from what (the app knows)
  bool only_wrong = false;  // right elements in one grey
};

class DiffView {
 public:
  // `totals` are lines to show above the map ("wrong", "3 of 1,048,576").
  DiffView(std::shared_ptr<const DifferenceSource> source, std::string title, Lines totals);

  const DifferenceSource& source() const { return *source_; }
  const std::string& title() const { return title_; }
  const Lines& totals() const { return totals_; }
  std::int64_t wrong_count() const { return wrong_; }
  double largest() const { return largest_; }  // of |got - want|, among numbers
  // Of the elements that are right: the ends of the colour scale, so that one wrong element does
  // not hide what rounding did to the others.
  double largest_right() const { return largest_right_; }

  std::vector<Rgba> colours_of(std::int64_t step, std::int64_t row, std::int64_t column,
                               std::int64_t rows, std::int64_t columns, const DiffChoice& choice,
                               const Theme& theme) const;  // in bins of that step
  Rgba colour_of(float difference, bool wrong, const DiffChoice& choice, const Theme& theme) const;
  Lines inspect(Element element) const;  // coordinate, got, want, difference

  // How many bins of that step are wrong in part of the matrix, and which: at most `most` of them.
  std::vector<Element> wrong_bins(std::int64_t step, std::int64_t row, std::int64_t column,
                                  std::int64_t rows, std::int64_t columns, std::size_t most) const;

 private:
  // Bins of step x step elements (a power of two), row by row.
  struct Level {
    std::int64_t step = 1, rows = 0, columns = 0;
    std::vector<float> extreme;       // of largest magnitude; NaN only if all are
    std::vector<std::uint8_t> wrong;  // 1: at least one
  };
  Level part_of(std::int64_t step, std::int64_t row, std::int64_t column, std::int64_t rows,
                std::int64_t columns) const;
  static Level halved(const Level& fine);

  std::shared_ptr<const DifferenceSource> source_;
  std::string title_;
  Lines totals_;
  std::vector<Level> levels_;  // steps 2, 4, 8...
  std::int64_t wrong_ = 0;
  double largest_ = 0, largest_right_ = 0;
};

// Where the map stands in the picture; zoom and pan as in layout_scene.h.
struct DiffFrame {
  Lens lens;            // `cell` is pixels an element, below 1 for large matrices
  Box map;              // all of the matrix, where it is now
  Box body;             // what of it is seen
  Size cell;            // a long thin matrix is drawn thicker than its elements are long
  Point title, legend;  // left ends
  double fit_cell = 1;
};
DiffFrame arrange(const DiffView& view, const Lens& lens);
Scene build_scene(const DiffView& view, const DiffChoice& choice, const Theme& theme,
                  const DiffFrame& frame, RasterStore* store = nullptr);
std::optional<Element> element_at(const DiffView& view, const DiffFrame& frame, Point at);
Box box_of(const DiffFrame& frame, Element element);
Lens zoomed(const DiffView& view, const DiffFrame& frame, Point at, double factor);
Lens panned(const DiffView& view, const DiffFrame& frame, double dx, double dy);

}  // namespace tilescope
