// Runs litmus tests on a GPU a million times each, under stress, and counts the outcomes. Built by
// hand (target litmus_stress), see README.md:
//
//   litmus_stress FOLDER_OR_FILE [RUNS] > outcomes.tsv     on a GPU; exit 1: a forbidden outcome
//   litmus_stress --write FOLDER_OR_FILE TO                writes the PTX of both forms; needs no
//   GPU
//
// A line for each test: name, runs, the outcomes with their counts, those that PTX does not allow.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "kernels/gpu/resources.h"
#include "tests/litmus/reader.h"
#include "tests/litmus/to_ptx.h"

namespace tilescope::litmus {
namespace {

using gpu::Result;

constexpr std::uint64_t runs_of_a_launch = 1u << 17;
constexpr std::size_t scratch_bytes = 4u << 20;
constexpr auto patience = std::chrono::seconds(20);  // with one launch

std::vector<Test> read_all(const std::string& path, bool& ok) {
  std::vector<Test> out;
  const bool folder = std::filesystem::is_directory(path);
  for (const std::string& file : folder ? files_in(path) : std::vector<std::string>{path}) {
    Outcome<Test> test = read_file(file);
    if (test.ok()) {
      out.push_back(std::move(*test));
    } else {
      fmt::print(stderr, "{}: {}\n", test.error().where, test.error().sentence);
      ok = false;
    }
  }
  return out;
}

bool observes_memory(const Test& test) {
  return std::any_of(test.observed.begin(), test.observed.end(), [&](const Observed& o) {
    return o.thread < 0 && test.variables[o.index].kind == Variable::Kind::global;
  });
}

class Stress {
 public:
  Stress(std::shared_ptr<gpu::Context> context, const gpu::Chip& chip)
      : context_(std::move(context)), chip_(chip) {}

  // Empty where all went well; else what the driver says.
  std::string run(const Test& test, std::uint64_t runs, std::map<Values, std::uint64_t>& counts) {
    const Kernel kernel = to_stress_ptx(test);
    gpu::Module module;
    std::string log;
    if (told(gpu::load(context_, {test.name, kernel.ptx}, module, log))) return wrong_ + " " + log;
    gpu::CUfunction function = nullptr;
    if (told(driver().cuModuleGetFunction(&function, module.get(), "stress"))) return wrong_;
    for (std::uint32_t seed = 1; runs > 0; ++seed) {
      const std::uint64_t now = std::min(runs, runs_of_a_launch);
      if (!launch(test, kernel, function, now, seed, counts)) return wrong_;
      runs -= now;
    }
    return "";
  }

 private:
  const gpu::Driver& driver() const { return context_->driver(); }
  bool told(Result result) {
    if (result != Result::success) wrong_ = driver().name_of(result);
    return result != Result::success;
  }

  bool launch(const Test& test, const Kernel& kernel, gpu::CUfunction function, std::uint64_t runs,
              std::uint32_t seed, std::map<Values, std::uint64_t>& counts) {
    const auto most = static_cast<std::uint32_t>(chip_.multiprocessors) * 8;
    std::uint32_t instances = std::max(1u, most / kernel.ctas);
    const auto iterations = static_cast<std::uint32_t>((runs + instances - 1) / instances);
    runs = std::uint64_t{instances} * iterations;

    const std::vector<std::uint32_t> initial = initial_memory(test);
    const bool zeros = std::count(initial.begin(), initial.end(), 0u) ==
                       static_cast<std::ptrdiff_t>(initial.size());
    std::vector<std::uint32_t> memory(initial.size() * runs), results(kernel.results * runs);
    for (std::size_t r = 0; !zeros && r < runs; ++r) {
      std::copy(initial.begin(), initial.end(),
                memory.begin() + static_cast<std::ptrdiff_t>(r * initial.size()));
    }
    gpu::Memory on_chip, out, counters, scratch;
    if (told(gpu::allocate(context_, 4 * memory.size(), on_chip)) ||
        told(gpu::allocate(context_, 4 * results.size(), out)) ||
        told(gpu::allocate(context_, 4 * instances, counters)) ||
        told(gpu::allocate(context_, scratch_bytes, scratch)) ||
        told(zeros ? driver().cuMemsetD8(on_chip.get(), 0, 4 * memory.size())
                   : driver().cuMemcpyHtoD(on_chip.get(), memory.data(), 4 * memory.size())) ||
        told(driver().cuMemsetD8(out.get(), 0xff, 4 * results.size())) ||
        told(driver().cuMemsetD8(counters.get(), 0, 4 * instances))) {
      return false;
    }
    gpu::CUdeviceptr pointers[] = {on_chip.get(), out.get(), counters.get(), scratch.get()};
    std::uint32_t number_iterations = iterations;
    void* parameters[] = {&pointers[0],       &pointers[1], &pointers[2], &pointers[3],
                          &number_iterations, &instances,   &seed};
    gpu::LaunchConfig config = {};
    const std::uint32_t traffic = instances / 4;
    config.grid[0] = (instances + traffic) * kernel.ctas;
    config.block[0] = kernel.block;
    config.grid[1] = config.grid[2] = config.block[1] = config.block[2] = 1;
    gpu::LaunchAttribute attribute = {};
    attribute.id = gpu::cluster_dimension;
    attribute.value.cluster[0] = kernel.cluster;
    attribute.value.cluster[1] = attribute.value.cluster[2] = 1;
    config.attributes = &attribute;
    config.attribute_count = kernel.cluster > 1 ? 1 : 0;
    if (told(driver().cuLaunchKernelEx(&config, function, parameters, nullptr)) || !wait() ||
        (observes_memory(test) &&
         told(driver().cuMemcpyDtoH(memory.data(), on_chip.get(), 4 * memory.size()))) ||
        told(driver().cuMemcpyDtoH(results.data(), out.get(), 4 * results.size()))) {
      return false;
    }
    for (std::size_t r = 0; r < runs; ++r) {
      ++counts[outcome_of(test, memory.data() + r * initial.size(),
                          results.data() + r * kernel.results)];
    }
    return true;
  }

