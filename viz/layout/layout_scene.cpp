#include "viz/layout/layout_scene.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/layout/text.h"
#include "viz/layout/layout_panels.h"
#include "viz/scene/items.h"

namespace tilescope {
namespace {

// Pixels of a raster of a whole slice, and of a side of it: what every texture unit takes.
constexpr std::int64_t most_whole = std::int64_t{1} << 22, most_side = 8192;
constexpr std::size_t most_stored = 24;
constexpr double swatch = 14;

// How many sampled cells a pixel is the mean of, down and across.
struct Block {
  std::int64_t rows = 1, columns = 1;
};

std::shared_ptr<const Image> image_of(const Drawing& d, const Seen& seen,
                                      const LayoutView::Window& window, Block block,
                                      LayoutView::Painted& painted, std::vector<Rgba>& fine) {
  auto out = std::make_shared<Image>();
  d.view.lit(painted, window, d.choice, d.theme, fine);
  const std::int64_t across = window.across(), down = window.down();
  out->columns = static_cast<int>(ceil_div(across, block.columns));
  out->rows = static_cast<int>(ceil_div(down, block.rows));
  out->version = new_image_version();
  if (block.rows * block.columns == 1) {
    out->rgba = fine;
    return splits_cells(d, seen, window) ? split_among_owners(d, seen, window, *out) : out;
  }
  for (std::int64_t i = 0; i < down; i += block.rows) {
    for (std::int64_t j = 0; j < across; j += block.columns) {
      int r = 0, g = 0, b = 0, n = 0;
      for (std::int64_t y = i; y < std::min(down, i + block.rows); ++y) {
        for (std::int64_t x = j; x < std::min(across, j + block.columns); ++x, ++n) {
          const Rgba c = fine[static_cast<std::size_t>(y * across + x)];
          r += c.r, g += c.g, b += c.b;
        }
      }
      out->rgba.push_back({static_cast<std::uint8_t>(r / n), static_cast<std::uint8_t>(g / n),
                           static_cast<std::uint8_t>(b / n)});
    }
  }
  return out;
}

// `base`: as much of it as does not depend on what is lit.
std::vector<double> key_of(const Drawing& d, const Seen& seen, const LayoutView::Window& w,
                           Block block, std::vector<double>& base) {
  std::vector<double> key{static_cast<double>(w.panel),
                          static_cast<double>(w.slice),
                          static_cast<double>(w.row),
                          static_cast<double>(w.column),
                          static_cast<double>(w.rows),
                          static_cast<double>(w.columns),
                          static_cast<double>(w.row_step),
                          static_cast<double>(w.column_step),
                          static_cast<double>(block.rows),
                          static_cast<double>(block.columns),
                          static_cast<double>(d.view.colour(d.choice)),
                          static_cast<double>(d.choice.element_bytes),
                          d.theme.dark ? 1.0 : 0.0};
  if (splits_cells(d, seen, w)) {  // as the labels name the owners
    const Setting setting = setting_for(d.view, d.choice, seen.cell);
    for (const double each : {setting.size > 0 ? 1.0 : 0.0, setting.form.pairs ? 1.0 : 0.0,
                              static_cast<double>(setting.form.lines)}) {
      key.push_back(each);
    }
  }
  base = key;
  if (d.choice.isolate.on == Focus::On::phase && d.choice.phase && !d.choice.phase->empty()) {
    for (const std::int64_t offset : {d.choice.phase->front(), d.choice.phase->back(),
                                      static_cast<std::int64_t>(d.choice.phase->size())}) {
      key.push_back(static_cast<double>(offset));
    }
  }
  const auto add = [&](const Focus& focus) {
    key.push_back(static_cast<double>(focus.on));
    key.push_back(static_cast<double>(focus.number));
  };
  if (d.choice.isolate.on != Focus::On::nothing) {
    add(d.view.resolved(d.choice.isolate));
  } else if (d.choice.hover) {
    const std::vector<Focus> lit = d.view.lit_by(*d.choice.hover, d.view.colour(d.choice));
    for (std::size_t i = 1; i < lit.size(); ++i) add(lit[i]);
  }
  return key;
}

std::shared_ptr<LayoutView::Painted> painted_base(const Drawing& d,
                                                  const LayoutView::Window& window,
                                                  std::vector<double> key, RasterStore& store) {
  constexpr std::size_t most = 4;  // of a million cells each takes 12 MB
  for (const RasterStore::Base& base : store.bases) {
    if (base.key == key) return std::static_pointer_cast<LayoutView::Painted>(base.painted);
  }
  if (store.bases.size() >= most) store.bases.erase(store.bases.begin());
  auto painted = std::make_shared<LayoutView::Painted>(d.view.painted(window, d.choice, d.theme));
  store.bases.push_back({std::move(key), painted});
  return painted;
}

std::shared_ptr<const Image> stored(const Drawing& d, const Seen& seen,
                                    const LayoutView::Window& window, Block block,
                                    RasterStore* store) {
  if (store == nullptr) {
    LayoutView::Painted painted = d.view.painted(window, d.choice, d.theme);
    std::vector<Rgba> colours;
    return image_of(d, seen, window, block, painted, colours);
  }
  std::vector<double> base;
  std::vector<double> key = key_of(d, seen, window, block, base);
  for (const RasterStore::Entry& entry : store->entries) {
    if (entry.key == key) return entry.image;
  }
  const auto painted = painted_base(d, window, std::move(base), *store);
  if (store->entries.size() >= most_stored) store->entries.erase(store->entries.begin());
  store->entries.push_back(
      {std::move(key), image_of(d, seen, window, block, *painted, store->colours)});
  return store->entries.back().image;
}

// Where a pixel of the screen stands for many cells it is the mean of three each way, an odd
// distance apart, so that patterns of two, four, eight do not hide.
void sample(double cells, std::int64_t& step, std::int64_t& block) {
  if (!(cells > 1)) return;
  step = static_cast<std::int64_t>(cells / 3) | 1;
  block = 3;
}

void draw_raster(const Drawing& d, const Seen& seen, RasterStore* store) {
  const Panel& panel = d.view.panels()[static_cast<std::size_t>(seen.panel)];
  LayoutView::Window window{seen.panel, seen.slice, seen.row, seen.column, seen.rows, seen.columns};
  Block block;
  // The cells that a pixel of the screen stands for, where it stands for several.
  const auto whole_cells = [&](double cell) {
    return std::max<std::int64_t>(
        1, static_cast<std::int64_t>(1 / (cell * d.frame.viewport.pixel_scale)));
  };
  const bool large = seen.least() >= 6;  // what is seen is little; smaller cells are kept whole
  if (!large && panel.rows <= most_side && panel.columns <= most_side &&
      panel.rows * panel.columns <= most_whole) {
    window = {seen.panel, seen.slice, 0, 0, panel.rows, panel.columns};
    block = {whole_cells(seen.cell.height), whole_cells(seen.cell.width)};
  } else if (!large) {
    sample(1 / (seen.cell.height * d.frame.viewport.pixel_scale), window.row_step, block.rows);
    sample(1 / (seen.cell.width * d.frame.viewport.pixel_scale), window.column_step, block.columns);
  }
  Raster raster;
  raster.image = stored(d, seen, window, block, store);
  // The last pixel may stand for fewer cells than the others; it is as large as they are.
  const auto covered = [](std::int64_t cells, std::int64_t step, std::int64_t each) {
    return ceil_div(cells, each) * each * step;
  };
  const std::int64_t rows = covered(window.down(), window.row_step, block.rows);
  const std::int64_t columns = covered(window.across(), window.column_step, block.columns);
  raster.box = {seen.x(window.column), seen.y(window.row),
                static_cast<double>(columns) * seen.cell.width,
                static_cast<double>(rows) * seen.cell.height};
  d.scene.begin("colours", seen.grid);
  d.scene.add(std::move(raster));
  d.scene.end();
}

// How far a panel's heading may reach: to the next panel beside it, or to the picture's edge.
double heading_room(const Drawing& d, int p, double x) {
  const Box& mine = d.frame.places[static_cast<std::size_t>(p)].box;
  double end = d.frame.viewport.size.width;
  for (const Frame::Place& other : d.frame.places) {
    const bool beside = other.box.y < mine.bottom() && other.box.bottom() > mine.y;
    if (beside && other.box.x > mine.x) end = std::min(end, other.box.x - inside);
  }
  return end - inside - x;
}

void draw_heading(const Drawing& d, int p) {
  const Panel& panel = d.view.panels()[static_cast<std::size_t>(p)];
  const Frame::Place& place = d.frame.places[static_cast<std::size_t>(p)];
  const double x = std::max(place.box.x, d.frame.body.x + inside);
  const double room = heading_room(d, p, x);
  const double title = text_width(panel.title, heading_text, Family::sans, FontWeight::bold);
  d.scene.begin("heading");
  const bool said = formula_is_title(d.view, panel, d.frame.viewport);
  const double y = place.box.y + 11;
  d.scene.add(words({x, y}, panel.title, heading_text, FontWeight::bold, Role::text));
  const std::string axes = fitted(panel.axes, room - title - between, small_text, Family::sans);
  if (axes == panel.axes) {
    d.scene.add(
        words({x + title + between, y + 1}, axes, small_text, FontWeight::regular, Role::quiet));
  }
  if (said) {
    d.scene.end();
    return;
  }
  Text formula = words({x, y + 22}, fitted(panel.formula, room, small_text, Family::mono),
                       small_text, FontWeight::regular, Role::quiet);
  formula.family = Family::mono;
  d.scene.add(std::move(formula));
  d.scene.end();
}

// "(_,_,17)"; where the next slice leaves no room for it the coordinates alone, "17", or nothing. A
// click shows that slice alone; beside one that stands alone are the ways on.
void draw_slice_heading(const Drawing& d, const Seen& seen) {
  const Panel& panel = d.view.panels()[static_cast<std::size_t>(seen.panel)];
  if (panel.all_slices == 1) return;
  const bool alone = panel.slices == 1;
  const double next =
      d.frame.places[static_cast<std::size_t>(seen.panel)].slice_step.width - inside;
  const double room = alone ? 1e9 : std::min(next, seen.grid.width + 2 * inside);
  std::string name = d.view.slice_name(seen.panel, seen.slice);
  if (text_width(name, small_text, Family::mono) > room) {
    constexpr std::string_view rest = "(,_)";
    name.erase(
        std::remove_if(name.begin(), name.end(), [&](char c) { return rest.find(c) != rest.npos; }),
        name.end());
  }
  const double width = text_width(name, small_text, Family::mono);
  if (width > room) return;
  double x = seen.grid.x;
  const double y = seen.grid.y - index_height - slice_heading_height / 2;
  const auto click = [&](double wide, std::string command, std::string help) {
    d.scene.targets.push_back({{x, y - 10, wide, 20}, std::move(command), std::move(help)});
  };
  if (!alone) {
    click(width, fmt::format("slice {} grid {}", seen.slice, seen.panel),
          fmt::format("show {} alone", d.view.slice_name(seen.panel, seen.slice)));
  }
  Text text = words({x, y}, std::move(name), small_text, FontWeight::regular, Role::text);
  text.family = Family::mono;
  d.scene.add(std::move(text));
  if (!alone) return;
  x += width + between;
  const std::string where = fmt::format("{} of {}", seen.slice + 1, panel.all_slices);
  d.scene.add(words({x, y}, where, small_text, FontWeight::regular, Role::quiet));
  x += text_width(where, small_text, Family::sans) + between;
  const auto way = [&](std::string_view word, std::string_view command, bool there) {
    if (!there) return;
    const double wide = text_width(word, small_text, Family::sans);
    click(wide, fmt::format("slice {} grid {}", command, seen.panel),
          fmt::format("{} slice{}", word, word == "all" ? "s" : ""));
    d.scene.add(words({x, y}, std::string(word), small_text, FontWeight::regular, Role::accent));
    x += wide + between;
  };
  way("previous", "previous", seen.slice > 0);
  way("next", "next", seen.slice + 1 < panel.all_slices);
  way("all", "all", true);
}

void draw_panel(const Drawing& d, int p, RasterStore* store) {
  const Panel& panel = d.view.panels()[static_cast<std::size_t>(p)];
  const Frame::Place& place = d.frame.places[static_cast<std::size_t>(p)];
  if (place.box.grown(2).cut(d.frame.body).empty()) return;
  d.scene.begin("panel " + panel.title);
  draw_heading(d, p);
  // Only the slices that are seen are visited.
  const auto first = [](double from, double begin, double step) {
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor((from - begin) / step)));
  };
  const std::int64_t down = ceil_div(panel.slices, place.slices_across);
  const Box& body = d.frame.body;
  const std::int64_t row_end =
      std::min(down, first(body.bottom(), place.first.y, place.slice_step.height) + 1);
  const std::int64_t column_end =
      std::min(place.slices_across, first(body.right(), place.first.x, place.slice_step.width) + 1);
  for (std::int64_t r = first(body.y, place.first.y, place.slice_step.height); r < row_end; ++r) {
    for (std::int64_t c = first(body.x, place.first.x, place.slice_step.width); c < column_end;
         ++c) {
      const std::int64_t shown = r * place.slices_across + c;
      if (shown >= panel.slices) continue;
      const std::optional<Seen> seen = seen_of(d, p, panel.first_slice + shown);
      if (!seen) continue;
      draw_slice_heading(d, *seen);
      draw_raster(d, *seen, store);
      draw_lines(d, *seen);
      draw_repetitions(d, *seen);
      draw_labels(d, *seen);
      draw_outlines(d, *seen);
      draw_indices(d, *seen);
    }
  }
  d.scene.end();
}

