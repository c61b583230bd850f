// The registers of a warp that are alive where it stands: of the lane looked at, and of all.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "core/numeric/small_float.h"
#include "core/sim/stepping/named_values.h"
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

// Variables of the source that are in no register that is kept: in local memory, as builds with -G
// have most of them, or parameters.
void add_variables(Table& table, const std::vector<sim::NamedValue>& named, std::uint32_t lane,
                   std::uint32_t live) {
  bool any = false;
  for (const sim::NamedValue& each : named) {
    if (each.place.of == ptx::DebugVariable::Place::Of::reg && each.known) continue;
    if (!any) {
      TableRow heading;
      heading.heading = true;
      heading.cells = {{"Variables of the source that no register holds", Role::quiet, {}}};
      table.rows.push_back(std::move(heading));
    }
    any = true;
    const bool undefined = each.known && each.value.undefined[lane];
    const std::string at = each.place.of == ptx::DebugVariable::Place::Of::reg
                               ? fmt::format("was in {}", each.where)
                           : each.place.of == ptx::DebugVariable::Place::Of::parameter
                               ? fmt::format("parameter {}", each.where)
                               : fmt::format("at {}", each.where);
    TableRow row;
    row.cells = {{each.variable->name, Role::text, {}},
                 {each.variable->type, Role::quiet, {}},
                 {sim::value_text(each, lane), undefined ? Ink(Role::quiet) : Ink(Role::text), {}},
                 {"", Role::text, {}},
                 {"", Role::text, {}},
                 {"", Role::text, {}},
                 {each.known ? across_lanes(each.value, live) : "", Role::quiet, {}},
                 {at, Role::quiet, {}}};
    if (table.columns.size() < row.cells.size()) {  // no room for where
      row.cells[0].text += "  " + at;
      row.cells.pop_back();
    }
    table.rows.push_back(std::move(row));
  }
}

}  // namespace

namespace {

// Where registers are written: PTX of nvcc with -lineinfo keeps the lines of the source, not the
// names of its variables, so a register is told by the line that wrote it. Names that a compiler
// gives (%warp_id) or inline assembly has (done) are the registers' own.
class Origins {
 public:
  Origins(const MachineShown& shown, std::uint32_t pc)
      : run_(shown.run), program_(shown.machine().program()), pc_(pc) {
    // Of the function that the instruction is in.
    for (const ptx::Routine& routine : program_.routines) {
      if (routine.first <= pc) first_ = std::max(first_, routine.first);
      if (routine.first > pc) end_ = std::min(end_, routine.first);
    }
    end_ = std::min<std::uint32_t>(end_, static_cast<std::uint32_t>(program_.code.size()));
    for (std::uint32_t i = first_; i < end_; ++i) {
      for (const std::string_view name : written(program_.code[i].text)) {
        const auto known = by_name_.find(name);
        // The last one before here, else the first.
        if (known == by_name_.end() || i < pc_) by_name_[name] = i;
      }
    }
  }

  // "hgemm_v7.cu:88  const int row = ..."; empty: not known.
  std::string text(const std::string& name) const {
    const auto known = by_name_.find(name);
    if (known == by_name_.end()) return "";
    const ptx::Instruction& i = program_.code[known->second];
    const SourcePlaces::Place at = run_.places.of[known->second];
    const std::uint32_t line = at.line;
    if (line == 0) return fmt::format("PTX line {}", i.line);
    const std::string& path = run_.places.files[at.file];
    std::string out = fmt::format("{}:{}", path.substr(path.rfind('/') + 1), line);
    const auto source = run_.sources.find(path);
    if (source != run_.sources.end() && line <= source->second.size()) {
      const std::string& whole = source->second[line - 1];
      const std::size_t from = whole.find_first_not_of(" \t");
      if (from != std::string::npos) out += "  " + whole.substr(from);
    }
    return out;
  }

