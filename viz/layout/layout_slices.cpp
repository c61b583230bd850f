#include "viz/layout/layout_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/layout/text.h"
#include "viz/layout/layout_statements.h"

namespace tilescope {
namespace {

// As it was before its modes were turned.
const Layout& whole(const Panel& panel) {
  return panel.unturned ? *panel.unturned : panel.layout;
}

std::int64_t extent_of(const Layout& layout, int mode) {
  return *size(Layout(layout.modes.mode(mode)));
}

// The modes in the order in which a turned grid has them: rows, columns, the rest.
std::vector<int> order_of(int rank, const SliceChoice& choice) {
  std::vector<int> out{choice.rows, choice.columns};
  for (int i = 0; i < rank; ++i) {
    if (i != choice.rows && i != choice.columns) out.push_back(i);
  }
  return out;
}

Layout turned(const Layout& layout, const std::vector<int>& order) {
  Layout out = layout;
  out.modes = {};
  for (const int i : order) out.modes.push(layout.modes.mode(i));
  return out;
}

// What stands at each index of the turned grid.
template <class T>
std::shared_ptr<const std::vector<T>> turned(const std::shared_ptr<const std::vector<T>>& all,
                                             const Layout& layout, const std::vector<int>& order) {
  if (!all) return all;
  const Layout from = turned(*make_layout(layout.shape()), order);
  std::vector<T> out(all->size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = (*all)[static_cast<std::size_t>(from(static_cast<std::int64_t>(i)))];
  }
  return std::make_shared<const std::vector<T>>(std::move(out));
}

bool same_extents(const Layout& a, const Layout& b) {
  bool same = a.rank() == b.rank();
  for (int i = 0; same && i < a.rank(); ++i) same = extent_of(a, i) == extent_of(b, i);
  return same;
}

Error unfit(const Panel& panel, std::string_view text) {
  std::string example = "(_,_";
  for (int i = 2; i < whole(panel).rank(); ++i) example += ",0";
  return {ErrorKind::usage,
          fmt::format("`{}` is no slice of {}: it has two `_`, the rows and the columns, and a "
                      "coordinate for each other mode, such as {}).",
                      text, panel.formula, example),
          ""};
}

}  // namespace

int sliced_grid(const LayoutView& view) {
  for (int p = static_cast<int>(view.panels().size()); p-- > 0;) {
    if (view.panels()[static_cast<std::size_t>(p)].layout.rank() > 2) return p;
  }
  return -1;
}

std::int64_t slices_of(const Panel& panel, const SliceChoice& choice) {
  std::int64_t out = 1;
  for (int i = 0; i < whole(panel).rank(); ++i) {
    if (i != choice.rows && i != choice.columns) out *= extent_of(whole(panel), i);
  }
  return out;
}

std::string slice_text(const Panel& panel, const SliceChoice& choice) {
  std::string out;
  std::int64_t rest = std::max<std::int64_t>(choice.at, 0);
  for (int i = 0; i < whole(panel).rank(); ++i) {
    out += i == 0 ? "(" : ",";
    if (i == choice.rows || i == choice.columns) {
      out += "_";
      continue;
    }
    const std::int64_t extent = extent_of(whole(panel), i);
    out += fmt::format("{}", rest % extent);
    rest /= extent;
  }
  return out + ")";
}

Outcome<SliceChoice> slice_in(const Panel& panel, std::string_view text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return unfit(panel, text);
  const std::vector<std::string_view> each = split_outside(text.substr(1, text.size() - 2), ',');
  const Layout& layout = whole(panel);
  if (static_cast<int>(each.size()) != layout.rank()) return unfit(panel, text);
  SliceChoice out;
  out.at = 0;
  int open = 0;
  std::int64_t step = 1;
  for (int i = 0; i < layout.rank(); ++i) {
    const std::string_view word = each[static_cast<std::size_t>(i)];
    if (word == "_") {
      (open == 0 ? out.rows : out.columns) = i;
      ++open;
      continue;
    }
    const std::int64_t extent = extent_of(layout, i);
    std::int64_t number = -1;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
    if (read.ec != std::errc() || read.ptr != word.data() + word.size()) return unfit(panel, text);
    if (number < 0 || number >= extent) {
      return Error{ErrorKind::mismatch,
                   fmt::format("There is no {} in mode {} of {}: its coordinates are 0 to {}.",
                               number, i, panel.formula, extent - 1),
                   ""};
    }
    out.at += number * step;
    step *= extent;
  }
  return open == 2 ? Outcome<SliceChoice>(out) : unfit(panel, text);
}

LayoutView sliced(LayoutView view, const SliceChoice& choice) {
  const auto grids = static_cast<int>(view.panels().size());
  if (choice.grid < 0 || choice.grid >= grids) return view;
  const Layout chosen = whole(view.panels()[static_cast<std::size_t>(choice.grid)]);
  for (int p = 0; p < grids; ++p) {
    const Layout& each = whole(view.panels()[static_cast<std::size_t>(p)]);
    if (p == choice.grid || (each.rank() > 2 && same_extents(each, chosen))) {
      view.turn_panel(p, order_of(each.rank(), choice), choice.at);
    }
  }
  return view;
}

void LayoutView::turn_panel(int p, const std::vector<int>& order, std::int64_t at) {
  Panel& panel = panels_[static_cast<std::size_t>(p)];
  const Layout before = panel.layout;
  const bool usual_words = panel.axes == axes_of(before);
  if (!std::is_sorted(order.begin(), order.end())) {
    for (std::optional<Layout>* each : {&panel.again, &panel.tiles}) {
      if (*each && (*each)->rank() == before.rank()) *each = turned(**each, order);
    }
    if (panel.keys.rank() == before.rank()) panel.keys = turned(panel.keys, order);
    panel.elements = turned(panel.elements, before, order);
    panel.overlaps = turned(panel.overlaps, before, order);
    panel.unturned = before;
    panel.order = order;
    panel.layout = turned(before, order);
    panel.axes = fmt::format("mode {} down, mode {} across", order[0], order[1]);
    measure_grid(panel);
  }
  if (at < 0) return;
  if (usual_words) panel.axes = fmt::format("mode {} down, mode {} across", order[0], order[1]);
  panel.first_slice = std::min(at, panel.all_slices - 1);
  panel.slices = 1;
  panel.slices_in_row = 0;
}

}  // namespace tilescope
