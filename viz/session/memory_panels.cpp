#include "viz/session/memory_panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/numeric/number_text.h"
#include "core/sim/stepping/find_block.h"
#include "core/sim/tcgen05/multiplication.h"
#include "viz/scene/number_words.h"
#include "viz/session/matrices_tiles.h"
#include "viz/session/seek.h"

namespace tilescope {
namespace {

using u32 = std::uint32_t;
using Colour = MemoryChoice::Colour;

std::string line_text(const Site& site) {
  if (site.caller_line) return fmt::format("{}:{}", site.caller, site.caller_line);
  if (site.source_line) return fmt::format("{}:{}", site.source, site.source_line);
  return fmt::format("PTX line {}", site.ptx_line);
}

void add_writer(Lines& lines, const std::optional<Site>& site) {
  if (!site) {
    lines.emplace_back("written by", "nobody yet");
    return;
  }
  lines.emplace_back("written by",
                     fmt::format("CTA ({},{},{}), warp {}, lane {}", site->block.x, site->block.y,
                                 site->block.z, site->warp, site->lane));
  lines.emplace_back("at", line_text(*site));
}

std::string operation_text(const sim::OperationState& o, std::string_view does) {
  std::string out = fmt::format("{} {}, warp {}: {}", o.name, o.number, o.issuer.warp, does);
  if (o.mbarrier) out += fmt::format("; completes on {}", o.mbarrier_name);
  return out;
}

bool has(const std::vector<sim::Range>& ranges, u32 byte) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const sim::Range& r) { return byte >= r.begin && byte < r.end; });
}

bool has(const std::vector<sim::CellRange>& ranges, RunCursor::Cell cell) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const sim::CellRange& r) {
    return r.meets({cell.lane, 1, cell.column, 1});
  });
}

void add_element(Lines& lines, const sim::Machine& machine, const MemoryNow& now,
                 const MemoryTile& tile, u32 byte, std::string_view what) {
  const auto at = place_of(tile.box(), byte);
  if (!at) return;
  const auto element = now.element_at(tile, byte);
  if (element) {
    lines.emplace_back(std::string(what),
                       fmt::format("{} [{}, {}]", machine.shells()[element->buffer].name,
                                   element->row, element->column));
  } else if (tile.state.buffer) {
    lines.emplace_back(std::string(what), "outside of the tensor: TMA fills it in");
  }
  lines.emplace_back("in the box", fmt::format("row {}, element {}", at->row,
                                               at->byte / tile.box().map.element_bytes()));
}

// Row and column of the product's accumulator that a cell holds, where its organisation says so.
std::optional<std::pair<u32, u32>> accumulator_place(const sim::Machine& machine,
                                                     const TensorNow& now, RunCursor::Cell cell) {
  const sim::Block* block = sim::find_block(machine, now.block);
  if (!block) return {};
  for (const sim::AsyncOperation& o : block->flight.operations) {
    if (!sim::is_multiplication(o)) continue;
    sim::Multiplication product;
    if (sim::decode(sim::MultiplicationWords::of(o), product)) continue;
    for (const sim::MatrixPart& part : product.product.parts()) {
      const bool inside = cell.lane >= part.at.lane && cell.lane < part.at.lane + part.rows &&
                          cell.column >= part.at.column &&
                          cell.column < part.at.column + part.columns;
      if (inside) {
        return std::pair(part.row + cell.lane - part.at.lane,
                         part.column + cell.column - part.at.column);
      }
    }
  }
  // One that is complete: a whole accumulator of 128 lanes of one block (layout D).
  const TensorNow::Writer* by = now.writer_of(cell.lane, cell.column);
  if (!by || !by->product || by->cells.size() != 1 || by->cells.front().lanes != 128) return {};
  const std::string_view text = machine.program().code[by->pc].text;
  if (text.find(".ws") != text.npos || text.find("cta_group::2") != text.npos) return {};
  return std::pair(cell.lane, cell.column - by->cells.front().column);
}

