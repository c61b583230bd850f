// Groups of cp.async in the record: an operation for each that a warp has committed, and an instant
// where it has waited for some. (Copies that an mbarrier is told of are the operation that arrives
// there.)
#include <algorithm>

#include "core/record/recorder.h"
#include "core/sim/machine/copies.h"
#include "core/sim/machine/model.h"
#include "core/sim/time/recording.h"
#include "core/sim/time/uses.h"

namespace tilescope::sim {
namespace {

Cycle whole(double time) {
  return static_cast<Cycle>(std::max(0.0, time));
}

}  // namespace

void Recording::record_copy(Core& x, const Copy& copy) {
  if (!recorder_) return;
  WarpTime& t = x.block->time.warps[x.warp->index];
  RecordedCopies::Open& open = t.recorded_copies.open;
  if (open.uses.empty()) open.issued = model_->clock ? t.slot : model_->now();
  open.bytes +=
      std::uint64_t{copy.bytes} * static_cast<std::uint64_t>(__builtin_popcount(copy.mask));
  for (const MemoryUse& use : uses_by(*model_, *x.block, copy, recorder_->about().buffers)) {
    open.uses.push_back(use);
  }
}

// With a clock it is known when all of it is there; else that is when somebody has waited for it.
void Recording::record_group(Core& x, std::uint32_t number) {
  if (!recorder_) return;
  WarpTime& t = x.block->time.warps[x.warp->index];
  RecordedCopies& copies = t.recorded_copies;
  if (copies.open.uses.empty()) return;
  double there = t.open_copies;
  for (const auto& [group, when] : t.copies) {
    if (group == number) there = when;
  }
  Event e;
  e.kind = EventKind::operation;
  e.track = track_of_unit(*x.block, Unit::async_copy);
  e.issue = e.begin = whole(copies.open.issued);
  e.end = model_->clock ? std::max(e.begin, whole(there)) : never_ends;
  e.pc = e.until = x.pc;
  e.amount = copies.open.bytes;
  e.bytes = true;
  e.phase = number;
  e.cause = actor_;
  const EventId id = recorder_->add(e);
  if (id != no_event) {
    for (const MemoryUse& use : copies.open.uses) recorder_->add_use(id, use);
  }
  copies.groups.emplace_back(number, id);
  copies.open = {};
}

void Recording::record_group_wait(Core& x, std::uint32_t below) {
  if (!recorder_) return;
  WarpTime& t = x.block->time.warps[x.warp->index];
  auto& groups = t.recorded_copies.groups;
  const Cycle now = whole(model_->clock ? std::max(t.slot, t.late) : model_->now());
  Event e;
  e.kind = EventKind::arrival;
  for (const auto& [number, id] : groups) {
    if (number >= below) continue;
    ++e.amount;
    if (model_->clock) continue;
    recorder_->change(id, [&](Event& group) { group.end = std::max(group.begin, now); });
  }
  if (e.amount == 0) return;
  groups.erase(std::remove_if(groups.begin(), groups.end(),
                              [&](const auto& group) { return group.first < below; }),
               groups.end());
  e.track = track_of_unit(*x.block, Unit::async_copy);
  e.issue = e.begin = e.end = now;
  e.pc = e.until = x.pc;
  e.phase = below;
  e.cause = actor_;
  recorder_->add(e);
}

}  // namespace tilescope::sim
