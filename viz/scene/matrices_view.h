// The matrices of a run, side by side: inputs, output, reference, each a heat map of its values.
//
// Values are coloured on cividis from the smallest to the largest finite value of all matrices
// shown, so that equal colours are equal values; a value that is not finite has the colour of what
// is wrong; one that nobody has written yet is quiet. Where a pixel stands for many elements it
// shows their mean. Hovering an element lights
// the same place in every matrix.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/run/job.h"
#include "viz/scene/diff_view.h"

namespace tilescope {

class MatricesView {
 public:
  struct Matrix {
    std::string name, detail;  // "A", "f32 (256,512), random, seed 0"
    std::shared_ptr<const Buffer> values;
    std::int64_t rows = 0, columns = 0;
    // Of one that is being written: which elements nobody has written yet. Empty: all are there.
    std::vector<bool> missing{};
    // Those among them that are written, but with what means nothing. Empty: none.
    std::vector<bool> undefined{};
  };
  MatricesView(std::string title, std::vector<Matrix> matrices);

  const std::string& title() const { return title_; }
  const std::vector<Matrix>& matrices() const { return matrices_; }
  double lowest() const { return lowest_; }
  double highest() const { return highest_; }
  // The value as text, exact.
  std::string value(std::size_t matrix, Element element) const;
  // Every matrix's value at the place: {"A", "0.5"}...
  Lines inspect(Element element) const;
  // A pixel for each step x step elements, row by row.
  std::vector<Rgba> colours(std::size_t matrix, std::int64_t step, const Theme& theme) const;

 private:
  std::string title_;
  std::vector<Matrix> matrices_;
  double lowest_ = 0, highest_ = 0;
};

// Where each matrix stands in the picture.
struct MatricesFrame {
  Lens lens;               // `cell` is pixels an element
  double fit = 1;          // the cell at which everything is seen; never smaller
  std::vector<Box> maps;   // all of each matrix, before cutting
  std::vector<Box> rooms;  // where each may be seen
  std::vector<Box> slots;  // where it is seen: map and room
  Box body;
};
MatricesFrame arrange(const MatricesView& view, const Lens& lens);
Scene build_scene(const MatricesView& view, std::optional<Element> hover,
                  std::optional<Element> selected, const Theme& theme, const MatricesFrame& frame,
                  RasterStore* store = nullptr);
std::optional<Element> element_at(const MatricesView& view, const MatricesFrame& frame, Point at);
Lens zoomed(const MatricesView& view, const MatricesFrame& frame, Point at, double factor);
Lens panned(const MatricesView& view, const MatricesFrame& frame, double dx, double dy);

}  // namespace tilescope