// Which scale factors of a product in flight a cell holds.
std::string scale_factors_in(const sim::Machine& machine, const TensorNow& now,
                             RunCursor::Cell cell) {
  const sim::Block* block = sim::find_block(machine, now.block);
  if (!block) return "";
  for (const sim::AsyncOperation& o : block->flight.operations) {
    sim::Multiplication m;
    if (!sim::is_multiplication(o) || sim::decode(sim::MultiplicationWords::of(o), m)) continue;
    if (!m.product.shape.scale_block) continue;
    for (const sim::ScaleFactors* factors : {&m.a_scales, &m.b_scales}) {
      const auto row = factors->row_in({cell.lane, cell.column});
      if (!row) continue;
      const char* one = factors == &m.a_scales ? "row" : "column";
      const char* whose = factors == &m.a_scales ? "A" : "B";
      const std::uint32_t last = factors->id + factors->count - 1;
      return factors->count == 1
                 ? fmt::format("{} {} of {}: byte {}", one, *row, whose, factors->id)
                 : fmt::format("{} {} of {}: bytes {}-{}{}", one, *row, whose, factors->id, last,
                               last < 4 ? "" : ", from the first cell on");
    }
  }
  return "";
}

InspectorSection memory_section(const Session& session, const MemoryNow& now) {
  InspectorSection section{"Shared memory", {}, ""};
  section.lines.emplace_back("CTA", fmt::format("{}, {}", now.block, now.state));
  section.lines.emplace_back("bytes", grouped(now.bytes()));
  std::size_t coming = 0, leaving = 0, written = 0;
  for (const MemoryTile& tile : now.tiles) {
    coming += tile.coming();
    leaving += tile.leaving();
  }
  for (const MemoryPart& part : now.parts) written += part.kind == MemoryPart::Kind::written;
  const auto count = [&](const char* name, std::size_t number) {
    if (number > 0) section.lines.emplace_back(name, fmt::format("{}", number));
  };
  count("tiles by TMA", now.tiles.size() - coming - leaving);
  count("coming", coming);
  count("leaving", leaving);
  count("written by threads", written);
  count("mbarriers", now.mbarriers.size());
  for (const MemoryPart& part : now.parts) {
    const bool seen = part.kind == MemoryPart::Kind::tile || part.kind == MemoryPart::Kind::written;
    if (!seen) continue;
    const bool current = session.state.spot.byte && *session.state.spot.byte >= part.begin &&
                         *session.state.spot.byte < part.end;
    const MemoryTile* tile = now.tile_in(part);
    const std::string where = tile ? tile->where() : "";
    section.links.push_back(
        {part.name, fmt::format("{}{}byte {}", where, where.empty() ? "" : ", ", part.begin),
         fmt::format("look byte {}", part.begin), current});
  }
  return section;
}

InspectorSection tensor_section(const TensorNow& now) {
  InspectorSection section{"TMEM", {}, ""};
  section.lines.emplace_back("CTA", fmt::format("{}, {}", now.block, now.state));
  u32 columns = 0;
  for (std::size_t i = 0; i < now.allocations.size(); ++i) {
    const sim::Allocation& each = now.allocations[i];
    columns += each.columns;
    section.lines.emplace_back(
        fmt::format("columns {} to {}", each.column, each.column + each.columns - 1),
        now.allocators[i]);
  }
  section.lines.emplace_back("allocated", fmt::format("{} of 512 columns", columns));
  for (const sim::OperationState& o : now.operations) {
    section.lines.emplace_back("in flight", fmt::format("{} {}, warp {}: {}", o.name, o.number,
                                                        o.issuer.warp, sim::name_of(o.stage)));
  }
  return section;
}

// Of the value that the byte belongs to, the lowest address last.
std::string bits_text(const MemoryNow& now, u32 byte) {
  const auto width = static_cast<u32>(bytes_of(now.type_at(byte)));
  const u32 begin = byte / width * width, end = std::min(begin + width, now.bytes());
  std::string out = "0x";
  for (u32 at = end; at-- > begin;) {
    out += fmt::format("{:02x}", std::to_integer<unsigned>(now.values[at]));
  }
  return out;
}

}  // namespace

