// How layout views are made; layout_cells.cpp answers about cells, layout_colours.cpp colours them.
#include "viz/layout/layout_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/layout/text.h"

namespace tilescope {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 24;
constexpr std::int64_t most_rows = std::int64_t{1} << 40;

std::optional<Error> undrawable(const Layout& layout) {
  if (layout.modes.empty()) {
    return refused("A layout without modes, (), has no cells to draw; (1):(0) has one.");
  }
  if (!layout.concrete()) {
    return refused(
        fmt::format("{} has numbers that are not known or are on an axis; a grid of "
                    "cells needs known extents and plain strides, such as (4,8):(1,4).",
                    text(layout)));
  }
  const Result<std::int64_t> cells = size(layout);
  if (!cells) return refused(sentence(cells.refusal));
  if (*cells > most_rows) {
    return refused(
        fmt::format("{} has {} cells; a picture goes up to 2^40.", text(layout), *cells));
  }
  return std::nullopt;
}

std::int64_t extent_of(const Tree<Mode>& modes) {
  std::int64_t n = 1;
  for (int i = 0; i < modes.leaves; ++i) n *= modes.leaf[i].shape.value;
  return n;
}

// Where the parts of a nested mode end, from the inside out.
std::vector<Division> divisions_of(const Tree<Mode>& mode) {
  std::vector<Division> out;
  const std::int64_t whole = extent_of(mode);
  std::int64_t period = 1;
  int level = 0;
  for (int i = 0; i + 1 < mode.leaves; ++i) {
    level += mode.open[i];
    level -= mode.close[i];
    period *= mode.leaf[i].shape.value;
    if (period == 1 || period == whole) continue;
    const Division here{period, std::clamp(level, 1, division_levels)};
    if (!out.empty() && out.back().period == period) {
      out.back().level = std::min(out.back().level, here.level);
    } else {
      out.push_back(here);
    }
  }
  return out;
}

// 0 exactly at the first of the cells that strides of 0 make one element; nothing where no stride
// is 0.
std::optional<Layout> repetition_of(const Layout& layout) {
  Layout out(layout.modes);
  bool any = false;
  for (int i = 0; i < out.modes.leaves; ++i) {
    Mode& m = out.modes.leaf[i];
    const bool still = m.stride.value == 0 && m.shape.value > 1;
    any = any || still;
    m.stride = still ? 1 : 0;
  }
  return any ? std::optional<Layout>(out) : std::nullopt;
}

int bits_for(std::int64_t below) {
  int bits = 1;
  while (bits < 62 && (std::int64_t{1} << bits) < below) ++bits;
  return bits;
}

// The runs of leaves of the input that the tiler cuts on their own, each with what cuts it.
struct Cut {
  int begin = 0, leaves = 0;
  Tiler by;
};
void collect_cuts(const Tree<Mode>& modes, const Tiler* tiler, int begin, std::vector<Cut>& out) {
  if (tiler == nullptr || !tiler->by_mode()) {
    Tiler whole;
    whole.modes = Tree<Mode>(Mode{Int::all(), 0});
    out.push_back({begin, modes.leaves, tiler != nullptr ? *tiler : whole});
    return;
  }
  for (int i = 0; i < modes.rank(); ++i) {
    const Tree<Mode> mode = modes.mode(i);
    const Tiler part = i < tiler->rank() ? tiler->mode(i) : Tiler{};
    collect_cuts(mode, i < tiler->rank() ? &part : nullptr, begin, out);
    begin += mode.leaves;
  }
}

}  // namespace

std::string axes_of(const Layout& layout) {
  if (layout.rank() == 1) return "one row";
  std::string out = "mode 0 down, mode 1 across";
  if (layout.rank() == 3) out += ", mode 2 slice by slice";
  if (layout.rank() > 3) out += ", a slice for each coordinate of the other modes";
  return out;
}

std::string_view name_of(ColourBy by) {
  switch (by) {
    case ColourBy::tile:
      return "tile";
    case ColourBy::thread:
      return "thread";
    case ColourBy::warp:
      return "warp";
    case ColourBy::value:
      return "value";
    case ColourBy::offset:
      return "offset";
    case ColourBy::bank:
      return "bank";
    case ColourBy::axis:
      return "axis";
    case ColourBy::axis2:
      return "axis2";
    case ColourBy::axis3:
      return "axis3";
    case ColourBy::axis4:
      return "axis4";
    case ColourBy::none:
      return "none";
  }
  return "";
}

std::string colour_names(std::string_view separator) {
  std::string out;
  for (int i = 0; i <= static_cast<int>(ColourBy::none); ++i) {
    if (i > 0) out += separator;
    out += name_of(static_cast<ColourBy>(i));
  }
  return out;
}

