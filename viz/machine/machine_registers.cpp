// The registers of a warp that are alive where it stands: of the lane looked at, and of all.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/numeric/small_float.h"
#include "viz/machine/machine_accumulators.h"
#include "viz/machine/machine_scene.h"

namespace tilescope {
namespace {

using ptx::Type;
using sim::RegisterValue;

std::string hex(const RegisterValue& value, std::uint32_t lane) {
  if (value.type == Type::pred) return value.low[lane] ? "true" : "false";
  const int width = ptx::bytes_of(value.type);
  if (value.undefined[lane]) return "undefined";
  if (width == 16) return fmt::format("0x{:016x}{:016x}", value.high[lane], value.low[lane]);
  return fmt::format("0x{:0{}x}", value.low[lane], 2 * width);
}

std::string number(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value);
}

// What the bits say as a number of the usual types: registers of PTX are bits, whatever is
// declared.
std::string as_integer(const RegisterValue& value, std::uint32_t lane) {
  if (value.type == Type::pred || value.undefined[lane]) return "";
  switch (ptx::bytes_of(value.type)) {
    case 2:
      return fmt::format("{}", static_cast<std::int16_t>(value.low[lane]));
    case 4:
      return fmt::format("{}", static_cast<std::int32_t>(value.low[lane]));
    case 8:
      return fmt::format("{}", static_cast<std::int64_t>(value.low[lane]));
    default:
      return "";
  }
}
std::string as_float(const RegisterValue& value, std::uint32_t lane) {
  if (value.type == Type::pred || value.undefined[lane]) return "";
  const std::uint64_t bits = value.low[lane];
  switch (ptx::bytes_of(value.type)) {
    case 2:
      return number(decode(format_f16, static_cast<std::uint32_t>(bits & 0xffff)));
    case 4:
      return number(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
    case 8:
      return number(std::bit_cast<double>(bits));
    default:
      return "";
  }
}
std::string as_halves(const RegisterValue& value, std::uint32_t lane) {
  if (value.undefined[lane] || value.type == Type::pred || ptx::bytes_of(value.type) != 4)
    return "";
  const auto bits = static_cast<std::uint32_t>(value.low[lane]);
  return fmt::format("{}, {}", number(decode(format_f16, bits & 0xffff)),
                     number(decode(format_f16, bits >> 16)));
}

// How it differs from lane to lane: equal, in steps, or neither.
std::string across_lanes(const RegisterValue& value, std::uint32_t live) {
  std::uint32_t first = 32, last = 32;
  std::int64_t step = 0;
  bool equal = true, steps = true;
  std::uint32_t undefined = 0;
  std::uint32_t ones = 0, lanes = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (!(live >> lane & 1)) continue;
    ++lanes;
    ones += value.low[lane] ? 1 : 0;
    undefined += value.undefined[lane] ? 1 : 0;
    if (first == 32) {
      first = lane;
    } else {
      const auto by = static_cast<std::int64_t>(value.low[lane] - value.low[last]);
      equal = equal && by == 0 && value.high[lane] == value.high[last];
      if (last == first) step = by;
      steps = steps && by == step && lane == last + 1;
    }
    last = lane;
  }
  if (undefined) return undefined == lanes ? "undefined in all lanes" : "undefined in some lanes";
  if (value.type == Type::pred) {
    return ones == 0       ? "false in all"
           : ones == lanes ? "true in all"
                           : fmt::format("true in {} of {}", ones, lanes);
  }
  if (equal) return "the same in all lanes";
  if (steps) return fmt::format("lane by lane {:+}", step);
  return "";
}

// A register's contents in all lanes, as many in a row as there is room for.
void add_lanes(Table& table, const RegisterValue& value, std::uint32_t looked_at, double room) {
  const auto each = [&](std::uint32_t lane) {
    return fmt::format("{}{:>2}: {}  ", lane == looked_at ? '>' : ' ', lane, hex(value, lane));
  };
  std::size_t widest = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) widest = std::max(widest, each(lane).size());
  std::uint32_t in_row = 8;
  while (in_row > 1 && text_width(std::string(widest * in_row - 2, '0'), small_text, Family::mono) >
                           0.97 * room) {  // a screen's letters are up to a thirtieth wider
    in_row /= 2;
  }
  for (std::uint32_t lane = 0; lane < 32; lane += in_row) {
    std::string text;
    for (std::uint32_t l = lane; l < lane + in_row; ++l) text += each(l);
    TableRow row;
    row.code = true;
    row.cells = {{text.substr(0, text.find_last_not_of(' ') + 1), Role::text, {}}};
    table.rows.push_back(std::move(row));
  }
}

}  // namespace

