#include "core/sim/checks/result.h"

#include <fmt/format.h>

#include "core/sim/checks/evidence.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {

void finish_grid(Model& machine) {
  machine.state = RunState::done;
  if (machine.memory_stays) return;
  for (std::size_t b = 0; b < machine.shells.size(); ++b) {
    if (machine.shells[b].tile.empty()) continue;
    tell_of_tiles_written_twice(machine, b);
    if (find_missing_tile(machine, b)) return;
  }
  for (std::size_t b = 0; b < machine.shells.size(); ++b) {
    const Region& r = machine.regions[machine.first_buffer + b];
    if (!r.undefined_bits()) continue;
    const std::uint64_t element = bytes_of(machine.shells[b].dtype);
    std::uint64_t never = 0, first_never = 0;
    for (std::uint64_t at = 0; at < r.size(); ++at) {
      while (at < r.size() && at % 8 == 0 && r.undefined_bits()[at / 8] == 0) at += 8;
      if (at >= r.size()) break;
      if (!r.is_undefined(at)) continue;
      if (!r.writer(at)) {
        if (never++ == 0) first_never = at;
        continue;
      }
      Report fault;
      fault.kind = "undefined_output";
      fault.sentence = fmt::format(
          "element {} of buffer {} was written with a value that depends on memory or registers "
          "nobody had written{}",
          at / element, machine.shells[b].name, machine.reports.undefined_story(r.writer(at)));
      fault.expected = "a defined value";
      fault.found = fmt::format("byte {} of the element is undefined", at % element);
      fault.site = *machine.writer(b, at);
      fault.evidence = evidence_at(place_of(
          GlobalRange{r.base() + at / element * element, r.base() + (at / element + 1) * element}));
      machine.reports.add(std::move(fault));
      machine.state = RunState::fault;
      return;
    }
    if (!never) continue;
    Report note;
    note.weight = Weight::note;
    note.kind = "unwritten";
    note.sentence =
        fmt::format("{} of the {} bytes of buffer {} were never written, from element {} on", never,
                    r.size(), machine.shells[b].name, first_never / element);
    note.site.kernel = machine.kernel;
    note.evidence = evidence_at(place_of(
        GlobalRange{r.base() + first_never, r.base() + first_never / element * element + element}));
    machine.reports.add(std::move(note));
  }
}

}  // namespace tilescope::sim
