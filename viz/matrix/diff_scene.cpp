// From a difference to a scene: the map, its indices and scale, marks on what is wrong.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "viz/matrix/diff_histogram.h"
#include "viz/matrix/diff_marks.h"
#include "viz/matrix/diff_view.h"
#include "viz/scene/items.h"
#include "viz/scene/number_words.h"
#include "viz/scene/palette.h"

namespace tilescope {
namespace {

constexpr double margin = 24, title_height = 40, totals_height = 32, legend_height = 24;
constexpr double index_height = 20, thin = 24, largest_cell = 128, largest_fit = 64;
constexpr std::int64_t most_side = 8192, most_whole = std::int64_t{1} << 22;
constexpr std::size_t most_marks = 256, most_wrong = 100000;
constexpr double legend_width = 480;

double sane(double value, double otherwise, double lowest, double highest) {
  return std::isfinite(value) ? std::clamp(value, lowest, highest) : otherwise;
}

// What of the matrix is seen, in bins of `step` elements.
struct Part {
  std::int64_t step = 1, row = 0, column = 0, rows = 0, columns = 0;
};

Part part_of(const DiffView& view, const DiffFrame& frame) {
  const std::int64_t rows = view.source().rows(), columns = view.source().columns();
  Part out;
  const double least = std::min(frame.cell.width, frame.cell.height) * frame.viewport.pixel_scale;
  // The coarsest level has one bin for the whole at most.
  while (static_cast<double>(out.step) * least < 1 && out.step * 32 < std::max(rows, columns)) {
    out.step *= 2;
  }
  const std::int64_t bin_rows = (rows + out.step - 1) / out.step;
  const std::int64_t bin_columns = (columns + out.step - 1) / out.step;
  out.rows = bin_rows;
  out.columns = bin_columns;
  if (bin_rows <= most_side && bin_columns <= most_side && bin_rows * bin_columns <= most_whole &&
      std::min(frame.cell.width, frame.cell.height) < 6) {
    return out;
  }
  const Box seen = frame.map.cut(frame.body);
  const auto range = [](double begin, double end, double bin, std::int64_t all, std::int64_t& at,
                        std::int64_t& count) {
    at = static_cast<std::int64_t>(
        std::clamp(std::floor(begin / bin), 0.0, static_cast<double>(all - 1)));
    const double stop = std::clamp(std::ceil(end / bin), 0.0, static_cast<double>(all));
    count = std::max<std::int64_t>(static_cast<std::int64_t>(stop) - at, 1);
  };
  range(seen.x - frame.map.x, seen.right() - frame.map.x,
        frame.cell.width * static_cast<double>(out.step), bin_columns, out.column, out.columns);
  range(seen.y - frame.map.y, seen.bottom() - frame.map.y,
        frame.cell.height * static_cast<double>(out.step), bin_rows, out.row, out.rows);
  return out;
}

Box box_of_part(const DiffFrame& frame, const Part& part) {
  const double width = frame.cell.width * static_cast<double>(part.step);
  const double height = frame.cell.height * static_cast<double>(part.step);
  return {frame.map.x + width * static_cast<double>(part.column),
          frame.map.y + height * static_cast<double>(part.row),
          width * static_cast<double>(part.columns), height * static_cast<double>(part.rows)};
}

std::shared_ptr<const Image> image_of(const DiffView& view, const DiffChoice& choice,
                                      const Theme& theme, const Part& part, RasterStore* store) {
  const std::vector<double> key{static_cast<double>(part.step),
                                static_cast<double>(part.row),
                                static_cast<double>(part.column),
                                static_cast<double>(part.rows),
                                static_cast<double>(part.columns),
                                choice.only_wrong ? 1.0 : 0.0,
                                theme.dark ? 1.0 : 0.0,
                                static_cast<double>(view.measured()),
                                choice.marks ? choice.marks->range().low : -1,
                                choice.marks ? choice.marks->range().high : -1};
  if (store != nullptr) {
    for (const RasterStore::Entry& entry : store->entries) {
      if (entry.key == key) return entry.image;
    }
  }
  auto out = std::make_shared<Image>();
  out->columns = static_cast<int>(part.columns);
  out->rows = static_cast<int>(part.rows);
  out->version = new_image_version();
  out->rgba =
      view.colours_of(part.step, part.row, part.column, part.rows, part.columns, choice, theme);
  if (store != nullptr) {
    if (store->entries.size() >= 8) store->entries.erase(store->entries.begin());
    store->entries.push_back({key, out});
  }
  return out;
}

void draw_grid(Scene& scene, const DiffFrame& frame, const Part& part) {
  if (std::min(frame.cell.width, frame.cell.height) < 6 || part.step != 1) return;
  Segments lines;
  lines.stroke = {Role::line, 1, false};
  const Box box = box_of_part(frame, part);
  for (std::int64_t j = 1; j < part.columns; ++j) {
    const double x = box.x + frame.cell.width * static_cast<double>(j);
    lines.lines.push_back({{x, box.y}, {x, box.bottom()}});
  }
  for (std::int64_t i = 1; i < part.rows; ++i) {
    const double y = box.y + frame.cell.height * static_cast<double>(i);
    lines.lines.push_back({{box.x, y}, {box.right(), y}});
  }
  if (!lines.lines.empty()) scene.add(std::move(lines));
}

// Where wrong elements end and right ones begin: among values, which have colours of their own,
// what tells small cells apart.
void draw_outline_of_wrong(Scene& scene, const std::vector<Element>& bins, const auto& box_of_bin) {
  std::set<std::pair<std::int64_t, std::int64_t>> wrong;
  for (const Element& bin : bins) wrong.insert({bin.row, bin.column});
  Segments edges;
  for (const Element& bin : bins) {
    const Box box = box_of_bin(bin);
    const auto edge = [&](std::int64_t down, std::int64_t right, Point from, Point to) {
      if (!wrong.count({bin.row + down, bin.column + right})) edges.lines.push_back({from, to});
    };
    edge(-1, 0, {box.x, box.y}, {box.right(), box.y});
    edge(1, 0, {box.x, box.bottom()}, {box.right(), box.bottom()});
    edge(0, -1, {box.x, box.y}, {box.x, box.bottom()});
    edge(0, 1, {box.right(), box.y}, {box.right(), box.bottom()});
  }
  for (const Stroke& stroke : {Stroke{Role::paper, 3.5, false}, Stroke{Role::wrong, 1.5, false}}) {
    edges.stroke = stroke;
    scene.add(edges);
  }
}

// A cross in a large cell. Around a small one that stands alone a square, so that it is seen; where
// many stand together their colour is enough, or an outline where they have none of their own.
void draw_marks(Scene& scene, const DiffView& view, const DiffFrame& frame, const Part& part,
                const DiffChoice& choice) {
  if (choice.marks) return;  // what is marked then is something else
  const std::vector<Element> bins =
      view.wrong_bins(part.step, part.row, part.column, part.rows, part.columns, most_wrong);
  const double width = frame.cell.width * static_cast<double>(part.step);
  const double height = frame.cell.height * static_cast<double>(part.step);
  const auto box_of_bin = [&](const Element& bin) {
    return Box{frame.map.x + width * static_cast<double>(bin.column),
               frame.map.y + height * static_cast<double>(bin.row), width, height};
  };
  if (std::min(width, height) < 9) {
    const auto neighbourhood = [&](const Element& bin) {
      const Point c = box_of_bin(bin).centre();
      return std::pair(std::floor(c.y / 24), std::floor(c.x / 24));
    };
    std::map<std::pair<double, double>, int> together;
    for (const Element& bin : bins) ++together[neighbourhood(bin)];
    std::size_t rings = 0;
    for (const Element& bin : bins) {
      if (together[neighbourhood(bin)] > 2 || ++rings > most_marks) continue;
      Rectangle ring;
      const double size = std::max(10.0, std::max(width, height) + 6);
      const Point c = box_of_bin(bin).centre();
      ring.box = {c.x - size / 2, c.y - size / 2, size, size};
      ring.stroke = {Role::wrong, 2, false};
      scene.add(ring);
    }
    if (!view.reddens(choice)) draw_outline_of_wrong(scene, bins, box_of_bin);
    return;
  }
  Segments crosses;
  const Theme& theme = scene.theme;
  crosses.stroke = {view.reddens(choice) ? Ink(text_on(theme.wrong)) : Ink(Role::wrong), 1.5,
                    false};
  for (const Element& bin : bins) {
    const Box box = box_of_bin(bin);
    const double reach = std::min({width, height, 24.0}) / 2 - 3;
    const bool labelled = width > 56;  // then the value is in the middle
    const Point c = labelled ? Point{box.right() - 10, box.y + 10} : box.centre();
    const double arm = labelled ? 4 : reach;
    crosses.lines.push_back({{c.x - arm, c.y - arm}, {c.x + arm, c.y + arm}});
    crosses.lines.push_back({{c.x - arm, c.y + arm}, {c.x + arm, c.y - arm}});
  }
  if (!crosses.lines.empty()) scene.add(std::move(crosses));
}

void draw_values(Scene& scene, const DiffView& view, const DiffFrame& frame, const Part& part,
                 const DiffChoice& choice, const Theme& theme) {
  constexpr int characters = 9;
  const double room = text_width(std::string(characters, '0'), small_text, Family::mono) + 6;
  if (part.step != 1 || frame.cell.width < room || frame.cell.height < 20) return;
  std::vector<float> difference(static_cast<std::size_t>(part.columns));
  std::vector<std::uint8_t> wrong(static_cast<std::size_t>(part.columns));
  for (std::int64_t i = 0; i < part.rows; ++i) {
    view.source().values(view.measured(), part.row + i, part.column, difference, wrong);
    for (std::int64_t j = 0; j < part.columns; ++j) {
      const std::size_t at = static_cast<std::size_t>(j);
      const Box box = box_of(frame, {part.row + i, part.column + j});
      const Rgba under = view.colour_of(difference[at], wrong[at] != 0, choice, theme);
      scene.add(words(box.centre(), fmt::format("{:.2g}", difference[at]), small_text,
                      FontWeight::regular, text_on(under), Family::mono, Across::centre));
    }
  }
}

void draw_indices(Scene& scene, const DiffView& view, const DiffFrame& frame) {
  const Box part = frame.map.cut(frame.body);
  const auto along = [&](std::int64_t all, double cell, double begin, double from, double to,
                         double room, auto place) {
    std::int64_t step = 1;
    while (static_cast<double>(step) * cell < room && step < all) step *= 2;
    const auto first = static_cast<std::int64_t>(std::max(0.0, std::floor((from - begin) / cell)));
    for (std::int64_t n = (first + step - 1) / step * step; n < all; n += step) {
      const double at = begin + (static_cast<double>(n) + 0.5) * cell;
      if (at > to) break;
      if (at < from + room / 2 && begin < from) continue;  // half out of sight
      place(at, n);
    }
  };
  const std::int64_t rows = view.source().rows(), columns = view.source().columns();
  const auto width = [](std::int64_t n) {
    return text_width(fmt::format("{}", n), small_text, Family::mono);
  };
  scene.begin("columns");
  along(columns, frame.cell.width, frame.map.x, part.x, part.right(), width(columns - 1) + inside,
        [&](double x, std::int64_t n) {
          scene.add(words({x, part.y - index_height / 2}, fmt::format("{}", n), small_text,
                          FontWeight::regular, Role::quiet, Family::mono, Across::centre));
        });
  scene.end();
  scene.begin("rows");
  along(rows, frame.cell.height, frame.map.y, part.y, part.bottom(), small_text * line_height,
        [&](double y, std::int64_t n) {
          scene.add(words({part.x - inside, y}, fmt::format("{}", n), small_text,
                          FontWeight::regular, Role::quiet, Family::mono, Across::right));
        });
  scene.end();
}

void draw_outline(Scene& scene, const DiffFrame& frame, Element element, double width) {
  Box box = box_of(frame, element);
  const double small = 8 - std::min(box.width, box.height);
  if (small > 0) box = box.grown(small / 2);
  Rectangle paper, accent;
  paper.box = box.grown(width);
  paper.stroke = {Role::paper, 1.5, false};
  accent.box = box;
  accent.stroke = {Role::accent, width, false};
  scene.add(paper);
  scene.add(accent);
}

// What is known of the selected element, beside it.
void draw_provenance(Scene& scene, const DiffFrame& frame, const DiffChoice& choice) {
  if (!choice.selected || choice.provenance.empty() || !frame.viewport.title) return;
  double names = 0, values = 0;
  for (const auto& [name, value] : choice.provenance) {
    names = std::max(names, text_width(name, small_text, Family::sans));
    values = std::max(values, text_width(value, small_text, Family::mono));
  }
  const double line = std::round(small_text * line_height);
  const Box at = box_of(frame, *choice.selected);
  Box box{at.right() + between, at.y, names + values + between + 2 * inside,
          line * static_cast<double>(choice.provenance.size()) + 2 * inside};
  if (box.right() > frame.viewport.size.width - inside) box.x = at.x - between - box.width;
  box.x = std::max(box.x, inside);
  box.y = std::max(std::min(box.y, frame.viewport.size.height - box.height - inside), inside);
  Rectangle panel;
  panel.box = box;
  panel.fill = Ink(Role::panel);
  panel.stroke = {Role::line, 1, false};
  panel.radius = 4;
  scene.begin("provenance");
  scene.add(panel);
  double y = box.y + inside + line / 2;
  for (const auto& [name, value] : choice.provenance) {
    scene.add(words({box.x + inside, y}, name, small_text, FontWeight::regular, Role::quiet));
    scene.add(words({box.x + inside + names + between, y}, value, small_text, FontWeight::regular,
                    Role::text, Family::mono));
    y += line;
  }
  scene.end();
}

// What stands in the legend, piece by piece, and how far it has come.
struct LegendPen {
  Scene& scene;
  double x, y;
  double right = 1e9;  // how far there is room

