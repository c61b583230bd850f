// Views of a whole and its parts: a tensor, the tile that a CTA takes of it, what a thread takes of
// that. Each grid shows its own part in colour, the rest faded, with a line around.
#include <fmt/format.h>

#include <algorithm>

#include "core/layout/text.h"
#include "viz/scene/layout_view.h"

namespace tilescope {
namespace {

constexpr std::int64_t most_in_part = std::int64_t{1} << 22;

Error refused(std::string sentence) {
  return {ErrorKind::refused, std::move(sentence), {}};
}

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

}  // namespace

Outcome<LayoutView> LayoutView::parts(const std::vector<Part>& chain, std::string title) {
  LayoutView view;
  view.kind_ = Kind::parts;
  view.title_ = std::move(title);
  for (const Part& part : chain) {
    Part each = part;
    // ((8,8)):((16,1)), as slices come: the one mode's own modes are the grid's.
    const Tree<Mode>& modes = each.layout.modes;
    if (modes.rank() == 1 && modes.mode(0).rank() > 1) each.layout.modes = modes.mode(0);
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
  view.by_element_ = std::all_of(chain.begin() + 1, chain.end(),
                                 [](const Part& part) { return !part.elements.empty(); });
  for (std::size_t p = 1; p < chain.size(); ++p) {
    Panel& panel = view.panels_[p];
    if (!view.by_element_) {
      view.panels_[p - 1].part = in_order(offsets_of(chain[p].layout));
      continue;
    }
    panel.elements = std::make_shared<const std::vector<std::int64_t>>(chain[p].elements);
    std::vector<std::int64_t> there = chain[p].elements;
    std::erase(there, -1);
    view.panels_[p - 1].part = in_order(std::move(there));
    const auto beyond = std::count(panel.elements->begin(), panel.elements->end(), -1);
    if (beyond == 0) continue;
    view.padded_ = true;
    view.notes_.push_back(fmt::format("{}: {} of {} cells lie beyond {}; they are grey.",
                                      panel.title, beyond, panel.elements->size(),
                                      view.panels_[0].formula));
  }
  for (std::size_t p = 0; p + 2 < chain.size(); ++p) {
    view.panels_[p].last_part = view.panels_[chain.size() - 2].part;
  }
  return view;
}

std::int64_t LayoutView::member_of(const Cell& cell) const {
  return by_element_ ? element_of(cell) : offset(cell);
}

bool LayoutView::taken(const Cell& cell) const {
  const Panel& p = panels_[static_cast<std::size_t>(cell.panel)];
  return !p.part || std::binary_search(p.part->begin(), p.part->end(), member_of(cell));
}

std::vector<std::int64_t> LayoutView::members_of(const Window& w,
                                                 const Panel::Numbers& part) const {
  std::vector<std::int64_t> out;
  if (!by_element_) {
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
