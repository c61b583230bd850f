#include "viz/machine/memory_now.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/numeric/number_text.h"
#include "core/sim/stepping/find_block.h"
#include "viz/machine/machine_scene.h"
#include "viz/scene/number_words.h"
#include "viz/scene/site_words.h"

namespace tilescope {
namespace {

using u32 = std::uint32_t;
using Kind = MemoryPart::Kind;

constexpr u32 word = 4;
// A stretch of memory that one line of the source wrote, or nobody, is a part of its own from here
// on; shorter ones stay with their neighbours.
constexpr u32 smallest_part = 512;

// N of "full[N]".
std::optional<u32> number_in(const std::string& barrier) {
  const std::size_t open = barrier.find('[');
  if (open == barrier.npos || barrier.back() != ']') return {};
  u32 out = 0;
  for (std::size_t i = open + 1; i + 1 < barrier.size(); ++i) {
    out = out * 10 + static_cast<u32>(barrier[i] - '0');
  }
  return out;
}

void add_tiles(MemoryNow& now, const sim::Machine& machine) {
  for (sim::TileState& state : sim::tiles_of(machine, now.block)) {
    MemoryTile tile;
    tile.name = (state.buffer ? machine.shells()[*state.buffer].name : std::string("a tensor")) +
                " " + extent_text(state.tile.box);
    const BarrierNames& barriers = machine.barrier_names();
    const auto named = barriers.find(state.tile.mbarrier.value_or(sim::no_mbarrier));
    if (named != barriers.end()) tile.stage = number_in(named->second);
    tile.state = std::move(state);
    sim::for_rows(tile.box(), [&](const sim::BoxRow& row) {
      tile.rows.push_back(row);
      return true;
    });
    now.tiles.push_back(std::move(tile));
  }
  for (MemoryTile& tile : now.tiles) {
    const sim::SharedTile& lies = tile.state.tile;
    if (tile.state.in_flight || lies.stored) continue;
    for (u32 row = 0; row < tile.box().rows() && !tile.written_over; ++row) {
      const u32 at = byte_of(tile.box(), {row, 0});
      tile.written_over = at < now.bytes() && now.writers[at / word].pc() != lies.pc;
    }
  }
  // The places of a tensor's boxes, by their addresses.
  for (MemoryTile& tile : now.tiles) {
    std::vector<u32> begins;
    for (const MemoryTile& other : now.tiles) {
      const bool alike = other.state.buffer == tile.state.buffer &&
                         other.box().bytes() == tile.box().bytes() &&
                         other.state.tile.stored == tile.state.tile.stored;
      if (alike) begins.push_back(other.state.tile.begin());
    }
    std::sort(begins.begin(), begins.end());
    begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
    tile.slots = static_cast<u32>(begins.size());
    tile.slot = static_cast<u32>(std::find(begins.begin(), begins.end(), tile.state.tile.begin()) -
                                 begins.begin());
  }
}

// What lies in [begin, end), or is coming there: one part for both, where they cover each other.
void add_tile_parts(MemoryNow& now) {
  std::vector<std::size_t> order(now.tiles.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return now.tiles[a].state.tile.begin() < now.tiles[b].state.tile.begin();
  });
  for (const std::size_t i : order) {
    const sim::SharedTile& tile = now.tiles[i].state.tile;
    const u32 end = std::min(tile.end(), now.bytes());
    if (tile.begin() >= end) continue;
    MemoryPart* last = now.parts.empty() ? nullptr : &now.parts.back();
    if (!last || last->end <= tile.begin()) {
      MemoryPart part;
      part.kind = Kind::tile;
      part.begin = tile.begin();
      part.end = end;
      now.parts.push_back(std::move(part));
      last = &now.parts.back();
    }
    last->end = std::max(last->end, end);
    (now.tiles[i].state.in_flight ? last->coming : last->there) = i;
  }
  int category = 0;
  for (MemoryPart& part : now.parts) part.category = category++;
}

void name_tile_part(MemoryPart& part, const MemoryNow& now) {
  const MemoryTile& tile = *now.tile_in(part);
  part.name = tile.name;
  std::string state = tile.written_over ? "was copied in, and overwritten since" : "was copied in";
  if (tile.state.tile.stored) state = "was stored from here";
  if (tile.coming()) state = fmt::format("coming, {}", sim::name_of(*tile.state.in_flight));
  if (tile.leaving()) state = fmt::format("leaving, {}", sim::name_of(*tile.state.in_flight));
  if (part.coming && part.there) {
    state += fmt::format("; {} still here", now.tiles[*part.there].name);
  }
  const MapSwizzle swizzle = tile.box().map.swizzle;
  if (const std::string where = tile.where(); !where.empty()) part.detail = where + "; ";
  part.detail += swizzle == MapSwizzle::none ? std::string("no swizzle")
                                             : fmt::format("swizzle {}", name_of(swizzle));
  part.state = std::move(state);
}

// Which line of the source an instruction belongs to: in the kernel's own file.
std::uint64_t line_of(const ptx::Program& program, u32 pc) {
  const ptx::Instruction& each = program.code[pc];
  const bool called = each.caller_line != 0;
  return std::uint64_t{called ? each.caller_file : each.file} << 32 |
         (called             ? each.caller_line
          : each.source_line ? each.source_line
                             : each.line);
}

std::string written_by(const sim::Machine& machine, sim::Writer writer) {
  const Site site = machine.site_of(writer);
  const bool called = site.caller_line != 0;
  const std::string file = file_name(called ? site.caller : site.source);
  const u32 line = called ? site.caller_line : site.source_line;
  const auto& code = machine.program().code;
  std::string what =
      writer.pc() < code.size() ? std::string(sim::opcode_text(code[writer.pc()].text)) : "";
  if (!line) return fmt::format("written by {} (PTX line {})", what, site.ptx_line);
  return fmt::format("written by {} at {}:{}", what, file, line);
}

// What threads wrote in [begin, end), cut where another line did so or nobody has.
void add_written(MemoryNow& now, const sim::Machine& machine, u32 begin, u32 end,
                 const std::string& name, std::vector<MemoryPart>& out) {
  const ptx::Program& program = machine.program();
  const auto key = [&](u32 at) {
    const sim::Writer writer = now.writers[at / word];
    return writer && writer.pc() < program.code.size() ? line_of(program, writer.pc()) + 1 : 0;
  };
  const std::size_t first = out.size();
  std::uint64_t last_key = 0;
  for (u32 at = begin; at < end;) {
    const std::uint64_t own = key(at);
    u32 to = at;
    while (to < end && key(to) == own) to = std::min(end, (to / word + 1) * word);
    const bool fresh = out.size() == first;
    // A short stretch stays with what is before it; what follows alike, too.
    const bool joins =
        !fresh &&
        (own == last_key || to - at < smallest_part ||
         (out.back().bytes() < smallest_part && out.back().kind == Kind::written && own != 0));
    if (joins) {
      out.back().end = to;
      if (own) out.back().kind = Kind::written;
    } else {
      MemoryPart part;
      part.kind = own ? Kind::written : Kind::untouched;
      part.begin = at;
      part.end = to;
      out.push_back(std::move(part));
      last_key = own;
    }
    at = to;
  }
  for (std::size_t i = first; i < out.size(); ++i) {
    MemoryPart& part = out[i];
    sim::Writer writer;
    for (u32 at = part.begin; at < part.end && !writer; at += word) writer = now.writers[at / word];
    const bool many = out.size() - first > 1;
    part.name = name.empty() ? fmt::format("{} bytes", grouped(part.bytes()))
                : many       ? fmt::format("{}, from byte {} of it", name, part.begin - begin)
                             : name;
    part.detail = writer ? written_by(machine, writer) : "nobody has written here";
  }
}

// "a_tile" of "_ZZ12matmul_tiledPKfS0_PfiiiE6a_tile": a function's own variable, as C++ mangles it
// (Itanium ABI, <local-name>).
std::string plain_name(std::string_view name) {
  if (name.substr(0, 3) != "_ZZ") return std::string(name);
  for (std::size_t e = name.rfind('E'); e != name.npos && e > 0; e = name.rfind('E', e - 1)) {
    std::size_t at = e + 1, length = 0;
    while (at < name.size() && name[at] >= '0' && name[at] <= '9') {
      length = length * 10 + static_cast<std::size_t>(name[at++] - '0');
    }
    if (at > e + 1 && length > 0 && at + length <= name.size()) {
      return std::string(name.substr(at, length));
    }
  }
  return std::string(name);
}

struct Named {
  u32 begin = 0, end = 0;
  std::string name;
};
std::vector<Named> variables_of(const sim::Machine& machine, u32 bytes) {
  std::vector<Named> out;
  for (const ptx::Placed& each : machine.program().shared) {
    const std::uint64_t begin = each.address, end = begin + each.variable.bytes;
    if (end > begin && end <= bytes) {
      out.push_back(
          {static_cast<u32>(begin), static_cast<u32>(end), plain_name(each.variable.name)});
    }
  }
  std::sort(out.begin(), out.end(),
            [](const Named& a, const Named& b) { return a.begin < b.begin; });
  return out;
}

// Everything that no tile covers: mbarriers, variables, and what else was written.
void fill_gap(MemoryNow& now, const sim::Machine& machine, u32 begin, u32 end,
              const std::vector<Named>& variables, std::vector<MemoryPart>& out) {
  struct Fixed {
    Named what;
    bool mbarrier = false;
  };
  std::vector<Fixed> fixed;
  for (const sim::MbarrierState& each : now.mbarriers) {
    if (each.offset < begin || each.offset + 8 > end) continue;
    const auto variable = std::find_if(variables.begin(), variables.end(), [&](const Named& v) {
      return v.begin <= each.offset && each.offset < v.end;
    });
    // One of a few is told by its number; one inside of a kernel's whole memory has no name.
    constexpr u32 a_few = 256;
    const auto known = machine.barrier_names().find(each.offset);
    std::string name = "mbarrier";
    if (known != machine.barrier_names().end()) {
      name = known->second;
    } else if (variable != variables.end() && variable->end - variable->begin <= a_few) {
      name = variable->name;
      if (variable->end - variable->begin > 8) {
        name += fmt::format("[{}]", (each.offset - variable->begin) / 8);
      }
    }
    fixed.push_back({{each.offset, each.offset + 8, name}, true});
  }
  for (const Named& each : variables) {
    const bool taken = std::any_of(fixed.begin(), fixed.end(), [&](const Fixed& f) {
      return f.what.begin < each.end && each.begin < f.what.end;
    });
    if (!taken && each.begin >= begin && each.end <= end) fixed.push_back({each, false});
  }
  std::sort(fixed.begin(), fixed.end(),
            [](const Fixed& a, const Fixed& b) { return a.what.begin < b.what.begin; });
  u32 at = begin;
  for (const Fixed& each : fixed) {
    if (each.what.begin < at) continue;
    if (at < each.what.begin) add_written(now, machine, at, each.what.begin, "", out);
    if (each.mbarrier) {
      MemoryPart part;
      part.kind = Kind::mbarrier;
      part.begin = each.what.begin;
      part.end = each.what.end;
      part.name = each.what.name;
      out.push_back(std::move(part));
    } else {
      add_written(now, machine, each.what.begin, each.what.end, each.what.name, out);
    }
    at = each.what.end;
  }
  if (at < end) add_written(now, machine, at, end, "", out);
}

void add_parts(MemoryNow& now, const sim::Machine& machine) {
  add_tile_parts(now);
  const std::vector<Named> variables = variables_of(machine, now.bytes());
  std::vector<MemoryPart> all;
  u32 at = 0;
  for (MemoryPart& tile : now.parts) {
    if (at < tile.begin) fill_gap(now, machine, at, tile.begin, variables, all);
    name_tile_part(tile, now);
    at = tile.end;
    all.push_back(tile);
  }
  if (at < now.bytes()) fill_gap(now, machine, at, now.bytes(), variables, all);
  const auto tiles = static_cast<int>(now.parts.size());
  now.parts = std::move(all);
  int category = tiles;
  for (MemoryPart& part : now.parts) {
    if (part.kind == Kind::written) part.category = category++;
  }
  for (MemoryPart& part : now.parts) {
    if (part.kind != Kind::mbarrier) continue;
    for (const sim::MbarrierState& each : now.mbarriers) {
      if (each.offset == part.begin) {
        part.detail = fmt::format("phase {}, {} arrivals{} to come", each.phase, each.pending,
                                  each.bytes ? fmt::format(" and {} bytes", each.bytes) : "");
      }
    }
  }
}

DType type_of_inputs(const sim::Machine& machine) {
  return machine.shells().empty() ? DType::f32 : machine.shells().front().dtype;
}

}  // namespace

