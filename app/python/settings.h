// How a run is to go, as launch() and run() take it, and how it goes.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/python/differences.h"
#include "app/reports.h"
#include "app/runs.h"
#include "app/workers.h"
#include "core/record/recorder.h"
#include "core/sim/machine/machine.h"

namespace tilescope::python {

namespace nb = nanobind;

// The words after the arguments: strict=, device=, schedule=, lazy=, numerics=, threads=,
// max_instructions=, suppressions=, record=, search=.
struct Settings {
  bool strict = false, record = false;
  std::optional<std::string> device;
  sim::Schedule schedule;
  bool lazy = false;
  std::optional<bool> exact;  // numerics
  std::uint64_t threads = 0;  // 0: all
  std::uint64_t most_instructions = 0;
  std::uint64_t search = 0;  // other orders that are tried
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
    "suppressions: str | list[str] | None = None, record: bool = False, search: int = 0";
// Where reports are grouped in a text, what has them one by one.
inline constexpr Elsewhere in_the_run = {"the run's `reports` has each", "print(run.reports[-1])"};

inline constexpr const char* settings_help =
    "strict: a hazard raises Hazard.\n"
    "device: the chip, b200, h200, a100... or a device file; None: one that takes the PTX.\n"
    "schedule: another legal order, by its seed, or \"0.4@1250\" (`tilescope run --schedule`).\n"
    "lazy: asynchronous operations complete as late as PTX allows.\n"
    "numerics: how tensor cores add, \"exact\" as the chip does, or \"fast\".\n"
    "threads: of this machine; None: all.\n"
    "max_instructions: of all warps together; a run that wants more is refused.\n"
    "suppressions: files of rules that silence hazards and notes, or what the package has for a "
    "compiler: \"triton\".\n"
    "record: events are kept, for stats(), timeline() and trace(), and how the launch began, for "
    "step(), "
    "memory() and window().\n"
    "search: so many other orders (schedule=) are tried on the same inputs; the first one's "
    "results "
    "are kept, and\n"
    "a fault or another result in one of them raises, and with strict=True a hazard.";

// The same for the window's `open`: " --schedule 7 --lazy on"; empty where nothing was said.
std::string window_words(const Settings& settings);

// The chip that is simulated, and the order; refused where it does not take the PTX.
Order order_of(const Settings& settings, std::string_view ptx);

struct Replay;  // app/python/replay.h
struct Walk;    // app/python/walks.h

// What has become of a run; Python's Run.
struct Run {
  std::string kernel, device;
  std::vector<Report> reports;
  double seconds = 0;
  std::uint64_t instructions = 0, blocks = 0;
  std::string printed;
  std::optional<sim::Record> record;
  std::shared_ptr<const Replay> replay;  // with the record
  std::shared_ptr<Walk> walk;            // of memory(), between two questions
  nb::object outputs = nb::none();  // a dict: tensors, buffers or a launch's arrays by their names
  // How diff() compares them, where more is known than their arrays say: those that are a result
  // come first.
  std::vector<DiffHow> results;
  std::size_t results_known = 0;
  bool compared = false;                // with a reference, or with what a launch file expects:
  std::vector<Difference> differences;  // of each that something is expected of
};

// What the run has kept of its events; refused where it was not asked to (record=True).
const sim::Record& record_of(const Run& run);

// Runs the machine to its end, without the GIL; every 40 ms or so Python may answer a signal, such
// as Ctrl-C's. Refused where it wants to execute more than it may.
RunState simulate(sim::Machine& machine, const Settings& settings, const std::string& kernel);

// With search=N: the same launch in other orders, from the same memory.
struct OtherOrders {
  // Runs it in this order, without a clock or a record, and gives its run back.
  std::function<std::pair<RunState, Run>(const Order& order)> again;
  // Of the last one: what it left otherwise than the first order did; empty: nothing.
  std::function<std::string()> difference;
};
struct OrderVerdict {
  bool fault = false;
  std::string sentence;  // with the order's name
  Run run;               // in that order
};
// Nothing: they all do as the first one does. Hazards that strict=False lets pass, and the first
// order did not show, are added to `first`.
std::optional<OrderVerdict> try_orders(const Settings& settings, Order order, Run& first,
                                       const OtherOrders& others);
// Answers the run, or raises, as judged(); `verdict`: of the other orders.
nb::object judged(Run run, RunState state, const Settings& settings,
                  std::optional<OrderVerdict> verdict);

// Is somebody asked in place of launch() and run()? The pytest plugin is while a test runs: it is
// given the function that does it, its arguments and words, and answers the run (`_watch`).
bool is_watched();
nb::object watched(const nb::object& function, const nb::tuple& arguments, nb::dict words);

// Threads for tensor cores' sums, where the kernel has products.
std::unique_ptr<Workers> workers_for(const Settings& settings, std::string_view ptx);

// Fills in what the machine says.
void tell(Run& run, const sim::Machine& machine, const Settings& settings);
// Answers the run as an object, or raises Fault or Hazard with it.
nb::object judged(Run run, RunState state, const Settings& settings);

}  // namespace tilescope::python