// What the notes on several owners end with. Where every owner is named the picture has no such n.
constexpr std::string_view counted_owners = ": those without room are counted as +n.";

// Whether a cell's label counts owners instead of naming them: "T5+2", "+3", "4@tx +1".
bool counts_owners(const Scene& scene) {
  bool cells = false;
  for (const Item& item : scene.items) {
    if (const auto* begin = std::get_if<GroupBegin>(&item)) cells = begin->name == "cells";
    if (std::holds_alternative<GroupEnd>(item)) cells = false;
    const Text* text = cells ? std::get_if<Text>(&item) : nullptr;
    if (text == nullptr) continue;
    const std::size_t plus = text->text.rfind('+');
    if (plus == text->text.npos) continue;
    const bool last = text->text.find_first_not_of("0123456789", plus + 1) == text->text.npos;
    if (last) return true;
  }
  return false;
}

constexpr double more_width = 72;  // of "28 more" after the last swatch
double swatch_width(const LayoutView::Legend::Entry& entry) {
  return entry.colours.size() > 1 ? 64 : swatch;
}

// A swatch of one colour, or of a ramp.
void draw_swatch(const Drawing& d, Box box, const std::vector<Rgba>& colours) {
  Rectangle edge;
  edge.box = box;
  edge.stroke = {Role::line, 1, false};
  if (colours.size() == 1) {
    edge.fill = Ink(colours[0]);
  } else {
    d.scene.add(Raster{box, ramp_image(colours)});
  }
  d.scene.add(edge);
}

