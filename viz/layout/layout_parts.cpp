// Views of a whole and its parts: a tensor, the tile that a CTA takes of it, what a thread takes of
// that. Each grid shows its own part in colour, the rest faded, with a line around.
#include <fmt/format.h>

#include <algorithm>

#include "core/layout/text.h"
#include "viz/layout/layout_view.h"

namespace tilescope {
namespace {

constexpr std::int64_t most_in_part = std::int64_t{1} << 22;

std::vector<std::int64_t> offsets_of(const Layout& layout) {
  std::vector<std::int64_t> out;
  const std::int64_t count = *size(layout);
  out.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) out.push_back(layout(i));
  return out;
}

// Each once.
Panel::Numbers in_order(std::vector<std::int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return std::make_shared<const std::vector<std::int64_t>>(std::move(numbers));
}

// As the language prints a slice: "(8):(1) off 24".
std::string placed_text(Layout layout) {
  if (!layout.swizzle.identity() || layout.offset.is(0)) return text(layout);
  const std::int64_t offset = layout.offset.value;
  layout.offset = 0;
  return fmt::format("{} off {}", text(layout), offset);
}

// ((8,8)):((16,1)), as slices come: the one mode's own modes are the grid's. So are those of
// ((128,16),1,2), a CTA's operand of one instruction: 2048 cells below each other show nothing.
Tree<Mode> unfolded(const Tree<Mode>& modes) {
  constexpr std::int64_t most_rows = 64;
  const Tree<Mode> first = modes.mode(0);
  if (first.rank() < 2) return modes;
  if (modes.rank() == 1) return first;
  const bool tall = *size(Layout(first)) > most_rows && *size(Layout(modes.mode(1))) == 1;
  if (!tall || first.rank() != 2) return modes;
  Tree<Mode> out = first;
  for (int i = 1; i < modes.rank(); ++i) out.push(modes.mode(i));
  return out;
}

// The rectangle of a panel's cells that a part is; nothing where it is none, or of several slices.
std::optional<Panel::Rectangle> frame_of(const Panel& panel, const Panel::Numbers& part) {
  if (!part || part->empty() || panel.slices > 1) return std::nullopt;
  std::int64_t count = 0, top = panel.rows, left = panel.columns, bottom = -1, right = -1;
  const auto add = [&](std::int64_t index) {
    const std::int64_t row = index % panel.rows, column = index / panel.rows;
    ++count;
    top = std::min(top, row), bottom = std::max(bottom, row);
    left = std::min(left, column), right = std::max(right, column);
  };
  if (!panel.elements) {
    std::for_each(part->begin(), part->end(), add);
  } else {
    for (std::size_t i = 0; i < panel.elements->size(); ++i) {
      const bool has = std::binary_search(part->begin(), part->end(), (*panel.elements)[i]);
      if (has) add(static_cast<std::int64_t>(i));
    }
  }
  const Panel::Rectangle out{top, left, bottom - top + 1, right - left + 1};
  return count == out.rows * out.columns ? std::optional(out) : std::nullopt;
}

}  // namespace

Outcome<LayoutView> LayoutView::parts(const std::vector<Part>& chain, std::string title) {
  LayoutView view;
  view.kind_ = Kind::parts;
  view.title_ = std::move(title);
  for (const Part& part : chain) {
    Part each = part;
    // ((8,8)):((16,1)), as slices come: the one mode's own modes are the grid's.
    each.layout.modes = unfolded(each.layout.modes);
    const bool whole = &part == &chain.front();
    const Outcome<LayoutView> alone = plain(each.layout);  // for its refusals
    if (!alone) return alone.error();
    if (!whole && *size(each.layout) > most_in_part) {
      return refused(fmt::format("{} has {} elements; a part of up to {} is shown in its whole.",
                                 text(each.layout), *size(each.layout), most_in_part));
    }
    view.add_panel(each.title, axes_of(each.layout), each.layout);
    view.panels_.back().formula = placed_text(part.layout);
    if (!whole && !part.elements.empty()) continue;  // it has the whole's offsets
    view.lowest_ = whole ? alone->lowest_ : std::min(view.lowest_, alone->lowest_);
    view.highest_ = std::max(view.highest_, alone->highest_);
  }
  view.division_.by_element = std::all_of(chain.begin() + 1, chain.end(),
                                          [](const Part& part) { return !part.elements.empty(); });
  for (std::size_t p = 1; p < chain.size(); ++p) {
    Panel& panel = view.panels_[p];
    if (!view.division_.by_element) {
      view.panels_[p - 1].part = in_order(offsets_of(chain[p].layout));
      continue;
    }
    panel.elements = std::make_shared<const std::vector<std::int64_t>>(chain[p].elements);
    std::vector<std::int64_t> there = chain[p].elements;
    std::erase(there, -1);
    view.panels_[p - 1].part = in_order(std::move(there));
    const auto beyond = std::count(panel.elements->begin(), panel.elements->end(), -1);
    if (beyond == 0) continue;
    view.division_.padded = true;
    view.notes_.push_back(fmt::format("{}: {} of {} cells are beyond {}; they are grey.",
                                      panel.title, beyond, panel.elements->size(),
                                      view.panels_[0].formula));
  }
  for (std::size_t p = 0; p + 2 < chain.size(); ++p) {
    view.panels_[p].last_part = view.panels_[chain.size() - 2].part;
  }
  for (Panel& panel : view.panels_) {
    if (!view.division_.by_element) break;
    panel.part_frame = frame_of(panel, panel.part);
    panel.last_part_frame = frame_of(panel, panel.last_part);
  }
  return view;
}

std::int64_t LayoutView::member_of(const Cell& cell) const {
  return division_.by_element ? element_of(cell) : offset(cell);
}

bool LayoutView::taken(const Cell& cell) const {
  const Panel& p = panels_[static_cast<std::size_t>(cell.panel)];
  return !p.part || std::binary_search(p.part->begin(), p.part->end(), member_of(cell));
}

std::vector<std::int64_t> LayoutView::members_of(const Window& w,
                                                 const Panel::Numbers& part) const {
  std::vector<std::int64_t> out;
  if (!division_.by_element) {
    out = numbers_of(w, ColourBy::offset, 0);
  } else {
    out.reserve(static_cast<std::size_t>(w.down() * w.across()));
    for (std::int64_t i = 0; i < w.down(); ++i) {
      for (std::int64_t j = 0; j < w.across(); ++j) {
        out.push_back(
            element_of({w.panel, w.slice, w.row + i * w.row_step, w.column + j * w.column_step}));
      }
    }
  }
  for (std::int64_t& n : out) n = std::binary_search(part->begin(), part->end(), n) ? 1 : 0;
  return out;
}

}  // namespace tilescope
