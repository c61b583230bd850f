// A comparison as an M x N heat map of got - want, of one of its errors, or of the values, in which
// every wrong element is seen.
//
// got - want is blue-white-orange around zero; other errors and values are quantities, from dark to
// bright. An element that is wrong (outside the tolerance, or NaN against a number) is red; among
// values, which have a colour of their own, it is marked. Where a pixel stands for many elements it
// shows the largest among them, and is wrong if any of them is: a single wrong element of sixteen
// million is seen. Values come row by row from a source, so that no second copy of a large matrix
// is made; coarser levels are made once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/diff/measured.h"
#include "viz/scene/lines.h"
#include "viz/scene/scene.h"
#include "viz/scene/viewport.h"

namespace tilescope {

// What the view asks of a comparison.
class DifferenceSource {
 public:
  virtual ~DifferenceSource() = default;
  virtual std::int64_t rows() const = 0;
  virtual std::int64_t columns() const = 0;
  // What is measured of elements [column, column + values.size()) of a row, and whether each is
  // wrong. Not a number: the difference is NaN, other errors are infinite.
  virtual void values(Measured what, std::int64_t row, std::int64_t column, std::span<float> values,
                      std::span<std::uint8_t> wrong) const = 0;
  void read(std::int64_t row, std::int64_t column, std::span<float> difference,
            std::span<std::uint8_t> wrong) const {
    values(Measured::difference, row, column, difference, wrong);
  }
  virtual std::string got(std::int64_t row, std::int64_t column) const = 0;
  virtual std::string want(std::int64_t row, std::int64_t column) const = 0;
};

struct Element {
  std::int64_t row = 0, column = 0;
  friend bool operator==(Element, Element) = default;
};

// How many elements have which size, by powers of two: |value| in [2^(i - 127), 2^(i - 126)) is
// counted at i. 0: those that are zero; 1: also what is smaller; 255: infinite, or not a number.
struct Histogram {
  static constexpr std::size_t zero = 0, smallest = 1, not_finite = 255;
  std::array<std::uint64_t, 256> right{}, wrong{};
};

// Elements of |value| in [low, high): zero where both are 0; infinite or not a number where low is
// infinite.
struct MarkedRange {
  double low = 0, high = 0;
  bool holds(double value) const;
  friend bool operator==(MarkedRange, MarkedRange) = default;
};
class DiffMarks;

struct DiffChoice {
  std::optional<Element> hover, selected;
  Lines provenance;         // of the selected element: who wrote it, from what (the app knows)
  bool only_wrong = false;  // right elements in one grey
  // Only these are coloured: those that are wrong red, others in the accent.
  std::shared_ptr<const DiffMarks> marks;
};

class DiffView {
 public:
  // `totals` are lines to show above the map ("wrong", "3 of 1,048,576").
  DiffView(std::shared_ptr<const DifferenceSource> source, std::string title, Lines totals,
           Measured measured = Measured::difference);

  const DifferenceSource& source() const { return *source_; }
  Measured measured() const { return measured_; }
  const std::string& title() const { return title_; }
  const Lines& totals() const { return totals_; }
  std::int64_t wrong_count() const { return wrong_; }
  double largest() const { return largest_; }  // of |got - want|, among numbers
  // Of the elements that are right: the ends of the colour scale, so that one wrong element does
  // not hide what rounding did to the others.
  double largest_right() const { return largest_right_; }
  // Of values: the ends of theirs.
  double lowest() const { return lowest_; }
  double highest() const { return highest_; }
  const Histogram& histogram() const { return histogram_; }
  // Is red the colour of what is wrong, or only its mark?
  bool reddens(const DiffChoice& choice) const {
    return is_error(measured_) || choice.only_wrong || choice.marks;
  }

  std::vector<Rgba> colours_of(std::int64_t step, std::int64_t row, std::int64_t column,
                               std::int64_t rows, std::int64_t columns, const DiffChoice& choice,
                               const Theme& theme) const;  // in bins of that step
  Rgba colour_of(float difference, bool wrong, const DiffChoice& choice, const Theme& theme) const;
  Lines inspect(Element element) const;  // coordinate, got, want, difference

  // How many bins of that step are wrong in part of the matrix, and which: at most `most` of them.
  std::vector<Element> wrong_bins(std::int64_t step, std::int64_t row, std::int64_t column,
                                  std::int64_t rows, std::int64_t columns, std::size_t most) const;

  // The first wrong element after this one in row-major order, or the last before it; nothing:
  // there is none. Without an element: the first, or the last, of all.
  std::optional<Element> wrong_after(std::optional<Element> element) const;
  std::optional<Element> wrong_before(std::optional<Element> element) const;
  // How many wrong elements come before it.
  std::int64_t wrong_index(Element element) const;

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
  double share_of(float value) const;  // of the colour scale
  Rgba at_share(double share, const Theme& theme) const;
  void count(float value, bool wrong);
  std::vector<std::uint8_t> wrong_in(std::int64_t row) const;

  std::shared_ptr<const DifferenceSource> source_;
  std::string title_;
  Lines totals_;
  Measured measured_;
  std::vector<Level> levels_;  // steps 2, 4, 8...
  std::vector<std::uint32_t> wrong_in_row_;
  Histogram histogram_;
  std::int64_t wrong_ = 0;
  double largest_ = 0, largest_right_ = 0, lowest_ = 0, highest_ = 0;
};

// "got - want", "|got - want| / |want|": as a legend says it.
std::string_view words_of(Measured what);

// Where the map is in the picture; zoom and pan as in layout_scene.h.
struct DiffFrame {
  Viewport viewport;    // `cell` is pixels an element, below 1 for large matrices
  Box map;              // all of the matrix, where it is now
  Box body;             // what of it is seen
  Size cell;            // a long thin matrix is drawn thicker than its elements are long
  Point title, legend;  // left ends
  double fit_cell = 1;
};
DiffFrame arrange(const DiffView& view, const Viewport& viewport);
Scene build_scene(const DiffView& view, const DiffChoice& choice, const Theme& theme,
                  const DiffFrame& frame, RasterStore* store = nullptr);
std::optional<Element> element_at(const DiffView& view, const DiffFrame& frame, Point at);
Box box_of(const DiffFrame& frame, Element element);
Viewport zoomed(const DiffView& view, const DiffFrame& frame, Point at, double factor);
Viewport panned(const DiffView& view, const DiffFrame& frame, double dx, double dy);

}  // namespace tilescope
