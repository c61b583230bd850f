#include "viz/scene/fault_view.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tilescope {
namespace {

bool any_of(std::string_view kind, std::initializer_list<std::string_view> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// The mbarrier that a warp waits at.
std::optional<std::uint32_t> waits_at(const sim::Machine& machine, const RunSpot& spot) {
  for (const sim::Block& block : machine.blocks()) {
    if (block.number != spot.block || spot.warp >= block.warps.size()) continue;
    for (const sim::Split& split : block.warps[spot.warp].splits) {
      if (split.wait == sim::Wait::mbarrier) return split.mbarrier;
    }
  }
  return {};
}

}  // namespace

ViewName view_of_fault(const Report& report) {
  const std::string_view kind = report.kind;
  const bool barrier = kind.find("mbarrier") != kind.npos || kind.find("barrier") != kind.npos ||
                       kind.find("arrival") != kind.npos ||
                       any_of(kind, {"deadlock", "tx_count_out_of_range", "bad_parity",
                                     "waiter_left_behind", "peer_exited", "peer_not_started"});
  if (barrier) return ViewName::barriers;
  if (kind.substr(0, 5) == "tmem_" || any_of(kind, {"mma_order", "mma_columns", "no_pair"})) {
    return ViewName::tmem;
  }
  if (any_of(kind, {"copy_not_awaited", "operand_overwritten", "race", "unordered_copies",
                    "missing_proxy_fence", "exit_in_flight", "bad_descriptor"})) {
    return ViewName::memory;
  }
  return ViewName::source;
}

void show_report(Choices& choices, const Report& fault) {
  if (!choices.live) return;
  const Dim3 grid = choices.live->stepper.machine().launch().grid;
  const Dim3 at = fault.site.block;
  RunSpot& spot = choices.spot;
  spot = {};
  spot.block = at.x + std::uint64_t{at.y} * grid.x + std::uint64_t{at.z} * grid.x * grid.y;
  spot.warp = fault.site.warp;
  spot.lane = fault.site.lane;
  spot.barrier = waits_at(choices.live->stepper.machine(), spot);
  choices.view = view_of_fault(fault);
}

void show_fault(Choices& choices) {
  if (choices.result && !choices.result->reports.empty()) {
    show_report(choices, choices.result->reports.back());
  }
}

std::optional<std::uint64_t> position_of_report(sim::Stepper& stepper, std::size_t number) {
  const auto told = [&](const sim::Machine& machine) { return machine.reports().size() > number; };
  std::uint64_t before = 0;
  std::optional<std::uint64_t> behind;
  for (const auto& [position, checkpoint] : stepper.checkpoints().all()) {
    if (told(checkpoint.machine)) {
      behind = position;
      break;
    }
    before = position;
  }
  if (!behind) {
    stepper.to_the_end();
    (void)stepper.arrive();
    if (!told(stepper.machine())) return {};
    behind = stepper.position();
  }
  while (*behind - before > 1) {
    const std::uint64_t middle = before + (*behind - before) / 2;
    stepper.go_to(middle);
    (void)stepper.arrive();
    (told(stepper.machine()) ? *behind : before) = middle;
  }
  return behind;
}

}  // namespace tilescope
