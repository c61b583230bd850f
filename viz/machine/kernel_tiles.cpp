#include "viz/machine/kernel_tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "core/diff/heat_map.h"
#include "viz/scene/items.h"
#include "viz/scene/number_words.h"
#include "viz/scene/palette.h"

namespace tilescope {
namespace {

constexpr std::int64_t most_parts = 64;  // in one direction: more are no picture any more
constexpr double caption = 22, gap = 16;

// A matrix of the output's rows, or of its columns, and of what is summed over.
struct Operand {
  const KernelCard::Tensor* tensor = nullptr;
  std::int64_t summed = 0;  // its extent along that
  bool turned = false;      // drawn with rows and columns exchanged
};

// By the names of extents: of D (m, n) the one that has m, or n, and another.
std::optional<Operand> operand_along(const KernelCard& card, const KernelCard::Tensor& output,
                                     std::size_t along) {
  if (output.axes.size() < 2) return {};
  const std::string& axis = output.axes[output.axes.size() - 2 + along];
  const std::string& other = output.axes[output.axes.size() - 1 - along];
  for (const KernelCard::Tensor& tensor : card.tensors) {
    if (tensor.output || tensor.axes.size() < 2 || tensor.extents.size() < 2) continue;
    const std::string& rows = tensor.axes[tensor.axes.size() - 2];
    const std::string& columns = tensor.axes.back();
    const std::size_t at = tensor.extents.size();
    if (rows == axis && columns != other)
      return Operand{&tensor, tensor.extents[at - 1], along == 1};
    if (columns == axis && rows != other)
      return Operand{&tensor, tensor.extents[at - 2], along == 0};
  }
  return {};
}

// "f16 (64, 128)" of one of shape (128, 64): what is drawn is its transpose.
std::string turned_shape(const KernelCard::Tensor& tensor) {
  std::vector<std::int64_t> extents = tensor.extents;
  const std::size_t open = tensor.shape.find('(');
  if (extents.size() < 2 || open == tensor.shape.npos) return tensor.shape;
  std::swap(extents[extents.size() - 1], extents[extents.size() - 2]);
  std::string out;
  for (const std::int64_t extent : extents) {
    out += fmt::format("{}{}", out.empty() ? "" : ", ", extent);
  }
  return fmt::format("{}({})", tensor.shape.substr(0, open), out);
}

void caption_of(Scene& scene, const KernelCard::Tensor& tensor, Point at, double width,
                bool turned = false) {
  const std::string text = fmt::format("{}{}  {}", tensor.name, turned ? "^T" : "",
                                       turned ? turned_shape(tensor) : tensor.shape);
  scene.add(words(at, fitted(text, std::max(30.0, width), small_text, Family::sans), Role::quiet));
}

void draw_sheet(Scene& scene, const Box& box) {
  scene.add(Rectangle{box, Ink(Role::panel), {Role::line, 1, false}, 0});
}

// The parts in the colours of the CTAs that wrote them, with their numbers where these have room.
bool knows_writers(const KernelRun* run, std::int64_t rows, std::int64_t columns) {
  return run && run->rows == rows && run->columns == columns &&
         std::any_of(run->writers.begin(), run->writers.end(), [](auto each) { return each >= 0; });
}

void draw_parts(Scene& scene, const KernelRun* run, const Box& box, std::int64_t rows,
                std::int64_t columns) {
  const double high = box.height / static_cast<double>(rows),
               wide = box.width / static_cast<double>(columns);
  const bool dark = scene.theme.dark;
  const bool written = knows_writers(run, rows, columns);
  if (written) {
    for (std::int64_t r = 0; r < rows; ++r) {
      std::vector<Rgba> colours;
      for (std::int64_t c = 0; c < columns; ++c) {
        const std::int64_t block = run->writers[static_cast<std::size_t>(r * columns + c)];
        const Rgba own = category(std::max<std::int64_t>(0, block) % distinct_categories, dark);
        colours.push_back(block < 0 ? scene.theme.panel : mix(scene.theme.paper, own, 0.5));
      }
      // Equal rows are equal images: a painter's cache knows them in the next frame.
      scene.add(Raster{{box.x, box.y + high * static_cast<double>(r), box.width, high},
                       ramp_image(std::move(colours))});
    }
  } else {
    draw_sheet(scene, box);
  }
  if (std::min(high, wide) >= 4) {
    Segments lines;
    lines.stroke = {written ? Ink(Role::paper, 0.7) : Ink(Role::line), 1, false};
    for (std::int64_t i = 1; i < rows; ++i) {
      const double y = box.y + high * static_cast<double>(i);
      lines.lines.push_back({{box.x, y}, {box.right(), y}});
    }
    for (std::int64_t i = 1; i < columns; ++i) {
      const double x = box.x + wide * static_cast<double>(i);
      lines.lines.push_back({{x, box.y}, {x, box.bottom()}});
    }
    scene.add(std::move(lines));
  }
  if (!written) return;
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    const std::int64_t block = run->writers[static_cast<std::size_t>(i)];
    const std::string number = block < 0 ? "-" : fmt::format("{}", block);
    if (high < 15 || wide < text_width(number, small_text, Family::mono) + 4) continue;
    scene.add(words({box.x + wide * (static_cast<double>(i % columns) + 0.5),
                     box.y + high * (static_cast<double>(i / columns) + 0.5)},
                    number, Family::mono, Across::centre));
  }
}

}  // namespace

