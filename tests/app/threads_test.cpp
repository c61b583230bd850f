// Runs and compilations in the background, and threads that calculate for the simulator: what the
// window asks of them while they work. The preset `threads` runs this with ThreadSanitizer, which
// watches every word that two threads share. There is no compiler here: `compile` is a stand-in
// that takes its time.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "app/builds.h"
#include "app/compiler.h"
#include "app/jobs.h"
#include "app/workers.h"
#include "core/sim/machine/device.h"
#include "tests/kernels/shipped.h"

namespace tilescope {

// Compiles the text "slow" until it is stopped, and any other at once.
Outcome<Build> compile(const std::string& path, const std::string& architecture, const Defines&,
                       const KeepOn& keep_on) {
  while (path == "slow.cu") {
    if (!keep_on()) return Error{ErrorKind::interrupted, "nvcc was stopped.", path};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  Build build;
  build.file = build.name = path;
  build.ptx = "// for " + architecture;
  return build;
}

namespace {

using Outputs = std::vector<Buffer>;

// A run whose outputs are kept when it ends.
struct Watched {
  std::shared_ptr<Outputs> outputs = std::make_shared<Outputs>();
  std::unique_ptr<BackgroundRun> run;

  Watched(const std::string& kernel, Sizes sizes, sim::Executor* executor = nullptr) {
    sim::Options options;
    options.executor = executor;
    BackgroundRun::Steps steps;
    steps.start = [=] { return sim::SimDevice(options).start(test::shipped_job(kernel, sizes)); };
    steps.finish = [into = outputs](BackgroundRun::Ended ended) {
      *into = ended.execution->buffers();
      auto result = std::make_shared<RunResult>();
      result->end = ended.end;
      result->progress = ended.progress;
      FinishedRun finished;
      finished.result = std::move(result);
      return BackgroundRun::Result(std::move(finished));
    };
    run = std::make_unique<BackgroundRun>(std::move(steps));
  }
  // As the window does, frame by frame: how far it is, never less than before.
  std::shared_ptr<const RunResult> watch() {
    std::uint64_t done = 0;
    for (;;) {
      const RunProgress now = run->progress();
      EXPECT_GE(now.done, done);
      done = now.done;
      if (auto result = run->take()) {
        EXPECT_TRUE(result->ok());
        return (*result)->result;
      }
      std::this_thread::yield();
    }
  }
};

Outputs alone(const std::string& kernel, Sizes sizes) {
  auto execution = sim::SimDevice().start(test::shipped_job(kernel, sizes));
  EXPECT_TRUE(execution.ok());
  while ((*execution)->advance(~std::uint64_t{0}) == RunState::running) continue;
  return (*execution)->buffers();
}

void expect_same(const Outputs& got, const Outputs& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i].bytes, want[i].bytes);
}

TEST(BackgroundRuns, GiveWhatTheyGiveInTheForegroundOnce) {
  const Sizes sizes{64, 96, 64};
  Watched watched("matmul_tiled", sizes);
  const auto result = watched.watch();
  EXPECT_EQ(result->end, RunResult::End::done);
  EXPECT_EQ(watched.run->progress().state, RunProgress::State::finished);
  EXPECT_FALSE(watched.run->take());
  expect_same(*watched.outputs, alone("matmul_tiled", sizes));
}

TEST(BackgroundRuns, TwoWithWorkersOfTheirOwnDoNotTouchEachOther) {
  const Sizes sizes{128, 128, 128};
  Workers two(2), three(3);
  Watched one("hgemm_v6", sizes, &two), other("hgemm_v8", sizes, &three);
  EXPECT_EQ(one.watch()->end, RunResult::End::done);
  EXPECT_EQ(other.watch()->end, RunResult::End::done);
  expect_same(*one.outputs, alone("hgemm_v6", sizes));
  expect_same(*other.outputs, alone("hgemm_v8", sizes));
}

TEST(BackgroundRuns, StopWhenToldAndWhenTheyAreGivenUp) {
  const Sizes sizes{1024, 1024, 1024};
  Watched watched("matmul_tiled", sizes);
  while (watched.run->progress().done == 0) std::this_thread::yield();
  watched.run->cancel();
  watched.run->wait();
  EXPECT_EQ(watched.watch()->end, RunResult::End::cancelled);
  Workers workers(2);
  Watched given_up("hgemm_v6", Sizes{1024, 1024, 1024}, &workers);
  while (given_up.run->progress().instructions == 0) std::this_thread::yield();
  given_up.run.reset();  // in the midst of it
}

TEST(BackgroundBuilds, AreCheckedThenTakenOnce) {
  BackgroundBuild build("add.cu", "compute_80", {}, [](const auto& made) -> std::optional<Error> {
    EXPECT_EQ(made->ptx, "// for compute_80");
    return {};
  });
  EXPECT_GE(build.seconds(), 0);
  build.wait();
  const auto result = build.take();
  ASSERT_TRUE(result && result->ok());
  EXPECT_EQ((**result)->name, "add.cu");
  EXPECT_FALSE(build.take());
}

TEST(BackgroundBuilds, StopWhenToldAndWhenTheyAreGivenUp) {
  const auto fine = [](const auto&) -> std::optional<Error> { return {}; };
  BackgroundBuild build("slow.cu", "compute_80", {}, fine);
  EXPECT_FALSE(build.take());
  build.cancel();
  build.wait();
  const auto result = build.take();
  ASSERT_TRUE(result && !result->ok());
  EXPECT_EQ(result->error().kind, ErrorKind::interrupted);
  BackgroundBuild given_up("slow.cu", "compute_80", {}, fine);
}

}  // namespace
}  // namespace tilescope
