// How many elements of a comparison have which error (or value): a strip of bars under the map.
//
// A bar is a range of |value| between powers of two, wide enough that no more bars are needed than
// there is room for; zeros and what is no finite number have bars of their own, at the ends. Right
// and wrong elements are beside each other. Heights are logarithmic: a single element is seen
// beside sixteen million. A click marks a bar's elements in the map.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viz/matrix/diff_view.h"
#include "viz/scene/scene.h"

namespace tilescope {

struct HistogramBar {
  MarkedRange range;
  std::uint64_t right = 0, wrong = 0;
};
// From the smallest to the largest; at most so many between the zeros and what is not finite.
std::vector<HistogramBar> bars_of(const Histogram& histogram, std::size_t most);

// "0", "1.95e-03 to 3.91e-03", "infinite or not a number"
std::string range_words(const MarkedRange& range);
// "1.95e-03 to 3.91e-03: 12 right, 3 wrong"
std::string bar_words(const HistogramBar& bar);
// The command that marks its elements: "mark 0.001953125 0.00390625".
std::string mark_command(const MarkedRange& range);

inline constexpr double histogram_height = 136;

struct HistogramFrame {
  Box room, plot;
  std::vector<HistogramBar> bars;  // side by side in the plot, equally wide
  std::uint64_t most = 0;          // the highest
};
HistogramFrame arrange_histogram(const DiffView& view, const Box& room);
// The bar under a point, anywhere in its column.
std::optional<std::size_t> bar_at(const HistogramFrame& frame, Point at);
void draw_histogram(Scene& scene, const DiffView& view, const HistogramFrame& frame,
                    const DiffChoice& choice, std::optional<std::size_t> hover);

}  // namespace tilescope
