// Launches that never end: every warp that is left repeats itself, and nothing changes memory.
//
// A warp whose registers and position are those of an earlier moment, while no memory that it can
// see has changed in between, will do the same again for ever, unless another changes memory. When
// that holds for all warps of all resident blocks that do not wait anyway, nothing ever will.
// Moments are compared at the ends of a warp's turns, with the one remembered at the last power of
// two (Brent, An improved Monte Carlo factorization algorithm, 1980), so any period is found.
//
// A store that writes what was there changes nothing; but comparing costs, so stores are compared
// only from the first time on that a warp's registers repeat.
#include "core/sim/checks/endless.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

bool waits(const Warp& warp) {
  return std::all_of(warp.splits.begin(), warp.splits.end(),
                     [](const Split& s) { return s.wait != Wait::none; });
}

// The lines of the innermost loop that an instruction is part of: what lies between the first and
// the last block that it leads to and that lead back to it.
std::pair<std::uint32_t, std::uint32_t> loop_lines(const ptx::Program& program, std::uint32_t pc) {
  const auto& blocks = program.blocks;
  const auto home = static_cast<std::uint32_t>(
      std::find_if(blocks.begin(), blocks.end(),
                   [&](const ptx::Block& b) { return pc >= b.first && pc < b.end; }) -
      blocks.begin());
  const auto reach = [&](bool backwards) {
    std::vector<bool> seen(blocks.size(), false);
    std::vector<std::uint32_t> todo{home};
    std::vector<std::vector<std::uint32_t>> before(backwards ? blocks.size() : 0);
    for (std::uint32_t b = 0; backwards && b < blocks.size(); ++b) {
      for (std::uint32_t to : blocks[b].next) before[to].push_back(b);
    }
    while (!todo.empty()) {
      const std::uint32_t at = todo.back();
      todo.pop_back();
      if (seen[at]) continue;
      seen[at] = true;
      for (std::uint32_t to : backwards ? before[at] : blocks[at].next) todo.push_back(to);
    }
    return seen;
  };
  const std::vector<bool> after = reach(false), before = reach(true);
  std::pair<std::uint32_t, std::uint32_t> lines{~0u, 0};
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    if (!after[b] || !before[b]) continue;
    lines.first = std::min(lines.first, program.code[blocks[b].first].line);
    lines.second = std::max(lines.second, program.code[blocks[b].end - 1].line);
  }
  return lines;
}

}  // namespace

// Hands what a warp is at this moment to f(data, bytes), piece by piece, until one says false.
template <class F>
bool each_piece(const Model& machine, const Block& block, const Warp& warp, F f) {
  const std::size_t stride = machine.register_stride(),
                    predicates = machine.program().predicate_count;
  if (!f(block.registers.settled() + warp.index * stride, stride)) return false;
  const std::uint32_t* masks = block.predicates.data() + warp.index * predicates;
  if (!f(masks, predicates * sizeof *masks)) return false;
  for (const Split& s : warp.splits) {
    if (!f(&s.pc, sizeof s.pc) || !f(&s.mask, sizeof s.mask) || !f(&s.wait, sizeof s.wait)) {
      return false;
    }
  }
  return f(warp.calls.top.data(), sizeof warp.calls.top);
}

std::vector<std::byte> moment(const Model& machine, const Block& block, const Warp& warp) {
  std::vector<std::byte> out;
  each_piece(machine, block, warp, [&](const void* data, std::size_t bytes) {
    const auto* begin = static_cast<const std::byte*>(data);
    out.insert(out.end(), begin, begin + bytes);
    return true;
  });
  return out;
}

bool is_moment(const Model& machine, const Block& block, const Warp& warp) {
  const std::vector<std::byte>& then = warp.pace.moment;
  std::size_t at = 0;
  const bool equal = each_piece(machine, block, warp, [&](const void* data, std::size_t bytes) {
    if (then.size() - at < bytes || std::memcmp(then.data() + at, data, bytes) != 0) return false;
    at += bytes;
    return true;
  });
  return equal && at == then.size();
}

// How often anything changed that a warp of this block could see.
std::uint64_t changes_for(const Model& machine, const Block& block) {
  std::uint64_t out = block.local.changes();
  for (std::uint32_t rank = 0; rank < machine.cluster_size; ++rank) {
    const Block& b = *machine.member(block, rank);
    out += b.shared.changes() + b.meetings - b.plain_meetings;
  }
  for (const Region& r : machine.regions) out += r.changes();
  return out;
}

void compare_stores(Model& machine) {
  for (Region& r : machine.regions) r.compare_stores();
  for (Block& b : machine.blocks) {
    b.shared.compare_stores();
    b.local.compare_stores();
  }
  machine.compares_stores = true;
}

bool goes_round(const Model& machine, const Block& block, const Warp& warp) {
  return warp.pace.goes_round && warp.pace.changes == changes_for(machine, block);
}

bool stands_at_barrier(const Warp& warp) {
  return waits(warp) && std::any_of(warp.splits.begin(), warp.splits.end(),
                                    [](const Split& s) { return s.wait == Wait::barrier; });
}

