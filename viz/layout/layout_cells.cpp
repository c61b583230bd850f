// What a layout view knows about a cell: each answer computed from the layouts when it is asked.
#include <fmt/format.h>

#include <algorithm>

#include "core/layout/text.h"
#include "viz/layout/layout_derivation.h"
#include "viz/layout/layout_view.h"

namespace tilescope {
namespace {

Tuple coordinate_of(std::int64_t index, const Tuple& shape) {
  const Result<Tuple> coordinate = idx2crd(index, shape);
  return coordinate ? *coordinate : Tuple(index);
}

std::string numbers(const std::vector<std::int64_t>& each) {
  return each.size() == 1 ? fmt::format("{}", each[0]) : fmt::format("({})", fmt::join(each, ","));
}

// What an inspector calls that which owns a cell.
std::string_view word_for(std::string_view thread_mark) {
  if (thread_mark == "CTA") return "CTA";
  return thread_mark == "R" ? "row of shared memory" : "thread";
}

constexpr std::int64_t lanes = 32;  // of a warp
constexpr std::int64_t banks = 32;  // of shared memory, 4 bytes wide (PTX ISA, layout_facts.md)
constexpr std::int64_t bank_bytes = 4;
constexpr int usual_bits = 32;  // of an element whose type nobody says

}  // namespace

bool LayoutView::exists(const Cell& cell) const {
  if (cell.panel < 0 || cell.panel >= static_cast<int>(panels_.size())) return false;
  const Panel& p = panels_[static_cast<std::size_t>(cell.panel)];
  return cell.slice >= 0 && cell.slice < p.all_slices && cell.row >= 0 && cell.row < p.rows &&
         cell.column >= 0 && cell.column < p.columns;
}

std::string LayoutView::slice_name(int panel, std::int64_t slice) const {
  const CellInfo at = info({panel, slice, 0, 0});
  const std::vector<int>& order = panels_[static_cast<std::size_t>(panel)].order;
  const int rows = order.empty() ? 0 : order[0], columns = order.empty() ? 1 : order[1];
  std::string out;
  for (int i = 0; i < static_cast<int>(at.flat.size()); ++i) {
    out += i == 0 ? "(" : ",";
    out +=
        i == rows || i == columns ? "_" : fmt::format("{}", at.flat[static_cast<std::size_t>(i)]);
  }
  return out + ")";
}

std::int64_t LayoutView::index_of(const Cell& cell) const {
  const Panel& p = panels_[static_cast<std::size_t>(cell.panel)];
  return cell.row + p.rows * (cell.column + p.columns * cell.slice);
}

std::int64_t LayoutView::offset(const Cell& cell) const {
  return panels_[static_cast<std::size_t>(cell.panel)].layout(index_of(cell));
}

std::int64_t LayoutView::linked(const Cell& cell) const {
  const Panel& p = panels_[static_cast<std::size_t>(cell.panel)];
  const std::int64_t value = p.layout(index_of(cell));
  return p.through ? (*p.through)(value) : value;
}

std::int64_t LayoutView::input_index(std::int64_t key) const {
  std::int64_t index = 0;
  for (const LayoutTiles::KeyPart& part : division_.key_parts) {
    const std::int64_t here = (key >> part.shift) & part.mask;
    if (here >= part.extent) return -1;
    index += here * part.weight;
  }
  return index;
}

std::int64_t LayoutView::element_of(const Cell& cell) const {
  const Panel& p = panels_[static_cast<std::size_t>(cell.panel)];
  const std::int64_t index = index_of(cell);
  if (kind_ == Kind::divided && p.keys.modes.empty()) {  // a step of the derivation
    if (!division_.element_at) return -1;
    const auto found = std::lower_bound(division_.element_at->begin(), division_.element_at->end(),
                                        std::pair(linked(cell), std::int64_t{0}));
    return found != division_.element_at->end() && found->first == linked(cell) ? found->second
                                                                                : -1;
  }
  if (kind_ == Kind::divided) {
    const std::int64_t key = p.keys(index);
    return input_index(p.key_through ? (*p.key_through)(key) : key);
  }
  return p.elements ? (*p.elements)[static_cast<std::size_t>(index)] : index;
}

std::int64_t LayoutView::place_of(const Cell& cell) const {
  const std::int64_t element = element_of(cell);
  return element < 0 ? -1 : division_.place_of[static_cast<std::size_t>(element)];
}

std::int64_t LayoutView::block_of(const Cell& cell) const {
  const Panel& p = panels_[static_cast<std::size_t>(cell.panel)];
  if (p.tiles) return (*p.tiles)(index_of(cell));
  if (panels_[0].tiles) return -1;  // a step of a product's derivation
  const auto split = [](const std::vector<Division>& divisions, std::int64_t extent) {
    for (const Division& d : divisions) {
      if (d.level == 1) return d.period;
    }
    return extent;
  };
  const std::int64_t down = split(p.row_divisions, p.rows);
  const std::int64_t across = split(p.column_divisions, p.columns);
  return cell.row / down + (p.rows / down) * (cell.column / across);
}

std::int64_t LayoutView::bank_of(std::int64_t offset, int element_bytes) const {
  constexpr std::int64_t bits = 8, line = banks * bank_bytes * bits;
  const std::int64_t width =
      element_bytes > 0 ? element_bytes * bits : element_bits_.value_or(usual_bits);
  const std::int64_t at = (offset % line) * width % line;
  return (at + line) % line / (bank_bytes * bits);
}

std::string LayoutView::bank_words(int element_bytes) const {
  constexpr int bits = 8;
  if (element_bytes == 0 && !element_bits_) return "bank, elements taken as 4 bytes";
  const int width = element_bytes > 0 ? element_bytes * bits : *element_bits_;
  if (width % bits != 0) return fmt::format("bank, elements of {} bits", width);
  return fmt::format("bank, elements of {} byte{}", width / bits, width == bits ? "" : "s");
}

bool LayoutView::inside(const Cell& cell) const {
  const bool step =
      kind_ == Kind::divided && panels_[static_cast<std::size_t>(cell.panel)].keys.modes.empty();
  return !division_.padded || step || element_of(cell) >= 0;
}

std::int64_t LayoutView::tile(const Cell& cell) const {
  return number_of(cell, ColourBy::tile, 0);
}

std::span<const Owner> LayoutView::owners(const Cell& cell) const {
  const Panel& p = panels_[static_cast<std::size_t>(cell.panel)];
  if (!p.owners) return {};
  return p.owners->of(offset(cell));
}

bool LayoutView::again(const Cell& cell) const {
  const Panel& p = panels_[static_cast<std::size_t>(cell.panel)];
  if (p.overlaps) return (*p.overlaps)[static_cast<std::size_t>(index_of(cell))];
  return p.again && (*p.again)(index_of(cell)) != 0;
}

std::int64_t LayoutView::bank(const Cell& cell, int element_bytes) const {
  return number_of(cell, ColourBy::bank, element_bytes);
}

std::int64_t LayoutView::number_of_owner(const Owner& owner, ColourBy by) {
  return by == ColourBy::value  ? owner.value
         : by == ColourBy::warp ? owner.thread / lanes
                                : owner.thread;
}

std::int64_t LayoutView::number_of(const Cell& cell, ColourBy by, int element_bytes) const {
  if (!inside(cell)) return -1;
  if (kind_ == Kind::thread_value) {
    const std::span<const Owner> all = owners(cell);
    const bool everyone = panels_[static_cast<std::size_t>(cell.panel)].owners->everyone;
    if (everyone && by != ColourBy::value && by != ColourBy::offset) return -1;
    if (by == ColourBy::thread || by == ColourBy::warp || by == ColourBy::value) {
      return all.empty() ? -1 : number_of_owner(all[0], by);
    }
  }
  switch (by) {
    case ColourBy::offset:
      return linked(cell);
    case ColourBy::bank:
      return bank_of(only_moves(panels_[static_cast<std::size_t>(cell.panel)].through)
                         ? offset(cell)
                         : linked(cell),
                     element_bytes);
    case ColourBy::tile:
      if (kind_ == Kind::divided) {
        const std::int64_t place = place_of(cell);
        return place < 0 ? -1 : place / division_.tile_size;
      }
      return division_.tiles > 0 ? block_of(cell) : -1;
    case ColourBy::thread:
      return owned_.threads > 0 ? cell.row : -1;
    case ColourBy::warp:
      return owned_.threads > 0 ? cell.row / lanes : -1;
    case ColourBy::value:
      return owned_.threads > 0 ? cell.column : -1;
    case ColourBy::axis:
    case ColourBy::axis2:
    case ColourBy::axis3:
    case ColourBy::axis4: {
      const OnAxis* on = axis_of(by);
      return on != nullptr ? on->numbers[static_cast<std::size_t>(offset(cell))] : -1;
    }
    case ColourBy::none:
      return -1;
  }
  return -1;
}

Focus LayoutView::resolved(Focus focus) const {
  const bool shown_by_one = focus.on == Focus::On::offset && focus.grid >= 0 &&
                            focus.grid < static_cast<int>(panels_.size());
  if (shown_by_one) {
    const std::optional<Layout>& through = panels_[static_cast<std::size_t>(focus.grid)].through;
    if (through) focus.number = (*through)(focus.number);
  }
  focus.grid = -1;
  return focus;
}

bool LayoutView::holds(const Focus& asked, const Cell& cell) const {
  const Focus focus = resolved(asked);
  if (kind_ == Kind::thread_value) {
    for (const Owner& owner : owners(cell)) {
      if (focus.on == Focus::On::thread && owner.thread == focus.number) return true;
      if (focus.on == Focus::On::warp && owner.thread / lanes == focus.number) return true;
      if (focus.on == Focus::On::value && owner.value == focus.number) return true;
    }
  }
  switch (focus.on) {
    case Focus::On::nothing:
      return false;
    case Focus::On::offset:
      return inside(cell) && linked(cell) == focus.number;
    case Focus::On::tile:
      return focus.number >= 0 && tile(cell) == focus.number;
    case Focus::On::bank:
      return inside(cell) && kind_ != Kind::thread_value && bank(cell, 0) == focus.number;
    case Focus::On::phase:
      return false;  // the choice says
    default:
      break;
  }
  if (kind_ == Kind::thread_value || focus.number < 0) return false;
  const ColourBy by = focus.on == Focus::On::thread ? ColourBy::thread
                      : focus.on == Focus::On::warp ? ColourBy::warp
                                                    : ColourBy::value;
  return number_of(cell, by, 0) == focus.number;
}

std::vector<Focus> LayoutView::lit_by(const Cell& cell, ColourBy by) const {
  std::vector<Focus> out;
  if (!exists(cell) || !inside(cell)) return out;
  out.push_back({Focus::On::offset, linked(cell)});
  const auto add = [&](Focus::On on, std::int64_t number) {
    const Focus focus{on, number};
    for (const Focus& known : out) {
      if (known == focus) return;
    }
    if (number >= 0) out.push_back(focus);
  };
  if (by == ColourBy::tile) add(Focus::On::tile, tile(cell));
  const Focus::On on = by == ColourBy::thread  ? Focus::On::thread
                       : by == ColourBy::warp  ? Focus::On::warp
                       : by == ColourBy::value ? Focus::On::value
                                               : Focus::On::nothing;
  if (on == Focus::On::nothing) return out;
  if (kind_ != Kind::thread_value) add(on, number_of(cell, by, 0));
  for (const Owner& owner : owners(cell)) {
    add(on, on == Focus::On::thread ? owner.thread
            : on == Focus::On::warp ? owner.thread / lanes
                                    : owner.value);
  }
  return out;
}

std::vector<std::int64_t> LayoutView::numbers_at(const Cell& cell, ColourBy by) const {
  const bool of_owners = by == ColourBy::thread || by == ColourBy::warp || by == ColourBy::value;
  if (kind_ != Kind::thread_value || !of_owners) {
    const std::int64_t one = number_of(cell, by, 0);
    return one < 0 ? std::vector<std::int64_t>{} : std::vector{one};
  }
  std::vector<std::int64_t> out;
  if (panels_[static_cast<std::size_t>(cell.panel)].owners->everyone && by != ColourBy::value) {
    return out;
  }
  for (const Owner& owner : owners(cell)) {
    const std::int64_t number = number_of_owner(owner, by);
    if (std::find(out.begin(), out.end(), number) == out.end()) out.push_back(number);
  }
  return out;
}

std::int64_t LayoutView::count(const Focus& focus, int panel) const {
  std::int64_t n = 0;
  if (!exists({panel, 0, 0, 0})) return n;
  const Panel& p = panels_[static_cast<std::size_t>(panel)];
  for (std::int64_t k = 0; k < p.all_slices; ++k) {
    for (std::int64_t j = 0; j < p.columns; ++j) {
      for (std::int64_t i = 0; i < p.rows; ++i) n += holds(focus, {panel, k, i, j});
    }
  }
  return n;
}

std::string LayoutView::owner_words(const Cell& cell) const {
  std::string out;
  for (const Owner& owner : owners(cell)) {
    out += fmt::format("{}{}{} V{}", out.empty() ? "" : ", ", owned_.thread_mark, owner.thread,
                       owner.value);
  }
  return out;
}

CellInfo LayoutView::info(const Cell& cell, int element_bytes) const {
  CellInfo out;
  out.cell = cell;
  if (!exists(cell)) {
    out.inside = false;
    return out;
  }
  const Layout& layout = panels_[static_cast<std::size_t>(cell.panel)].layout;
  const Panel& panel = panels_[static_cast<std::size_t>(cell.panel)];
  const std::int64_t here = index_of(cell);
  // As the reader knows the layout, whichever of its modes are rows and columns.
  const Layout& known = panel.unturned ? *panel.unturned : layout;
  out.flat.resize(static_cast<std::size_t>(layout.rank()));
  std::int64_t rest = here;
  for (int i = 0; i < layout.rank(); ++i) {
    const std::int64_t extent = *size(Layout(layout.modes.mode(i)));
    const int mode = panel.order.empty() ? i : panel.order[static_cast<std::size_t>(i)];
    out.flat[static_cast<std::size_t>(mode)] = rest % extent;
    rest /= extent;
  }
  std::int64_t weight = 1;
  for (int i = 0; i < known.rank(); ++i) {
    out.index += weight * out.flat[static_cast<std::size_t>(i)];
    weight *= *size(Layout(known.modes.mode(i)));
  }
  out.coordinate = coordinate_of(out.index, known.shape());
  out.offset = offset(cell);
  out.bank = bank(cell, element_bytes);
  out.inside = inside(cell);
  constexpr int bits = 8;
  if (panel.through) out.element = linked(cell);
  out.bits_known = element_bytes > 0 || element_bits_;
  out.bits_in_element =
      element_bytes > 0 ? element_bytes * bits : element_bits_.value_or(usual_bits);
  const Layout& moving = panel.through ? *panel.through : layout;
  if (!moving.swizzle.identity()) {
    const std::int64_t at = panel.through ? out.offset : here;
    out.swizzled = {Layout(moving.modes)(at) + moving.offset.value, moving(at), moving.swizzle};
  }
  const std::int64_t place = kind_ == Kind::divided ? place_of(cell) : -1;
  if (place >= 0 && out.inside) {
    out.input_coordinate = coordinate_of(element_of(cell), division_.input_shape);
    out.tile = place / division_.tile_size;
    out.tile_coordinate = coordinate_of(*out.tile, division_.rest_shape);
    out.in_tile = coordinate_of(place % division_.tile_size, division_.tile_shape);
  }
  if (shows_places() && out.inside) {
    constexpr std::size_t most = 64;
    const std::vector<std::string>& all = (*places_.texts)[static_cast<std::size_t>(out.offset)];
    const std::size_t shown = std::min(all.size(), most);
    out.place = fmt::format(
        "{}", fmt::join(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    if (shown < all.size()) out.place += fmt::format(" and {} more", all.size() - shown);
  }
  if (kind_ == Kind::plain && division_.tiles > 0) out.tile = tile(cell);
  const std::span<const Owner> all = owners(cell);
  out.owners.assign(all.begin(), all.end());
  out.threads = kind_ == Kind::thread_value;
  out.thread_mark = owned_.thread_mark;
  if (maps_tensor_memory()) {
    for (const Owner& owner : all) out.regions.push_back(name(ColourBy::value, owner.value));
  }
  if (panels_[static_cast<std::size_t>(cell.panel)].part) out.taken = taken(cell);
  return out;
}

std::vector<std::pair<std::string, std::string>> CellInfo::lines() const {
  std::vector<std::pair<std::string, std::string>> out;
  const std::string plain = numbers(flat), nested = text(coordinate);
  out.push_back({"coordinate", plain});
  if (nested != plain) out.push_back({"nested", nested});
  out.push_back({"index", fmt::format("{}", index)});
  if (!inside) {
    out.push_back({"element", "none: beyond the input"});
    return out;
  }
  if (!place.empty()) {
    out.push_back({"place", place});
    if (!input_coordinate) return out;
  } else if (thread_mark ==
             "L") {  // tensor memory: rows are lanes, whose warp is the one that reaches them
    out.push_back({"lane", fmt::format("{}", flat[0])});
    out.push_back({"column", fmt::format("{}", flat[1])});
    out.push_back({"reached by", fmt::format("warp {} of a warpgroup", flat[0] / lanes)});
  } else {
    out.push_back({threads   ? "offset in tile"
                   : element ? (swizzled ? "before the swizzle" : "coordinate of the input")
                             : "offset",
                   fmt::format("{}", offset)});
    if (element) out.push_back({"offset", fmt::format("{}", *element)});
  }
  if (input_coordinate) out.push_back({"in the input", text(*input_coordinate)});
  if (taken) out.push_back({"in the part", *taken ? "yes" : "no"});
  if (tile) {
    out.push_back({"tile", tile_coordinate ? fmt::format("{} at {}", *tile, text(*tile_coordinate))
                                           : fmt::format("{}", *tile)});
  }
  if (in_tile) out.push_back({"in the tile", text(*in_tile)});
  if (threads && owners.empty()) out.push_back({"owner", "none"});
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const std::string nth = owners.size() == 1 ? "" : fmt::format(" {}", i + 1);
    if (i < regions.size()) {
      out.push_back({"region" + nth, regions[i]});
      continue;
    }
    if (owners.size() > 1) {
      out.push_back({fmt::format("owner {} of {}", i + 1, owners.size()),
                     fmt::format("{} {}, value {}", word_for(thread_mark), owners[i].thread,
                                 owners[i].value)});
      continue;
    }
    out.push_back({std::string(word_for(thread_mark)), fmt::format("{}", owners[i].thread)});
    if (thread_mark == "T" && owners[i].thread >= lanes) {
      out.push_back({"warp, lane",
                     fmt::format("{}, {}", owners[i].thread / lanes, owners[i].thread % lanes)});
    }
    out.push_back({"value", fmt::format("{}", owners[i].value)});
  }
  if (threads || !place.empty()) return out;
  constexpr std::int64_t byte = 8;
  // What a swizzle is given has the byte, as the bank, that it had before.
  const std::int64_t bit = (swizzled ? offset : element.value_or(offset)) * bits_in_element;
  out.push_back({bits_known ? "byte" : "byte, elements taken as 4 bytes",
                 bit % byte == 0 ? fmt::format("{}", bit / byte)
                                 : fmt::format("{}, bit {}", bit / byte, bit % byte)});
  out.push_back({"bank", fmt::format("{}", bank)});
  return out;
}

}  // namespace tilescope
