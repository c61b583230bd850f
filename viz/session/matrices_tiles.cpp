#include "viz/session/matrices_tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/sim/stepping/find_block.h"
#include "viz/session/matrices_sums.h"
#include "viz/session/memory_panels.h"
#include "viz/session/seek.h"
#include "viz/session/session.h"

namespace tilescope {
namespace {

using u32 = std::uint32_t;

// Rows and columns [row, row_end) x [column, column_end) of a buffer as a matrix.
struct Extent {
  std::int64_t row = 0, column = 0, row_end = 0, column_end = 0;
};

// The part of its tensor that a tile is; nothing: all of it lies outside.
std::optional<Extent> extent_of(const MemoryNow& now, const MemoryTile& tile) {
  if (!tile.state.buffer) return {};
  const std::size_t buffer = *tile.state.buffer;
  const std::int64_t length = std::max<std::int64_t>(1, now.row_lengths[buffer]);
  const std::uint64_t width = tile.box().map.element_bytes();
  std::optional<Extent> out;
  for (const sim::BoxRow& row : tile.rows) {
    if (row.first >= row.end) continue;
    const auto first = static_cast<std::int64_t>((row.address - now.bases[buffer]) / width);
    const std::int64_t r = first / length, c = first % length, end = c + row.end - row.first;
    if (!out) out = Extent{r, c, r + 1, end};
    out->row = std::min(out->row, r);
    out->row_end = std::max(out->row_end, r + 1);
    out->column = std::min(out->column, c);
    out->column_end = std::max(out->column_end, end);
  }
  return out;
}

MatrixTile marked(const sim::Machine& machine, std::size_t buffer, const Extent& extent) {
  MatrixTile out;
  out.matrix = machine.shells()[buffer].name;
  out.row = extent.row;
  out.column = extent.column;
  out.rows = extent.row_end - extent.row;
  out.columns = extent.column_end - extent.column;
  return out;
}

void add_tiles(const Session& session, const sim::Machine& machine, const MemoryNow& now,
               std::vector<MatrixTile>& out) {
  const auto& byte = session.state.spot.byte;
  for (const MemoryPart& part : now.parts) {
    for (const auto& index : {part.there, part.coming}) {
      if (!index) continue;
      const MemoryTile& tile = now.tiles[*index];
      const auto extent = extent_of(now, tile);
      if (!extent) continue;
      MatrixTile mark = marked(machine, *tile.state.buffer, *extent);
      mark.colour = part_colour(part, session.theme());
      mark.in_flight = tile.state.in_flight.has_value();
      mark.label = tile.where();
      if (mark.label.empty()) mark.label = "in memory";
      if (tile.coming()) mark.label += ", coming";
      if (tile.leaving()) mark.label += ", leaving";
      mark.command = fmt::format("look byte {} in memory", part.begin);
      mark.leads = "shows it in shared memory";
      mark.current = byte && *byte >= part.begin && *byte < part.end;
      out.push_back(std::move(mark));
    }
  }
}

// A product in flight reads bytes of this tile.
bool is_read(const MemoryNow& now, const MemoryTile& tile) {
  const sim::Range own{tile.state.tile.begin(), tile.state.tile.end()};
  return std::any_of(now.operations.begin(), now.operations.end(), [&](const auto& o) {
    return !o.cells.written.empty() &&
           std::any_of(o.reads.begin(), o.reads.end(),
                       [&](const sim::Range& r) { return r.meets(own); });
  });
}

// The first row of the tile of this buffer that counts: being read by a product, else the last.
std::optional<std::int64_t> row_of_operand(const MemoryNow& now, std::size_t buffer) {
  std::optional<std::int64_t> row;
  for (const MemoryTile& tile : now.tiles) {
    if (tile.state.buffer != buffer || tile.coming() || tile.state.tile.stored) continue;
    const auto extent = extent_of(now, tile);
    if (!extent) continue;
    row = extent->row;
    if (is_read(now, tile)) return row;
  }
  return row;
}

// The buffers that are A (m, k) and B (n, k) to this D (m, n).
struct Operands {
  std::size_t a = 0, b = 0;
};
std::optional<Operands> operands_of(const sim::Machine& machine, std::size_t output) {
  const Buffer& d = machine.shells()[output];
  std::optional<std::size_t> a, b;
  for (std::size_t i = 0; i < machine.shells().size(); ++i) {
    const Buffer& each = machine.shells()[i];
    if (i == output || each.shape.size() != 2) continue;
    if (!a && each.shape[0] == d.shape[0]) {
      a = i;
    } else if (a && !b && each.shape[0] == d.shape[1] &&
               each.shape[1] == machine.shells()[*a].shape[1]) {
      b = i;
    }
  }
  if (!a || !b) return {};
  return Operands{*a, *b};
}

std::optional<Extent> output_from_operands(const sim::Machine& machine, const MemoryNow& now,
                                           std::size_t output) {
  const Buffer& d = machine.shells()[output];
  const auto operands = operands_of(machine, output);
  if (!operands) return {};
  const auto row = row_of_operand(now, operands->a), column = row_of_operand(now, operands->b);
  if (!row || !column || d.tile.size() != 2) return {};
  const std::int64_t tall = std::max<std::int64_t>(1, d.tile[0]);
  const std::int64_t wide = std::max<std::int64_t>(1, d.tile[1]);
  const std::int64_t first = *row / tall * tall, left = *column / wide * wide;
  return Extent{first, left, std::min(first + tall, d.shape[0]), std::min(left + wide, d.shape[1])};
}

// What the block has written of the output so far.
std::optional<Extent> output_written(const sim::Machine& machine, std::uint64_t block,
                                     std::size_t output) {
  const Buffer& d = machine.shells()[output];
  const sim::Region& region = machine.buffer(output);
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 24;  // to look through for a moment
  if (region.size() > most_bytes) return {};
  const auto width = static_cast<std::uint64_t>(bytes_of(d.dtype));
  const std::int64_t length = d.shape[1];
  std::optional<Extent> out;
  const std::uint64_t step = std::max<std::uint64_t>(width, region.grain());
  for (std::uint64_t at = 0; at < region.size(); at += step) {
    const sim::Writer by = region.writer(at);
    if (!by || by.block() != block) continue;
    const auto flat = static_cast<std::int64_t>(at / width);
    const std::int64_t r = flat / length, c = flat % length;
    const auto end = c + static_cast<std::int64_t>(step / width);
    if (!out) out = Extent{r, c, r + 1, end};
    out->row = std::min(out->row, r);
    out->row_end = std::max(out->row_end, r + 1);
    out->column = std::min(out->column, c);
    out->column_end = std::max(out->column_end, end);
  }
  return out;
}

std::vector<MatrixTile> output_tile(const sim::Machine& machine, const MemoryNow& now) {
  const auto output = output_buffer(machine);
  if (!output) return {};
  std::string label = fmt::format("CTA {}", now.block);
  auto extent = output_from_operands(machine, now, *output);
  if (!extent) {
    extent = output_written(machine, now.block, *output);
    label += now.state == "resident" ? ", written so far" : ", what it wrote";
  }
  if (!extent) return {};
  MatrixTile mark = marked(machine, *output, *extent);
  mark.label = std::move(label);
  return {mark};
}

Box place_of(const MatricesFrame& frame, std::size_t matrix, const MatrixTile& tile) {
  const Box& map = frame.maps[matrix];
  const double cell = frame.viewport.cell;
  return {map.x + static_cast<double>(tile.column) * cell,
          map.y + static_cast<double>(tile.row) * cell, static_cast<double>(tile.columns) * cell,
          static_cast<double>(tile.rows) * cell};
}

void draw_tile(Scene& scene, const Box& slot, const MatrixTile& tile, const Box& all) {
  if (all.cut(slot).empty()) return;
  // The edge of sums is inside that of the tile that they are of.
  constexpr double least_inset = 24;
  const bool inset = tile.sums && std::min(all.width, all.height) >= least_inset;
  const Box box = inset ? all.grown(-3) : all;
  if (tile.tinted) {
    Rectangle paper;
    paper.box = box;
    paper.fill = Ink(Rgba{tile.colour.r, tile.colour.g, tile.colour.b, 64});
    scene.add(paper);
  }
  // An edge that is seen on any value: the colour on the paper's.
  scene.add(Rectangle{box, {}, {Role::paper, 4, false}, 0});
  scene.add(Rectangle{box, {}, {tile.colour, tile.current ? 3.0 : 2.0, tile.in_flight}, 0});
}

// As much of a label as the tile is wide: "stage 1, coming", "stage 1", "1"; the longest first.
std::vector<std::string> labels_for(const MatrixTile& tile) {
  std::vector<std::string> out = {tile.label};
  if (const std::size_t comma = tile.label.find(','); comma != std::string::npos) {
    out.push_back(tile.label.substr(0, comma));
  }
  for (const std::string_view word : {"stage ", "place ", "warps "}) {
    if (tile.label.find(word) == 0) out.push_back(out.back().substr(word.size()));
  }
  return out;
}

double width_of(const std::string& label) {
  return text_width(label, small_text, Family::sans) + 2 * inside;
}

bool is_free(const Box& chip, const std::vector<Box>& chips) {
  return std::all_of(chips.begin(), chips.end(),
                     [&](const Box& other) { return chip.cut(other).empty(); });
}

// Its label inside its upper left corner, of sums in the upper right one, so that both are seen
// where a tile and what is to become of it are one.
struct Chip {
  std::string label;
  Box box;
};
Chip chip_of(const Box& slot, const MatrixTile& tile, const Box& seen,
             const std::vector<Box>& chips) {
  Chip out;
  for (std::string& label : labels_for(tile)) {
    const double width = width_of(label);
    const double left = tile.sums ? seen.right() - 4 - width : seen.x + 4;
    out.label = std::move(label);
    out.box = {std::clamp(left, slot.x, std::max(slot.x, slot.right() - width)), seen.y + 4, width,
               20};
    const bool fits = width <= seen.width - 4;
    if (fits && (!tile.sums || is_free(out.box, chips))) break;
  }
  return out;
}

void draw_label(Scene& scene, const Box& slot, const MatrixTile& tile, const Box& box,
                std::vector<Box>& chips) {
  const Box seen = box.cut(slot);
  if (seen.empty()) return;
  auto [label, chip] = chip_of(slot, tile, seen, chips);
  if (slot.width < chip.width + 8) return;
  // Below it where it is low; of sums, which are often two of one tile, beside it.
  const bool low = seen.height < 28;
  if (low && tile.sums && seen.right() + 4 + width_of(tile.label) <= slot.right()) {
    label = tile.label;
    chip = {seen.right() + 4, seen.y, width_of(label), 20};
  } else if (low) {
    chip.y = seen.bottom() + 2;
  }
  if (chip.bottom() > slot.bottom()) chip.y = std::max(slot.y, seen.y - 22);
  // Below those that stand there already; one that would stand at another tile says nothing.
  for (std::size_t i = 0; i < chips.size(); ++i) {
    if (chip.cut(chips[i]).empty()) continue;
    chip.y = chips[i].bottom() + 2;
    i = static_cast<std::size_t>(-1);
  }
  if (chip.bottom() > slot.bottom() || chip.y > seen.bottom() + 4) return;
  chips.push_back(chip);
  Rectangle back;
  back.box = chip;
  back.radius = 4;
  back.fill = tile.colour;
  scene.add(back);
  Text text;
  text.at = chip.centre();
  text.across = Across::centre;
  text.text = label;
  text.ink = text_on(tile.colour);
  scene.add(text);
  if (!tile.command.empty()) {
    scene.targets.push_back({chip, tile.command, fmt::format("{}: {}", tile.label, tile.leads)});
  }
}

// What warpgroups hold in registers, by where it goes to.
std::vector<MatrixTile> sums_marks(const Session& session) {
  std::vector<MatrixTile> out;
  const auto view = matrices_now(session);
  if (!view) return out;
  for (const MatricesView::Matrix& matrix : view->matrices()) {
    if (!matrix.sums) continue;
    for (const RegisterSums::Part& part : matrix.sums->parts) {
      MatrixTile mark;
      mark.matrix = matrix.name;
      mark.row = part.row;
      mark.column = part.column;
      mark.rows = part.rows;
      mark.columns = part.columns;
      mark.label = fmt::format("warps {}-{}, in registers", part.first_warp, part.first_warp + 3);
      mark.command =
          fmt::format("look warp {} register {} in registers", part.first_warp, part.name);
      mark.leads = "shows the registers";
      mark.colour = session.theme().text;
      mark.current = session.state.spot.warp / 4 == part.first_warp / 4;
      mark.tinted = false;
      mark.sums = mark.in_flight = true;
      out.push_back(std::move(mark));
    }
  }
  return out;
}

}  // namespace

std::vector<MatrixTile> matrix_tiles(const Session& session) {
  std::vector<MatrixTile> out;
  const sim::Machine* machine = machine_of(session);
  const auto now = shared_memory_of(session);
  if (!machine || !now) return out;
  add_tiles(session, *machine, *now, out);
  MemoryViews& views = session.memory;
  if (!views.output) views.output = output_tile(*machine, *now);
  std::vector<MatrixTile> sums = sums_marks(session);
  for (MatrixTile tile : *views.output) {
    tile.colour = session.theme().accent;
    tile.tinted = sums.empty();
    out.push_back(std::move(tile));
  }
  std::move(sums.begin(), sums.end(), std::back_inserter(out));
  return out;
}

void draw_matrix_tiles(Scene& scene, const MatricesView& view, const MatricesFrame& frame,
                       const std::vector<MatrixTile>& tiles) {
  for (std::size_t i = 0; i < view.matrices().size() && i < frame.maps.size(); ++i) {
    const bool any = std::any_of(tiles.begin(), tiles.end(), [&](const MatrixTile& tile) {
      return tile.matrix == view.matrices()[i].name;
    });
    if (!any) continue;
    scene.begin(fmt::format("tiles of {}", view.matrices()[i].name), frame.slots[i]);
    const auto each = [&](const auto& draw) {
      for (const MatrixTile& tile : tiles) {
        if (tile.matrix == view.matrices()[i].name) draw(tile, place_of(frame, i, tile));
      }
    };
    std::vector<Box> chips;
    each([&](const MatrixTile& tile, const Box& box) {
      draw_tile(scene, frame.slots[i], tile, box);
    });
    each([&](const MatrixTile& tile, const Box& box) {
      draw_label(scene, frame.slots[i], tile, box, chips);
    });
    scene.end();
  }
}

namespace {

// The row of its tensor at which a product begins to read it.
std::optional<std::int64_t> first_row_read(const MemoryNow& now, const sim::OperationState& product,
                                           std::size_t buffer) {
  for (const sim::Range& range : product.reads) {
    for (const MemoryTile& tile : now.tiles) {
      const bool has = tile.state.buffer == buffer && !tile.state.tile.stored && !tile.coming() &&
                       range.begin >= tile.state.tile.begin() &&
                       range.begin < tile.state.tile.end();
      if (!has) continue;
      const auto extent = extent_of(now, tile);
      const auto at = tilescope::place_of(tile.box(), range.begin);
      if (extent && at) return extent->row + at->row;
    }
  }
  return {};
}

}  // namespace

std::string output_element(const sim::Machine& machine, const MemoryNow& now,
                           const sim::OperationState* product, u32 row, u32 column) {
  // Of the products of a pair each block has a part.
  if (machine.program().cta_group == 2) return "";
  const auto output = output_buffer(machine);
  const auto operands = output ? operands_of(machine, *output) : std::nullopt;
  if (!operands) return "";
  const Buffer& d = machine.shells()[*output];
  std::optional<std::int64_t> first, left;
  if (product) {
    first = first_row_read(now, *product, operands->a);
    left = first_row_read(now, *product, operands->b);
  } else if (d.tile.size() == 2) {
    const std::int64_t tall = std::max<std::int64_t>(1, d.tile[0]);
    const std::int64_t wide = std::max<std::int64_t>(1, d.tile[1]);
    const std::int64_t tiles = ((d.shape[0] + tall - 1) / tall) * ((d.shape[1] + wide - 1) / wide);
    const auto extent = output_from_operands(machine, now, *output);
    const bool one_each = static_cast<std::uint64_t>(tiles) <= machine.launch().grid.count();
    if (extent && one_each && row < tall && column < wide) {
      first = extent->row;
      left = extent->column;
    }
  }
  if (!first || !left) return "";
  const std::int64_t r = *first + row, c = *left + column;
  if (r >= d.shape[0] || c >= d.shape[1]) return "";
  return fmt::format("{} [{}, {}]", d.name, r, c);
}

Lines element_in_memory(const Session& session, const MatricesView& view, Element at,
                        std::optional<std::size_t> pointed) {
  Lines lines;
  const sim::Machine* machine = machine_of(session);
  const auto now = shared_memory_of(session);
  if (!machine || !now) return lines;
  for (const MemoryTile& tile : now->tiles) {
    if (!tile.state.buffer) continue;
    const std::size_t buffer = *tile.state.buffer;
    const auto& all = view.matrices();
    const auto matrix = std::find_if(all.begin(), all.end(), [&](const MatricesView::Matrix& each) {
      return each.name == machine->shells()[buffer].name;
    });
    if (matrix == all.end()) continue;
    const auto part = view.part_of(static_cast<std::size_t>(matrix - all.begin()), at, pointed);
    if (!part || !part->single()) continue;
    const Element element{part->row, part->column};
    const u32 width = tile.box().map.element_bytes();
    const std::int64_t length = std::max<std::int64_t>(1, now->row_lengths[buffer]);
    for (const sim::BoxRow& row : tile.rows) {
      if (row.first >= row.end) continue;
      const auto first = static_cast<std::int64_t>((row.address - now->bases[buffer]) / width);
      const std::int64_t wanted = element.row * length + element.column - first;
      if (wanted < 0 || wanted >= row.end - row.first) continue;
      const auto in_row = (static_cast<u32>(wanted) + row.first) * width;
      lines.emplace_back(fmt::format("{} in memory", machine->shells()[buffer].name),
                         fmt::format("byte {}{}", byte_of(tile.box(), {row.number, in_row}),
                                     tile.coming()    ? ", coming"
                                     : tile.leaving() ? ", leaving"
                                                      : ""));
    }
  }
  return lines;
}

}  // namespace tilescope
