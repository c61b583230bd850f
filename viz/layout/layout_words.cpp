// What a layout view says in words: labels of cells, marks and names, the legend.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "viz/layout/layout_view.h"
#include "viz/scene/palette.h"

namespace tilescope {
namespace {

constexpr std::int64_t lanes = 32;

Focus::On focus_of(ColourBy by) {
  switch (by) {
    case ColourBy::tile:
      return Focus::On::tile;
    case ColourBy::thread:
      return Focus::On::thread;
    case ColourBy::warp:
      return Focus::On::warp;
    case ColourBy::value:
      return Focus::On::value;
    default:
      return Focus::On::nothing;
  }
}

// The banks that a legend lists, in order; none where there are too many cells to ask each.
std::vector<std::int32_t> banks_met(const LayoutView& view, int element_bytes) {
  constexpr std::int64_t most_asked = std::int64_t{1} << 14;  // more cells meet nearly all banks
  std::set<std::int32_t> met;
  for (int p = 0; p < static_cast<int>(view.panels().size()); ++p) {
    const Panel& panel = view.panels()[static_cast<std::size_t>(p)];
    if (panel.rows > most_asked / panel.columns / panel.slices) return {};
    for (std::int64_t slice = panel.first_slice; slice < panel.first_slice + panel.slices;
         ++slice) {
      const LayoutView::Window all{p, slice, 0, 0, panel.rows, panel.columns};
      for (const std::int64_t bank : view.numbers_of(all, ColourBy::bank, element_bytes)) {
        if (bank >= 0) met.insert(static_cast<std::int32_t>(bank));
      }
    }
  }
  return {met.begin(), met.end()};
}

}  // namespace

std::int64_t LayoutView::categories(ColourBy by) const {
  switch (by) {
    case ColourBy::tile:
      return division_.tiles;
    case ColourBy::thread:
      return owned_.threads;
    case ColourBy::warp:
      return ceil_div(owned_.threads, lanes);
    case ColourBy::value:
      return owned_.values;
    case ColourBy::bank:
      return 32;
    case ColourBy::offset:
    case ColourBy::axis:
    case ColourBy::axis2:
    case ColourBy::axis3:
    case ColourBy::axis4:
    case ColourBy::none:
      break;
  }
  return 0;
}

std::string_view LayoutView::mark(ColourBy by) const {
  switch (by) {
    case ColourBy::tile:
      return "t";
    case ColourBy::thread:
      return owned_.thread_mark;
    case ColourBy::warp:
      return "W";
    case ColourBy::value:
      return "V";
    case ColourBy::bank:
      return "b";
    case ColourBy::offset:
    case ColourBy::axis:
    case ColourBy::axis2:
    case ColourBy::axis3:
    case ColourBy::axis4:
    case ColourBy::none:
      break;
  }
  return {};
}

std::string LayoutView::name(ColourBy by, std::int64_t number) const {
  const std::size_t i = static_cast<std::size_t>(number);
  if (by == ColourBy::value && number >= 0 && i < owned_.value_names.size())
    return owned_.value_names[i];
  return fmt::format("{}{}", mark(by), number);
}

std::vector<LayoutView::LabelForm> LayoutView::label_forms(const LayoutChoice& choice) const {
  if (choice.coordinates) return {{1, false}};
  constexpr std::int64_t most_lines = 4;
  if (kind_ == Kind::places) {
    std::vector<LabelForm> out;
    for (std::int64_t lines = std::min(places_.most, most_lines); lines >= 1; --lines) {
      out.push_back({static_cast<int>(lines), lines > 1});
    }
    return out;
  }
  const bool alone = owned_.threads == 1 && placing_ == Placing::free;
  if (kind_ == Kind::thread_value && alone) return {{1, false}};
  if (kind_ != Kind::thread_value) {
    if (mark(colour(choice)).empty()) return {{1, false}};
    return {{2, false}, {1, false}};
  }
  std::vector<LabelForm> out;
  for (std::int64_t lines = std::min(owned_.most_owners, most_lines); lines >= 2; --lines) {
    out.push_back({static_cast<int>(lines), true});
  }
  out.push_back({2, false});
  out.push_back({1, false});
  return out;
}

std::vector<std::string> LayoutView::label(const Cell& cell, const LayoutChoice& choice,
                                           LabelForm form) const {
  if (!inside(cell)) return {};
  if (choice.coordinates) {
    const CellInfo about = info(cell);
    return {about.flat.size() == 1 ? fmt::format("{}", about.flat[0])
                                   : fmt::format("({})", fmt::join(about.flat, ","))};
  }
  const ColourBy by = colour(choice);
  if (kind_ == Kind::places) {
    std::vector<std::string> all = (*places_.texts)[static_cast<std::size_t>(offset(cell))];
    const std::size_t lines = static_cast<std::size_t>(form.lines), count = all.size();
    if (count <= lines) return all;
    if (lines == 1) return {fmt::format("{} +{}", all[0], count - 1)};
    all.resize(lines - 1);
    all.push_back(fmt::format("+{}", count - lines + 1));
    return all;
  }
  if (kind_ == Kind::thread_value) return owner_label(cell, by, form);
  const std::string first = shows_places()
                                ? (*places_.texts)[static_cast<std::size_t>(offset(cell))][0]
                                : fmt::format("{}", offset(cell));
  if (mark(by).empty()) return {first};
  // With room for one thing it is what the colour stands for.
  const std::string second =
      fmt::format("{}{}", mark(by), number_of(cell, by, choice.element_bytes));
  return form.lines == 1 ? std::vector{second} : std::vector{first, second};
}

std::vector<std::string> LayoutView::owner_label(const Cell& cell, ColourBy by,
                                                 LabelForm form) const {
  const std::span<const Owner> all = owners(cell);
  if (all.empty()) return {"\u2013"};
  if (panels_[static_cast<std::size_t>(cell.panel)].owners->everyone) {
    return {fmt::format("V{}", all[0].value)};
  }
  std::vector<std::string> out;
  if (form.pairs) {
    const std::size_t lines = static_cast<std::size_t>(form.lines);
    const std::size_t shown = all.size() <= lines ? all.size() : lines - 1;
    for (const Owner& owner : all.first(shown)) {
      out.push_back(fmt::format("{}{} V{}", owned_.thread_mark, owner.thread, owner.value));
    }
    if (shown < all.size()) out.push_back(fmt::format("+{}", all.size() - shown));
    return out;
  }
  // Where a copy has but one thread the values tell the cells apart.
  if (owned_.threads == 1 && placing_ == Placing::free) return {fmt::format("V{}", all[0].value)};
  const std::string more = all.size() > 1 ? fmt::format("+{}", all.size() - 1) : std::string();
  if (form.lines > 1 || by != ColourBy::value) {
    out.push_back(fmt::format("{}{}", owned_.thread_mark, all[0].thread) + more);
  }
  if (form.lines > 1 || by == ColourBy::value) out.push_back(fmt::format("V{}", all[0].value));
  return out;
}

LayoutView::Legend LayoutView::legend(const LayoutChoice& choice, const Theme& theme) const {
  const ColourBy by = colour(choice);
  Legend out;
  out.title = std::string(name_of(by));
  if (by == ColourBy::none) {
    out.title.clear();
    return out;
  }
  if (const std::optional<Scale> scale = scale_of(by)) {
    const OnAxis* on = axis_of(by);
    out.title = on != nullptr ? on->title : "offset";
    Legend::Entry ramp;
    for (int i = 0; i <= 32; ++i) ramp.colours.push_back(quantity(i / 32.0));
    out.entries.push_back(ramp);
    out.lowest = fmt::format("{}", scale->lowest);
    out.highest = fmt::format("{}", scale->highest);
    return out;
  }
  if (by == ColourBy::value && maps_tensor_memory()) {
    for (std::size_t g = 0; g < owned_.group_names.size(); ++g) {
      const auto first = std::find(owned_.group_of_value.begin(), owned_.group_of_value.end(),
                                   static_cast<int>(g));
      const auto count = std::count(owned_.group_of_value.begin(), owned_.group_of_value.end(),
                                    static_cast<int>(g));
      Legend::Entry entry{
          {category(static_cast<std::int64_t>(g), theme.dark)}, owned_.group_names[g], {}};
      if (count == 1) entry.focus = {Focus::On::value, first - owned_.group_of_value.begin()};
      out.entries.push_back(std::move(entry));
    }
    out.title = "region";
    return out;
  }
  const bool by_warp = by == ColourBy::thread && owned_.threads > lanes;
  const std::int64_t all = categories(by_warp ? ColourBy::warp : by);
  // Of a warp with holes only the threads that take part, of banks those that hold a cell.
  const std::vector<std::int32_t> some =
      by == ColourBy::bank ? banks_met(*this, choice.element_bytes)
      : kind_ == Kind::thread_value && by == ColourBy::thread && !by_warp
          ? panels_[0].owners->taking_part
          : std::vector<std::int32_t>{};
  const std::int64_t present = some.empty() ? all : static_cast<std::int64_t>(some.size());
  const std::int64_t listed = std::min<std::int64_t>(present, 32);
  for (std::int64_t k = 0; k < listed; ++k) {
    const std::int64_t i = some.empty() ? k : some[static_cast<std::size_t>(k)];
    Legend::Entry entry;
    entry.label = name(by_warp ? ColourBy::warp : by, i);
    entry.focus = {by_warp ? Focus::On::warp : focus_of(by), i};
    if (by_warp && owned_.thread_mark != "T") {  // 32 of what is no thread make no warp
      entry.label = fmt::format("{}{}-{}", owned_.thread_mark, i * lanes,
                                std::min(i * lanes + lanes, owned_.threads) - 1);
      entry.focus = {};
    }
    if (by_warp) {
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        entry.colours.push_back(paint(i * lanes + lane, by, theme));
      }
    } else {
      entry.colours.push_back(paint(i, by, theme));
    }
    out.entries.push_back(std::move(entry));
  }
  if (by == ColourBy::bank) out.title = bank_words(choice.element_bytes);
  if (by_warp) out.title = "warp, lane 0 to 31";
  if (by == ColourBy::thread && owned_.thread_mark != "T") {
    out.title = owned_.thread_mark == "R" ? "row of shared memory" : owned_.thread_mark;
  }
  out.unlisted = present - listed;
  return out;
}

}  // namespace tilescope