std::string extent_text(const sim::Box& box) {
  if (box.walk != sim::Walk::tile) {
    return box.walk == sim::Walk::four_rows ? "(four rows)" : "(columns of pixels)";
  }
  std::string out;
  for (u32 d = box.map.rank; d-- > 0;) {
    const std::int64_t from = box.start[d];
    out += fmt::format("{}{}:{}", out.empty() ? "" : ", ", from, from + box.map.box[d]);
  }
  return "[" + out + "]";
}

u32 byte_of(const sim::Box& box, TilePlace at) {
  return sim::swizzled(box.map.swizzle, box.shared + at.row * box.pitch() + at.byte);
}

std::optional<TilePlace> place_of(const sim::Box& box, u32 byte) {
  const u32 flat = sim::swizzled(box.map.swizzle, byte);
  if (flat < box.shared) return {};
  const TilePlace at{(flat - box.shared) / box.pitch(), (flat - box.shared) % box.pitch()};
  if (at.row >= box.rows() || at.byte >= box.row_bytes()) return {};
  return at;
}

std::string MemoryTile::where() const {
  if (stage) return fmt::format("stage {}", *stage);
  return slots > 1 ? fmt::format("place {}", slot) : "";
}

const MemoryPart* MemoryNow::part_at(u32 byte) const {
  const auto found = std::upper_bound(parts.begin(), parts.end(), byte,
                                      [](u32 b, const MemoryPart& part) { return b < part.end; });
  return found == parts.end() || found->begin > byte ? nullptr : &*found;
}

