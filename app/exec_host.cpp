// What the host does wrong, and who of it has made what reports name.
#include <fmt/format.h>

#include <cstring>
#include <set>
#include <utility>

#include "app/host_lines.h"
#include "app/simulated_device.h"

namespace tilescope {

void SimulatedDevice::host_was_early(const EarlyHost& use) {
  Report r;
  r.weight = Weight::hazard;
  r.kind = "host_race";
  const sim::Region* const region = memory_.find(use.address);
  std::string place = fmt::format("0x{:x}", use.address);
  if (region) {
    const bool variable = region->kind() == sim::Region::Kind::variable;
    place = fmt::format("byte {} of {} {}", use.address - region->base(),
                        variable ? "variable" : "buffer", region->name());
    if (!region->about.empty()) place += fmt::format(" ({})", region->about);
  }
  const bool copied = use.work_reads;
  r.sentence =
      fmt::format("the host {} {} before it has waited for {}, which {} it",
                  use.writes ? "writes" : "reads", place, use.work, copied ? "reads" : "writes");
  r.expected =
      "cudaDeviceSynchronize(), or a wait for that stream or for an event behind it, before the "
      "host's access";
  r.found = use.where.empty() ? "no wait" : fmt::format("no wait before {}", use.where);
  // However often a loop comes there.
  r.pair = fmt::format("{}, then {}", use.work.substr(0, use.work.find(" (")), use.where);
  keep(sifted({std::move(r)}));
}

void SimulatedDevice::note_maker(const std::string& buffer, std::string_view callers) {
  std::vector<std::uint64_t> frames(callers.size() / sizeof(std::uint64_t));
  std::memcpy(frames.data(), callers.data(), frames.size() * sizeof(std::uint64_t));
  if (!frames.empty()) makers_[buffer] = std::move(frames);
}

std::string SimulatedDevice::makers_of(const Report& report) const {
  constexpr std::string_view before = "buffer ";
  std::set<std::string> named;
  for (const std::string* const text : {&report.sentence, &report.expected, &report.found}) {
    for (std::size_t at = text->find(before); at != std::string::npos;
         at = text->find(before, at + 1)) {
      const std::size_t begin = at + before.size();
      named.insert(text->substr(begin, text->find_first_not_of("0123456789", begin) - begin));
    }
  }
  std::string out;
  for (const std::string& name : named) {
    const auto known = makers_.find(name);
    if (known == makers_.end()) continue;
    const std::string maker = host_caller(options_.process, known->second);
    if (!maker.empty()) out += fmt::format("; buffer {} was allocated in {}", name, maker);
  }
  return out;
}

void SimulatedDevice::call_was_refused(std::string sentence, std::string expected) {
  Report r;
  r.weight = Weight::hazard;
  r.kind = "call_refused";
  r.found = "an invalid value, as the call answers";
  r.expected = std::move(expected);
  r.pair = sentence;
  r.sentence = std::move(sentence);
  keep(sifted({std::move(r)}));
}

}  // namespace tilescope
