// What each step of the ladder does, event by event, on a problem as small as shows all of it:
// which warp copies, multiplies, commits and writes back, and what comes to which phase of which
// barrier. The texts in events/ have been read against the kernels' sources and the barriers that
// each step should have. They are without times, so the device has no part in them: a chip with
// quite other times gives the same.
//
// TILESCOPE_REFRESH=1 writes them anew; read the difference then.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/record/issuer.h"
#include "core/record/recorder.h"
#include "core/record/text.h"
#include "core/sim/machine/machine.h"
#include "kernels/catalog/catalog.h"
#include "tests/sim/chip_times.h"

namespace tilescope {
namespace {

using sim::Record;

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Step {
  int number;
  std::int64_t m, n, k;
  std::uint32_t grid;  // 0: as the catalog launches it
};

void PrintTo(const Step& step, std::ostream* out) {
  *out << "hgemm_v" << step.number;
}

// The K loop goes round its stages twice at least, and blocks that stay have two tiles. Step 1 has
// one product and one phase.
const std::vector<Step>& steps() {
  static const std::vector<Step> all = {
      {1, 128, 128, 64, 0},  {2, 128, 128, 256, 0},   {3, 256, 128, 128, 0}, {4, 256, 128, 128, 0},
      {5, 128, 128, 256, 0}, {6, 256, 128, 128, 1},   {7, 256, 128, 128, 1}, {8, 256, 128, 256, 1},
      {9, 512, 256, 256, 2}, {10, 1024, 256, 256, 2},
  };
  return all;
}

std::string name_of(const Step& step) {
  return "hgemm_v" + std::to_string(step.number);
}

Record record_of(const Step& step, const DeviceTimes& times) {
  const auto entry = find_kernel(name_of(step));
  EXPECT_TRUE(entry.ok());
  Request request;
  request.sizes = {{"m", step.m}, {"n", step.n}, {"k", step.k}};
  Outcome<Job> job =
      make_job(**entry, request, read(TILESCOPE_SOURCE_DIR "/assets/" + (*entry)->ptx));
  EXPECT_TRUE(job.ok());
  if (step.grid) job->launch.grid.x = step.grid;
  sim::Recorder recorder;
  sim::Options options;
  options.clocked = true;
  options.times = times;
  options.calculates = options.races = false;
  options.recorder = &recorder;
  Outcome<sim::Machine> machine = sim::Machine::load(std::move(*job), options);
  EXPECT_TRUE(machine.ok());
  EXPECT_EQ(machine->run(~std::uint64_t{0}), RunState::done);
  for (const Report& r : machine->reports()) ADD_FAILURE() << r.sentence;
  return recorder.take();
}

std::string words_of(const Record& record) {
  sim::TextChoice choice;
  choice.times = false;
  choice.barriers = record.barriers;
  return text(record, choice);
}

std::string sequence_of(const Step& step, const DeviceTimes& times) {
  return name_of(step) + ", " + std::to_string(step.m) + " x " + std::to_string(step.n) + " x " +
         std::to_string(step.k) + "\n" + words_of(record_of(step, times));
}

class EventSequence : public testing::TestWithParam<Step> {};

TEST_P(EventSequence, IsAsReviewed) {
  const std::string path =
      TILESCOPE_SOURCE_DIR "/tests/kernels/events/" + name_of(GetParam()) + ".txt";
  const std::string told = sequence_of(GetParam(), test::chip_times());
  if (std::getenv("TILESCOPE_REFRESH")) {
    std::ofstream(path) << told;
    return;
  }
  EXPECT_EQ(told, read(path)) << "read what changed, then refresh with TILESCOPE_REFRESH=1";
}

// All latencies are three times as long, and copies take eight times what they did.
TEST_P(EventSequence, DoesNotDependOnTimes) {
  DeviceTimes slow = test::chip_times();
  for (double DeviceTimes::*latency :
       {&DeviceTimes::block_start, &DeviceTimes::branch, &DeviceTimes::barrier,
        &DeviceTimes::mbarrier, &DeviceTimes::arrive, &DeviceTimes::remote, &DeviceTimes::cluster,
        &DeviceTimes::fence, &DeviceTimes::shared_latency, &DeviceTimes::l1_latency,
        &DeviceTimes::l2_latency, &DeviceTimes::memory_latency, &DeviceTimes::copy_issue,
        &DeviceTimes::copy_latency, &DeviceTimes::tensor_latency, &DeviceTimes::tensor_issue,
        &DeviceTimes::commit, &DeviceTimes::tensor_load_latency,
        &DeviceTimes::tensor_store_latency}) {
    slow.*latency *= 3;
  }
  slow.copy_bytes /= 8;
  const Record usual = record_of(GetParam(), test::chip_times()),
               other = record_of(GetParam(), slow);
  EXPECT_GT(other.end, usual.end * 3 / 2);
  EXPECT_EQ(words_of(other), words_of(usual));
  // And multiplication is what takes long.
  DeviceTimes busy = test::chip_times();
  busy.tensor_f16 /= 16;
  EXPECT_EQ(sequence_of(GetParam(), busy), sequence_of(GetParam(), test::chip_times()));
}

// Of warp 8 one lane multiplies, and 31 are at the cluster's barrier from the first moment on: what
// the warp waits for is the lane's mbarriers. In block 1 all 32 are at that barrier.
TEST(EventTimes, AWarpWaitsForWhatItsLaneInThePipelineWaitsFor) {
  const Record record = record_of(steps().back(), test::chip_times());
  // When it waited so, in order: [begin, end) of each.
  const auto waits = [&](std::uint64_t block, sim::Stall stall) {
    std::vector<std::pair<sim::Cycle, sim::Cycle>> out;
    for (const sim::Event& event : record.events) {
      const sim::Track& track = record.tracks[event.track];
      if (event.kind != sim::EventKind::wait || event.stall != stall) continue;
      if (track.block == block && track.index == 8 && track.unit == sim::Unit::warp) {
        out.emplace_back(event.begin, event.end);
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  };
  const auto barriers = waits(0, sim::Stall::mbarrier);
  ASSERT_GT(barriers.size(), 4u);
  EXPECT_GT(barriers.back().second, barriers.front().first + 1000);
  for (const auto& [begin, end] : waits(0, sim::Stall::cluster)) {
    EXPECT_TRUE(end <= barriers.front().first || begin >= barriers.back().second)
        << "only before the lane is in the pipeline, and behind it";
  }
  EXPECT_TRUE(waits(1, sim::Stall::mbarrier).empty());
  EXPECT_FALSE(waits(1, sim::Stall::cluster).empty());
}

// PTX: a commit arrives when all that its thread has issued before is complete. What it waited for
// brought it about, and whoever issued it is known all the same.
TEST(EventTimes, ACommitIsCompleteBehindTheProductsThatItWaitsFor) {
  for (const Step& step : {steps()[6], steps().back()}) {
    const Record record = record_of(step, test::chip_times());
    std::size_t waited = 0;
    for (const sim::Event& commit : record.events) {
      const sim::Track& of = record.tracks[commit.track];
      if (of.unit != sim::Unit::commit) continue;
      const sim::EventId run = sim::issuer_of(record, commit);
      ASSERT_NE(run, sim::no_event);
      EXPECT_EQ(record.tracks[record.events.track(run)].unit, sim::Unit::warp);
      for (const sim::Event& product : record.events) {
        const sim::Track& on = record.tracks[product.track];
        if (on.unit != sim::Unit::tensor || on.block != of.block) continue;
        if (product.issue > commit.issue) continue;
        const sim::EventId by = sim::issuer_of(record, product);
        if (record.events.track(by) != record.events.track(run)) continue;
        EXPECT_LE(product.end, commit.end);
      }
      const sim::Event cause = record.events[commit.cause];
      waited += record.tracks[cause.track].unit == sim::Unit::tensor;
    }
    EXPECT_GT(waited, 2u) << name_of(step);
  }
}

TEST(EventTimes, AFenceIsNoLoadFromMemory) {
  const Record record = record_of(steps().back(), test::chip_times());
  std::size_t fences = 0;
  for (const sim::Event& event : record.events) {
    if (event.kind != sim::EventKind::wait) continue;
    fences += event.stall == sim::Stall::fence;
    EXPECT_NE(event.stall, sim::Stall::global) << record.lines[event.pc].text;
  }
  EXPECT_GT(fences, 0u);
}

// Stalls too short for an event of their own are told with the run, and are no more than it took.
TEST(EventTimes, ARunSaysHowLongItStalled) {
  const Record record = record_of(steps()[6], test::chip_times());
  std::size_t stalled = 0;
  for (const sim::Event& event : record.events) {
    if (event.kind != sim::EventKind::run) continue;
    stalled += event.object > 0;
    EXPECT_EQ(event.stall == sim::Stall::none, event.object == 0);
    EXPECT_LE(event.phase, event.object);
    EXPECT_LE(event.object, event.end - event.begin + 1);
  }
  EXPECT_GT(stalled, 0u);
}

INSTANTIATE_TEST_SUITE_P(Ladder, EventSequence, testing::ValuesIn(steps()),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace tilescope