  void say(std::string text, Family family, FontWeight weight, Ink ink, double gap) {
    const double width = text_width(text, small_text, family, weight);
    scene.add(words({x, y}, std::move(text), small_text, weight, ink, family));
    x += width + gap;
  }
  void number(double value, double gap) {
    say(fmt::format("{:.3g}", value), Family::mono, FontWeight::regular, Role::quiet, gap);
  }
  void swatch(double width, std::vector<Rgba> colours) {
    Rectangle edge;
    edge.box = {x, y - 7, width, 14};
    edge.stroke = {Role::line, 1, false};
    scene.add(Raster{edge.box, ramp_image(std::move(colours))});
    scene.add(edge);
    x += width + inside;
  }
  void cross(double at, Ink ink) {
    Segments out;
    out.stroke = {ink, 1.5, false};
    out.lines = {{{at + 4, y - 3}, {at + 10, y + 3}}, {{at + 4, y + 3}, {at + 10, y - 3}}};
    scene.add(out);
  }
};

// The colours of right elements, between the numbers at their ends.
void draw_scale(LegendPen& pen, const DiffView& view, const Theme& theme) {
  const bool is_signed = view.measured() == Measured::difference;
  const bool values = !is_error(view.measured());
  const double high = values ? view.highest() : view.largest_right();
  const double low = values ? view.lowest() : is_signed ? 0 - high : 0;
  if (high > low) {
    std::vector<Rgba> ramp;
    for (int i = 0; i <= 32; ++i) {
      ramp.push_back(is_signed ? signed_difference(i / 16.0 - 1, theme.dark) : quantity(i / 32.0));
    }
    pen.number(low, inside);
    // The ramp gives way to the words beside it.
    const double others = text_width(fmt::format("{:.3g}", high), small_text, Family::mono) +
                          text_width("wrong", small_text, Family::sans) + between_groups +
                          (view.wrong_count() > 0 ? 240 : 48);
    pen.swatch(std::clamp(pen.right - pen.x - others, 24.0, 160.0), ramp);
    pen.number(high, between_groups);
  } else {
    pen.swatch(14, {is_signed ? signed_difference(0, theme.dark) : quantity(0)});
    pen.number(low, between_groups);
  }
}

// How what is wrong looks: by its size where that is seen, between the numbers at the ends.
void draw_wrong_key(LegendPen& pen, const DiffView& view, const DiffChoice& choice,
                    const Theme& theme) {
  const auto most = static_cast<float>(view.largest());
  const bool sized = view.reddens(choice) && is_error(view.measured()) && view.wrong_count() > 0 &&
                     most > 0 && std::isfinite(most);
  const bool is_signed = view.measured() == Measured::difference;
  const double begin = pen.x;
  if (!sized) {
    const bool red = view.reddens(choice);
    pen.swatch(14, {red ? theme.wrong : theme.paper});
    // Small elements among values are outlined, large ones crossed.
    if (!red)
      pen.scene.add(Rectangle{{begin, pen.y - 7, 14, 14}, {}, {Role::wrong, 1.5, false}, 0});
    pen.cross(begin, red ? Ink(text_on(theme.wrong)) : Ink(Role::wrong));
    pen.say("wrong", Family::sans, FontWeight::regular, Role::text, 0);
    return;
  }
  constexpr int stops = 16;
  std::vector<Rgba> ramp;
  for (int i = is_signed ? -stops : 1; i <= stops; ++i) {
    if (i != 0) {
      const float value = most * static_cast<float>(i) / static_cast<float>(stops);
      ramp.push_back(view.colour_of(value, true, choice, theme));
    }
  }
  pen.say("wrong", Family::sans, FontWeight::regular, Role::text, inside);
  pen.number(is_signed ? 0 - view.largest() : 0, inside);
  const double end = text_width(fmt::format("{:.3g}", view.largest()), small_text, Family::mono);
  pen.swatch(std::clamp(pen.right - pen.x - end - inside, 24.0, 120.0), ramp);
  pen.number(view.largest(), 0);
}

// Why the map is white, and what would colour it; null: it is not.
const char* nothing_to_colour(const DiffView& view, const DiffChoice& choice) {
  if (view.wrong_count() > 0) return nullptr;
  if (choice.only_wrong) return "No element is wrong. Show all colours how far they are off.";
  const bool equal = is_error(view.measured()) && !(view.largest_right() > 0);
  return equal ? "No element differs at all. Measure got shows the values." : nullptr;
}

void draw_legend(Scene& scene, const DiffView& view, const DiffFrame& frame,
                 const DiffChoice& choice, const Theme& theme) {
  LegendPen pen{scene, frame.legend.x, frame.legend.y};
  scene.begin("legend");
  pen.say(std::string(words_of(view.measured())), Family::sans, FontWeight::bold, Role::text,
          between);
  if (choice.marks) {
    const DiffMarks& marks = *choice.marks;
    pen.swatch(14, {theme.accent});
    pen.say(fmt::format("{} right", grouped(marks.right_count())), Family::sans,
            FontWeight::regular, Role::text, between);
    pen.swatch(14, {theme.wrong});
    pen.say(fmt::format("{} wrong", grouped(marks.wrong_count())), Family::sans,
            FontWeight::regular, Role::text, between);
    pen.say(range_words(marks.range()), Family::mono, FontWeight::regular, Role::quiet, 0);
    scene.end();
    return;
  }
  pen.right = frame.viewport.size.width - margin;
  if (const char* sentence = nothing_to_colour(view, choice)) {
    pen.say(fitted(sentence, pen.right - pen.x, small_text, Family::sans), Family::sans,
            FontWeight::regular, Role::text, 0);
    scene.end();
    return;
  }
  if (!choice.only_wrong) draw_scale(pen, view, theme);
  draw_wrong_key(pen, view, choice, theme);
  scene.end();
}

double totals_width(const DiffView& view) {
  double x = 0;
  for (const auto& [name, value] : view.totals()) {
    x += text_width(name, small_text, Family::sans) + inside +
         text_width(value, small_text, Family::mono) + between_groups;
  }
  return x;
}

void draw_totals(Scene& scene, const DiffView& view, const DiffFrame& frame) {
  double x = frame.title.x;
  const double y = frame.title.y + 34;
  scene.begin("totals");
  for (const auto& [name, value] : view.totals()) {
    const double first = text_width(name, small_text, Family::sans) + inside;
    const double second = text_width(value, small_text, Family::mono);
    if (x + first + second > scene.size.width - inside) break;  // the inspector has them all
    scene.add(words({x, y}, name, small_text, FontWeight::regular, Role::quiet));
    scene.add(
        words({x + first, y}, value, small_text, FontWeight::regular, Role::text, Family::mono));
    x += first + second + between_groups;
  }
  scene.end();
}

}  // namespace

DiffFrame arrange(const DiffView& view, const Viewport& asked) {
  DiffFrame out;
  Viewport viewport = asked;
  const std::int64_t rows = std::max<std::int64_t>(view.source().rows(), 1);
  const std::int64_t columns = std::max<std::int64_t>(view.source().columns(), 1);
  const bool sized = asked.size.width > 0 && asked.size.height > 0;
  viewport.size = sized
                      ? Size{sane(asked.size.width, 1, 1, 1e6), sane(asked.size.height, 1, 1, 1e6)}
                      : Size{1280, 960};
  viewport.cell = sane(asked.cell, 0, 0, largest_cell);
  viewport.pan = {sane(asked.pan.x, 0, -1e12, 1e12), sane(asked.pan.y, 0, -1e12, 1e12)};
  viewport.pixel_scale = sane(asked.pixel_scale, 1, 0.1, 16);

  const double gutter =
      std::ceil(text_width(fmt::format("{}", rows - 1), small_text, Family::mono)) + inside;
  const double top = margin + (viewport.title ? title_height : 0) +
                     (viewport.title && !view.totals().empty() ? totals_height : 0) + index_height;
  const double below = viewport.legend ? between + legend_height : 0;
  const Size room{std::max(1.0, viewport.size.width - 2 * margin - gutter),
                  std::max(1.0, viewport.size.height - top - below - margin)};
  out.fit_cell = std::min({room.width / static_cast<double>(columns),
                           room.height / static_cast<double>(rows), largest_fit});
  if (out.fit_cell >= 6) out.fit_cell = std::floor(out.fit_cell);
  if (!(viewport.cell > 0)) viewport.cell = out.fit_cell;
  out.viewport = viewport;
  out.cell = {std::max(viewport.cell, thin / static_cast<double>(columns)),
              std::max(viewport.cell, thin / static_cast<double>(rows))};
  const Size whole{out.cell.width * static_cast<double>(columns),
                   out.cell.height * static_cast<double>(rows)};
  // Title, totals, map and legend stand in the middle as one block, flush left.
  double block = gutter + whole.width;
  if (viewport.title) {
    block = std::max(block, text_width(view.title(), title_text, Family::sans, FontWeight::bold));
    block = std::max(block, totals_width(view));
  }
  if (viewport.legend) block = std::max(block, legend_width);
  const double left =
      margin + std::max(0.0, std::floor((viewport.size.width - 2 * margin - block) / 2));
  const double free_y = std::max(0.0, std::floor((room.height - whole.height) / 2));
  out.map = {left + gutter - viewport.pan.x, top + free_y - viewport.pan.y, whole.width,
             whole.height};
  out.body = {left + gutter, top + free_y, viewport.size.width - margin - left - gutter,
              std::max(1.0, room.height - free_y)};
  out.title = {left, margin + free_y + 11};
  out.legend = {
      left, std::min(out.body.bottom(), top + free_y + whole.height) + between + legend_height / 2};
  return out;
}

Scene build_scene(const DiffView& view, const DiffChoice& choice, const Theme& theme,
                  const DiffFrame& frame, RasterStore* store) {
  Scene scene;
  scene.size = frame.viewport.size;
  scene.theme = theme;
  scene.title = view.title();
  Rectangle paper;
  paper.box = {0, 0, scene.size.width, scene.size.height};
  paper.fill = Ink(Role::paper);
  scene.add(paper);
  if (frame.viewport.title) {
    draw_title(scene, view.title(), frame.title);
    draw_totals(scene, view, frame);
  }
  if (view.source().rows() <= 0 || view.source().columns() <= 0) {
    scene.add(words({frame.title.x, frame.body.y}, "The result has no elements.", heading_text,
                    FontWeight::regular, Role::quiet));
    return scene;
  }
  const Part part = part_of(view, frame);
  scene.begin("map", frame.body.grown(1));
  const Box box = box_of_part(frame, part);
  scene.begin("colours", frame.map);
  scene.add(Raster{box, image_of(view, choice, theme, part, store)});
  scene.end();
  draw_grid(scene, frame, part);
  Rectangle edge;
  edge.box = frame.map;
  edge.stroke = {Role::line, 1, false};
  scene.add(edge);
  scene.begin("values");
  draw_values(scene, view, frame, part, choice, theme);
  scene.end();
  draw_marks(scene, view, frame, part, choice);
  scene.end();
  scene.begin("marks", frame.body.grown(8));  // an edge of the map does not cut them
  if (choice.hover) draw_outline(scene, frame, *choice.hover, 2);
  if (choice.selected) draw_outline(scene, frame, *choice.selected, 3);
  scene.end();
  draw_indices(scene, view, frame);
  if (frame.viewport.legend) draw_legend(scene, view, frame, choice, theme);
  draw_provenance(scene, frame, choice);
  return scene;
}

std::optional<Element> element_at(const DiffView& view, const DiffFrame& frame, Point at) {
  if (!frame.body.contains(at) || !frame.map.contains(at)) return std::nullopt;
  const Element out{static_cast<std::int64_t>((at.y - frame.map.y) / frame.cell.height),
                    static_cast<std::int64_t>((at.x - frame.map.x) / frame.cell.width)};
  if (out.row >= view.source().rows() || out.column >= view.source().columns()) {
    return std::nullopt;
  }
  return out;
}

Box box_of(const DiffFrame& frame, Element element) {
  return {frame.map.x + frame.cell.width * static_cast<double>(element.column),
          frame.map.y + frame.cell.height * static_cast<double>(element.row), frame.cell.width,
          frame.cell.height};
}

Viewport zoomed(const DiffView& view, const DiffFrame& frame, Point at, double factor) {
  Viewport viewport = frame.viewport;
  viewport.cell = sane(viewport.cell * factor, viewport.cell, frame.fit_cell, largest_cell);
  viewport.pan = {};
  if (viewport.cell <= frame.fit_cell) {
    viewport.cell = 0;
    return viewport;
  }
  const double column = (at.x - frame.map.x) / frame.cell.width;
  const double row = (at.y - frame.map.y) / frame.cell.height;
  const DiffFrame after = arrange(view, viewport);
  viewport.pan = {after.map.x + column * after.cell.width - at.x,
                  after.map.y + row * after.cell.height - at.y};
  return panned(view, arrange(view, viewport), 0, 0);
}

Viewport panned(const DiffView& view, const DiffFrame& frame, double dx, double dy) {
  Viewport viewport = frame.viewport;
  Viewport still = viewport;
  still.pan = {};
  const DiffFrame home = arrange(view, still);
  if (viewport.cell <= home.fit_cell) return still;  // all is seen
  viewport.pan = dragged(viewport, home.map, home.body, dx, dy);
  return viewport;
}

}  // namespace tilescope