struct OutlineWords {
  double weight;
  std::string_view words;
};
// What the lines around parts of grids mean: the same weights as draw_lines has.
std::vector<OutlineWords> outline_words(const LayoutView& view) {
  std::vector<OutlineWords> out;
  const auto any = [&](Panel::Numbers Panel::*part) {
    return std::any_of(view.panels().begin(), view.panels().end(),
                       [&](const Panel& panel) { return panel.*part != nullptr; });
  };
  if (any(&Panel::part)) out.push_back({4, "in the next grid"});
  if (any(&Panel::last_part)) out.push_back({2, "in the last grid"});
  return out;
}

void draw_outline_words(const Drawing& d, Point at) {
  for (const OutlineWords& each : outline_words(d.view)) {
    Rectangle box;
    box.box = {at.x, at.y - swatch / 2, swatch, swatch};
    box.stroke = {Role::accent, each.weight / 2, false};
    d.scene.add(box);
    at.x += swatch + 6;
    d.scene.add(words(at, std::string(each.words), small_text, FontWeight::regular, Role::text));
    at.x += text_width(each.words, small_text, Family::sans) + between;
  }
}

}  // namespace

double outlines_width(const LayoutView& view) {
  double out = 0;
  for (const OutlineWords& each : outline_words(view)) {
    out += swatch + 6 + text_width(each.words, small_text, Family::sans) + between;
  }
  return out;
}

