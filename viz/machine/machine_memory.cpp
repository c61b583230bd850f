// Shared memory of a block: the tiles that lie in it or are on their way, and who wrote the rest.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "viz/machine/fault_scene.h"
#include "viz/machine/memory_view.h"
#include "viz/scene/items.h"
#include "viz/scene/legend_row.h"
#include "viz/scene/number_words.h"
#include "viz/scene/palette.h"

namespace tilescope {
namespace {

using u32 = std::uint32_t;
using Kind = MemoryPart::Kind;
using Colour = MemoryChoice::Colour;

constexpr double lightest = 0.62;    // how far the last chunk of a row goes towards the paper
constexpr double in_flight = 0.5;    // the colour at half
constexpr double label_height = 14;  // a cell with words in it
constexpr double hatch_step = 12;

// What colours a moment's memory is painted with.
struct Paint {
  const MemoryFrame& frame;
  const MemoryChoice& choice;
  const Theme& theme;
  double low = 0, high = 0;  // of values
  bool has_values = false;

  const MemoryNow& now() const { return *frame.now; }
  bool by_value() const { return choice.colour == Colour::value; }
  bool by_tile() const { return choice.colour == Colour::tile; }

  Rgba writer(u32 byte) const {
    const sim::Writer by = now().writers[byte / 4];
    if (!by) return theme.panel;
    if (now().undefined[byte]) return mix(theme.panel, theme.line, 0.6);
    if (by.block() != now().block) return theme.quiet;
    return thread_colour(by.thread(), now().threads, theme.dark);
  }
  // Of what threads wrote: one hue for a part, so that a hue means one thing.
  Rgba written(const MemoryPart& part, u32 byte) const {
    if (!now().writers[byte / 4]) return theme.panel;
    if (now().undefined[byte]) return mix(theme.panel, theme.line, 0.6);
    return part_colour(part, theme);
  }
  Rgba chunk(const MemoryPart& part, const MemoryTile& tile, u32 byte) const {
    const auto at = place_of(tile.box(), byte);
    if (!at) return theme.panel;
    const u32 chunks = (tile.box().row_bytes() + 15) / 16;
    const double share = chunks > 1 ? lightest * (at->byte / 16) / (chunks - 1) : 0;
    const Rgba colour = mix(part_colour(part, theme), theme.paper, share);
    return tile.coming() ? mix(colour, theme.paper, in_flight) : colour;
  }
  Rgba value(u32 byte, DType type) const {
    const auto width = static_cast<u32>(bytes_of(type));
    const u32 begin = byte / width * width;
    if (begin + width > now().bytes()) return theme.panel;
    for (u32 at = begin; at < begin + width; ++at) {
      if (now().undefined[at]) return mix(theme.panel, theme.line, 0.6);
    }
    const double number = load_element(type, now().values.data() + begin);
    if (!std::isfinite(number)) return theme.text;  // no quantity has it, and red is for faults
    return quantity(high > low ? (number - low) / (high - low) : 0.5);
  }
};

void find_range(Paint& paint) {
  double low = 1e300, high = -1e300;
  for (const MemoryCard& card : paint.frame.cards) {
    const MemoryPart& part = paint.now().parts[card.part];
    const DType type = paint.now().type_at(part.begin);
    const auto width = static_cast<u32>(bytes_of(type));
    for (u32 at = part.begin / width * width; at + width <= part.end; at += width) {
      if (paint.now().undefined[at]) continue;
      const double number = load_element(type, paint.now().values.data() + at);
      if (!std::isfinite(number)) continue;
      low = std::min(low, number);
      high = std::max(high, number);
    }
  }
  paint.has_values = low <= high;
  if (paint.has_values) paint.low = low, paint.high = high;
}

// By tile or by writer.
Rgba colour_at(const Paint& paint, const MemoryPart& part, u32 byte) {
  const MemoryTile* tile = paint.now().tile_in(part);
  if (!paint.by_tile()) return paint.writer(byte);
  return tile ? paint.chunk(part, *tile, byte) : paint.written(part, byte);
}

// A pixel for each cell, by value for each element.
Image image_of(const Paint& paint, const MemoryCard& card) {
  const MemoryPart& part = paint.now().parts[card.part];
  const DType type = paint.now().type_at(part.begin);
  const u32 step = paint.by_value() ? static_cast<u32>(bytes_of(type)) : card.cell_bytes;
  Image out;
  out.rows = static_cast<int>(card.rows);
  out.columns = static_cast<int>(card.columns * card.cell_bytes / step);
  for (u32 r = 0; r < card.rows; ++r) {
    for (u32 c = 0; c < static_cast<u32>(out.columns); ++c) {
      const auto byte = paint.frame.byte_in(card, r, c * step);
      if (!byte) {
        out.rgba.push_back(paint.theme.paper);
      } else if (paint.by_value()) {
        out.rgba.push_back(paint.value(*byte, type));
      } else {
        out.rgba.push_back(colour_at(paint, part, *byte));
      }
    }
  }
  out.version = new_image_version();
  return out;
}

std::shared_ptr<const Image> kept_image(const Paint& paint, const MemoryCard& card,
                                        RasterStore& store) {
  const std::vector<double> key = {static_cast<double>(card.part),
                                   double{card.physical ? 1.0 : 0.0},
                                   static_cast<double>(paint.choice.colour),
                                   paint.theme.dark ? 1.0 : 0.0,
                                   paint.now().parts[card.part].step.value_or(~0u) * 1.0,
                                   paint.low,
                                   paint.high};
  for (const RasterStore::Entry& entry : store.entries) {
    if (entry.key == key) return entry.image;
  }
  auto image = std::make_shared<const Image>(image_of(paint, card));
  store.entries.push_back({key, image});
  return image;
}

// What a cell says where it has room: where the chunk lies, or in memory's order which one it is;
// of a word its writer; by value the values.
std::string label_of(const Paint& paint, const MemoryPart& part, const MemoryCard& card, u32 byte) {
  const MemoryTile* tile = paint.now().tile_in(part);
  if (paint.by_value()) return "";
  if (tile && paint.choice.colour == Colour::tile) {
    if (!card.physical) return fmt::format("{}", byte);
    const auto element = paint.now().element_at(*tile, byte);
    if (element) return fmt::format("{}, {}", element->row, element->column);
    const auto at = place_of(tile->box(), byte);
    return at ? fmt::format("{}, {}", at->row, at->byte / tile->box().map.element_bytes()) : "";
  }
  const sim::Writer by = paint.now().writers[byte / 4];
  if (!by) return "";
  return fmt::format("{}.{}", by.thread() / 32, by.thread() % 32);
}

struct Seen {
  u32 first_row = 0, end_row = 0, first_column = 0, end_column = 0;
};
Seen seen_cells(const MemoryCard& card, const Box& clip, double cell_width, u32 columns) {
  const auto index = [](double pixels, double cell, u32 limit) {
    return static_cast<u32>(std::clamp(std::floor(pixels / cell), 0.0, static_cast<double>(limit)));
  };
  Seen out;
  out.first_row = index(clip.y - card.grid.y, card.cell_height(), card.rows);
  out.end_row =
      std::min(card.rows, index(clip.bottom() - card.grid.y, card.cell_height(), card.rows) + 1);
  out.first_column = index(clip.x - card.grid.x, cell_width, columns);
  out.end_column = std::min(columns, index(clip.right() - card.grid.x, cell_width, columns) + 1);
  return out;
}

void add_labels(Scene& scene, const Paint& paint, const MemoryCard& card, const Box& clip) {
  const MemoryPart& part = paint.now().parts[card.part];
  const DType type = paint.now().type_at(part.begin);
  const u32 step = paint.by_value() ? static_cast<u32>(bytes_of(type)) : card.cell_bytes;
  const double width = card.cell_width() * step / card.cell_bytes;
  const u32 columns = card.columns * card.cell_bytes / step;
  if (card.cell_height() < label_height || width < 36) return;
  const Seen seen = seen_cells(card, clip, width, columns);
  for (u32 r = seen.first_row; r < seen.end_row; ++r) {
    for (u32 c = seen.first_column; c < seen.end_column; ++c) {
      const auto byte = paint.frame.byte_in(card, r, c * step);
      if (!byte) continue;
      Rgba under;
      std::string label;
      if (paint.by_value()) {
        under = paint.value(*byte, type);
        label = paint.now().undefined[*byte]
                    ? ""
                    : fmt::format("{:.3g}", load_element(type, paint.now().values.data() + *byte));
      } else {
        under = colour_at(paint, part, *byte);
        label = label_of(paint, part, card, *byte);
      }
      if (label.empty() || text_width(label, small_text, Family::mono) > width - 4) continue;
      const Point at{card.grid.x + (c + 0.5) * width, card.grid.y + (r + 0.5) * card.cell_height()};
      scene.add(words(at, std::move(label), text_on(under), Family::mono, Across::centre));
    }
  }
}

void add_grid_lines(Scene& scene, const MemoryCard& card, const Box& clip) {
  Segments lines;
  lines.stroke = {Ink(Role::paper, 0.5), 1, false};
  if (card.cell_width() >= 12) {
    for (u32 c = 1; c < card.columns; ++c) {
      const double x = card.grid.x + c * card.cell_width();
      lines.lines.push_back({{x, clip.y}, {x, clip.bottom()}});
    }
  }
  if (card.cell_height() >= 6) {
    for (u32 r = 1; r < card.rows; ++r) {
      const double y = card.grid.y + r * card.cell_height();
      if (y > clip.y && y < clip.bottom()) lines.lines.push_back({{clip.x, y}, {clip.right(), y}});
    }
  }
  scene.add(std::move(lines));
}

// The byte's element, and its row and column of cells.
void add_byte_mark(Scene& scene, const Paint& paint, const MemoryCard& card, u32 byte,
                   bool selected) {
  const auto at = paint.frame.place_in(card, byte);
  if (!at) return;
  const MemoryPart& part = paint.now().parts[card.part];
  const auto element = static_cast<u32>(bytes_of(paint.now().type_at(part.begin)));
  const double pixel = card.cell_width() / card.cell_bytes;
  Rectangle mark;
  mark.box = {card.grid.x + (at->byte / element * element) * pixel,
              card.grid.y + at->row * card.cell_height(), element * pixel, card.cell_height()};
  // A small element is found by a larger frame.
  if (mark.box.width < 8 || mark.box.height < 8) {
    const Point middle = mark.box.centre();
    const double w = std::max(8.0, mark.box.width), h = std::max(8.0, mark.box.height);
    mark.box = {middle.x - w / 2, middle.y - h / 2, w, h};
  }
  if (selected) return draw_selection(scene, mark.box);
  draw_pointed(scene, mark.box);
}

// Those in flight that use the part: "read by tcgen05.mma of warp 4".
std::string users_text(const MemoryNow& now, const MemoryPart& part) {
  std::string out;
  std::size_t more = 0;
  std::set<std::string> told;
  const auto add = [&](const sim::OperationState& o, const std::vector<sim::Range>& ranges,
                       std::string_view verb) {
    const sim::Range own{part.begin, part.end};
    if (std::none_of(ranges.begin(), ranges.end(),
                     [&](const sim::Range& r) { return r.meets(own); }))
      return;
    std::string text = fmt::format("{} {} of warp {}", verb, o.name, o.issuer.warp);
    if (!told.insert(text).second) return;
    if (told.size() > 2) {
      ++more;
      return;
    }
    out += (out.empty() ? "" : ", ") + text;
  };
  const MemoryTile* tile = now.tile_in(part);
  for (const sim::OperationState& o : now.operations) {
    // The tile's own copy has been told.
    if (tile && tile->state.in_flight && o.number == tile->state.tile.number) continue;
    if (o.stage < sim::Stage::read) add(o, o.reads, "read by");
    if (o.stage < sim::Stage::written) add(o, o.writes, "written by");
  }
  if (more) out += fmt::format(" and {} more", more);
  return out;
}

std::string part_hint(const MemoryPart& part) {
  std::string out =
      fmt::format("bytes {} to {}: {}; {}", part.begin, part.end - 1, part.name, part.detail);
  return part.state.empty() ? out : out + "; " + part.state;
}

// Of one of two orders: which it is.
void add_order(Scene& scene, const Paint& paint, const MemoryCard& card) {
  const Box& at = paint.frame.alone ? card.room : card.grid;
  scene.add(words({at.x, at.y - (paint.frame.alone ? 30 : 12)},
                  fitted(card.physical ? "in the banks: lines of 128 bytes" : "by its rows",
                         at.width, small_text, Family::sans),
                  Role::quiet));
}

void add_card_heading(Scene& scene, const Paint& paint, const MemoryCard& card) {
  const MemoryPart& part = paint.now().parts[card.part];
  const bool alone = paint.frame.alone;
  if (paint.choice.both && card.tile) {
    add_order(scene, paint, card);
    if (alone && card.physical) return;  // it is told once
  }
  const Box& canvas = paint.frame.canvas;
  const double x = alone ? canvas.x : card.grid.x;
  const double width = alone ? canvas.width - 96 : card.grid.width;
  double y = alone ? canvas.y + 8 : card.grid.y - 30;
  Rectangle swatch;
  swatch.box = {x, y - 6, 12, 12};
  swatch.radius = 2;
  const MemoryTile* tile = paint.now().tile_in(part);
  swatch.fill = part_colour(part, paint.theme);
  const double size = alone ? heading_text : small_text;
  double from = x;
  if (paint.by_tile() && (part.step || part.category >= 0)) {
    scene.add(swatch);
    from += 20;
  }
  scene.add(words({from, y}, fitted(part.name, width - 20, size, Family::sans, FontWeight::bold),
                  Role::text, Family::sans, Across::left, FontWeight::bold, size));
  y += 18;
  std::string detail = part.state.empty() ? part.detail : part.state;
  const std::string users = users_text(paint.now(), part);
  if (alone) {
    detail = fmt::format("bytes {} to {}; {}", part.begin, part.end - 1, part.detail);
    if (!part.state.empty()) detail += "; " + part.state;
  }
  if (!users.empty()) detail += "; " + users;
  if (paint.choice.both && card.tile && !alone) detail.clear();
  const bool busy = !users.empty() || (tile && tile->state.in_flight);
  scene.add(words({x, y}, fitted(detail, alone ? canvas.width : width, small_text, Family::sans),
                  busy ? Role::accent : Role::quiet));
  if (!alone) {
    scene.targets.push_back({{x, card.grid.y - 40, width, 40},
                             fmt::format("look byte {}", part.begin),
                             part_hint(part) + "; a click shows it alone"});
    return;
  }
  const std::string all = "Show all";
  const double wide = text_width(all, small_text, Family::sans) + 2 * inside;
  Rectangle button;
  button.box = {canvas.right() - wide, canvas.y - 4, wide, 24};
  button.radius = 4;
  button.stroke = {Role::line, 1, false};
  scene.add(button);
  scene.add(words(button.box.centre(), all, Role::text, Family::sans, Across::centre));
  scene.targets.push_back({button.box, "look byte none", "shows all parts"});
}

// Beside a part that is shown alone: coordinates in the tensor, or addresses and banks.
void add_axes(Scene& scene, const Paint& paint, const MemoryCard& card) {
  const MemoryPart& part = paint.now().parts[card.part];
  const MemoryTile* tile = paint.now().tile_in(part);
  const Box& room = card.room;
  const double y = room.y - 12;
  if (card.physical) {
    scene.add(words({room.x - inside, y}, "bank", Role::quiet, Family::sans, Across::right));
  }
  scene.begin("columns", Box{room.x, room.y - 24, room.width, 24});
  const auto column_label = [&](u32 c) {
    if (card.physical) return fmt::format("{}", c * card.cell_bytes / 4);
    const auto element = paint.now().element_at(*tile, byte_of(tile->box(), {0, c * 16}));
    return fmt::format("{}", element ? element->column : c * 16 / tile->box().map.element_bytes());
  };
  // As many as do not meet; of single banks each fourth.
  const double widest = text_width(column_label(card.columns - 1), small_text, Family::mono) + 6;
  u32 each = 1;
  while (each * card.cell_width() < widest) each *= 2;
  if (each > 1 && card.physical && card.cell_bytes == 4) each = std::max(each, 4u);
  for (u32 c = 0; c < card.columns; c += each) {
    scene.add(words({card.cell(0, c).x, y}, column_label(c), Role::quiet, Family::mono));
  }
  scene.end();
  scene.begin("rows",
              Box{paint.frame.canvas.x, room.y, room.x - paint.frame.canvas.x, room.height});
  u32 every = 1;
  while (every * card.cell_height() < 20) every *= 2;
  for (u32 r = 0; r < card.rows; r += every) {
    const Box cell = card.cell(r, 0);
    if (cell.bottom() < room.y || cell.y > room.bottom()) continue;
    std::string label;
    if (card.physical) {
      label = fmt::format("{}", card.base + r * 128);
    } else {
      const auto element = paint.now().element_at(*tile, byte_of(tile->box(), {r, 0}));
      label = element ? fmt::format("{}", element->row) : fmt::format("{}", r);
    }
    const double middle = cell.height >= label_height ? cell.centre().y : cell.y + 5;
    scene.add(words({room.x - inside, middle}, label, Role::quiet, Family::mono, Across::right));
  }
  scene.end();
}

void add_card(Scene& scene, const Paint& paint, const MemoryCard& card, RasterStore& store,
              const RunCursor& spot, std::optional<u32> hover, const Report* report) {
  const MemoryPart& part = paint.now().parts[card.part];
  const MemoryTile* tile = paint.now().tile_in(part);
  const Box clip = card.grid.cut(card.room);
  scene.begin(part.name);
  add_card_heading(scene, paint, card);
  if (paint.frame.alone) add_axes(scene, paint, card);
  if (!clip.empty()) {
    scene.begin("cells", clip);
    scene.add(Raster{card.grid, kept_image(paint, card, store)});
    add_grid_lines(scene, card, clip);
    if (tile && tile->state.in_flight) {
      hatch(scene, clip, Ink(part_colour(part, paint.theme)), hatch_step);
    }
    add_labels(scene, paint, card, clip);
    if (report) draw_marks(scene, paint.frame, card, report->evidence);
    if (hover) add_byte_mark(scene, paint, card, *hover, false);
    if (spot.byte) add_byte_mark(scene, paint, card, *spot.byte, true);
    scene.end();
    const bool flies = tile && tile->state.in_flight;
    scene.add(Rectangle{
        clip,
        {},
        {flies ? Ink(part_colour(part, paint.theme)) : Ink(Role::line), flies ? 2.0 : 1.0, flies},
        0});
  }
  scene.end();
}

void add_map(Scene& scene, const Paint& paint, const RunCursor& spot, const Report* report) {
  const MemoryFrame& frame = paint.frame;
  const MemoryNow& now = paint.now();
  scene.begin("map");
  scene.add(
      words({frame.body.x + between, frame.body.y + 20},
            fitted(fmt::format("{} bytes of shared memory", grouped(now.bytes())),
                   frame.canvas.x - frame.body.x - between - inside, small_text, Family::sans),
            Role::quiet));
  const double bar_at = 64;
  for (std::size_t i = 0; i < now.parts.size() && i < frame.map.size(); ++i) {
    const MemoryPart& part = now.parts[i];
    const MemoryTile* tile = now.tile_in(part);
    const Box& row = frame.map[i];
    const Box bar{row.x + bar_at, row.y, row.width - bar_at, row.height};
    const bool labelled = row.height >= 12;
    std::vector<std::size_t> parties;
    if (report) parties = parties_in(part, report->evidence, now.block);
    const bool looked = (spot.byte && *spot.byte >= part.begin && *spot.byte < part.end) ||
                        (part.kind == Kind::mbarrier && spot.barrier == part.begin);
    if (labelled) {
      scene.add(words({row.x + bar_at - inside, row.y + std::min(10.0, row.height / 2)},
                      fmt::format("{}", part.begin), Role::quiet, Family::mono, Across::right));
    }
    Rectangle box;
    box.box = bar;
    box.radius = 2;
    Ink ink = Role::text;
    if (paint.by_tile() && (part.step || part.category >= 0)) {
      Rgba fill = part_colour(part, paint.theme);
      if (tile && tile->coming()) fill = mix(fill, paint.theme.paper, in_flight);
      box.fill = fill;
      ink = text_on(fill);
    } else {
      box.fill = Ink(Role::panel);
      box.stroke = {Role::line, 1, false};
      ink = part.kind == Kind::untouched ? Role::quiet : Role::text;
    }
    scene.add(box);
    if (tile && tile->state.in_flight)
      hatch(scene, bar, Ink(part_colour(part, paint.theme)), hatch_step);
    if (labelled) {
      std::string label = part.name;
      if (part.kind == Kind::mbarrier) {
        const std::size_t comma = std::min(part.detail.find(','), part.detail.size());
        label += ", " + part.detail.substr(0, comma);
      }
      if (part.kind == Kind::untouched) label = "not written";
      if (tile && tile->coming()) label += " coming";
      if (tile && tile->leaving()) label += " leaving";
      const double room = bar.width - 2 * inside - 20 * static_cast<double>(parties.size());
      scene.add(words({bar.x + inside, bar.y + std::min(10.0, bar.height / 2)},
                      fitted(label, room, small_text, Family::sans), ink));
    }
    if (looked) {
      Rectangle mark;
      mark.box = bar.grown(1);
      mark.radius = 3;
      mark.stroke = {Role::accent, 2, false};
      scene.add(mark);
    }
    if (!parties.empty()) {
      double x = bar.right() - 20;
      for (auto party = parties.rbegin(); party != parties.rend(); ++party, x -= 20) {
        draw_party_number(scene, *party,
                          {x, bar.y + std::max(0.0, std::min(2.0, bar.height - 16))});
      }
    }
    std::string command = fmt::format("look byte {}", part.begin);
    if (part.kind == Kind::mbarrier) command += fmt::format(" mbarrier {}", part.begin);
    scene.targets.push_back({row, std::move(command), part_hint(part)});
    scene.hints.push_back({row, part_hint(part)});
  }
  scene.end();
}

// A ramp with what its ends stand for; answers where it ends.
double draw_ramp(Scene& scene, double x, double y, const std::string& low, const std::string& high,
                 std::vector<Rgba> colours) {
  scene.add(words({x, y}, low, Role::quiet));
  x += text_width(low, small_text, Family::sans) + inside;
  scene.add(Raster{{x, y - 7, 128, 14}, ramp_image(std::move(colours))});
  scene.add(words({x + 136, y}, high, Role::quiet));
  return x + 136 + text_width(high, small_text, Family::sans) + between_groups;
}

// What there is besides the ramps: what flies, whose words these are.
std::vector<LegendItem> legend_items(const Paint& paint) {
  const MemoryNow& now = paint.now();
  bool flies = false, empty = false;
  std::set<u32> warps;
  for (const MemoryCard& card : paint.frame.cards) {
    const MemoryPart& part = now.parts[card.part];
    const MemoryTile* tile = now.tile_in(part);
    flies = flies || (tile && tile->state.in_flight);
    if (tile && paint.by_tile()) continue;
    for (u32 at = part.begin; at < part.end; at += 4) {
      empty = empty || !now.writers[at / 4];
      if (now.writers[at / 4]) warps.insert(now.writers[at / 4].thread() / 32);
    }
  }
  std::vector<LegendItem> out;
  if (flies) out.push_back({{}, "in flight", true, Role::quiet});
  if (paint.by_value()) return out;
  if (empty) out.push_back({Ink(Role::panel), "not written", false, Role::line});
  if (paint.by_tile()) return out;
  // Numbers alone behind the first, so that as many as there are have room.
  for (const u32 warp : warps) {
    out.push_back({Ink(thread_colour(warp * 32 + 12, now.threads, paint.theme.dark)),
                   fmt::format("{}{}", warp == *warps.begin() ? "warp " : "", warp), false,
                   Role::line});
  }
  return out;
}

// Of the first one, in as many words as there is room for; answers where it ends.
double draw_hue(Scene& scene, std::vector<Rgba> colours, const std::vector<std::string>& texts,
                double x, double y, double room) {
  scene.add(Raster{{x, y - 7, 96, 14}, ramp_image(std::move(colours))});
  for (const std::string& text : texts) {
    const double width = text_width(text, small_text, Family::sans);
    if (104 + width > room) continue;
    scene.add(words({x + 104, y}, text, Role::quiet));
    return x + 104 + width + between_groups;
  }
  return x + 104;
}

// What the hues of parts mean.
double draw_tile_hues(Scene& scene, const Paint& paint, const MemoryPart& part, double x, double y,
                      double room) {
  std::vector<Rgba> colours;
  const bool tile = paint.now().tile_in(part) != nullptr;
  for (int i = 0; i < 8; ++i) {
    const double share = tile ? lightest * i / 7 : 0;
    colours.push_back(mix(part_colour(part, paint.theme), paint.theme.paper, share));
  }
  if (!part.step && part.category < 0) {
    return draw_hue(scene, std::move(colours), {"grey is in no stage now"}, x, y, room);
  }
  if (!tile) return draw_hue(scene, std::move(colours), {"a hue for each part"}, x, y, room);
  const std::string fades = paint.theme.dark ? "darker" : "paler";
  const std::string hue = part.step ? "a hue for each step of K" : "a hue for each tile";
  return draw_hue(scene, std::move(colours),
                  {fmt::format("{}, {} from the first 16 bytes of a row to the last", hue, fades),
                   fmt::format("{}, {} along a row", hue, fades), hue},
                  x, y, room);
}

// What the lightness of a thread's words means.
double draw_lanes(Scene& scene, const Paint& paint, double x, double y, double room) {
  std::vector<Rgba> colours;
  for (int lane = 0; lane < 32; ++lane) {
    colours.push_back(thread_colour(lane, paint.now().threads, paint.theme.dark));
  }
  return draw_hue(scene, std::move(colours), {"lanes 0 to 31 of a warp", "lanes"}, x, y, room);
}

void add_legend(Scene& scene, const Paint& paint) {
  const Box& room = paint.frame.legend;
  scene.begin("legend");
  Line above;
  above.points = {{paint.frame.body.x, room.y + 0.5}, {room.right() + between, room.y + 0.5}};
  above.stroke = {Role::line, 1, false};
  scene.add(above);
  double x = room.x;
  const double y = room.y + room.height / 2;
  const MemoryNow& now = paint.now();
  const std::vector<LegendItem> items = legend_items(paint);
  const MemoryPart* shown = nullptr;  // a tile where there is one
  for (const MemoryCard& card : paint.frame.cards) {
    const MemoryPart& part = now.parts[card.part];
    const auto worth = [&](const MemoryPart& of) { return of.step ? 2 : now.tile_in(of) ? 1 : 0; };
    if (!shown || worth(part) > worth(*shown)) shown = &part;
  }
  const double others = legend_row_width(items);
  const double room_of_hues = room.width - (items.empty() ? 0 : others + between_groups);
  if (paint.by_value() && !paint.has_values) {
    scene.add(words({x, y}, "no values yet", Role::quiet));
    x += text_width("no values yet", small_text, Family::sans) + between_groups;
  } else if (paint.by_value()) {
    std::vector<Rgba> colours;
    for (int i = 0; i < 32; ++i) colours.push_back(quantity(i / 31.0));
    x = draw_ramp(scene, x, y, fmt::format("value {:.3g}", paint.low),
                  fmt::format("{:.3g}", paint.high), std::move(colours));
  } else if (shown && paint.by_tile()) {
    x = draw_tile_hues(scene, paint, *shown, x, y, room_of_hues);
  } else if (shown && now.threads > 32 && room_of_hues > 104) {
    x = draw_lanes(scene, paint, x, y, room_of_hues);
  }
  draw_legend_row(scene, x, y, room.right(), items);
  scene.end();
}

}  // namespace

void draw_memory(Scene& scene, const MemoryFrame& frame, const MachineShown& shown,
                 const MemoryChoice& choice, std::optional<u32> hover, RasterStore& rasters) {
  Paint paint{frame, choice, shown.theme};
  if (paint.by_value()) find_range(paint);
  scene.begin("shared memory");
  if (frame.now->parts.empty()) {
    draw_sentence(scene, {frame.body.x + between, frame.body.y + 32},
                  frame.body.width - 2 * between,
                  frame.now->state == "resident"
                      ? "This kernel's CTAs have no shared memory. Registers shows what its "
                        "threads hold, Matrices what they read and write."
                      : nothing_of_block(shown.machine(), frame.now->block, "shared memory"));
    scene.end();
    return;
  }
  const Report* report = report_looked_at(shown.run, shown.spot);
  add_map(scene, paint, shown.spot, report);
  scene.begin("parts", Box{frame.canvas.x - between, frame.body.y, frame.canvas.width + 2 * between,
                           frame.body.height});
  for (const MemoryCard& card : frame.cards) {
    add_card(scene, paint, card, rasters, shown.spot, hover, report);
  }
  if (frame.left_out > 0) {
    const std::string text = fmt::format("and {} more, in the map", frame.left_out);
    scene.add(words({frame.canvas.x, frame.body.bottom() - 10},
                    fitted(text, frame.canvas.width, small_text, Family::sans), Role::quiet));
  }
  if (frame.cards.empty()) {
    draw_sentence(scene, {frame.canvas.x, frame.canvas.y + 16}, frame.canvas.width,
                  "Nobody has written to it yet. Tiles and what threads write come here: step on.");
  }
  scene.end();
  if (frame.viewport.legend) add_legend(scene, paint);
  scene.end();
}

}  // namespace tilescope