 private:
  // Names in the first operand of an instruction, where that is what it writes: no address, and no
  // instruction that only reads.
  static std::vector<std::string_view> written(std::string_view text) {
    if (!text.empty() && text.front() == '@')
      text.remove_prefix(std::min(text.find(' '), text.size()));
    const auto skip = [&] {
      while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    };
    skip();
    const std::string_view op = text.substr(0, text.find_first_of(" \t"));
    for (const std::string_view reads : {"bar", "nanosleep", "tcgen05.dealloc", "brx", "call",
                                         "setmaxnreg", "st", "red", "stackrestore"}) {
      if (op.substr(0, reads.size()) == reads) return {};
    }
    text.remove_prefix(op.size());
    skip();
    const bool vector = !text.empty() && text.front() == '{';
    text = text.substr(0, text.find(vector ? '}' : ','));
    std::vector<std::string_view> out;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find_first_of("{|, \t;"), text.size());
      if (end > 0) out.push_back(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
  }

  const LiveRun& run_;
  const ptx::Program& program_;
  std::uint32_t pc_, first_ = 0, end_ = ~0u;
  std::map<std::string_view, std::uint32_t> by_name_;
};

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
                   {"from lane to lane", Across::left, Family::sans, 0, false, 190},
                   {"written at", Across::left, Family::mono, 0, true, 1e9, true}};
  table.columns[3].spared = 1;
  table.columns[4].spared = 2;
  table.columns[5].spared = 3;
  table.columns[6].least = text_width("undefined in some lanes", small_text, Family::sans);
  table.columns[7].least = 280;
  constexpr double room_for_lines = 700;
  if (room.width < room_for_lines) {
    table.columns.pop_back();
    table.columns[6].stretches = true;
  }
  if (spot.warp >= warps.size() || warps[spot.warp].splits.empty()) {
    table.when_empty =
        warps.empty()
            ? nothing_of_block(shown.machine(), spot.block, "registers")
            : fmt::format("Warp {} has exited. Choose another one above, or step back.", spot.warp);
    return draw_table(scene, table, room, scroll);
  }
  const sim::WarpState& warp = warps[spot.warp];
  const std::size_t split = sim::split_of_lane(warp, spot.lane);
  const Origins origins(shown, warp.splits[split].pc);
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
  const auto named = sim::named_values(shown.machine(), shown.run.registers, shown.run.names,
                                       spot.block, spot.warp, split);
  std::map<std::string_view, std::string> called;  // registers, by the variables they hold
  for (const sim::NamedValue& each : named) {
    if (each.place.of != ptx::DebugVariable::Place::Of::reg) continue;
    std::string& text = called[each.place.name];
    text += (text.empty() ? "" : ", ") + each.variable->name;
  }
  for (const RegisterValue& value : values) {
    TableRow row;
    row.selected = value.name == spot.name;
    row.command = fmt::format("look register {}", value.name);
    row.hint = "shows it in all lanes";
    // Not wrong in itself: nobody has written it, or whoever did had nothing defined to write.
    const Ink ink = value.undefined[spot.lane] ? Ink(Role::quiet) : Ink(Role::text);
    const auto variable = called.find(value.name);
    row.cells = {
        {value.name + (variable == called.end() ? "" : "  " + variable->second), Role::text, {}},
        {std::string(ptx::name_of(value.type)), Role::quiet, {}},
        {hex(value, spot.lane), ink, {}},
        {as_integer(value, spot.lane), Role::text, {}},
        {as_float(value, spot.lane), Role::text, {}},
        {as_halves(value, spot.lane), Role::text, {}},
        {across_lanes(value, warp.splits[split].lanes), Role::quiet, {}},
        {origins.text(value.name), Role::quiet, {}}};
    if (row.selected) table.focus = table.rows.size();
    table.rows.push_back(std::move(row));
    if (value.name != spot.name) continue;
    add_lanes(table, value, spot.lane, room.width - 2 * table_edge);
  }
  add_variables(table, named, spot.lane, warp.splits[split].lanes);
  return draw_table(scene, table, room, scroll);
}

}  // namespace tilescope
