#include "app/exec_samples.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ptx/written.h"
#include "core/run/fit_launch.h"

namespace tilescope {
namespace {

// Alive together, of those that run: what they hold is bounded.
constexpr std::uint64_t most_alive = 512;

bool is_hosts(const sim::Region& region) {
  return region.about == "host memory" || region.about == "managed memory";
}

}  // namespace

ExecSamples::Before ExecSamples::begin(const CapturedLaunch& c, bool whole,
                                       sim::Options& options) const {
  Before out;
  if (blocks_ == 0) return out;
  const Outcome<const ptx::Function*> entry = c.module.entry(c.launch.entry);
  if (!entry.ok()) return out;
  const std::uint64_t all = c.launch.grid.count();
  const std::uint64_t cluster = cluster_of(**entry, c.launch).count();
  const std::uint64_t wanted = (blocks_ + cluster - 1) / cluster * cluster;
  out.samples = !whole && wanted < all;
  if (out.samples) {
    const std::uint64_t waves = (wanted + most_alive - 1) / most_alive;
    const std::uint64_t each = (wanted + waves - 1) / waves;
    options.waves = static_cast<std::uint32_t>(waves);
    options.resident_blocks = static_cast<std::uint32_t>((each + cluster - 1) / cluster * cluster);
  }
  if (!out.samples && unknown_.empty() && !everything_) return out;
  for (const sim::Region* region : reachable(c)) out.within.insert(region->base());
  for (const ptx::Placed& placed : c.module.variables()) out.within.insert(placed.address);
  out.doubted = everything_ || std::any_of(out.within.begin(), out.within.end(),
                                           [&](auto base) { return unknown_.count(base) > 0; });
  return out;
}

void ExecSamples::end(const Before& before, const sim::Machine& machine) {
  if (!before.samples && !before.doubted) return;
  const auto reaches = [&](std::uint64_t base) {
    return before.within.empty() || before.within.count(base) > 0;
  };
  const auto forget = [&](std::uint64_t base) {
    if (reaches(base)) unknown_.insert(base);
  };
  // Without the search for races nobody has asked what it may write.
  const bool asked = machine.options().races;
  for (std::size_t i = 0; i < machine.shells().size(); ++i) {
    const sim::Region& region = machine.buffer(i);
    if (asked && !region.watched) continue;
    forget(region.base());
    // The host needs no call to look at it.
    everything_ = everything_ || (reaches(region.base()) && is_hosts(region));
  }
  const ptx::WrittenMemory written = ptx::written_memory(machine.program());
  for (const std::uint64_t address : written.addresses) forget(address);
  if (!written.anywhere && !written.by_any_parameter) return;
  for (const ptx::Placed& placed : machine.program().variables) {
    if (placed.variable.space != ptx::Space::constant) forget(placed.address);
  }
}

bool ExecSamples::is_unknown(const sim::DeviceMemory& memory, std::uint64_t address) const {
  if (everything_) return true;
  const sim::Region* const region = unknown_.empty() ? nullptr : memory.find(address);
  return region && unknown_.count(region->base());
}

void ExecSamples::host_writes(const sim::DeviceMemory& memory, std::uint64_t address,
                              std::uint64_t bytes) {
  const sim::Region* const region = unknown_.empty() ? nullptr : memory.find(address);
  if (region && region->base() == address && region->size() == bytes) unknown_.erase(address);
}

void ExecSamples::copies(const sim::DeviceMemory& memory, std::uint64_t to, std::uint64_t from) {
  const sim::Region* const region = is_unknown(memory, from) ? memory.find(to) : nullptr;
  if (region) unknown_.insert(region->base());
}

bool ExecSamples::host_reads(const sim::DeviceMemory& memory, std::uint64_t address) {
  if (!is_unknown(memory, address)) return false;
  everything_ = true;
  return true;
}

void doubt(std::span<Report> reports, std::string_view why) {
  for (Report& r : reports) {
    if (r.weight == Weight::note) continue;
    r.weight = Weight::note;
    r.sentence += fmt::format(" (not counted: {})", why);
  }
}

bool may_wait_for_others(std::string_view kind) {
  return kind == "deadlock" || kind == "endless_loop";
}

ExecEstimates::Shape ExecEstimates::shape_of(const Launch& launch) {
  return {launch.entry, launch.grid.count(), launch.block.count(), launch.dynamic_shared};
}

double ExecEstimates::known(const Shape& shape) const {
  constexpr std::uint64_t enough = 2;
  const auto found = sums_.find(shape);
  if (found == sums_.end() || found->second.count < enough) return 0;
  return found->second.seconds / static_cast<double>(found->second.count);
}

void ExecEstimates::measured(const Shape& shape, double seconds) {
  Sum& sum = sums_[shape];
  ++sum.count;
  sum.seconds += seconds;
}

}  // namespace tilescope
