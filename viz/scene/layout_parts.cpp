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

// Every offset of a layout once, in order.
std::vector<std::int64_t> offsets_of(const Layout& layout) {
  std::vector<std::int64_t> out;
  const std::int64_t count = *size(layout);
  out.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) out.push_back(layout(i));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
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
    view.lowest_ = whole ? alone->lowest_ : std::min(view.lowest_, alone->lowest_);
    view.highest_ = std::max(view.highest_, alone->highest_);
  }
  for (std::size_t p = 0; p + 1 < chain.size(); ++p) {
    const std::vector<std::int64_t> taken = offsets_of(chain[p + 1].layout);
    view.panels_[p].part = std::make_shared<const std::vector<std::int64_t>>(taken);
  }
  for (std::size_t p = 0; p + 2 < chain.size(); ++p) {
    view.panels_[p].last_part = view.panels_[chain.size() - 2].part;
  }
  return view;
}

bool LayoutView::taken(const Cell& cell) const {
  const Panel& p = panels_[static_cast<std::size_t>(cell.panel)];
  return !p.part || std::binary_search(p.part->begin(), p.part->end(), offset(cell));
}

}  // namespace tilescope
