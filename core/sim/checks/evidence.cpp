#include "core/sim/checks/evidence.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/sim/machine/model.h"

namespace tilescope::sim {

using Place = Evidence::Place;
using Party = Evidence::Party;

namespace {

// When the current instruction of a thread is issued: the clock is where its warp's turn began, and
// the warp may be further. Negative: by no clock.
double time_of(const Model& machine, const Block& home, std::uint32_t thread) {
  if (!machine.clock) return -1;
  const std::vector<WarpTime>& warps = home.time.warps;
  const std::size_t warp = thread / 32;
  return warp < warps.size() ? std::max(machine.now(), warps[warp].slot) : machine.now();
}

}  // namespace

Place place_of(const Block& block, const Range& bytes) {
  Place out;
  out.of = Place::Of::shared;
  out.block = block.number;
  out.begin = bytes.begin;
  out.end = bytes.end;
  return out;
}

Place place_of(const Block& block, const CellRange& cells) {
  Place out;
  out.of = Place::Of::tensor;
  out.block = block.number;
  out.lane = cells.lane;
  out.lanes = cells.lanes;
  out.column = cells.column;
  out.columns = cells.columns;
  return out;
}

Place place_of(const GlobalRange& addresses) {
  Place out;
  out.of = Place::Of::global;
  out.begin = addresses.begin;
  out.end = addresses.end;
  return out;
}

Place mbarrier_at(const Block& block, std::uint32_t offset) {
  Place out;
  out.of = Place::Of::mbarrier;
  out.block = block.number;
  out.begin = offset;
  out.end = offset + 8;
  return out;
}

Party thread_at(const Model& machine, const Block& home, std::uint32_t thread, std::uint32_t pc,
                std::string does, Place place) {
  Party out;
  out.does = std::move(does);
  out.place = place;
  out.site = machine.site(home, thread, pc);
  return out;
}

Party lane_at(const Core& x, int lane, std::string does, Place place) {
  const Model& machine = *x.machine;
  Party out = thread_at(machine, *x.block, x.warp->index * 32 + static_cast<std::uint32_t>(lane),
                        x.pc, std::move(does), place);
  out.since = time_of(machine, *x.block, x.warp->index * 32);
  return out;
}

Party operation_in(const Model& machine, const Block& block, const AsyncOperation& o,
                   std::string_view verb, Place place) {
  Party out = thread_at(machine, machine.issuer(block, o), o.thread, o.pc,
                        fmt::format("{} {}", o.work->name, verb), place);
  out.in_flight = true;
  if (place.of == Place::Of::shared) add_pieces(out, verb == "writes" ? o.writes : o.reads);
  if (machine.clock && o.times[0] > 0) out.since = o.times[0];
  return out;
}

Party operation_at_issue(const Model& machine, const Block& block, const AsyncOperation& o,
                         std::string_view verb, Place place) {
  Party out = operation_in(machine, block, o, verb, place);
  out.does = fmt::format("{} would {}", o.work->name, verb.substr(0, verb.size() - 1));
  out.in_flight = false;
  out.since = time_of(machine, machine.issuer(block, o), o.thread);
  return out;
}

void add_pieces(Party& party, const std::vector<Range>& ranges) {
  if (ranges.size() < 2) return;
  for (const Range& r : ranges) party.pieces.emplace_back(r.begin, r.end);
}

Place meeting_place(const Place& a, const Place& b) {
  if (a.of != b.of || a.block != b.block) return {};
  Place out = a;
  out.begin = std::max(a.begin, b.begin);
  out.end = std::min(a.end, b.end);
  out.lane = std::max(a.lane, b.lane);
  out.column = std::max(a.column, b.column);
  const std::uint32_t lane_end = std::min(a.lane + a.lanes, b.lane + b.lanes);
  const std::uint32_t column_end = std::min(a.column + a.columns, b.column + b.columns);
  const bool cells = a.of == Place::Of::tensor;
  const bool meet = cells ? out.lane < lane_end && out.column < column_end : out.begin < out.end;
  if (!meet) return {};
  out.lanes = cells ? lane_end - out.lane : 0;
  out.columns = cells ? column_end - out.column : 0;
  return out;
}

Evidence collision(Party first, Party second) {
  Evidence out;
  out.place = meeting_place(first.place, second.place);
  if (out.place.of == Place::Of::nothing) out.place = first.place;
  out.parties = {std::move(first), std::move(second)};
  return out;
}

Evidence evidence_at(Place place) {
  Evidence out;
  out.place = place;
  return out;
}

}  // namespace tilescope::sim