  bool wait() {
    gpu::Event event;
    if (told(gpu::create(context_, event)) || told(driver().cuEventRecord(event.get(), nullptr))) {
      return false;
    }
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
      const Result result = driver().cuEventQuery(event.get());
      if (result == Result::success) return true;
      if (result != Result::not_ready) {
        context_->lost = true;
        told(result);
        return false;
      }
      if (std::chrono::steady_clock::now() - begin > patience) {
        context_->endless = true;
        wrong_ = "it does not end";
        return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  std::shared_ptr<gpu::Context> context_;
  gpu::Chip chip_;
  std::string wrong_;
};

std::string row(const Test& test, const std::map<Values, std::uint64_t>& counts) {
  std::uint64_t runs = 0;
  std::string all, forbidden;
  for (const auto& [values, count] : counts) {
    runs += count;
    all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", text(test, values), count);
    if (test.allowed.count(values)) continue;
    forbidden += fmt::format("{}{}: {}", forbidden.empty() ? "" : "; ", text(test, values), count);
  }
  return fmt::format("{}\t{}\t{}\t{}", test.name, runs, all,
                     forbidden.empty() ? "none" : forbidden);
}

// Tests from `first` on, in this process, until one fails: a launch that faults or hangs takes its
// context with it. Writes a byte to `done` for each row that it wrote: 0 where all is well. 4:
// there is no GPU.
int worker(const std::vector<Test>& tests, std::size_t first, std::uint64_t runs, int done) {
  auto driver = gpu::load_driver("");
  if (!driver.ok()) {
    fmt::print(stderr, "{}\n", driver.error().sentence);
    return 4;
  }
  auto chips = gpu::chips(**driver);
  if (!chips.ok() || chips->empty()) return 4;
  auto context = gpu::Context::retain(*driver, chips->front());
  if (!context.ok() || (*context)->enter() != Result::success) return 4;
  if (first == 0) {
    fmt::print("# {}, driver for CUDA {}, {} runs of each test\n", chips->front().text(),
               (*driver)->version_text(), runs);
    fmt::print("# test\truns\toutcomes\tnot allowed\n");
  }
  Stress stress(*context, chips->front());
  for (std::size_t t = first; t < tests.size(); ++t) {
    std::string line;
    bool lost = false;
    if (!tests[t].on_chip) {
      line = tests[t].name + "\t0\tleft out\tnone";
    } else {
      std::map<Values, std::uint64_t> counts;
      const std::string wrong = stress.run(tests[t], runs, counts);
      lost = !wrong.empty();
      line = wrong.empty() ? row(tests[t], counts)
                           : fmt::format("{}\t0\t{}\tnot run", tests[t].name, wrong);
    }
    fmt::print("{}\n", line);
    std::fflush(stdout);
    const char bad = line.size() > 5 && line.substr(line.size() - 5) == "\tnone" ? 0 : 1;
    if (write(done, &bad, 1) != 1) return 4;
    if (lost) {
      (*context)->lost = true;
      return 5;
    }
  }
  return 0;
}

// 0: all ran, and nothing forbidden was seen.
int run_all(const std::vector<Test>& tests, std::uint64_t runs) {
  bool bad = false;
  for (std::size_t next = 0; next < tests.size();) {
    int ends[2];
    if (pipe(ends) != 0) return 4;
    std::fflush(stdout);
    const pid_t child = fork();
    if (child < 0) return 4;
    if (child == 0) {
      close(ends[0]);
      _exit(worker(tests, next, runs, ends[1]));
    }
    close(ends[1]);
    std::size_t done = 0;
    for (char c = 0; read(ends[0], &c, 1) == 1; ++done) bad = bad || c != 0;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 4) return 4;
    if (done == 0) {  // it did not even come to say so
      fmt::print("{}\t0\tthe process ended\tnot run\n", tests[next].name);
      bad = true;
      done = 1;
    }
    next += done;
  }
  return bad ? 1 : 0;
}

int write_ptx(const std::vector<Test>& tests, const std::filesystem::path& to) {
  std::filesystem::create_directories(to);
  for (const Test& test : tests) {
    std::ofstream(to / (test.name + ".ptx")) << to_ptx(test).ptx;
    std::ofstream(to / (test.name + ".stress.ptx")) << to_stress_ptx(test).ptx;
  }
  return 0;
}

}  // namespace
}  // namespace tilescope::litmus

int main(int argc, char** argv) {
  using namespace tilescope::litmus;
  const std::vector<std::string> words(argv + 1, argv + argc);
  const bool writes = words.size() == 3 && words[0] == "--write";
  if (!writes && (words.empty() || words.size() > 2)) {
    fmt::print(stderr,
               "litmus_stress FOLDER_OR_FILE [RUNS], or --write FOLDER_OR_FILE TO: see "
               "tests/litmus/README.md\n");
    return 2;
  }
  bool ok = true;
  const std::vector<Test> tests = read_all(words[writes ? 1 : 0], ok);
  if (!ok) return 2;
  if (writes) return write_ptx(tests, words[2]);
  std::uint64_t runs = 1'000'000;
  if (words.size() == 2) runs = std::strtoull(words[1].c_str(), nullptr, 10);
  return run_all(tests, std::max<std::uint64_t>(runs, 1));
}
