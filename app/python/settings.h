// How a run is to go, as launch() and run() take it, and how it goes.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/reports.h"
#include "app/runs.h"
#include "app/workers.h"
#include "core/record/recorder.h"
#include "core/sim/machine/machine.h"

namespace tilescope::python {

namespace nb = nanobind;

// The words after the arguments: strict=, device=, schedule=, lazy=, numerics=, threads=,
// max_instructions=, suppressions=, record=.
struct Settings {
  bool strict = false, record = false;
  std::optional<std::string> device;
  sim::Schedule schedule;
  bool lazy = false;
  std::optional<bool> exact;  // numerics
  std::uint64_t threads = 0;  // 0: all
  std::uint64_t most_instructions = 0;
  std::vector<Suppression> rules;
};

// Takes its words out of `words`; what is left there is somebody else's. Refused: a value that a
// word cannot have.
Settings take_settings(nb::dict& words);
// One that is true or false, `usual` where it is not there.
bool take_flag(nb::dict& words, const char* name, bool usual);
inline constexpr const char* settings_signature =
    "strict: bool = False, device: str | None = None, schedule: int | str = 0, lazy: bool = False, "
    "numerics: str | None = None, threads: int | None = None, max_instructions: int | None = None, "
    "suppressions: str | list[str] | None = None, record: bool = False";
inline constexpr const char* settings_help =
    "strict: a hazard raises Hazard.\n"
    "device: the chip, b200, h200, a100... or a device file; None: one that takes the PTX.\n"
    "schedule: another legal order, by its seed, or \"0.4@1250\" (`tilescope run --schedule`).\n"
    "lazy: asynchronous operations complete as late as PTX allows.\n"
    "numerics: how tensor cores add, \"exact\" as the chip does, or \"fast\".\n"
    "threads: of this machine; None: all.\n"
    "max_instructions: of all warps together; a run that wants more is refused.\n"
    "suppressions: files of rules that silence hazards and notes.\n"
    "record: events are kept, for stats().";

// The chip that is simulated, and the order; refused where it does not take the PTX.
Order order_of(const Settings& settings, std::string_view ptx);

// What has become of a run; Python's Run.
struct Run {
  std::string kernel, device;
  std::vector<Report> reports;
  double seconds = 0;
  std::uint64_t instructions = 0, blocks = 0;
  std::string printed;
  std::optional<sim::Record> record;
  nb::object outputs = nb::none();  // of a catalog kernel: its tensors by name
  std::optional<DiffReport> diff;   // of a catalog kernel: with its reference
};

// Runs the machine to its end, without the GIL; every 40 ms or so Python may answer a signal, such
// as Ctrl-C's. Refused where it wants to execute more than it may.
RunState simulate(sim::Machine& machine, const Settings& settings, const std::string& kernel);

// Threads for tensor cores' sums, where the kernel has products.
std::unique_ptr<Workers> workers_for(const Settings& settings, std::string_view ptx);

// Fills in what the machine says.
void tell(Run& run, const sim::Machine& machine, const Settings& settings);
// Answers the run as an object, or raises Fault or Hazard with it.
nb::object judged(Run run, RunState state, const Settings& settings);

}  // namespace tilescope::python