std::optional<Seen> seen_of(const Drawing& d, int p, std::int64_t slice) {
  const Frame::Place& place = d.frame.places[static_cast<std::size_t>(p)];
  const Panel& panel = d.view.panels()[static_cast<std::size_t>(p)];
  Seen out;
  out.panel = p;
  out.slice = slice;
  out.grid = slice_box(place, slice - panel.first_slice);
  out.cell = place.cell;
  const Box part = out.grid.cut(d.frame.body);
  if (part.empty()) return std::nullopt;
  const auto range = [](double begin, double end, double cell, std::int64_t all, std::int64_t& at,
                        std::int64_t& count) {
    const double last = static_cast<double>(all);
    at = static_cast<std::int64_t>(std::clamp(std::floor(begin / cell + 1e-6), 0.0, last - 1));
    const double stop = std::clamp(std::ceil(end / cell - 1e-6), 0.0, last);
    count = std::max<std::int64_t>(static_cast<std::int64_t>(stop) - at, 1);
  };
  range(part.x - out.grid.x, part.right() - out.grid.x, out.cell.width, panel.columns, out.column,
        out.columns);
  range(part.y - out.grid.y, part.bottom() - out.grid.y, out.cell.height, panel.rows, out.row,
        out.rows);
  return out;
}

void draw_legend(const Drawing& d) {
  const LayoutView::Legend legend = d.view.legend(d.choice, d.theme);
  const double right = d.frame.viewport.size.width - between;
  double x = d.frame.legend.x, y = d.frame.legend.y;
  const auto mono = [&](std::string text, Ink ink) {
    const double width = text_width(text, small_text, Family::mono);
    Text item = words({x, y}, std::move(text), small_text, FontWeight::regular, ink);
    item.family = Family::mono;
    d.scene.add(std::move(item));
    x += width;
  };
  d.scene.begin("legend");
  if (!legend.title.empty()) {
    const std::vector<ColourBy> all = d.view.colours();
    const auto now = std::find(all.begin(), all.end(), d.view.colour(d.choice));
    const ColourBy next = now + 1 == all.end() ? all.front() : *(now + 1);
    // A long title leaves room for a swatch.
    const double first = legend.lowest.empty() && !legend.entries.empty()
                             ? between + swatch_width(legend.entries[0]) + 6 +
                                   text_width(legend.entries[0].label, small_text, Family::mono) +
                                   more_width
                             : 0;
    const std::string title =
        fitted(legend.title, right - x - first, small_text, Family::sans, FontWeight::bold);
    const double width = text_width(title, small_text, Family::sans, FontWeight::bold);
    d.scene.targets.push_back({{x, y - 12, width, 24},
                               fmt::format("colour {}", name_of(next)),
                               fmt::format("colour by {}", name_of(next))});
    d.scene.add(words({x, y}, title, small_text, FontWeight::bold, Role::text));
    x += width + between;
  }
  if (!legend.lowest.empty()) {
    mono(legend.lowest, Role::quiet);
    x += inside;
    double room = right - x - inside - text_width(legend.highest, small_text, Family::mono);
    if (const double outlines = outlines_width(d.view); room - outlines > 40) room -= outlines;
    const double width = std::clamp(room, 8.0, ramp_width);
    draw_swatch(d, {x, y - swatch / 2, width, swatch}, legend.entries[0].colours);
    x += width + inside;
    mono(legend.highest, Role::quiet);
    x += between;
  } else {
    std::int64_t left_out = legend.unlisted;
    for (std::size_t i = 0; i < legend.entries.size(); ++i) {
      const LayoutView::Legend::Entry& entry = legend.entries[i];
      const double width = swatch_width(entry);
      const double label = text_width(entry.label, small_text, Family::mono);
      const bool last = i + 1 == legend.entries.size() && legend.unlisted == 0;
      if (x + width + 6 + label + (last ? 0 : more_width) > right) {
        left_out += static_cast<std::int64_t>(legend.entries.size() - i);
        break;
      }
      const double begin = x;
      draw_swatch(d, {x, y - swatch / 2, width, swatch}, entry.colours);
      x += width + 6;
      mono(entry.label, Role::text);
      d.scene.targets.push_back(
          {{begin, y - 12, x - begin, 24},
           fmt::format("isolate {} {}", name_of(entry.focus.on), entry.focus.number),
           fmt::format("show only {} {}", name_of(entry.focus.on), entry.focus.number)});
      if (entry.focus.on == Focus::On::nothing) d.scene.targets.pop_back();
      x += between;
    }
    if (left_out > 0) {
      d.scene.add(words({x, y}, fmt::format("{} more", left_out), small_text, FontWeight::regular,
                        Role::quiet));
      x += 64;
    }
  }
  if (x + outlines_width(d.view) <= right + between) draw_outline_words(d, {x, y});
  d.scene.end();
}