const MemoryTile* MemoryNow::tile_in(const MemoryPart& part) const {
  if (part.coming) return &tiles[*part.coming];
  return part.there ? &tiles[*part.there] : nullptr;
}

std::optional<TensorElement> MemoryNow::element_at(const MemoryTile& tile, u32 byte) const {
  const auto at = place_of(tile.box(), byte);
  if (!at || !tile.state.buffer) return {};
  const sim::BoxRow& row = tile.rows[at->row];
  const u32 width = tile.box().map.element_bytes(), element = at->byte / width;
  if (element < row.first || element >= row.end) return {};
  const std::size_t buffer = *tile.state.buffer;
  const std::uint64_t address = row.address + std::uint64_t{element - row.first} * width;
  const auto flat = static_cast<std::int64_t>((address - bases[buffer]) / width);
  const std::int64_t length = std::max<std::int64_t>(1, row_lengths[buffer]);
  return TensorElement{buffer, flat / length, flat % length};
}

DType MemoryNow::type_at(u32 byte) const {
  const MemoryPart* part = part_at(byte);
  const MemoryTile* tile = part && part->there ? &tiles[*part->there]
                           : part              ? tile_in(*part)
                                               : nullptr;
  return tile ? tile->type() : type;
}

std::string MemoryNow::value_at(u32 byte) const {
  const DType as = type_at(byte);
  const auto width = static_cast<u32>(bytes_of(as));
  const u32 begin = byte / width * width;
  if (begin + width > bytes()) return "";
  for (u32 at = begin; at < begin + width; ++at) {
    if (undefined[at]) return "undefined";
  }
  return element_text(as, values.data() + begin);
}

