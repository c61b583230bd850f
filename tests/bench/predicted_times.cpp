// Predicted against measured time on an H200: the elementwise sum and two products without tensor
// cores, at three sizes each. Exit 1 where one is off by more than a quarter. What was measured,
// and how: tests/time/h200_measured.tsv.
//
//     predicted_times [KERNEL [SIZE]]      all rows, those of a kernel, or its row of that size
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
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
    words >> one.kernel >> one.m >> one.n >> one.k >> one.median;
    if (words) out.push_back(std::move(one));
  }
  return out;
}

[[noreturn]] void give_up(const Error& error) {
  fmt::print(stderr, "{} {}\n", error.where, error.sentence);
  std::exit(2);
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
  bool all_near = true;
  for (const Measured& run : measured()) {
    if (count > 1 && run.kernel != words[1]) continue;
    if (count > 2 && std::to_string(run.m) != words[2]) continue;
    const double time = predicted(run, *device, waves), off = time / run.median - 1;
    fmt::print("{:16} {:5} x {:5} x {:5}  measured {:8.2f} us  predicted {:8.2f} us  {:+4.0f}%\n",
               run.kernel, run.m, run.n, run.k, run.median, time, 100 * off);
    std::fflush(stdout);
    all_near = all_near && off > -0.25 && off < 0.25;
  }
  return all_near ? 0 : 1;
}
