// The PTX of our kernels says what their mbarriers are called. Here runs say whether that is so:
// every byte that a run initialises has a name, every name belongs to such a byte, and what
// completes a barrier's phases is what its name promises.
#include "core/run/barrier_names.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "core/record/recorder.h"
#include "core/sim/machine/machine.h"
#include "core/sim/stepping/inspect.h"
#include "kernels/catalog/catalog.h"
#include "tests/kernels/images.h"
#include "tests/sim/chip_times.h"

namespace tilescope {
namespace {

Job job_of(const CatalogEntry& entry) {
  Request request;
  for (const SizeParameter& size : entry.sizes) {
    // Deep enough that every stage is given back.
    request.sizes[size.name] = std::min<std::int64_t>(size.fallback, size.name == "k" ? 512 : 256);
  }
  Outcome<Job> job = make_job(entry, request, test::image(entry.ptx));
  EXPECT_TRUE(job.ok()) << (job.ok() ? "" : job.error().sentence);
  return std::move(*job);
}

struct Seen {
  std::set<std::uint32_t> initialised;  // bytes
  // What brought a phase of a barrier to its end: a unit's arrival, or bytes.
  std::map<std::uint32_t, std::set<sim::Unit>> completed_by;
  BarrierNames of_record;
};

Seen run(Job job) {
  sim::Recorder recorder;
  sim::Options options;
  options.clocked = true;
  options.times = test::chip_times();
  options.calculates = options.races = false;
  options.recorder = &recorder;
  Outcome<sim::Machine> machine = sim::Machine::load(std::move(job), options);
  EXPECT_TRUE(machine.ok()) << (machine.ok() ? "" : machine.error().sentence);
  Seen out;
  while (machine->run(200) == RunState::running) {
    for (const sim::Block& block : machine->blocks()) {
      for (const auto& each : block.mbarriers) out.initialised.insert(each.first);
    }
  }
  EXPECT_EQ(machine->state(), RunState::done);
  const sim::Record record = recorder.take();
  out.of_record = record.barriers;
  for (const sim::Event& event : record.events) {
    if (event.kind != sim::EventKind::arrival || event.cause >= record.events.size()) continue;
    const sim::Track& track = record.tracks[event.track];
    if (track.unit != sim::Unit::mbarrier) continue;
    const sim::Unit by = record.tracks[record.events.track(event.cause)].unit;
    // The warp that expects bytes arrives for them.
    if (event.bytes || by != sim::Unit::copy_in) out.completed_by[track.index].insert(by);
  }
  return out;
}

TEST(BarrierNames, OfTheCatalogAreThoseThatItsKernelsInitialise) {
  std::size_t named = 0;
  for (const CatalogEntry& entry : catalog()) {
    SCOPED_TRACE(entry.name);
    const Job job = job_of(entry);
    const Seen seen = run(job);
    std::set<std::uint32_t> names;
    for (const auto& each : job.barriers) names.insert(each.first);
    EXPECT_EQ(names, seen.initialised);
    EXPECT_EQ(seen.of_record, job.barriers) << "a record carries them";
    named += names.size();
    for (const auto& [byte, name] : job.barriers) {
      const std::set<sim::Unit>& by = seen.completed_by.at(byte);
      SCOPED_TRACE(name);
      const std::string kind = name.substr(0, name.find('['));
      EXPECT_EQ(by.count(sim::Unit::copy_in) > 0, kind == "full");
      // On Hopper threads wait for the tensor core, and arrive themselves.
      const bool commits = entry.target == "sm_100a" && kind != "full" && kind != "free";
      EXPECT_EQ(by.count(sim::Unit::commit) > 0, commits);
    }
  }
  EXPECT_EQ(named, 3u + 2 + 5 + 5 + 6 + 10 + 10 + 12 + (1 + 4 + 6 * 8) + 16);
}

TEST(BarrierNames, AreReadByNameAndByByte) {
  const BarrierNames names = barriers_from(98304, {{"full", 2}, {"done"}});
  EXPECT_EQ(barrier_name(names, 98312), "full[1]");
  EXPECT_EQ(barrier_text(names, 98320), "done (byte 98320)");
  EXPECT_EQ(barrier_text(names, 16), "mbarrier 16");
  EXPECT_EQ(barrier_in(names, "Full[1]"), 98312u);
  EXPECT_EQ(barrier_in(names, "98304"), 98304u);
  EXPECT_EQ(barrier_in(names, "24"), 24u);
  EXPECT_FALSE(barrier_in(names, "full"));
  EXPECT_FALSE(barrier_in(names, "full[2]"));
  EXPECT_FALSE(barrier_in(names, ""));
  EXPECT_FALSE(barrier_in(names, "99999999999"));
  EXPECT_FALSE(barrier_in(names, "-8"));
}

// A sentence about a barrier has its name and its byte; of a kernel that nobody knows, the byte.
TEST(BarrierNames, AreInTheSentencesOfAMachine) {
  const auto entry = find_kernel("hgemm_v5");
  ASSERT_TRUE(entry.ok());
  for (const bool known : {true, false}) {
    Job job = job_of(**entry);
    if (!known) job.barriers.clear();
    sim::Options options;
    options.calculates = options.races = false;
    Outcome<sim::Machine> machine = sim::Machine::load(std::move(job), options);
    ASSERT_TRUE(machine.ok());
    std::vector<sim::MbarrierState> all;
    while (all.empty() && machine->run(100) == RunState::running) {
      all = sim::mbarriers_of(*machine, 0);
    }
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all.front().name, known ? "the mbarrier full[0] (byte 98304 of shared memory)"
                                      : "the mbarrier at byte 98304 of shared memory");
  }
}

}  // namespace
}  // namespace tilescope