double draw_registers(Scene& scene, const MachineShown& shown, const Box& whole,
                      const AccumulatorFrame* accumulator, Scroll& scroll) {
  const RunCursor& spot = shown.spot;
  const double above = accumulator ? draw_accumulators(scene, shown, *accumulator) : 0;
  const Box room{whole.x, whole.y + above, whole.width, whole.height - above};
  const auto warps = sim::warps_of(shown.machine(), spot.block);
  Table table;
  table.name = "registers";
  table.columns = {{"register", Across::left, Family::mono},
                   {"type", Across::left, Family::mono},
                   {fmt::format("lane {}", spot.lane), Across::right, Family::mono},
                   {"as an integer", Across::right, Family::mono},
                   {"as f16, f32 or f64", Across::right, Family::mono},
                   {"as two f16", Across::right, Family::mono},
                   {"from lane to lane", Across::left, Family::sans, 0, true}};
  table.columns[3].spared = 1;
  table.columns[4].spared = 2;
  table.columns[5].spared = 3;
  table.columns[6].least = text_width("undefined in some lanes", small_text, Family::sans);
  if (spot.warp >= warps.size() || warps[spot.warp].splits.empty()) {
    table.when_empty =
        warps.empty()
            ? nothing_of_block(shown.machine(), spot.block, "registers")
            : fmt::format("Warp {} has exited. Choose another one above, or step back.", spot.warp);
    return draw_table(scene, table, room, scroll);
  }
  const sim::WarpState& warp = warps[spot.warp];
  const std::size_t split = sim::split_of_lane(warp, spot.lane);
  const auto values = shown.run.registers.all(shown.machine(), spot.block, spot.warp, split);
  table.when_empty = "No register holds anything that is still wanted here.";
  const bool found = spot.name.empty() ||
                     std::any_of(values.begin(), values.end(),
                                 [&](const RegisterValue& each) { return each.name == spot.name; });
  if (!found) {
    TableRow row;
    row.heading = true;
    row.cells = {{fmt::format("{} holds nothing that is wanted here: it is written later, or its "
                              "last use is over.",
                              spot.name),
                  Role::quiet,
                  {}}};
    table.rows.push_back(std::move(row));
  }
  for (const RegisterValue& value : values) {
    TableRow row;
    row.selected = value.name == spot.name;
    row.command = fmt::format("look register {}", value.name);
    row.hint = "shows it in all lanes";
    // Not wrong in itself: nobody has written it, or whoever did had nothing defined to write.
    const Ink ink = value.undefined[spot.lane] ? Ink(Role::quiet) : Ink(Role::text);
    row.cells = {{value.name, Role::text, {}},
                 {std::string(ptx::name_of(value.type)), Role::quiet, {}},
                 {hex(value, spot.lane), ink, {}},
                 {as_integer(value, spot.lane), Role::text, {}},
                 {as_float(value, spot.lane), Role::text, {}},
                 {as_halves(value, spot.lane), Role::text, {}},
                 {across_lanes(value, warp.splits[split].lanes), Role::quiet, {}}};
    if (row.selected) table.focus = table.rows.size();
    table.rows.push_back(std::move(row));
    if (value.name != spot.name) continue;
    add_lanes(table, value, spot.lane, room.width - 2 * table_edge);
  }
  return draw_table(scene, table, room, scroll);
}

}  // namespace tilescope