Outcome<ColourBy> colour_by_name(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(ColourBy::none); ++i) {
    const ColourBy by = static_cast<ColourBy>(i);
    if (name_of(by) == name) return by;
  }
  return Error{
      ErrorKind::usage,
      fmt::format("Nothing can be coloured by '{}'; {} would work.", name, colour_names(", ")),
      {}};
}

std::string_view name_of(Focus::On on) {
  switch (on) {
    case Focus::On::nothing:
      return "nothing";
    case Focus::On::offset:
      return "offset";
    case Focus::On::tile:
      return "tile";
    case Focus::On::thread:
      return "thread";
    case Focus::On::warp:
      return "warp";
    case Focus::On::value:
      return "value";
    case Focus::On::bank:
      return "bank";
    case Focus::On::phase:
      return "phase";
  }
  return "";
}

Outcome<Focus::On> focus_name(std::string_view name) {
  for (int i = 1; i <= static_cast<int>(Focus::On::phase); ++i) {
    const Focus::On on = static_cast<Focus::On>(i);
    if (name_of(on) == name) return on;
  }
  return Error{
      ErrorKind::usage,
      fmt::format("'{}' cannot be isolated; offset, tile, thread, warp, value, bank and phase "
                  "can, each with a number.",
                  name),
      {}};
}

// Side by side nobody looks at more.
constexpr std::int64_t most_slices = 1024;

void LayoutView::add_panel(std::string title, std::string axes, const Layout& layout) {
  Panel panel;
  panel.title = std::move(title);
  panel.axes = std::move(axes);
  panel.formula = text(layout);
  panel.layout = layout;
  measure_grid(panel);
  if (panel.all_slices > panel.slices) {
    notes_.push_back(fmt::format("The first {} of {} slices; `slice {}` shows another.",
                                 panel.slices, panel.all_slices, panel.slices));
  }
  panel.again = repetition_of(layout);
  panels_.push_back(std::move(panel));
}

void LayoutView::measure_grid(Panel& panel) {
  const Layout& layout = panel.layout;
  const int rank = layout.rank();
  panel.row_divisions.clear();
  const Tree<Mode> across = layout.modes.mode(rank == 1 ? 0 : 1);
  panel.rows = 1;
  if (rank > 1) {
    panel.rows = extent_of(layout.modes.mode(0));
    panel.row_divisions = divisions_of(layout.modes.mode(0));
  }
  panel.columns = extent_of(across);
  panel.column_divisions = divisions_of(across);
  panel.all_slices = 1;
  for (int i = 2; i < rank; ++i) panel.all_slices *= extent_of(layout.modes.mode(i));
  panel.slices = std::min(panel.all_slices, most_slices);
  panel.first_slice = 0;
  panel.slices_in_row = 0;
  if (rank > 3) {
    const std::int64_t row = extent_of(layout.modes.mode(2));
    panel.slices_in_row = row > 1 ? std::min(row, most_slices) : 0;
  }
}

void LayoutView::measure_offsets(const Layout& layout) {
  bool fits = true;
  std::int64_t low = layout.offset.value, high = layout.offset.value;
  for (int i = 0; i < layout.modes.leaves; ++i) {
    const Mode& m = layout.modes.leaf[i];
    const std::int64_t reach = checked_mul(m.shape.value - 1, m.stride.value, fits);
    (reach < 0 ? low : high) = checked_add(reach < 0 ? low : high, reach, fits);
  }
  if (!layout.swizzle.identity()) {
    // A swizzle moves offsets within blocks of 2^(M+|S|+B).
    const int span = layout.swizzle.base + std::abs(layout.swizzle.shift) + layout.swizzle.bits;
    const std::int64_t block = (std::int64_t{1} << std::min(span, 62)) - 1;
    low = low & ~block;
    high = high | block;
    if (const Result<std::int64_t> reach = cosize(layout); reach && *reach > 0) high = *reach - 1;
  }
  lowest_ = low;
  highest_ = std::max(low, high);
}

Outcome<LayoutView> LayoutView::plain(const Layout& layout, std::string formula) {
  if (const auto error = undrawable(layout)) return *error;
  LayoutView view;
  view.kind_ = Kind::plain;
  view.add_panel("Layout", axes_of(layout), layout);
  view.title_ = formula.empty() ? view.panels_[0].formula : std::move(formula);
  view.measure_offsets(layout);
  const Panel& panel = view.panels_[0];
  if (layout.rank() == 2) {
    view.owned_.threads = panel.rows;
    view.owned_.values = panel.columns;
  }
  const auto first_part = [](const Tree<Mode>& mode) { return extent_of(mode.mode(0)); };
  std::int64_t blocks = 1;
  for (int i = 0; i < std::min(layout.rank(), 2); ++i) {
    const Tree<Mode> mode = layout.modes.mode(i);
    if (mode.rank() > 1) blocks *= extent_of(mode) / first_part(mode);
  }
  view.division_.tiles = blocks > 1 ? blocks : 0;
  if (panel.again) {
    std::int64_t times = 1;
    for (int i = 0; i < layout.modes.leaves; ++i) {
      const Mode& m = layout.modes.leaf[i];
      if (m.stride.is(0)) times *= m.shape.value;
    }
    view.notes_.push_back(fmt::format(
        "Strides of 0 show each element {} times; a tick in the corner marks the repetitions.",
        times));
  }
  view.mark_overlaps();
  return view;
}

