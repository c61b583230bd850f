// The barriers of a block: phase, who came, who is missing; and what is in flight.
#include <fmt/format.h>

#include <set>

#include "viz/machine/barrier_card.h"
#include "viz/machine/machine_scene.h"
#include "viz/machine/pipeline_now.h"

namespace tilescope {
namespace {

// "0, 4 to 7": warps in order.
std::string warps_text(const std::vector<sim::Attendance>& who) {
  std::set<std::uint32_t> all;
  for (const sim::Attendance& each : who) all.insert(each.warp);
  return numbers_text({all.begin(), all.end()});
}

// "mbarrier at byte 16 (full)", of "the mbarrier at byte 16 of shared memory (full)": the heading
// says the rest.
std::string short_name(std::string name) {
  name = readable(std::move(name));
  for (const std::string_view part : {"the ", " of shared memory"}) {
    const std::size_t at = name.find(part);
    if (at != std::string::npos) name.erase(at, part.size());
  }
  return name;
}

TableRow heading(std::string text) {
  TableRow row;
  row.heading = true;
  row.cells = {{std::move(text), Role::quiet, {}}};
  return row;
}

// "full[0] (byte 98304)"; of one that only PTX names, what a sentence says.
std::string barrier_label(const sim::Machine& machine, const sim::MbarrierState& barrier) {
  const BarrierNames& names = machine.barrier_names();
  return names.count(barrier.offset) ? barrier_text(names, barrier.offset)
                                     : short_name(barrier.name);
}

void add_mbarriers(Table& table, const MachineShown& shown) {
  const auto all = sim::mbarriers_of(shown.machine(), shown.spot.block);
  if (all.empty()) return;
  table.rows.push_back(heading("mbarriers in shared memory"));
  for (const sim::MbarrierState& b : all) {
    TableRow row;
    row.selected = shown.spot.barrier == b.offset;
    row.command = fmt::format("look mbarrier {}", b.offset);
    row.hint = "looks at this mbarrier";
    const bool waited = !b.waiting.empty();
    row.cells = {
        {barrier_label(shown.machine(), b), Role::text, {}},
        {fmt::format("{}", b.phase), Role::text, {}},
        {b.pending ? fmt::format("{} of {}", b.pending, b.expected) : "none", Role::text, {}},
        {b.bytes ? fmt::format("{}", b.bytes) : "", Role::text, {}},
        {warps_text(b.arrived), Role::text, {}},
        {warps_text(b.waiting), waited ? Ink(Role::accent) : Ink(Role::text), {}},
        {b.story, Role::quiet, {}}};
    if (row.selected) table.focus = table.rows.size();
    table.rows.push_back(std::move(row));
  }
}

void add_barriers(Table& table, const MachineShown& shown) {
  const auto all = sim::barriers_of(shown.machine(), shown.spot.block);
  if (all.empty()) return;
  table.rows.push_back(heading("barriers of the CTA's threads"));
  for (const sim::BarrierState& b : all) {
    std::string waiting;
    for (const std::uint32_t warp : b.waiting)
      waiting += fmt::format("{}{}", waiting.empty() ? "" : ", ", warp);
    TableRow row;
    row.cells = {{fmt::format("barrier {}", b.number), Role::text, {}},
                 {"", Role::text, {}},
                 {fmt::format("{} of {}", b.expected - std::min(b.expected, b.arrived), b.expected),
                  Role::text,
                  {}},
                 {"", Role::text, {}},
                 {"", Role::text, {}},
                 {std::move(waiting), Role::accent, {}},
                 {sim::text(b), Role::quiet, {}}};
    table.rows.push_back(std::move(row));
  }
}

// What tells it from others comes first: its number, and the barrier that it completes on.
std::string operation_label(const sim::Machine& machine, const sim::OperationState& o) {
  std::string out = fmt::format("{} {}", o.name, o.number);
  if (o.mbarrier) out += " for " + barrier_name(machine.barrier_names(), *o.mbarrier);
  return out;
}

// How far it is, whose it is, what it uses.
std::string operation_story(const sim::OperationState& o) {
  const Site& at = o.issuer;
  const std::string& file = at.caller_line ? at.caller : at.source;
  const std::uint32_t line = at.caller_line ? at.caller_line : at.source_line;
  std::string out = fmt::format("{}, warp {}", sim::name_of(o.stage), at.warp);
  if (line) out += fmt::format(", {}:{}", file.substr(file.rfind('/') + 1), line);
  for (const sim::Range& r : o.reads)
    out += fmt::format(", reads bytes {} to {}", r.begin, r.end - 1);
  for (const sim::Range& r : o.writes) {
    out += fmt::format(", writes bytes {} to {}", r.begin, r.end - 1);
  }
  for (const sim::CellRange& c : o.cells.written) out += ", writes " + sim::cells_text(c);
  return out;
}

void add_operations(Table& table, const MachineShown& shown) {
  const auto all = sim::operations_of(shown.machine(), shown.spot.block);
  if (all.empty()) return;
  table.rows.push_back(heading("in flight"));
  for (const sim::OperationState& o : all) {
    TableRow row;
    if (o.mbarrier) row.command = fmt::format("look mbarrier {}", *o.mbarrier);
    row.hint = "looks at the mbarrier that it completes on";
    row.cells = {{operation_label(shown.machine(), o), Role::text, {}},
                 {"", Role::text, {}},
                 {"", Role::text, {}},
                 {o.transactions ? fmt::format("{}", o.transactions) : "", Role::text, {}},
                 {"", Role::text, {}},
                 {"", Role::text, {}},
                 {operation_story(o), Role::quiet, {}}};
    table.rows.push_back(std::move(row));
  }
}

// As the machine has them; how much of the bytes has come is known of a record.
std::vector<BarrierDial> dials_of(const MachineShown& shown) {
  std::vector<BarrierDial> out;
  for (const sim::MbarrierState& b : sim::mbarriers_of(shown.machine(), shown.spot.block)) {
    BarrierDial each;
    each.offset = b.offset;
    const BarrierNames& names = shown.machine().barrier_names();
    each.name =
        names.count(b.offset) ? barrier_name(names, b.offset) : fmt::format("byte {}", b.offset);
    each.dial.phase = static_cast<std::uint32_t>(b.phase);
    each.dial.waited = !b.waiting.empty();
    each.dial.used = b.phase > 0 || !b.arrived.empty() || b.bytes != 0;
    const double expected = std::max({b.expected, b.pending, 1u});
    each.dial.share = each.dial.used ? (expected - b.pending) / expected : 0;
    if (b.bytes != 0) each.dial.share /= 2;  // arrivals are one half, bytes the other
    if (each.dial.waited) {
      const std::string who = warps_text(b.waiting);
      const bool one = who.find_first_not_of("0123456789") == std::string::npos;
      each.waiting = one ? fmt::format("{} waits", who) : fmt::format("{} wait", who);
    }
    each.hint =
        fmt::format("{}, phase {} (parity {}): {}", each.name, b.phase, b.phase % 2, b.story);
    const auto* known = shown.pipeline;
    for (std::size_t i = 0; known && i < known->barriers.size(); ++i) {
      const BarrierDial& other = known->barriers[i];
      if (other.offset == b.offset && other.dial.phase == each.dial.phase) {
        each.dial.share = other.dial.share;
      }
    }
    out.push_back(std::move(each));
  }
  return out;
}

}  // namespace

double draw_barriers(Scene& scene, const MachineShown& shown, const Box& whole, Scroll& scroll) {
  const std::vector<BarrierDial> dials = dials_of(shown);
  const double strip = dial_strip_height(dials.size(), whole);
  if (strip > 0) {
    draw_dial_strip(scene, dials, shown.spot.barrier, {whole.x, whole.y, whole.width, strip});
  }
  const Box room{whole.x, whole.y + strip, whole.width, whole.height - strip};
  Table table;
  table.name = "barriers";
  table.columns = {{"barrier or operation", Across::left, Family::sans, 0, false, 300},
                   {"phase", Across::right, Family::mono},
                   {"missing", Across::right, Family::sans},
                   {"bytes to come", Across::right, Family::mono},
                   {"warps there", Across::left, Family::sans, 0, false, 120},
                   {"waiting", Across::left, Family::sans, 0, false, 120},
                   {"", Across::left, Family::sans, 0, true, 1e9, true}};
  table.columns[3].spared = 2;
  table.columns[4].spared = 1;
  table.columns[6].spared = 3;  // the card below tells the story of one
  add_mbarriers(table, shown);
  add_barriers(table, shown);
  add_operations(table, shown);
  const std::string state = state_of_block(shown.machine(), shown.spot.block);
  table.when_empty = state == "resident"
                         ? "Here the CTA has no mbarrier, no warp waits at a barrier, and nothing "
                           "is in flight. The button Barrier goes to the next phase."
                         : nothing_of_block(shown.machine(), shown.spot.block, "barriers");
  // Where there is room for little, the list alone.
  constexpr double low = table_titles + 5 * table_row;
  const auto card = room.height < low ? std::optional<BarrierCard>() : barrier_card(shown);
  // What the last column says of a barrier the card says of the one looked at.
  constexpr double wide = 1000;
  if (card && room.width < wide) table.columns.pop_back();
  if (!card) return draw_table(scene, table, room, scroll);
  // The list keeps room for a few rows, however much there is to say of one.
  // Of a barrier that somebody lacks, who is missing comes before the others' rows.
  const double least = table_titles + (card->lacks ? 1.5 : 4) * table_row;
  const double high = std::min(height_of(*card), std::max(0.0, room.height - least));
  const double list =
      std::min(room.height - high, table_titles + (table.rows.size() + 0.5) * table_row);
  draw(scene, *card, {room.x, room.y + list, room.width, room.height - list});
  return draw_table(scene, table, {room.x, room.y, room.width, list}, scroll);
}

}  // namespace tilescope