std::pair<std::int64_t, std::int64_t> parts_of_output(const KernelCard& card) {
  const KernelCard::Tensor* output = output_of(card);
  if (!output || output->extents.empty()) return {0, 0};
  const MatrixShape shape = as_matrix(output->extents);
  if (shape.rows < 1 || shape.cols < 1) return {0, 0};
  const auto parts = [&](std::int64_t extent, std::size_t along) {
    const std::int64_t tile = card.tile.size() >= 2 && output->extents.size() == 2
                                  ? card.tile[card.tile.size() - 2 + along]
                                  : 0;
    const std::int64_t tiles = tile > 0 ? (extent + tile - 1) / tile : std::min(extent, most_parts);
    return std::clamp<std::int64_t>(tiles, 1, most_parts);
  };
  return {parts(shape.rows, 0), parts(shape.cols, 1)};
}

double draw_kernel_tiles(Scene& scene, const KernelCard& card, const KernelRun* run,
                         const Box& room) {
  const KernelCard::Tensor* output = output_of(card);
  const auto [rows, columns] = parts_of_output(card);
  if (!output || rows == 0) return 0;
  const MatrixShape shape = as_matrix(output->extents);
  auto down = operand_along(card, *output, 0), across = operand_along(card, *output, 1);
  const bool product = down && across;
  const bool written = run && !run->writers.empty();
  if (card.tile.size() < 2 && !product && !written) return 0;  // parts that nobody named are none
  // One scale for all, but no side so small that nothing is seen of it, nor so large that it takes
  // the room of the rest.
  const auto side = [](std::int64_t extent, std::int64_t of) {
    return std::clamp(
        static_cast<double>(extent) / static_cast<double>(std::max<std::int64_t>(1, of)), 0.25,
        1.0);
  };
  const std::int64_t largest = std::max({shape.rows, shape.cols, product ? down->summed : 0});
  const double m = side(shape.rows, largest), n = side(shape.cols, largest),
               k = product ? side(down->summed, largest) : 0;
  const double foot = 2 * 18 + 6;
  const double spare_x = product ? gap : 0, spare_y = caption * (product ? 2 : 1) + foot;
  double scale = std::min((room.width - spare_x) / (n + k), (room.height - spare_y) / (m + k));
  scale = std::clamp(scale, std::min(150.0, (room.width - spare_x) / (n + k)), 420.0);
  const Box d{room.x + k * scale + spare_x, room.y + (product ? k * scale + 2 * caption : caption),
              n * scale, m * scale};
  scene.begin("tiles");
  // The tile that is told about: not at an edge, where there are others.
  const std::int64_t row = rows / 2, column = columns / 2;
  const double high = d.height / static_cast<double>(rows),
               wide = d.width / static_cast<double>(columns);
  const bool tiled = card.tile.size() >= 2;
  // All that its CTA wrote, where that is known: a CTA may make several.
  const bool known = knows_writers(run, rows, columns);
  std::vector<Box> marked;
  std::set<double> downwards, along;  // where these begin
  for (std::int64_t i = 0; tiled && i < rows * columns; ++i) {
    const auto writer = [&](std::int64_t part) {
      return run->writers[static_cast<std::size_t>(part)];
    };
    const std::int64_t told = row * columns + column;
    if (i != told && !(known && writer(told) >= 0 && writer(i) == writer(told))) continue;
    marked.push_back({d.x + wide * static_cast<double>(i % columns),
                      d.y + high * static_cast<double>(i / columns), wide, high});
    downwards.insert(marked.back().y);
    along.insert(marked.back().x);
  }
  if (product) {
    const Box a{room.x, d.y, k * scale, d.height},
        b{d.x, d.y - caption - k * scale, d.width, k * scale};
    draw_sheet(scene, a);
    draw_sheet(scene, b);
    for (const double y : downwards) {
      scene.add(Rectangle{{a.x, y, a.width, high}, Ink(Role::accent, 0.22), {}, 0});
    }
    for (const double x : along) {
      scene.add(Rectangle{{x, b.y, wide, b.height}, Ink(Role::accent, 0.22), {}, 0});
    }
    caption_of(scene, *down->tensor, {a.x, a.y - 10}, a.width, down->turned);
    caption_of(scene, *across->tensor, {b.x, b.y - 10}, room.right() - b.x, across->turned);
  }
  caption_of(scene, *output, {d.x, d.y - 10}, room.right() - d.x);
  draw_parts(scene, run, d, rows, columns);
  for (const Box& box : marked) scene.add(Rectangle{box, {}, {Role::accent, 2, false}, 0});
  scene.end();

  scene.begin("tile map");
  std::string text;
  if (tiled && rows * columns == 1) {
    text = fmt::format("One tile, {} x {} elements.", card.tile[card.tile.size() - 2],
                       card.tile.back());
  } else if (tiled) {
    text = fmt::format("{} x {} tiles of {} x {} elements.", rows, columns,
                       card.tile[card.tile.size() - 2], card.tile.back());
  }
  if (!text.empty()) text += " ";
  if (known) text += "A colour is the CTA that wrote a part.";
  if (known && marked.size() > 1) {
    text +=
        fmt::format(" Marked are the {} of CTA {}, and what of A and B goes into them.",
                    marked.size(), run->writers[static_cast<std::size_t>(row * columns + column)]);
  }
  if (!run) text += "Which CTA makes which is seen when it has run.";
  double y = d.bottom() + 16;
  for (const std::string& line : wrapped(text, room.width, 2)) {
    scene.add(words({room.x, y}, line, Role::quiet));
    y += 18;
  }
  scene.end();
  return y - room.y;
}

}  // namespace tilescope