Lines byte_lines(const Session& session, u32 byte) {
  Lines lines;
  const sim::Machine* machine = machine_of(session);
  const auto now = shared_memory_of(session);
  if (!machine || !now || byte >= now->bytes()) {
    lines.emplace_back("byte", fmt::format("{}: after the end of the CTA's memory", byte));
    return lines;
  }
  lines.emplace_back("byte", fmt::format("{} (0x{:x})", byte, byte));
  lines.emplace_back("bank", fmt::format("{}", byte / 4 % 32));
  const MemoryPart* part = now->part_at(byte);
  if (part) lines.emplace_back("in", part->name);
  if (part && part->there) {
    add_element(lines, *machine, *now, now->tiles[*part->there], byte, "element");
  }
  if (part && part->coming) {
    add_element(lines, *machine, *now, now->tiles[*part->coming], byte,
                part->there ? "will be" : "element");
  }
  const DType type = now->type_at(byte);
  lines.emplace_back(fmt::format("as {}", name_of(type)), now->value_at(byte));
  lines.emplace_back("bits", bits_text(*now, byte));
  const auto state = sim::shared_bytes(*machine, now->block, byte, 1);
  if (!state.empty()) add_writer(lines, state.front().writer);
  for (const sim::OperationState& o : now->operations) {
    if (o.stage < sim::Stage::read && has(o.reads, byte)) {
      lines.emplace_back("in flight", operation_text(o, "reads it"));
    }
    if (o.stage < sim::Stage::written && has(o.writes, byte)) {
      lines.emplace_back("in flight", operation_text(o, "writes it"));
    }
  }
  return lines;
}

Lines cell_lines(const Session& session, RunCursor::Cell cell) {
  Lines lines;
  const sim::Machine* machine = machine_of(session);
  const auto now = tensor_memory_of(session);
  if (!machine || !now) return lines;
  lines.emplace_back("lane", fmt::format("{}", cell.lane));
  lines.emplace_back("column", fmt::format("{}", cell.column));
  lines.emplace_back("reached by",
                     fmt::format("warps whose number is {} modulo 4", cell.lane / 32));
  if (!now->owns(cell.column)) {
    lines.emplace_back("allocated", "no: the CTA does not own this column");
    return lines;
  }
  const std::size_t index = now->index(cell.lane, cell.column);
  const u32 bits = now->bits[index];
  if (now->undefined[index]) {
    lines.emplace_back("value", now->undefined[index] != 15 ? "partly undefined"
                                : now->writer_of(cell.lane, cell.column)
                                    ? "undefined: not written yet"
                                    : "undefined");
  } else {
    const std::array<std::byte, 4> bytes = {std::byte(bits), std::byte(bits >> 8),
                                            std::byte(bits >> 16), std::byte(bits >> 24)};
    lines.emplace_back("bits", fmt::format("0x{:08x}", bits));
    lines.emplace_back("as f32", element_text(DType::f32, bytes.data()));
    lines.emplace_back("as two f16", fmt::format("{}, {}", element_text(DType::f16, bytes.data()),
                                                 element_text(DType::f16, bytes.data() + 2)));
  }
  if (const auto at = accumulator_place(*machine, *now, cell)) {
    lines.emplace_back("accumulator", fmt::format("row {}, column {}", at->first, at->second));
    const auto writes =
        std::find_if(now->operations.begin(), now->operations.end(),
                     [&](const sim::OperationState& o) { return has(o.cells.written, cell); });
    const auto shared = shared_memory_of(session);
    const std::string element =
        shared ? output_element(*machine, *shared,
                                writes == now->operations.end() ? nullptr : &*writes, at->first,
                                at->second)
               : "";
    if (!element.empty()) lines.emplace_back("element", element);
  }
  if (const std::string scales = scale_factors_in(*machine, *now, cell); !scales.empty()) {
    lines.emplace_back("scale factors", scales);
  }
  const TensorNow::Writer* by = now->writer_of(cell.lane, cell.column);
  if (by) {
    // A writer is known from the issue of its product on.
    const bool flies = std::any_of(
        now->operations.begin(), now->operations.end(), [&](const sim::OperationState& o) {
          return by->product && o.stage < sim::Stage::written && o.issuer.warp == by->warp &&
                 o.issuer.ptx_line == by->site.ptx_line && has(o.cells.written, cell);
        });
    lines.emplace_back(!flies                  ? "written by"
                       : now->undefined[index] ? "to be written by"
                                               : "being added to by",
                       by->name);
    lines.emplace_back("at", line_text(by->site));
  } else {
    lines.emplace_back("written by", now->undefined[index] ? "nobody yet" : "a tcgen05.cp");
  }
  for (const sim::OperationState& o : now->operations) {
    if (has(o.cells.written, cell)) {
      lines.emplace_back("in flight", operation_text(o, "writes it"));
    } else if (has(o.cells.read, cell)) {
      lines.emplace_back("in flight", operation_text(o, "reads it"));
    }
  }
  return lines;
}

