// Predicted against measured time on an H200: the elementwise sum and two products without tensor
// cores, at three sizes each. Exit 1 where a time is off by more than docs/manual/timing.md says,
// or is not the one that it says. What was measured, and how, and which rows are no independent
// check: tests/time/h200_measured.tsv.
//
//     predicted_times [KERNEL [SIZE]]      all rows, those of a kernel, or its row of that size
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/io/device_file.h"
#include "core/sim/machine/machine.h"
#include "kernels/catalog/catalog.h"

namespace tilescope {
namespace {

struct Measured {
  std::string kernel;
  std::int64_t m, n, k;  // k: 0 where the kernel has none
  double median;         // microseconds
  std::string figure;  // of the device that came from the same operation: "fitted:l2_size", or "-"
};

// What the manual claims of a kernel: its times by size, and how far off they are at most.
struct Claim {
  std::vector<double> predicted;  // microseconds
  double within = 0;              // 0.08
};

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(TILESCOPE_SOURCE_DIR) + "/" + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<Measured> measured() {
  std::vector<Measured> out;
  std::istringstream lines(text_of("tests/time/h200_measured.tsv"));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Measured one;
    std::string least, most, alone, cold;
    words >> one.kernel >> one.m >> one.n >> one.k >> one.median >> least >> most >> alone >>
        cold >> one.figure;
    if (words) out.push_back(std::move(one));
  }
  return out;
}

[[noreturn]] void give_up(const Error& error) {
  fmt::print(stderr, "{} {}\n", error.where, error.sentence);
  std::exit(2);
}

// The row of a kernel: | `matmul_naive` | sizes | measured | 47.9, 263, 2093 | 21% |
Claim claim_of(const std::string& kernel) {
  std::istringstream lines(text_of("docs/manual/timing.md"));
  Claim claim;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("| `" + kernel + "` |", 0) != 0) continue;
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(cell);
    if (cells.size() < 6) continue;
    std::istringstream times(cells[4]);
    for (std::string time; std::getline(times, time, ',');) {
      claim.predicted.push_back(std::atof(time.c_str()));
    }
    claim.within = std::atof(cells[5].c_str()) / 100;
    return claim;
  }
  give_up({ErrorKind::unreadable, "There is no row of " + kernel + ".", "docs/manual/timing.md"});
}

// A launch behind others of the same, as it was measured; microseconds.
double predicted(const Measured& run, const DeviceDescription& device, std::uint32_t waves) {
  const CatalogEntry& entry = **find_kernel(run.kernel);
  Request request;
  request.processors = device.processors;
  request.sizes = {{"m", run.m}, {"n", run.n}};
  if (run.k) request.sizes["k"] = run.k;
  const Outcome<Job> job = make_job(entry, request, text_of("assets/" + entry.ptx));
  if (!job) give_up(job.error());
  sim::Options options;
  options.clocked = true;
  options.times = device.times;
  options.processors = device.processors;
  options.processor_blocks = device.blocks;
  options.processor_threads = device.threads;
  options.processor_shared = device.shared;
  options.block_shared = device.reserved;
  options.shared_limit = device.block_shared;
  options.waves = waves;
  options.calculates = false;  // the first of them, for the time alone
  options.warm = true;
  options.races = false;
  Outcome<sim::Machine> machine = sim::Machine::load(*job, options);
  if (!machine) give_up(machine.error());
  machine->run(~std::uint64_t{0});
  return machine->seconds() * 1e6;
}

}  // namespace
}  // namespace tilescope

int main(int count, char** words) {
  using namespace tilescope;
  const auto device = parse_device_file(text_of("assets/devices/h200.toml"), "h200.toml");
  if (!device) give_up(device.error());
  constexpr std::uint32_t waves = 3;
  bool all_near = true, any = false;
  std::map<std::string, std::size_t> rows;  // of each kernel, so far
  for (const Measured& run : measured()) {
    const std::size_t row = rows[run.kernel]++;
    if (count > 1 && run.kernel != words[1]) continue;
    if (count > 2 && std::to_string(run.m) != words[2]) continue;
    any = true;
    const double time = predicted(run, *device, waves), off = time / run.median - 1;
    fmt::print("{:16} {:5} x {:5} x {:5}  measured {:8.2f} us  predicted {:8.2f} us  {:+5.1f}%{}\n",
               run.kernel, run.m, run.n, run.k, run.median, time, 100 * off,
               run.figure == "-" ? "" : "  no check of " + run.figure);
    const Claim claim = claim_of(run.kernel);
    const bool near = std::abs(off) <= claim.within;
    // Three digits are said there.
    const bool said =
        row < claim.predicted.size() && std::abs(time / claim.predicted[row] - 1) < 0.005;
    if (!near) fmt::print("  the manual says within {:.0f}%\n", 100 * claim.within);
    if (!said) fmt::print("  the manual says another predicted time\n");
    std::fflush(stdout);
    all_near = all_near && near && said;
  }
  if (!any) fmt::print(stderr, "No row of tests/time/h200_measured.tsv is asked for.\n");
  return all_near && any ? 0 : 1;
}
