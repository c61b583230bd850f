// Where the parts of shared memory stand in its picture, and which byte is where.
#include <algorithm>
#include <cmath>

#include "viz/machine/memory_view.h"
#include "viz/scene/palette.h"
#include "viz/scene/stage_items.h"

namespace tilescope {
namespace {

using u32 = std::uint32_t;
using Kind = MemoryPart::Kind;

constexpr u32 line = 128, chunk = 16, word = 4;  // bytes
constexpr double widest_map = 232, map_gap = 2, map_row = 20;
constexpr double legend_height = 40, top = 16;
constexpr double card_heading = 44, alone_heading = 72, row_axis = 56, below = 16;
constexpr double narrowest_card = 104;  // the beginning of its name is to be read
constexpr double least_cells = 48;      // how high they are where a name asks for width
constexpr double widest_cell = 96, highest_cell = 24, most_zoom = 64;

MemoryCard card_of(const MemoryNow& now, std::size_t index, bool physical) {
  const MemoryPart& part = now.parts[index];
  const MemoryTile* tile = now.tile_in(part);
  MemoryCard card;
  card.part = index;
  card.tile = tile != nullptr;
  card.physical = !tile || physical;
  card.cell_bytes = tile ? chunk : word;
  if (card.physical) {
    card.base = part.begin / line * line;
    card.rows = (part.end - card.base + line - 1) / line;
    card.columns = line / card.cell_bytes;
  } else {
    card.rows = tile->box().rows();
    card.columns = (tile->box().row_bytes() + chunk - 1) / chunk;
  }
  return card;
}

// A tile in its own order and in that of memory, side by side where both were chosen.
void add_cards(MemoryFrame& frame, std::size_t index, const MemoryChoice& choice) {
  const bool both = choice.both && frame.now->tile_in(frame.now->parts[index]) != nullptr;
  frame.cards.push_back(card_of(*frame.now, index, choice.physical && !both));
  if (both) frame.cards.push_back(card_of(*frame.now, index, true));
}

// Those with something to see in them; small ones stand in the map alone.
std::vector<std::size_t> parts_with_cards(const MemoryNow& now) {
  std::vector<std::size_t> large, all;
  for (std::size_t i = 0; i < now.parts.size(); ++i) {
    const MemoryPart& part = now.parts[i];
    if (part.kind != Kind::tile && part.kind != Kind::written) continue;
    all.push_back(i);
    if (part.kind == Kind::tile || part.bytes() >= line) large.push_back(i);
  }
  return large.empty() ? all : large;
}

// It leaves most of a narrow room to the cells.
double map_width(const Box& room) {
  return std::round(std::clamp(room.width * 0.38, 112.0, widest_map));
}

void arrange_map(MemoryFrame& frame) {
  const MemoryNow& now = *frame.now;
  if (now.parts.empty()) return;
  const double height = frame.body.height - top - 24 - below;
  const auto count = static_cast<double>(now.parts.size());
  double least = std::min(map_row + map_gap, height / count);
  // Where rows get too low for their words, mbarriers, which have a view of their own, go first.
  constexpr double lettered = 12, low = 5;
  double barriers = 0, least_barrier = least;
  for (const MemoryPart& part : now.parts) barriers += part.kind == Kind::mbarrier ? 1 : 0;
  if (least - map_gap < lettered && barriers < count && height > low * barriers) {
    least_barrier = std::min(least, low);
    least = std::min(map_row + map_gap, (height - least_barrier * barriers) / (count - barriers));
  }
  const double left = std::max(0.0, height - least * (count - barriers) - least_barrier * barriers);
  double y = frame.body.y + top + 24;
  for (const MemoryPart& part : now.parts) {
    const double tall = (part.kind == Kind::mbarrier ? least_barrier : least) +
                        left * part.bytes() / std::max(1u, now.bytes());
    frame.map.push_back(
        {frame.body.x + between, y, map_width(frame.body), std::max(1.0, tall - map_gap)});
    y += tall;
  }
}

// How much of each card a grid of so many columns has to leave.
struct CardRoom {
  double width = narrowest_card, height = 8;
};

// Cards side by side in so many columns: the area of a cell that this leaves, of the card with the
// most cells.
double worth(const std::vector<MemoryCard>& cards, const Box& canvas, std::size_t across,
             CardRoom needed) {
  const std::size_t down = (cards.size() + across - 1) / across;
  const double width = canvas.width / static_cast<double>(across) - between;
  const double height = canvas.height / static_cast<double>(down) - card_heading - below;
  if (width < needed.width || height < needed.height) return 0;
  double least = 1e9;
  for (const MemoryCard& card : cards) {
    const double w = std::min(width / card.columns, widest_cell);
    const double h = std::min(height / card.rows, highest_cell);
    least = std::min(least, w * h - std::fabs(width - 1.3 * height) * 1e-3);
  }
  return least;
}

std::size_t best_across(const MemoryFrame& frame, CardRoom needed) {
  std::size_t across = 0;
  double best = 0;
  for (std::size_t n = 1; n <= frame.cards.size(); ++n) {
    const double value = worth(frame.cards, frame.canvas, n, needed);
    if (value > best * 1.02) across = n, best = value;
  }
  return across;
}

// In how many columns cards stand: so that their names can be read whole, where that leaves cells
// of some height; else their beginnings. Where even that is too much, the first few stand.
std::size_t columns_of_cards(MemoryFrame& frame) {
  if (frame.alone || frame.cards.empty()) return std::max<std::size_t>(1, frame.cards.size());
  double names = narrowest_card;
  for (const MemoryCard& card : frame.cards) {
    const std::string& name = frame.now->parts[card.part].name;
    names = std::max(names, 24 + text_width(name, small_text, Family::sans, FontWeight::bold));
  }
  for (const CardRoom needed : {CardRoom{names, least_cells}, CardRoom{}}) {
    if (const std::size_t across = best_across(frame, needed)) return across;
  }
  const Box& canvas = frame.canvas;
  const double wide = std::floor(canvas.width / (narrowest_card + between));
  const double high = std::floor(canvas.height / (card_heading + below + 24));
  const auto across = static_cast<std::size_t>(std::max(1.0, wide));
  const std::size_t fits = across * static_cast<std::size_t>(std::max(1.0, high));
  if (frame.cards.size() > fits) {
    frame.left_out = frame.cards.size() - fits;
    frame.canvas.height = std::max(1.0, canvas.height - 20);  // a line says how many
    frame.cards.resize(fits);
  }
  return std::min(across, frame.cards.size());
}

void arrange_cards(MemoryFrame& frame) {
  const Box& canvas = frame.canvas;
  const std::size_t across = columns_of_cards(frame);
  const std::size_t down = (frame.cards.size() + across - 1) / across;
  const double width = canvas.width / static_cast<double>(across);
  const double height = canvas.height / static_cast<double>(std::max<std::size_t>(1, down));
  const double zoom = frame.viewport.cell;
  for (std::size_t i = 0; i < frame.cards.size(); ++i) {
    MemoryCard& card = frame.cards[i];
    Box at{static_cast<double>(i % across) * width, static_cast<double>(i / across) * height,
           width - between, height - below};
    if (frame.alone) at.x += row_axis, at.width -= row_axis;
    const double heading = frame.alone ? alone_heading : card_heading;
    const double w = std::max(1.0, std::min(at.width, card.columns * widest_cell));
    const double h = std::max(1.0, std::min(at.height - heading, card.rows * highest_cell));
    card.grid = {canvas.x + at.x * zoom - frame.viewport.pan.x,
                 canvas.y + (at.y + heading) * zoom - frame.viewport.pan.y, w * zoom, h * zoom};
    card.room = canvas;
    if (frame.alone) {
      // Its coordinates stay beside it, however far it is moved.
      const double wide = across == 1 ? canvas.width - row_axis : at.width;
      card.room = {canvas.x + at.x, canvas.y + heading, wide, canvas.height - heading};
      card.grid = {card.room.x - frame.viewport.pan.x, card.room.y - frame.viewport.pan.y, w * zoom,
                   h * zoom};
    }
  }
}

}  // namespace

std::string_view name_of(MemoryChoice::Colour colour) {
  constexpr std::string_view names[] = {"tile", "writer", "value"};
  return names[static_cast<std::size_t>(colour)];
}

std::string_view name_of(MemoryChoice::Tensor colour) {
  constexpr std::string_view names[] = {"step", "writer", "value"};
  return names[static_cast<std::size_t>(colour)];
}

Rgba part_colour(const MemoryPart& part, const Theme& theme) {
  if (part.step) return step_colour(*part.step, theme);
  // Not the neutral of the eight, which is for what nobody has written.
  return part.category < 0 ? theme.line : category(part.category + part.category / 7, theme.dark);
}

std::optional<u32> MemoryFrame::byte_in(const MemoryCard& card, u32 row, u32 byte_of_row) const {
  const MemoryPart& part = now->parts[card.part];
  if (row >= card.rows) return {};
  u32 byte = card.base + row * line + byte_of_row;
  if (!card.physical) {
    const sim::Box& box = now->tile_in(part)->box();
    if (byte_of_row >= box.row_bytes()) return {};
    byte = byte_of(box, {row, byte_of_row});
  }
  if (byte < part.begin || byte >= part.end || byte >= now->bytes()) return {};
  return byte;
}

std::optional<TilePlace> MemoryFrame::place_in(const MemoryCard& card, u32 byte) const {
  const MemoryPart& part = now->parts[card.part];
  if (byte < part.begin || byte >= part.end) return {};
  if (card.physical) return TilePlace{(byte - card.base) / line, (byte - card.base) % line};
  return place_of(now->tile_in(part)->box(), byte);
}

MemoryFrame arrange(std::shared_ptr<const MemoryNow> now, const RunCursor& spot,
                    const MemoryChoice& choice, const Box& room, const Viewport& viewport) {
  MemoryFrame frame;
  frame.now = std::move(now);
  frame.viewport = viewport;
  frame.viewport.cell = std::clamp(viewport.cell, 1.0, most_zoom);
  const double legend = viewport.legend ? legend_height : 0;
  frame.body = {room.x, room.y, room.width, std::max(1.0, room.height - legend)};
  frame.legend = {room.x + between, frame.body.bottom(), room.width - 2 * between, legend};
  const double left = between + map_width(room) + between_groups;
  frame.canvas = {room.x + left, room.y + top, std::max(1.0, room.width - left - between),
                  std::max(1.0, frame.body.height - top)};
  arrange_map(frame);
  const MemoryPart* looked = spot.byte ? frame.now->part_at(*spot.byte) : nullptr;
  if (looked) {
    frame.alone = true;
    const auto index = static_cast<std::size_t>(looked - frame.now->parts.data());
    add_cards(frame, index, choice);
  } else {
    for (const std::size_t i : parts_with_cards(*frame.now)) add_cards(frame, i, choice);
  }
  const Point most{frame.canvas.width * (frame.viewport.cell - 1),
                   frame.canvas.height * (frame.viewport.cell - 1)};
  frame.viewport.pan = {std::clamp(viewport.pan.x, 0.0, most.x),
                        std::clamp(viewport.pan.y, 0.0, most.y)};
  arrange_cards(frame);
  return frame;
}

std::optional<u32> byte_at(const MemoryFrame& frame, Point at) {
  for (std::size_t i = 0; i < frame.map.size(); ++i) {
    if (frame.map[i].contains(at)) return frame.now->parts[i].begin;
  }
  for (const MemoryCard& card : frame.cards) {
    if (!card.grid.contains(at) || !card.room.contains(at)) continue;
    const auto row = static_cast<u32>((at.y - card.grid.y) / card.cell_height());
    const double across = (at.x - card.grid.x) / card.cell_width();
    return frame.byte_in(card, row, static_cast<u32>(across * card.cell_bytes));
  }
  return {};
}

namespace {
// What zoom and pan move: alone a part's cells, without its heading and coordinates.
Box moving(const MemoryFrame& frame) {
  return frame.alone && !frame.cards.empty() ? frame.cards.front().room : frame.canvas;
}
}  // namespace

Viewport zoomed(const MemoryFrame& frame, Point at, double factor) {
  return magnified(frame.viewport, moving(frame), at, factor, most_zoom);
}

Viewport panned(const MemoryFrame& frame, double dx, double dy) {
  return dragged_inside(frame.viewport, moving(frame), dx, dy);
}

}  // namespace tilescope