Scene build_scene(const LayoutView& view, const LayoutChoice& choice, const Theme& theme,
                  const Frame& frame, RasterStore* store) {
  Scene scene;
  scene.size = frame.viewport.size;
  scene.theme = theme;
  scene.title = view.title();
  const Drawing d{view, choice, theme, frame, scene};
  Rectangle paper;
  paper.box = {0, 0, scene.size.width, scene.size.height};
  paper.fill = Ink(Role::paper);
  scene.add(paper);
  if (frame.viewport.title) draw_title(scene, view.title(), frame.title);
  scene.begin("grids", frame.body);
  for (int p = 0; p < static_cast<int>(view.panels().size()); ++p) draw_panel(d, p, store);
  scene.end();
  if (frame.viewport.legend) draw_legend(d);
  double y = frame.legend.y +
             (frame.viewport.legend ? legend_row_height / 2 + inside : -legend_row_height / 2) +
             note_height / 2;
  scene.begin("notes");
  for (std::string note : notes_shown(view, frame.viewport)) {
    const std::size_t counted = note.find(counted_owners);
    if (counted != note.npos && !counts_owners(scene)) note.replace(counted, note.npos, ".");
    const double room = scene.size.width - frame.legend.x - between;
    scene.add(words({frame.legend.x, y}, fitted(note, room, small_text, Family::sans), small_text,
                    FontWeight::regular, Role::quiet));
    y += note_height;
  }
  scene.end();
  return scene;
}

}  // namespace tilescope
