// Two layouts beside each other: owners beside owners, offsets beside offsets, tiles beside tiles.
#include <fmt/format.h>

#include <algorithm>

#include "core/layout/algebra.h"
#include "viz/layout/layout_statements.h"
#include "viz/layout/layout_view.h"

namespace tilescope {
namespace {

// A layout of offsets, and which tile each cell belongs to where it is the result of a division
// whose tile is its first mode.
struct Shown {
  Layout layout;
  std::optional<Layout> tiles;
};

std::optional<Shown> result_of(std::string_view expression) {
  Scope scope;
  const std::optional<Value> value = value_of(scope, expression);
  const std::optional<Layout> layout = value ? placed(*value) : std::nullopt;
  if (!layout || !layout->concrete() || layout->modes.empty()) return std::nullopt;
  Shown out{*layout, {}};
  const std::string_view last = split_outside(expression, ';').back();
  const Bindings bindings = bindings_of(expression);
  const auto bound = bindings.find(last);
  const std::optional<Call> call = call_of(bound == bindings.end() ? last : bound->second);
  const bool tile_first =
      call && (call->callee == "zipped_divide" || call->callee == "tiled_divide");
  if (!tile_first) return out;
  Layout tiles(layout->modes);
  std::int64_t count = 1;
  const int in_tile = tiles.modes.mode(0).leaves;
  for (int i = 0; i < tiles.modes.leaves; ++i) {
    Mode& mode = tiles.modes.leaf[i];
    mode.stride = i < in_tile ? 0 : count;
    if (i >= in_tile) count *= mode.shape.value;
  }
  out.tiles = tiles;
  return out;
}

// What is divided, each cell with the tile that it comes into: from a coordinate to its element, to
// where the result has that, to the result's tile there. Nothing where no layout says so, as in
// divisions that round up.
std::optional<Panel> with_tiles(const Panel& input, const Panel& result, const Layout& tiles) {
  const Result<Layout> back = right_inverse(result.keys);
  if (!back || *size(*back) != *size(input.layout)) return {};
  const Result<Layout> of_element = composition(tiles, *back);
  if (!of_element) return {};
  const Result<Layout> of_cell = composition(*of_element, input.keys);
  if (!of_cell || *size(*of_cell) != *size(input.layout)) return {};
  Panel out;
  out.axes = input.axes;
  out.formula = input.formula;
  out.layout = input.layout;
  out.rows = input.rows;
  out.columns = input.columns;
  out.tiles = *of_cell;
  return out;
}

}  // namespace

Outcome<LayoutView> LayoutView::beside(std::string_view first, std::string_view second) {
  Outcome<LayoutView> left = of_expression(first), right = of_expression(second);
  for (const Outcome<LayoutView>* each : {&left, &right}) {
    if (!*each) return each->error();
  }
  const auto name = [](std::string_view expression) {
    return std::string(split_outside(expression, ';').back());
  };
  const std::string title = fmt::format("{} beside {}", name(first), name(second));
  if (left->kind_ == Kind::thread_value && right->kind_ == Kind::thread_value &&
      left->owned_.thread_mark == right->owned_.thread_mark) {
    left->placing_ = Placing::free;
    for (Panel& panel : left->panels_) panel.title = "First: " + panel.title;
    for (Panel& panel : right->panels_) {
      panel.title = "Second: " + panel.title;
      left->panels_.push_back(std::move(panel));
    }
    left->owned_.threads = std::max(left->owned_.threads, right->owned_.threads);
    left->owned_.values = std::max(left->owned_.values, right->owned_.values);
    left->owned_.most_owners = std::max(left->owned_.most_owners, right->owned_.most_owners);
    left->highest_ = std::max(left->highest_, right->highest_);
    for (std::string& note : right->notes_) left->notes_.push_back(std::move(note));
    left->retitle(title);
    return left;
  }
  const std::optional<Shown> a = result_of(first), b = result_of(second);
  if (!a || !b) {
    return Error{
        ErrorKind::mismatch,
        "These two do not show the same kind of thing: owners are shown beside owners, and "
        "offsets beside offsets.",
        {}};
  }
  Outcome<LayoutView> view = plain(a->layout), other = plain(b->layout);
  for (const Outcome<LayoutView>* each : {&view, &other}) {
    if (!*each) return each->error();
  }
  view->panels_[0].title = "First";
  view->panels_[0].tiles = a->tiles;
  Panel panel = std::move(other->panels_[0]);
  panel.title = "Second";
  panel.tiles = b->tiles;
  view->panels_.push_back(std::move(panel));
  // How two divisions cut what they divide is seen in that, not in columns of tiles.
  if (left->kind_ == Kind::divided && right->kind_ == Kind::divided && a->tiles && b->tiles) {
    std::optional<Panel> one = with_tiles(left->panels_.front(), left->panels_.back(), *a->tiles);
    std::optional<Panel> too = with_tiles(right->panels_.front(), right->panels_.back(), *b->tiles);
    if (one && too) {
      one->title = "First: input";
      too->title = "Second: input";
      view->panels_.insert(view->panels_.begin(), {std::move(*one), std::move(*too)});
    }
  }
  view->owned_.threads = view->owned_.values = view->division_.tiles = 0;
  for (const Shown* each : {&*a, &*b}) {
    if (!each->tiles) continue;
    const Result<std::int64_t> tiles = cosize(*each->tiles);
    view->division_.tiles = std::max(view->division_.tiles, tiles ? *tiles : 0);
  }
  view->lowest_ = std::min(view->lowest_, other->lowest_);
  view->highest_ = std::max(view->highest_, other->highest_);
  for (std::string& note : other->notes_) view->notes_.push_back(std::move(note));
  view->retitle(title);
  return view;
}

}  // namespace tilescope