Outcome<LayoutView> LayoutView::divided(const Layout& input, const Tiler& tiler, DivideForm form) {
  if (const auto error = undrawable(input)) return *error;
  LayoutView view;
  view.kind_ = Kind::divided;
  view.title_ = fmt::format("{} divided by {}", text(input), text(tiler));
  view.measure_offsets(input);
  if (auto error = view.divide(input, tiler, form)) return *error;
  return view;
}

// The input with strides that tell its coordinates apart part by part (a key), instead of offsets:
// dividing that by the same tiler says which element of the input every cell of a form is.
std::optional<Error> LayoutView::lay_out_keys(const Layout& input, const Tiler& tiler,
                                              Layout& keys) {
  std::vector<Cut> cuts;
  collect_cuts(input.modes, &tiler, 0, cuts);
  keys = Layout(input.modes);
  int shift = 0;
  std::int64_t weight = 1;
  for (const Cut& cut : cuts) {
    std::int64_t extent = 1;
    for (int k = cut.begin; k < cut.begin + cut.leaves; ++k) {
      extent *= keys.modes.leaf[k].shape.value;
    }
    const Result<Layout> divided = logical_divide(Layout(extent, 1), cut.by);
    if (!divided) return refused(sentence(divided.refusal));
    const Result<std::int64_t> reach = cosize(*divided);
    if (!reach) return refused(sentence(reach.refusal));
    const int bits = bits_for(std::max(*reach, extent));
    if (shift + bits > 61) {
      return refused(fmt::format("{} is too large to divide in a picture.", text(input)));
    }
    std::int64_t step = std::int64_t{1} << shift;
    for (int k = cut.begin; k < cut.begin + cut.leaves; ++k) {
      keys.modes.leaf[k].stride = step;
      step *= keys.modes.leaf[k].shape.value;
    }
    division_.key_parts.push_back({shift, (std::int64_t{1} << bits) - 1, extent, weight});
    shift += bits;
    weight *= extent;
  }
  return std::nullopt;
}

namespace {

// What a form of a division is called, what its grid shows, and how it is made.
struct FormOfDivision {
  const char* title;
  const char* axes;
  Result<Layout> (*of)(const Layout& input, const Tiler& tiler);
};
FormOfDivision form_named(LayoutView::DivideForm form, bool by_mode) {
  switch (form) {
    case LayoutView::DivideForm::tiled:
      return {"Tiled divide", "a column is one tile, a slice for each further one", tiled_divide};
    case LayoutView::DivideForm::flat:
      return {"Flat divide", "the tile's modes, then the rest's", flat_divide};
    case LayoutView::DivideForm::zipped:
      break;
  }
  return {by_mode ? "Zipped divide" : "Divided", "a column is one tile", zipped_divide};
}

}  // namespace

