// Shared memory of a block: the tiles that lie in it, and who wrote what.
#include <fmt/format.h>

#include "viz/scene/machine_scene.h"
#include "viz/scene/number_words.h"

namespace tilescope {
namespace {

// "rows 0 to 63, columns 64 to 127": innermost last, as a matrix is spoken of.
std::string part_of(const sim::Box& box) {
  std::string out;
  for (std::uint32_t d = box.map.rank; d-- > 0;) {
    const std::int64_t from = box.start[d];
    out += fmt::format("{}{}:{}", out.empty() ? "" : ", ", from, from + box.map.box[d]);
  }
  return "[" + out + "]";
}

TableRow heading(std::string text) {
  TableRow row;
  row.heading = true;
  row.cells = {{std::move(text), Role::quiet, {}}};
  return row;
}

}  // namespace

double draw_memory(Scene& scene, const MachineShown& shown, const Box& room, Scroll& scroll) {
  const sim::Machine& machine = shown.machine();
  Table table;
  table.name = "shared memory";
  table.columns = {{"bytes", Across::left, Family::mono},
                   {"what", Across::left, Family::mono, 0, false, 280},
                   {"swizzle", Across::left, Family::mono},
                   {"state", Across::left, Family::sans},
                   {"by", Across::left, Family::sans, 0, true}};
  const auto tiles = sim::tiles_of(machine, shown.spot.block);
  if (!tiles.empty()) table.rows.push_back(heading("tiles of tensors, copied by TMA"));
  for (const sim::TileState& tile : tiles) {
    const sim::Box& box = tile.tile.box;
    const std::string name = tile.buffer ? machine.shells()[*tile.buffer].name : "a tensor";
    const std::string state = tile.in_flight
                                  ? fmt::format("{}: {}", tile.tile.stored ? "leaving" : "coming",
                                                sim::name_of(*tile.in_flight))
                              : tile.tile.stored ? "was taken"
                                                 : "is there";
    TableRow row;
    row.command = fmt::format("look byte {}", tile.tile.begin());
    row.hint = "looks at its first byte";
    row.selected = shown.spot.byte && *shown.spot.byte >= tile.tile.begin() &&
                   *shown.spot.byte < tile.tile.end();
    row.cells = {{fmt::format("{} to {}", tile.tile.begin(), tile.tile.end() - 1), Role::text, {}},
                 {name + part_of(box), Role::text, {}},
                 {std::string(name_of(box.map.swizzle)), Role::quiet, {}},
                 {state, tile.in_flight ? Ink(Role::accent) : Ink(Role::text), {}},
                 {text(tile.issuer), Role::quiet, {}}};
    table.rows.push_back(std::move(row));
  }
  const auto pieces = sim::written_pieces(machine, shown.spot.block);
  if (!pieces.empty()) table.rows.push_back(heading("who wrote what"));
  for (const sim::WrittenPiece& piece : pieces) {
    TableRow row;
    row.command = fmt::format("look byte {}", piece.begin);
    row.hint = "looks at its first byte";
    std::string by = "nobody";
    if (piece.pc) {
      by = fmt::format("block {}, warp {}: {}", piece.block, piece.warp,
                       instruction_text(machine.program().code[*piece.pc].text));
    }
    row.cells = {{fmt::format("{} to {}", piece.begin, piece.end - 1), Role::text, {}},
                 {fmt::format("{} bytes", grouped(piece.end - piece.begin)), Role::quiet, {}},
                 {"", Role::text, {}},
                 {piece.undefined ? "undefined" : "", Role::quiet, {}},
                 {by, Role::text, {}}};
    table.rows.push_back(std::move(row));
  }
  const std::string state = state_of_block(machine, shown.spot.block);
  table.when_empty = state == "resident" ? "The block has no shared memory."
                                         : fmt::format("Block {} {}: it has no shared memory.",
                                                       shown.spot.block, state);
  return draw_table(scene, table, room, scroll);
}

}  // namespace tilescope
