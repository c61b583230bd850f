// Layouts that send several cells to one offset: which cells come after the first.
#include <fmt/format.h>

#include <algorithm>

#include "viz/layout/layout_view.h"

namespace tilescope {
namespace {

// Whether each offset surely comes once: each stride steps over all that the smaller ones reach. Of
// other layouts the cells tell.
bool steps_apart(const Tree<Mode>& modes) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // stride, extent
  for (int i = 0; i < modes.leaves; ++i) {
    const Mode& m = modes.leaf[i];
    if (m.shape.value > 1) steps.emplace_back(std::abs(m.stride.value), m.shape.value);
  }
  std::sort(steps.begin(), steps.end());
  std::int64_t reach = 0;
  bool fits = true;
  for (const auto& [stride, extent] : steps) {
    if (stride <= reach) return false;
    reach = checked_add(reach, checked_mul(stride, extent - 1, fits), fits);
    if (!fits) return false;
  }
  return true;
}

// "(2,0)": of a cell by its colexicographic index, a number for each mode.
std::string coordinate_text(const Tree<Mode>& modes, std::int64_t index) {
  std::vector<std::int64_t> each;
  for (int i = 0; i < modes.rank(); ++i) {
    const std::int64_t extent = *size(Layout(modes.mode(i)));
    each.push_back(index % extent);
    index /= extent;
  }
  return fmt::format("({})", fmt::join(each, ","));
}

}  // namespace

// A layout need not send cells to different offsets: (8,4):(1,2) has 2 at (2,0) and at (0,1). A
// swizzle changes nothing of this, it only renames offsets.
void LayoutView::mark_overlaps() {
  constexpr std::int64_t most_counted = std::int64_t{1} << 20;
  Panel& panel = panels_.back();
  const Layout linear(panel.layout.modes);
  const std::int64_t cells = *size(linear);
  Layout moving = linear;  // a stride of 0 is told on its own
  for (int i = 0; i < moving.modes.leaves; ++i) {
    if (moving.modes.leaf[i].stride.is(0)) moving.modes.leaf[i].shape = 1;
  }
  if (steps_apart(moving.modes)) return;
  if (cells > most_counted) {
    if (cells > highest_ - lowest_ + 1) {
      notes_.push_back(fmt::format("Strides overlap: {} cells share at most {} offsets.", cells,
                                   highest_ - lowest_ + 1));
    }
    return;
  }
  // The cells by their offset, those of one offset in order.
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  all.reserve(static_cast<std::size_t>(cells));
  for (std::int64_t i = 0; i < cells; ++i) all.emplace_back(linear(i), i);
  std::sort(all.begin(), all.end());
  std::vector<bool> later(static_cast<std::size_t>(cells));
  std::int64_t shared = 0, most = 1, run = 1, first = -1;
  for (std::size_t k = 1; k < all.size(); ++k) {
    run = all[k].first == all[k - 1].first ? run + 1 : 1;
    if (run == 1) continue;
    if (first < 0) first = static_cast<std::int64_t>(k);
    shared += run == 2;
    most = std::max(most, run);
    later[static_cast<std::size_t>(all[k].second)] = true;
  }
  if (shared == 0) return;
  const std::size_t at = static_cast<std::size_t>(first);
  panel.overlaps = std::make_shared<const std::vector<bool>>(std::move(later));
  notes_.push_back(fmt::format(
      "{} {} in more than one cell, up to {}: strides overlap, such as {} at {} and {}; a tick in "
      "the corner marks each but the first.",
      shared, shared == 1 ? "offset is" : "offsets are", most, panel.layout(all[at].second),
      coordinate_text(linear.modes, all[at - 1].second),
      coordinate_text(linear.modes, all[at].second)));
}

}  // namespace tilescope
