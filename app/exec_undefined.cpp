// What kernels make of values that nobody has written, until the host gets it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/simulated_device.h"
#include "core/sim/checks/story.h"
#include "core/sim/machine/machine.h"

namespace tilescope {

// Of what a launch has written: who wrote it is known no longer than its machine.
void SimulatedDevice::note_made_of_nothing(const sim::Machine& machine) {
  constexpr std::size_t most = 10000;  // stretches that are kept
  for (std::size_t b = 0; b < machine.shells().size(); ++b) {
    const sim::Region& region = machine.buffer(b);
    const std::uint8_t* const bits = region.undefined_bits();
    if (!bits || region.changes() == 0) continue;
    const auto is_made = [&](std::uint64_t at) {
      return region.is_undefined(at) && region.writer(at);
    };
    for (auto there = region.next_written(0); there.begin < there.end;
         there = region.next_written(there.end)) {
      for (std::uint64_t at = there.begin; at < there.end && undefined_.size() < most;) {
        if (at % 8 == 0 && bits[at / 8] == 0) {
          at += 8;
        } else if (!is_made(at)) {
          ++at;
        } else {
          const std::uint64_t begin = at;
          while (at < there.end && is_made(at)) ++at;
          const std::optional<Site> site = machine.writer(b, begin);
          note_undefined(
              region.base() + begin,
              {region.base() + at, fmt::format("{} (launch {})", site->kernel, launches_ + 1),
               *site, sim::story_of_undefined(machine, b, begin)});
        }
      }
    }
  }
}

// The last launch that wrote a byte is told of it.
void SimulatedDevice::note_undefined(std::uint64_t begin, Undefined what) {
  const std::uint64_t end = what.end;
  auto each = undefined_.lower_bound(begin);
  if (each != undefined_.begin() && std::prev(each)->second.end > begin) {
    Undefined& before = std::prev(each)->second;
    if (before.end > end) undefined_[end] = before;
    before.end = begin;
    each = undefined_.lower_bound(begin);
  }
  while (each != undefined_.end() && each->first < end) {
    if (each->second.end > end) undefined_[end] = each->second;
    each = undefined_.erase(each);
  }
  undefined_[begin] = std::move(what);
}

void SimulatedDevice::copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  std::vector<std::pair<std::uint64_t, Undefined>> found;
  auto each = undefined_.upper_bound(from);
  if (each != undefined_.begin() && std::prev(each)->second.end > from) --each;
  for (; each != undefined_.end() && each->first < from + bytes; ++each) {
    Undefined part = each->second;
    part.end = std::min(part.end, from + bytes) - from + to;
    found.emplace_back(std::max(each->first, from) - from + to, std::move(part));
  }
  for (auto& [begin, part] : found) note_undefined(begin, std::move(part));
}

void SimulatedDevice::hand_over(std::uint64_t address, std::uint64_t bytes) {
  if (samples_.host_reads(memory_, address)) return;
  const sim::Region* const region = undefined_.empty() ? nullptr : memory_.find(address, bytes);
  if (!region || !region->undefined_bits()) return;
  auto each = undefined_.upper_bound(address);
  if (each != undefined_.begin() && std::prev(each)->second.end > address) --each;
  while (each != undefined_.end() && each->first < address + bytes) {
    const std::uint64_t at = std::max(each->first, address);
    if (!region->is_undefined(at - region->base())) {  // written again since
      each = undefined_.erase(each);
      continue;
    }
    Report r;
    r.weight = Weight::hazard;
    r.kind = "undefined_copied";
    r.site = each->second.site;
    r.sentence = fmt::format(
        "byte {} of buffer {} is copied to the host, and {} made it of memory, registers or lanes "
        "that nobody had written{}",
        at - region->base(), region->name(), each->second.launch, each->second.story);
    r.expected = "a defined value";
    r.found = "one that could be any";
    keep(sifted({std::move(r)}));
    return;
  }
}

}  // namespace tilescope