namespace {

void inspect_places(const Session& session, const RunCursor& spot, bool tensor,
                    std::vector<InspectorSection>& out) {
  if (tensor) {
    const auto& hover = session.hovered.tmem;
    out.push_back({"Under the pointer", hover ? cell_lines(session, *hover) : Lines{},
                   "Point at a cell to see its numbers; click to select it."});
    if (spot.cell) out.push_back({"Selected", cell_lines(session, *spot.cell), ""});
    if (const auto now = tensor_memory_of(session)) out.push_back(tensor_section(*now));
    return;
  }
  const auto& hover = session.hovered.byte;
  out.push_back({"Under the pointer", hover ? byte_lines(session, *hover) : Lines{},
                 "Point at a byte to see what it is; click to select it."});
  if (spot.byte) {
    InspectorSection section{"Selected", byte_lines(session, *spot.byte), ""};
    section.links.push_back({"Matrices", "its place there", "select matrices", false});
    out.push_back(std::move(section));
  }
  if (const auto now = shared_memory_of(session)) out.push_back(memory_section(session, *now));
}

}  // namespace

void inspect_memory(const Session& session, std::vector<InspectorSection>& all) {
  const RunCursor& spot = session.state.spot;
  const bool tensor = session.state.view == ViewName::tmem;
  const sim::Machine* machine = machine_of(session);
  if (!machine || (!tensor && session.state.view != ViewName::memory)) return;
  std::vector<InspectorSection> out;
  inspect_places(session, spot, tensor, out);
  // What is pointed at stands first, but for a fault.
  all.insert(machine->faulted() ? all.end() : all.begin(), out.begin(), out.end());
}

void add_memory_choices(const Session& session, std::vector<Choice>& out) {
  const MemoryChoice& choice = session.state.memory;
  if (session.state.view == ViewName::memory) {
    // What threads wrote has the order of memory alone.
    const auto now = shared_memory_of(session);
    if (now && !now->tiles.empty()) {
      out.push_back({"Order",
                     {{"logical", "memory order logical", !choice.physical && !choice.both},
                      {"physical", "memory order physical", choice.physical},
                      {"both", "memory order both", choice.both}}});
    }
    Choice colour{"Colour", {}};
    for (const Colour by : {Colour::tile, Colour::writer, Colour::value}) {
      colour.options.push_back({std::string(name_of(by)),
                                fmt::format("memory colour {}", name_of(by)), by == choice.colour});
    }
    out.push_back(std::move(colour));
  }
  if (session.state.view == ViewName::matrices && session.state.live) {
    const auto view = matrices_now(session);
    if (view && view->has_sums()) {
      out.push_back({"Sums",
                     {{"value", "matrices sums value", !choice.sums_by_thread},
                      {"thread", "matrices sums thread", choice.sums_by_thread}}});
    }
  }
  if (session.state.view == ViewName::tmem) {
    const PipelineNow* pipeline = pipeline_of_moment(session);
    const bool steps = pipeline && !pipeline->sums.empty();
    Choice colour{"Colour", {}};
    using Tensor = MemoryChoice::Tensor;
    // Without a record there are no steps, and writers stand for them.
    const Tensor shown = choice.tensor == Tensor::step && !steps ? Tensor::writer : choice.tensor;
    for (const Tensor by : {Tensor::step, Tensor::writer, Tensor::value}) {
      if (by == Tensor::step && !steps) continue;
      colour.options.push_back(
          {std::string(name_of(by)), fmt::format("tmem colour {}", name_of(by)), by == shown});
    }
    out.push_back(std::move(colour));
  }
}

}  // namespace tilescope