std::optional<Error> LayoutView::divide(const Layout& input, const Tiler& tiler, DivideForm form) {
  const Result<Layout> logical = logical_divide(input, tiler);
  if (!logical) return refused(sentence(logical.refusal));
  const Result<Layout> zipped = zipped_divide(input, tiler);
  if (!zipped) return refused(sentence(zipped.refusal));
  const Result<std::int64_t> cells = size(*zipped), elements = size(input);
  if (!cells) return refused(sentence(cells.refusal));
  if (*cells > most_elements) {
    return refused(
        fmt::format("{} has {} elements; a divided view shows up to {}. Drawing the "
                    "result itself has no such limit.",
                    text(input), *cells, most_elements));
  }
  Layout keys;
  if (auto error = lay_out_keys(input, tiler, keys)) return error;
  const Result<Layout> logical_keys = logical_divide(keys, tiler);
  const Result<Layout> zipped_keys = zipped_divide(keys, tiler);
  const FormOfDivision shown = form_named(form, tiler.by_mode());
  const Result<Layout> last = shown.of(input, tiler), last_keys = shown.of(keys, tiler);
  for (const Result<Layout>* each : {&logical_keys, &zipped_keys, &last, &last_keys}) {
    if (!*each) return refused(sentence(each->refusal));
  }

  add_panel("Input", "the layout as it is", input);
  panels_.back().keys = keys;
  if (tiler.by_mode()) {
    add_panel("Logical divide", "each mode: its tile, then the rest", *logical);
    panels_.back().keys = *logical_keys;
  }
  add_panel(shown.title, shown.axes, *last);
  panels_.back().keys = *last_keys;
  panels_.back().column_is_tile = form == DivideForm::zipped;

  division_.input_shape = input.shape();
  division_.tile_shape = zipped->modes.mode(0).map<Int>([](const Mode& m) { return m.shape; });
  division_.rest_shape = zipped->modes.mode(1).map<Int>([](const Mode& m) { return m.shape; });
  division_.tile_size = extent_of(zipped->modes.mode(0));
  division_.tiles = *cells / division_.tile_size;
  division_.place_of.assign(static_cast<std::size_t>(*elements), 0);
  std::int64_t padding = 0;
  for (std::int64_t z = 0; z < *cells; ++z) {
    const std::int64_t element = input_index((*zipped_keys)(z));
    if (element < 0) {
      ++padding;
    } else {
      division_.place_of[static_cast<std::size_t>(element)] = static_cast<std::uint32_t>(z);
    }
  }
  division_.padded = padding > 0;
  division_.by_mode = tiler.by_mode();
  if (division_.padded) {
    notes_.push_back(fmt::format(
        "{} grey cells are beyond the input: the tiles do not divide it evenly.", padding));
  }
  return std::nullopt;
}

Outcome<LayoutView> LayoutView::thread_value(const Layout& layout, const Tuple& tile) {
  Operand one;
  one.title = fmt::format("Tile {}", text(tile));
  one.axes = "which thread and value own each element";
  one.layout = layout;
  one.tile = tile;
  return operands({one}, Placing::free,
                  fmt::format("{} over the tile {}", text(layout), text(tile)));
}

Outcome<LayoutView> LayoutView::operands(const std::vector<Operand>& all, Placing placing,
                                         std::string title, std::string thread_mark) {
  LayoutView view;
  view.kind_ = Kind::thread_value;
  view.placing_ = placing;
  view.title_ = std::move(title);
  view.owned_.thread_mark = std::move(thread_mark);
  for (const Operand& operand : all) {
    if (auto error = view.add_operand(operand)) return *error;
    for (std::string& remark : view.panels_.back().owners->remarks()) {
      view.notes_.push_back(all.size() > 1 ? fmt::format("{}: {}", operand.title, remark)
                                           : std::move(remark));
    }
    if (!operand.remark.empty()) {
      view.notes_.push_back(fmt::format("{}: {}", operand.title, operand.remark));
    }
  }
  return view;
}

std::optional<Error> LayoutView::add_operand(const Operand& operand) {
  const Layout& layout = operand.layout;
  if (auto error = undrawable(layout)) return error;
  if (layout.rank() != 2) {
    return refused(
        fmt::format("{} has {} modes; a thread/value layout has two, threads and values.",
                    text(layout), layout.rank()));
  }
  const Result<Layout> cells = make_layout(operand.tile);
  if (!cells) return refused(sentence(cells.refusal));
  if (auto error = undrawable(*cells)) return error;
  const std::int64_t count = *size(*cells), pairs = *size(layout);
  if (count > most_elements || pairs > most_elements) {
    return refused(
        fmt::format("The tile {} has {} cells and {} has {} pairs; up to {} of each are "
                    "shown.",
                    text(operand.tile), count, text(layout), pairs, most_elements));
  }
  Layout grid = *cells;
  if (operand.turned && grid.rank() >= 2) {
    grid = make_layout_of(Layout(cells->modes.mode(1)), Layout(cells->modes.mode(0)));
    for (int i = 2; i < cells->rank(); ++i) grid.modes.push(cells->modes.mode(i));
  }
  add_panel(operand.title, operand.axes, grid);
  Panel& panel = panels_.back();
  panel.formula = text(layout);
  Owners owners = owners_of(layout, count, operand.threads);
  owners.everyone = owners.everyone && operand.shared;
  panel.owners = std::make_shared<const Owners>(std::move(owners));
  panel.tv = layout;
  panel.tile = operand.tile;
  panel.element_bits = operand.element_bits;
  owned_.threads = std::max(owned_.threads, panel.owners->threads);
  owned_.values = std::max(owned_.values, panel.owners->values);
  const bool named = !panel.owners->everyone;
  owned_.most_owners = std::max<std::int64_t>(owned_.most_owners, named ? panel.owners->most : 1);
  highest_ = std::max(highest_, count - 1);
  return std::nullopt;
}

}  // namespace tilescope