std::shared_ptr<const MemoryNow> memory_now(const sim::Machine& machine, std::uint64_t block) {
  auto now = std::make_shared<MemoryNow>();
  now->block = block;
  now->state = state_of_block(machine, block);
  now->threads = static_cast<u32>(machine.launch().block.count());
  now->type = type_of_inputs(machine);
  for (std::size_t i = 0; i < machine.shells().size(); ++i) {
    const auto& shape = machine.shells()[i].shape;
    now->row_lengths.push_back(shape.empty() ? 1 : shape.back());
    now->bases.push_back(machine.buffer(i).base());
  }
  const sim::Block* b = sim::find_block(machine, block);
  if (!b) return now;
  const sim::Region& shared = b->shared;
  now->values.assign(shared.data(), shared.data() + shared.size());
  now->undefined.assign(shared.size(), false);
  if (shared.undefined_bits()) {
    for (std::size_t at = 0; at < shared.size(); ++at) now->undefined[at] = shared.is_undefined(at);
  }
  now->writers.resize((shared.size() + word - 1) / word);
  for (std::size_t i = 0; i < now->writers.size(); ++i) now->writers[i] = shared.writer(i * word);
  now->mbarriers = sim::mbarriers_of(machine, block);
  now->operations = sim::operations_of(machine, block);
  add_tiles(*now, machine);
  add_parts(*now, machine);
  return now;
}

}  // namespace tilescope
