// Sums that somebody else calculates while the machine goes on: nobody can tell.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "app/workers.h"
#include "core/sim/machine/machine.h"
#include "core/sim/stepping/inspect.h"
#include "tests/kernels/shipped.h"

namespace tilescope {
namespace {

// Does nothing before it must.
class Late : public sim::Executor {
 public:
  std::size_t new_line() override {
    lines_.emplace_back();
    return lines_.size() - 1;
  }
  std::uint64_t submit(std::size_t line, Task task) override {
    lines_[line].push_back(std::move(task));
    return lines_[line].size();
  }
  void wait(std::size_t line, std::uint64_t task) override {
    for (std::size_t i = 0; i < task; ++i) {
      if (lines_[line][i]) ++done;
      if (lines_[line][i]) std::exchange(lines_[line][i], {})();
    }
  }
  std::size_t done = 0;

 private:
  std::vector<std::vector<Task>> lines_;
};

struct Told {
  RunState state;
  std::vector<Buffer> buffers;
  std::uint64_t instructions = 0;
  std::vector<std::string> reports;
};

Told run(const std::string& kernel, Sizes s, sim::Options options, bool copied = false) {
  Outcome<sim::Machine> loaded = sim::Machine::load(test::shipped_job(kernel, s), options);
  EXPECT_TRUE(loaded.ok());
  sim::Machine machine = std::move(*loaded);
  Told told{RunState::running, {}, 0, {}};
  while (told.state == RunState::running) {
    // A copy is a checkpoint: it goes on as the original would have.
    if (copied) machine = sim::Machine(machine);
    told.state = machine.run(copied ? 777 : ~std::uint64_t{0});
  }
  told.buffers = machine.buffers();
  told.instructions = machine.instructions();
  for (const Report& r : machine.reports()) told.reports.push_back(r.sentence + text(r.site));
  return told;
}

void expect_same(const Told& got, const Told& want) {
  EXPECT_EQ(got.state, want.state);
  EXPECT_EQ(got.instructions, want.instructions);
  EXPECT_EQ(got.reports, want.reports);
  ASSERT_EQ(got.buffers.size(), want.buffers.size());
  for (std::size_t i = 0; i < got.buffers.size(); ++i) {
    EXPECT_EQ(got.buffers[i].bytes, want.buffers[i].bytes);
  }
}

TEST(Executor, ChangesNothing) {
  for (const std::string kernel : {"hgemm_v3", "hgemm_v6", "hgemm_v8"}) {
    for (const std::uint64_t seed : {0, 1, 2}) {
      for (const bool exact : {true, false}) {
        SCOPED_TRACE(kernel + " " + std::to_string(seed));
        sim::Options options;
        options.schedule = seed;
        options.exact = exact;
        const Sizes sizes{256, 256, 192};
        const Told alone = run(kernel, sizes, options);
        Late late;
        options.executor = &late;
        expect_same(run(kernel, sizes, options), alone);
        EXPECT_EQ(late.done, 4 * 3 * 4u);  // tiles, steps of K, products of 16 deep
        for (const std::size_t threads : {1, 3}) {
          Workers workers(threads);
          options.executor = &workers;
          expect_same(run(kernel, sizes, options), alone);
        }
      }
    }
  }
}

// Hopper's sums stay where the warps hold them.
TEST(Executor, ChangesNothingInRegisters) {
  for (const std::string kernel : {"wgmma_v1", "wgmma_v4", "wgmma_v8"}) {
    for (const std::uint64_t seed : {0, 1, 2}) {
      for (const bool exact : {true, false}) {
        SCOPED_TRACE(kernel + " " + std::to_string(seed));
        sim::Options options;
        options.schedule = seed;
        options.exact = exact;
        const Sizes sizes{256, 256, 192};
        const Told alone = run(kernel, sizes, options);
        Late late;
        options.executor = &late;
        expect_same(run(kernel, sizes, options), alone);
        EXPECT_GE(late.done, 4 * 3 * 4u);  // rows of 64, steps of K, products of 16 deep
        Late copied;
        options.executor = &copied;
        expect_same(run(kernel, sizes, options, true), alone);
        for (const std::size_t threads : {1, 3}) {
          Workers workers(threads);
          options.executor = &workers;
          expect_same(run(kernel, sizes, options), alone);
        }
      }
    }
  }
}

// Whoever looks at registers sees what they would be without an executor, at every moment.
TEST(Executor, IsWaitedForByWhoeverLooksAtRegisters) {
  sim::Options options;
  const Job job = test::shipped_job("wgmma_v4", {128, 256, 128});
  sim::Machine alone = *sim::Machine::load(job, options);
  Late late;
  options.executor = &late;
  sim::Machine machine = *sim::Machine::load(job, options);
  const sim::Registers registers(alone.program());
  std::size_t sums = 0;
  for (RunState state = RunState::running; state == RunState::running;) {
    state = machine.run(97);
    ASSERT_EQ(alone.run(97), state);
    if (machine.blocks().empty()) continue;
    const std::uint64_t block = machine.blocks()[0].number;
    for (std::uint32_t warp = 0; warp < machine.blocks()[0].warps.size(); ++warp) {
      const auto got = registers.all(machine, block, warp);
      const auto want = registers.all(alone, block, warp);
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t r = 0; r < got.size(); ++r) {
        ASSERT_EQ(got[r].low, want[r].low) << got[r].name;
        sums += got[r].low[0] != 0;
      }
    }
  }
  EXPECT_GT(late.done, 0u);
  EXPECT_GT(sums, 0u);
}

TEST(Executor, IsWaitedForByCopiesOfTheMachine) {
  sim::Options options;
  const Sizes sizes{128, 256, 128};
  const Told alone = run("hgemm_v8", sizes, options);
  Workers workers(2);
  options.executor = &workers;
  expect_same(run("hgemm_v8", sizes, options, true), alone);
}

// A machine that is given up takes nothing away from under the work that it began.
TEST(Executor, OutlivesAMachineThatIsGivenUp) {
  Workers workers(1);
  for (std::uint64_t budget = 1000; budget < 12000; budget += 1000) {
    std::ifstream file(std::string(TILESCOPE_SOURCE_DIR) + "/assets/ptx/hgemm_v4.ptx");
    std::ostringstream ptx;
    ptx << file.rdbuf();
    Request request;
    request.sizes = {{"m", 128}, {"n", 128}, {"k", 256}};
    const Outcome<Job> job = make_job(**find_kernel("hgemm_v4"), request, ptx.str());
    ASSERT_TRUE(job.ok());
    sim::Options options;
    options.executor = &workers;
    Outcome<sim::Machine> machine = sim::Machine::load(*job, options);
    ASSERT_TRUE(machine.ok());
    machine->run(budget);
  }
}

TEST(Workers, KeepTheOrderOfALine) {
  Workers workers(2);
  const std::size_t lines[] = {workers.new_line(), workers.new_line(), workers.new_line()};
  std::vector<int> seen[3];
  std::uint64_t last[3] = {};
  for (int i = 0; i < 1000; ++i) {
    for (int l = 0; l < 3; ++l) {
      last[l] = workers.submit(lines[l], [&seen, l, i] { seen[l].push_back(i); });
    }
  }
  for (int l = 0; l < 3; ++l) {
    workers.wait(lines[l], last[l]);
    ASSERT_EQ(seen[l].size(), 1000u);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(seen[l][static_cast<std::size_t>(i)], i);
  }
}

}  // namespace
}  // namespace tilescope
