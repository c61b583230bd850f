// Bytes, cells and elements of a machine that stands still, and who wrote them.
#include <algorithm>

#include "core/numeric/dtype.h"
#include "core/sim/stepping/find_block.h"
#include "core/sim/stepping/inspect.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

std::optional<Site> writer_of(const Machine& machine, const Region& region, u64 offset) {
  const Writer writer = region.writer(offset);
  if (!writer) return {};
  return machine.site_of(writer);
}

// Of those that wrote a cell, or are to, the one that was issued last.
std::optional<Site> writer_of_cell(const Machine& machine, const Block& block, u32 lane,
                                   u32 column) {
  const TensorEvent* last = nullptr;
  for (const TensorEvent* e : block.tensor.past.touching({{lane, 1, column, 1}})) {
    if (e->writes && (!last || e->at > last->at)) last = e;
  }
  if (!last) return {};
  const Block* by = last->by_peer ? machine.member(block, block.rank ^ 1) : &block;
  return machine.site(by ? *by : block, last->warp * 32, last->pc);
}

}  // namespace

std::vector<ByteState> shared_bytes(const Machine& machine, u64 block, u64 begin, u64 count) {
  std::vector<ByteState> out;
  const Block* b = find_block(machine, block);
  if (!b || begin >= b->shared.size()) return out;
  const u64 end = begin + std::min(count, b->shared.size() - begin);
  for (u64 at = begin; at < end; ++at) {
    out.push_back(
        {b->shared.data()[at], b->shared.is_undefined(at), writer_of(machine, b->shared, at)});
  }
  return out;
}

std::vector<TileState> tiles_of(const Machine& machine, u64 block) {
  std::vector<TileState> out;
  const Block* b = find_block(machine, block);
  if (!b) return out;
  const auto add = [&](const SharedTile& tile, std::optional<Stage> in_flight) {
    const Block* by = tile.issuer == b->rank ? b : machine.member(*b, tile.issuer);
    TileState state{tile, {}, by ? by->number : b->number, {}, in_flight};
    if (by) state.issuer = machine.site(*by, tile.thread, tile.pc);
    for (std::size_t i = 0; i < machine.shells().size(); ++i) {
      const Region& region = machine.buffer(i);
      const u64 address = tile.box.map.address;
      if (address >= region.base() && address - region.base() < region.size()) state.buffer = i;
    }
    out.push_back(std::move(state));
  };
  for (const SharedTile& tile : b->tiles.all()) add(tile, {});
  for (const AsyncOperation& o : b->flight.operations) {
    const auto tile = tile_of(o);
    const Stage landed = tile && tile->stored ? Stage::read : Stage::written;
    if (tile && o.stage < landed) add(*tile, o.stage);
  }
  return out;
}

std::optional<ElementState> element(const Machine& machine, std::size_t buffer, u64 index) {
  if (buffer >= machine.shells().size()) return {};
  const DType type = machine.shells()[buffer].dtype;
  const Region& region = machine.buffer(buffer);
  const auto bytes = static_cast<u64>(bytes_of(type));
  if (index >= region.size() / bytes) return {};
  ElementState out;
  out.value = load_element(type, region.data() + index * bytes);
  out.undefined = region.any_undefined(index * bytes, bytes);
  out.writer = writer_of(machine, region, index * bytes);
  return out;
}

std::vector<Allocation> columns_of(const Machine& machine, u64 block) {
  const Block* b = find_block(machine, block);
  return b ? b->tensor.memory.allocations() : std::vector<Allocation>{};
}

std::vector<CellState> cells_of(const Machine& machine, u64 block, u32 lane, u32 column,
                                u32 count) {
  std::vector<CellState> out;
  const Block* b = find_block(machine, block);
  if (!b || lane >= TensorMemory::lanes) return out;
  const TensorMemory& memory = b->tensor.memory;
  for (u32 at = column; at < TensorMemory::columns && at - column < count; ++at) {
    if (!memory.owns(at, 1)) break;
    out.push_back(
        {memory.row(lane)[at], memory.undefined(lane, at), writer_of_cell(machine, *b, lane, at)});
  }
  return out;
}

}  // namespace tilescope::sim