// Does a warp that waits do so since before `since`, when those that repeat themselves were as they
// are now? One at a barrier may be of their round, and go on as soon as all have come there.
bool has_waited(const Block& block, const Warp& warp, std::uint64_t since) {
  return std::all_of(warp.splits.begin(), warp.splits.end(), [&](const Split& s) {
    return s.wait != Wait::none && (s.wait != Wait::barrier || block.met_at[s.barrier] <= since);
  });
}

// When the first of those of a block that repeat themselves was as it is now.
std::uint64_t first_moment(const Model& machine, const Block& block, std::uint64_t since) {
  for (const Warp& w : block.warps) {
    if (w.live && goes_round(machine, block, w)) since = std::min(since, w.pace.since);
  }
  return since;
}

bool goes_round(const Model& machine, const Block& block) {
  if (block.slow.warps | block.slow.held) return false;
  for (std::uint32_t rank = 0; rank < machine.cluster_size; ++rank) {
    if (!machine.member(block, rank)->flight.operations.empty()) return false;
  }
  const std::uint64_t since = first_moment(machine, block, machine.instructions);
  return std::all_of(block.warps.begin(), block.warps.end(), [&](const Warp& w) {
    return !w.live || has_waited(block, w, since) || goes_round(machine, block, w);
  });
}

// "; warp 0 lane 0 waits for phase 0 of ...": the mbarriers that somebody asks about again and
// again.
std::string waits_text(const Model& machine, const Block& block) {
  std::string out;
  for (const auto& [offset, b] : block.mbarriers) {
    for (const Attendance& w : b.waiting) {
      if (w.phase < b.phase) continue;
      out += fmt::format("; warp {} {} waits for {}: {}", w.warp, lanes_text(w.mask),
                         mbarrier_name(machine, offset), mbarrier_story(machine, block, offset));
      break;
    }
  }
  return out;
}

void look_for_endless_loop_at_times(Model& machine, Block& block, Warp& warp) {
  constexpr std::uint32_t looks = 17;  // no number of turns that a loop is likely to have
  if (++warp.pace.turns % looks != 0 || (waits(warp) && !stands_at_barrier(warp))) return;
  look_for_endless_loop(machine, block, warp);
}

// A turn of this warp is over.
void look_for_endless_loop(Model& machine, Block& block, Warp& warp) {
  Pace& pace = warp.pace;
  const std::uint64_t changes = changes_for(machine, block);
  const bool same = is_moment(machine, block, warp);
  // Long enough that every split that could go on has had its turn since.
  const std::uint64_t enough =
      4 * std::uint64_t{machine.options.split_turn} * (warp.splits.size() + 1);
  pace.goes_round = same && pace.changes == changes && pace.instructions >= enough;
  if (same && pace.changes != changes && !machine.compares_stores) compare_stores(machine);
  if (!same && pace.instructions >= pace.next) {
    pace.moment = moment(machine, block, warp);
    pace.changes = changes;
    pace.since = machine.instructions;
    pace.instructions = 0;
    pace.next *= 2;
  } else if (same && pace.changes != changes) {
    pace.changes = changes;
    pace.since = machine.instructions;
    pace.instructions = 0;
  }
  if (!pace.goes_round) return;
  // They may be waiting for blocks that there is room for, and that begin when this turn ends.
  if (machine.dispatcher.can_start() &&
      machine.blocks.size() + machine.cluster_size <= machine.dispatcher.resident())
    return;
  for (const Block& b : machine.blocks) {
    const std::uint64_t since = first_moment(machine, b, pace.since);
    for (const Warp& w : b.warps) {
      const bool slow = (b.slow.warps | b.slow.held) >> w.index & 1;
      if (w.live && !has_waited(b, w, since) && !goes_round(machine, b, w) && !slow) return;
    }
  }
  // They may be waiting for one that is slow.
  bool go_on = false;
  for (Block& b : machine.blocks) go_on = machine.scheduler.let_the_slow_go_on(b) || go_on;
  if (go_on) return;
  // Unless what is in flight does.
  for (Block& b : machine.blocks) {
    if (!b.flight.operations.empty() && machine.flights.hasten(b)) return;
  }
  if (machine.state == RunState::fault) return;
  const Split& split = warp.splits.front();
  const auto [first, last] = loop_lines(machine.program(), split.pc);
  const std::uint64_t waiting = machine.dispatcher.waiting();
  Report r;
  r.kind = "endless_loop";
  r.sentence = fmt::format(
      "the launch never ends: this warp loops between PTX lines {} and {} with the same values, "
      "all others loop or wait, and nothing changes memory{}{}",
      first, last,
      waiting ? fmt::format(" ({} CTAs cannot start before one of the {} resident ones ends)",
                            waiting, machine.blocks.size())
              : "",
      waits_text(machine, block));
  r.expected = "something that ends the loop";
  r.found = fmt::format("the same state after {} instructions of the launch", machine.instructions);
  const std::uint32_t thread =
      warp.index * 32 + static_cast<std::uint32_t>(__builtin_ctz(split.mask));
  r.site = machine.site(block, thread, split.pc);
  machine.reports.add(std::move(r));
  machine.recording.record_report(block, thread, split.pc);
  machine.state = RunState::fault;
}

}  // namespace tilescope::sim
