// The matrices of a run, side by side: inputs, output, reference, each a heat map of its values.
//
// Values are coloured on cividis from the smallest to the largest finite value of those that share
// a scale: output and reference do, and inputs whose values are alike, so that sums of many
// products do not make their factors one grey. A value that is not finite has the colour of what is
// wrong; one that nobody has written yet is quiet. Where a pixel stands for many elements it shows
// their mean. Where registers hold sums of elements that are not written yet, those are shown: by
// value, on the scale of the matrix that they go to, or by the thread that has them. An element of
// the output lights what of every matrix goes into it: the same place, or
// of a product's factors a row or a column.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/run/job.h"
#include "viz/matrix/diff_view.h"

namespace tilescope {

// Sums that registers hold of a matrix which is being computed: of elements that nobody has written
// yet.
struct RegisterSums {
  struct Sum {
    double value = 0;
    bool undefined = false;
    std::uint8_t byte = 0;             // of the register
    std::uint16_t warp = 0, lane = 0;  // of the block, of the warp
    std::uint32_t name = 0;            // the register's, in `names`
  };
  std::vector<std::int32_t> at;  // of each element, row by row: which of `all`; -1: none
  std::vector<Sum> all;
  std::vector<std::string> names;
  // The rows and columns that one accumulator has part in, and whose it is.
  struct Part {
    std::int64_t row = 0, column = 0, rows = 0, columns = 0;
    std::uint32_t first_warp = 0;  // of its warpgroup
    std::string name;              // of its first register
  };
  std::vector<Part> parts;
};
// "%f12, warp 5, lane 3"
std::string register_text(const RegisterSums& sums, const RegisterSums::Sum& sum);

class MatricesView {
 public:
  // Which rows of a matrix, or which columns, go into an element of the output: the one with the
  // number of its row, or of its column, or all.
  enum class From : std::uint8_t { row, column, all };
  struct Matrix {
    std::string name, detail;  // "A", "f32 (256,512), random, seed 0"
    std::shared_ptr<const Buffer> values;
    std::int64_t rows = 0, columns = 0;
    // Of one that is being written: which elements nobody has written yet. Empty: all are there.
    std::vector<bool> missing{};
    // Those among them that are written, but with what means nothing. Empty: none.
    std::vector<bool> undefined{};
    From rows_from = From::row, columns_from = From::column;
    bool result = false;                         // the output, or what it should be
    std::shared_ptr<const RegisterSums> sums{};  // null: none that are known
  };
  // Rows and columns of a matrix, at least one each.
  struct Part {
    std::int64_t row = 0, column = 0, rows = 1, columns = 1;
    bool single() const { return rows == 1 && columns == 1; }
  };
  struct Scale {
    double lowest = 0, highest = 0;
    bool known = false;                 // there is a value
    std::vector<std::size_t> matrices;  // that share it
  };
  MatricesView(std::string title, std::vector<Matrix> matrices);

  const std::string& title() const { return title_; }
  const std::vector<Matrix>& matrices() const { return matrices_; }
  const std::vector<Scale>& scales() const { return scales_; }
  const Scale& scale_of(std::size_t matrix) const { return scales_[scale_of_[matrix]]; }
  // Of the output, also where it is not shown.
  std::int64_t rows() const;
  std::int64_t columns() const;
  // What of a matrix belongs to an element: of the output, or, where it was `pointed` at in a
  // matrix, of that one. Nothing: none.
  std::optional<Part> part_of(std::size_t matrix, Element element,
                              std::optional<std::size_t> pointed = {}) const;
  // The element of the output that one of a matrix leads to; what it does not say stays.
  Element output_of(std::size_t matrix, Element element, Element otherwise) const;
  // The value as text, exact.
  std::string value(std::size_t matrix, Element element) const;
  // Every matrix's part in it: {"A", "0.5"}, {"A", "row 3: 0.5 1 2 ... (64)"}...
  Lines inspect(Element element, std::optional<std::size_t> pointed = {}) const;
  // The sum that registers hold of an element that is not written yet; null: none is known.
  const RegisterSums::Sum* sum(std::size_t matrix, Element element) const;
  bool has_sums() const;

 private:
  void make_scales();
  // An element there means no other place of the output than its own.
  bool same_place(std::size_t matrix) const {
    const Matrix& m = matrices_[matrix];
    return m.rows_from == From::row && m.columns_from == From::column;
  }
  std::string part_text(std::size_t matrix, const Part& part) const;

  std::string title_;
  std::vector<Matrix> matrices_;
  std::vector<Scale> scales_;
  std::vector<std::size_t> scale_of_;  // of each matrix
};

// Where each matrix is in the picture.
struct MatricesFrame {
  Viewport viewport;       // `cell` is pixels an element
  double fit = 1;          // the cell at which everything is seen; never smaller
  std::vector<Box> maps;   // all of each matrix, before cutting
  std::vector<Box> rooms;  // where each may be seen
  std::vector<Box> slots;  // where it is seen: map and room
  Box body;
};
MatricesFrame arrange(const MatricesView& view, const Viewport& viewport);
Scene build_scene(const MatricesView& view, std::optional<Element> hover,
                  std::optional<Element> selected, const Theme& theme, const MatricesFrame& frame,
                  RasterStore* store = nullptr, std::optional<std::size_t> pointed = {},
                  bool sums_by_thread = false);
// The matrix under a point, and its element there.
std::optional<std::size_t> matrix_at(const MatricesFrame& frame, Point at);
std::optional<Element> element_at(const MatricesView& view, const MatricesFrame& frame, Point at);
Viewport zoomed(const MatricesView& view, const MatricesFrame& frame, Point at, double factor);
Viewport panned(const MatricesView& view, const MatricesFrame& frame, double dx, double dy);

}  // namespace tilescope
