// Going through runs: stops change nothing, a place is the same from both sides, and steps lead
// where they say.
#include "core/sim/stepping/stepper.h"
#include "core/sim/time/reached.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "core/io/device_file.h"
#include "tests/kernels/shipped.h"
#include "tests/sim/moment.h"
#include "tests/sim/program.h"

namespace tilescope {
namespace {

using sim::Arrival;
using sim::Happening;
using sim::Machine;
using sim::Step;
using sim::StepBy;
using sim::Stepper;
using sim::StopAt;
using test::digest;
using u64 = std::uint64_t;

// Programs that end soon, with what they need resident; those that are refused are left out.
struct Named {
  std::string name;
  Job job;
  sim::Options options;
};

std::vector<Named> programs() {
  std::vector<Named> out;
  const std::string folder = TILESCOPE_TESTS_DIR "/programs";
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().extension() != ".ptx") continue;
    test::SimProgram p = test::read_program(file.path().string());
    if (!p.error.empty()) continue;
    sim::Options options;
    if (p.resident) options.resident_blocks = p.resident;
    out.push_back({std::filesystem::relative(file.path(), folder).string(), p.job, options});
  }
  std::sort(out.begin(), out.end(), [](const Named& a, const Named& b) { return a.name < b.name; });
  return out;
}

Named kernel(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k) {
  sim::Options options;
  options.exact = false;
  return {name, test::shipped_job(name, {m, n, k}), options};
}

Machine loaded(const Named& what) {
  sim::Options options = what.options;
  options.both_ways_bytes = 0;
  Outcome<Machine> m = Machine::load(what.job, options);
  EXPECT_TRUE(m.ok()) << what.name << ": " << m.error().sentence;
  return std::move(*m);
}

// A place to stop at that is drawn, of a run that is at `now`.
StopAt drawn(std::mt19937& draw, const Machine& now) {
  StopAt at;
  switch (draw() % 6) {
    case 0:
      at.position = now.position() + draw() % 50;
      break;
    case 1:
      at.instructions = now.instructions() + draw() % 50;
      break;
    case 2:
      at.block = draw() % 4;
      at.warp = draw() % 4;
      at.executed = draw() % 200;
      break;
    case 3:
      at.what = bit(Happening::instruction);
      if (draw() % 2) at.warp = draw() % 4;
      break;
    case 4:
      at.what = bit(Happening::write);
      at.watches = {{sim::Watch::Where::shared, 0, 0, 64, {}}};
      break;
    default:
      at.what = draw() % 0x20;  // what units do
  }
  at.kept = draw() % 2 ? 0x1f : 0;
  return at;
}

u64 plain_end(const Named& what, u64* position = nullptr) {
  Machine m = loaded(what);
  while (m.run(1 << 20) == RunState::running && m.instructions() < 20'000'000) {
  }
  if (position) *position = m.position();
  return digest(m);
}

void expect_stops_change_nothing(const Named& what, unsigned seed) {
  SCOPED_TRACE(what.name + ", schedule " + std::to_string(what.options.schedule) +
               (what.options.lazy ? ", lazy" : ""));
  u64 end = 0;
  const u64 want = plain_end(what, &end);
  Machine m = loaded(what);
  std::mt19937 draw(seed);
  u64 stops = 0;
  for (RunState state = RunState::running; state != RunState::done && state != RunState::fault;) {
    // Then on to the end without a stop.
    if (stops % 16 == 0) m.stop_at(stops < 2000 ? drawn(draw, m) : StopAt{});
    state = m.run(stops < 2000 ? draw() % 300 : 1 << 20);
    ++stops;
  }
  EXPECT_EQ(m.position(), end);
  EXPECT_EQ(digest(m), want);
}

TEST(Stops, ChangeNothingInAnyProgram) {
  for (Named& p : programs()) expect_stops_change_nothing(p, 1);
}

TEST(Stops, ChangeNothingInAnyOrder) {
  for (Named& p : programs()) {
    if (p.name.find("cluster") == std::string::npos && p.name.find("pair") == std::string::npos &&
        p.name.find("bulk") == std::string::npos && p.name.find("mbarrier") == std::string::npos) {
      continue;
    }
    for (u64 seed = 1; seed <= 3; ++seed) {
      p.options.schedule = seed;
      p.options.lazy = seed == 2;
      expect_stops_change_nothing(p, static_cast<unsigned>(seed));
    }
    p.options.schedule = 0;
    p.options.lazy = true;
    expect_stops_change_nothing(p, 4);
  }
}

TEST(Stops, ChangeNothingInKernels) {
  for (Named k : {kernel("hgemm_v4", 136, 136, 200), kernel("hgemm_v8", 136, 264, 328),
                  kernel("hgemm_v10", 520, 264, 328)}) {
    expect_stops_change_nothing(k, 1);
    k.options.schedule = 5;
    expect_stops_change_nothing(k, 2);
    k.options.schedule = 0;
    k.options.lazy = true;
    expect_stops_change_nothing(k, 3);
  }
}

// By the clock of a B200.
Named clocked(Named what) {
  std::ifstream file(std::string(TILESCOPE_SOURCE_DIR) + "/assets/devices/b200.toml");
  std::ostringstream text;
  text << file.rdbuf();
  const Outcome<DeviceDescription> device = parse_device_file(text.str(), "b200");
  EXPECT_TRUE(device.ok());
  what.options.clocked = true;
  what.options.times = device->times;
  return what;
}

TEST(Stops, ChangeNothingByTheClock) {
  expect_stops_change_nothing(clocked(kernel("hgemm_v4", 136, 136, 200)), 1);
  expect_stops_change_nothing(clocked(kernel("hgemm_v10", 520, 264, 328)), 2);
}

// ---- places ----

Stepper stepper(const Named& what, sim::CheckpointLimits limits = {}) {
  return Stepper(loaded(what), limits);
}

Arrival step(Stepper& s, StepBy by, bool back = false, u64 count = 1) {
  Step step;
  step.by = by;
  step.back = back;
  step.count = count;
  s.step(step);
  return s.arrive();
}

// What the machine is at every position, by running a new one up to it: so many instructions, and
// then the moments one by one.
std::map<u64, u64> all_places(const Named& what, u64 most) {
  std::map<u64, u64> out;
  Machine m = loaded(what);
  while (m.position() < most) {
    StopAt at;
    at.position = m.position() + 1;
    m.stop_at(at);
    const RunState state = m.run(~u64{0});
    if (state != RunState::stopped) break;
    out[m.position()] = digest(m);
  }
  return out;
}

// With few copies that lie close together, so that they come and go.
sim::CheckpointLimits few(const Named& what) {
  Machine m = loaded(what);
  m.run(300);
  return {m.bytes() * 9, 0};
}

void expect_same_from_both_sides(const Named& what, u64 most, int steps) {
  SCOPED_TRACE(what.name);
  const std::map<u64, u64> places = all_places(what, most);
  if (places.empty()) return;
  Stepper s = stepper(what, few(what));
  std::mt19937 draw(7);
  for (int i = 0; i < steps; ++i) {
    const u64 before = s.position();
    switch (draw() % 3) {
      case 0:
        s.go_to(draw() % (places.rbegin()->first + 1));
        s.arrive();
        break;
      case 1:
        if (before > 0) {
          ASSERT_EQ(step(s, StepBy::moment, true), Arrival::there);
          EXPECT_LT(s.position(), before);
        }
        break;
      default:
        step(s, StepBy::moment);
        if (s.state() == RunState::running) {
          EXPECT_GT(s.position(), before);
        }
    }
    if (s.state() != RunState::running || s.position() == 0) continue;
    const auto place = places.find(s.position());
    if (place == places.end()) {
      EXPECT_GT(s.position(), places.rbegin()->first);
      continue;
    }
    ASSERT_EQ(digest(s.machine()), place->second) << "at position " << s.position();
  }
}

TEST(Places, AreTheSameFromBothSides) {
  int n = 0;
  for (const Named& p : programs()) {
    if (++n % 4 == 0 || p.name.find("cluster") == 0 || p.name.find("pair") == 0) {
      expect_same_from_both_sides(p, 400, 30);
    }
  }
}

TEST(Places, AreTheSameFromBothSidesByTheClock) {
  expect_same_from_both_sides(clocked(kernel("hgemm_v9", 264, 264, 328)), 400, 40);
}

TEST(Places, HaveTheirTimeByTheClock) {
  Stepper s = Stepper(loaded(clocked(kernel("hgemm_v4", 136, 136, 200))));
  s.to_the_end();
  s.arrive();
  const double end = s.machine().now();
  for (const double share : {0.7, 0.2, 0.5}) {
    s.go_to_cycle(end * share);
    ASSERT_EQ(s.arrive(), Arrival::there);
    EXPECT_EQ(time_reached(s.machine()), end * share);
    EXPECT_TRUE(s.machine().all_have_reached(end * share));
    const u64 there = s.position();
    Stepper fresh = Stepper(loaded(clocked(kernel("hgemm_v4", 136, 136, 200))));
    fresh.go_to_cycle(end * share);
    fresh.arrive();
    EXPECT_EQ(fresh.position(), there);
    step(s, StepBy::moment, true);
    EXPECT_FALSE(s.machine().all_have_reached(end * share));
  }
}

// From behind the last CTA, too, before the run is done.
TEST(Places, OfACycleAreTheSameFromTheEnd) {
  const Named what = clocked(kernel("matmul_naive", 40, 40, 8));
  Stepper s = Stepper(loaded(what));
  s.to_the_end();
  s.arrive();
  const u64 end = s.position();
  s.go_to_cycle(400);
  ASSERT_EQ(s.arrive(), Arrival::there);
  const u64 there = s.position();
  for (u64 back = 1; back < 4; ++back) {
    s.go_to(end - back);
    s.arrive();
    s.go_to_cycle(400);
    ASSERT_EQ(s.arrive(), Arrival::there);
    EXPECT_EQ(s.position(), there) << back;
  }
}

// Blocks have their turns one after the other: whoever is asked what he does at a cycle is there.
TEST(Places, OfACycleHaveEverybodyThere) {
  const Named what = clocked(kernel("hgemm_v7", 256, 256, 256));
  Stepper s = Stepper(loaded(what));
  for (const double cycle : {400.0, 1500.0, 2000.5, 3100.0}) {
    s.go_to_cycle(cycle);
    ASSERT_EQ(s.arrive(), Arrival::there);
    for (const sim::Block& block : s.machine().blocks()) {
      for (const sim::Warp& warp : block.warps) {
        const bool goes_on =
            std::any_of(warp.splits.begin(), warp.splits.end(),
                        [](const sim::Split& x) { return x.wait == sim::Wait::none; });
        const sim::WarpTime& time = block.time.warps[warp.index];
        if (goes_on && !time.waits) {
          EXPECT_GE(time.slot, cycle) << warp.index;
        }
      }
    }
  }
  // Behind the last thing that happens, and before the blocks have gone.
  s.to_the_end();
  s.arrive();
  const double end = s.machine().end();
  s.go_to_cycle(end - 1);
  EXPECT_EQ(s.arrive(), Arrival::there);
  s.go_to_cycle(end + 1);
  EXPECT_EQ(s.arrive(), Arrival::none);
  EXPECT_EQ(s.story(), "the run is over before that");
}

TEST(Places, TheEndIsAPlaceOfItsOwn) {
  Stepper s = Stepper(loaded(clocked(kernel("hgemm_v4", 136, 136, 200))));
  s.to_the_end();
  s.arrive();
  const u64 end = s.position();
  s.go_to(end - 1);
  ASSERT_EQ(s.arrive(), Arrival::there);
  EXPECT_EQ(s.position(), end - 1);
  EXPECT_NE(s.machine().state(), RunState::done);
  s.go_to(end);
  ASSERT_EQ(s.arrive(), Arrival::there);
  EXPECT_EQ(s.position(), end);
  EXPECT_EQ(s.machine().state(), RunState::done);
  // Also where nobody knows yet how it ends.
  Stepper fresh = Stepper(loaded(clocked(kernel("hgemm_v4", 136, 136, 200))));
  fresh.go_to(end);
  EXPECT_EQ(fresh.arrive(), Arrival::there);
  EXPECT_EQ(fresh.machine().state(), RunState::done);
}

TEST(Places, AreTheSameFromBothSidesInKernels) {
  for (Named k : {kernel("hgemm_v1", 128, 128, 64), kernel("hgemm_v9", 264, 264, 328)}) {
    expect_same_from_both_sides(k, 600, 60);
    k.options.schedule = 3;
    expect_same_from_both_sides(k, 600, 60);
  }
}

// ---- steps ----

// The places that steps of this kind lead to, from the beginning on.
std::vector<u64> forwards(Stepper& s, const Step& how, std::size_t most) {
  std::vector<u64> out;
  s.to_the_beginning();
  s.arrive();
  for (s.step(how); out.size() < most && s.arrive() == Arrival::there; s.step(how)) {
    out.push_back(s.position());
  }
  return out;
}

void expect_back_is_forwards(const Named& what, Step how, std::size_t most) {
  SCOPED_TRACE(what.name + ", by " + std::string(name_of(how.by)));
  Stepper s = stepper(what, few(what));
  const std::vector<u64> there = forwards(s, how, most);
  if (there.empty()) return;
  how.back = true;
  for (std::size_t i = there.size() - 1; i-- > 0;) {
    s.go_to(there[i + 1]);
    s.arrive();
    s.step(how);
    ASSERT_EQ(s.arrive(), Arrival::there) << "to " << there[i];
    ASSERT_EQ(s.position(), there[i]);
  }
  s.go_to(there[0]);
  s.arrive();
  s.step(how);
  if (s.arrive() == Arrival::there) {  // of instructions there was none before the first
    EXPECT_EQ(how.by, StepBy::instruction);
    EXPECT_EQ(s.position(), 0u);
    s.step(how);
    s.arrive();
  }
  EXPECT_EQ(s.position(), 0u);
  EXPECT_EQ(s.story().find("there is no earlier"), 0u) << s.story();
  // Several at once.
  if (there.size() > 4) {
    s.go_to(there.back());
    s.arrive();
    how.count = 3;
    s.step(how);
    ASSERT_EQ(s.arrive(), Arrival::there);
    EXPECT_EQ(s.position(), there[there.size() - 4]);
    how.back = false;
    s.step(how);
    ASSERT_EQ(s.arrive(), Arrival::there);
    EXPECT_EQ(s.position(), there.back());
  }
}

TEST(Steps, BackLeadWhereForwardStepsStopped) {
  const Named kernels[] = {kernel("hgemm_v5", 136, 136, 264), kernel("hgemm_v10", 520, 264, 328)};
  for (const Named& k : kernels) {
    for (const StepBy by : {StepBy::instruction, StepBy::line, StepBy::phase, StepBy::barrier,
                            StepBy::cluster, StepBy::copy, StepBy::product}) {
      Step how;
      how.by = by;
      if (by == StepBy::line) how.block = 0, how.warp = 1;
      expect_back_is_forwards(k, how, 25);
    }
    Step warp;
    warp.block = 0;
    warp.warp = 2;
    expect_back_is_forwards(k, warp, 25);
    Step write;
    write.by = StepBy::write;
    write.watch = {sim::Watch::Where::tensor, 0, 0, 0, {5, 1, 7, 1}};
    expect_back_is_forwards(k, write, 6);
  }
  for (const Named& p : programs()) {
    if (p.name != "cp_async_pipeline.ptx" && p.name != "block_sum.ptx" &&
        p.name != "stmatrix.ptx" && p.name != "wmma_half.ptx") {
      continue;
    }
    for (const StepBy by : {StepBy::copy, StepBy::product, StepBy::line, StepBy::barrier}) {
      Step how;
      how.by = by;
      if (by == StepBy::line) how.block = 0, how.warp = 0;
      expect_back_is_forwards(p, how, 25);
    }
  }
}

// A thread, six instructions of lines 10 to 13, three times round a loop.
constexpr const char* loop = R"(
.version 9.0
.target sm_90
.address_size 64
.visible .entry loop(.param .u64 out)
{
	.reg .pred p;
	.reg .b32 i;
	.reg .b64 o;
	.loc 1 10 1
	ld.param.u64 o, [out];
	mov.u32 i, 0;
AGAIN:
	.loc 1 11 1
	add.u32 i, i, 1;
	.loc 1 12 1
	setp.lt.u32 p, i, 3;
	@p bra AGAIN;
	.loc 1 13 1
	st.global.u32 [o], i;
	ret;
}
.file 1 "loop.cu"
)";

Named golden(const char* ptx, std::uint32_t threads = 1) {
  Named out;
  out.name = "golden";
  out.job.program = {"golden.ptx", ptx};
  out.job.launch.block = {threads, 1, 1};
  Buffer b;
  b.name = "OUT";
  b.dtype = DType::u32;
  b.shape = {64};
  b.undefined = true;
  b.bytes.resize(256);
  out.job.buffers = {b};
  out.job.arguments = {Argument::pointer(0)};
  return out;
}

std::uint32_t line_of(const Stepper& s, std::size_t warp = 0) {
  const auto& w = s.machine().blocks()[0].warps[warp];
  return s.machine().program().code[w.splits[0].pc].source_line;
}

TEST(Steps, ByLineStopBeforeTheNextLine) {
  Stepper s = stepper(golden(loop));
  std::vector<std::uint32_t> lines;
  while (step(s, StepBy::line) == Arrival::there && !s.machine().blocks().empty()) {
    lines.push_back(line_of(s));
  }
  EXPECT_EQ(lines, (std::vector<std::uint32_t>{11, 12, 11, 12, 11, 12, 13}));
}

TEST(Steps, ByInstructionCountInstructions) {
  Stepper s = stepper(golden(loop));
  step(s, StepBy::instruction, false, 3);
  EXPECT_EQ(s.machine().instructions(), 3u);
  EXPECT_EQ(line_of(s), 12u);
  step(s, StepBy::instruction, true);
  EXPECT_EQ(line_of(s), 11u);
  s.go_to_instruction(11);  // 2, and three times 3
  ASSERT_EQ(s.arrive(), Arrival::there);
  EXPECT_EQ(line_of(s), 13u);
  EXPECT_EQ(step(s, StepBy::instruction, false, 99), Arrival::none);
  EXPECT_EQ(s.state(), RunState::done);
  EXPECT_EQ(s.machine().instructions(), 13u);
  EXPECT_EQ(s.story(), "there is no further instruction: this is the end of the run");
}

TEST(Steps, ByWriteStopBehindTheStore) {
  Stepper s = stepper(golden(loop));
  Step how;
  how.by = StepBy::write;
  const u64 out = s.machine().buffer(0).base();
  how.watch = {sim::Watch::Where::global, 0, out + 2, out + 3, {}};
  s.step(how);
  ASSERT_EQ(s.arrive(), Arrival::there);
  EXPECT_EQ(s.machine().instructions(), 12u);
  ASSERT_TRUE(s.reason());
  EXPECT_EQ(s.machine().program().code[s.reason()->pc].source_line, 13u);
  how.watch = {sim::Watch::Where::global, 0, out + 4, out + 8, {}};
  s.to_the_beginning();
  s.arrive();
  s.step(how);
  EXPECT_EQ(s.arrive(), Arrival::none);
}

// Of two warps, each waits for the other; then the second one stores where nothing is.
constexpr const char* meeting = R"(
.version 9.0
.target sm_90
.address_size 64
.visible .entry meeting(.param .u64 out)
{
	.reg .pred p;
	.reg .b32 t;
	.reg .b64 o;
	ld.param.u64 o, [out];
	mov.u32 t, %tid.x;
	bar.sync 3;
	setp.lt.u32 p, t, 32;
	@p ret;
	st.global.u32 [o+4096], t;
	ret;
}
)";

TEST(Steps, ByBarrierStopWhereTheLastArrives) {
  Stepper s = stepper(golden(meeting, 64));
  ASSERT_EQ(step(s, StepBy::barrier), Arrival::there);
  ASSERT_TRUE(s.reason());
  EXPECT_EQ(s.reason()->object, 3u);
  EXPECT_EQ(s.reason()->warp, 1u);
  EXPECT_EQ(s.machine().instructions(), 6u);
  EXPECT_EQ(step(s, StepBy::barrier), Arrival::none);
}

TEST(Steps, ByFaultStopBeforeIt) {
  Stepper s = stepper(golden(meeting, 64));
  EXPECT_EQ(s.fault(), nullptr);
  ASSERT_EQ(step(s, StepBy::fault), Arrival::there);
  EXPECT_EQ(s.state(), RunState::running);
  ASSERT_NE(s.fault(), nullptr);
  EXPECT_EQ(s.fault()->kind, "out_of_bounds");
  const auto& warp = s.machine().blocks()[0].warps[1];
  EXPECT_EQ(s.machine().program().code[warp.splits[0].pc].line, s.fault()->site.ptx_line);
  const u64 before = digest(s.machine());
  EXPECT_EQ(step(s, StepBy::instruction), Arrival::none);
  EXPECT_EQ(s.state(), RunState::fault);
  EXPECT_EQ(s.machine().program().code[s.machine().blocks()[0].warps[1].splits[0].pc].line,
            s.fault()->site.ptx_line);
  ASSERT_EQ(step(s, StepBy::instruction, true), Arrival::there);
  EXPECT_EQ(digest(s.machine()), before);
  ASSERT_EQ(step(s, StepBy::barrier, true), Arrival::there);
  EXPECT_EQ(s.machine().instructions(), 6u);
  ASSERT_EQ(step(s, StepBy::fault), Arrival::there);
  EXPECT_EQ(digest(s.machine()), before);
}

TEST(Steps, ReachEveryFaultOfThePrograms) {
  int faults = 0;
  for (const Named& p : programs()) {
    if (p.name.find("faults/") != 0) continue;
    SCOPED_TRACE(p.name);
    Machine plain = loaded(p);
    while (plain.run(1 << 20) == RunState::running && plain.instructions() < 2'000'000) {
    }
    if (plain.state() != RunState::fault) continue;
    ++faults;
    Stepper s = stepper(p);
    const Arrival arrival = step(s, StepBy::fault);
    ASSERT_NE(s.fault(), nullptr);
    EXPECT_EQ(s.fault()->sentence, plain.reports().back().sentence);
    if (arrival == Arrival::there) {
      EXPECT_EQ(s.state(), RunState::running);
    }
    s.to_the_end();
    s.arrive();
    EXPECT_EQ(digest(s.machine()), digest(plain));
    step(s, StepBy::moment, true);
    EXPECT_EQ(s.state(), RunState::running);
  }
  EXPECT_GT(faults, 100);
}

// A way may be left at any time, and says how far it is.
TEST(Ways, GoOnInPiecesAndCanBeLeft) {
  const Named k = kernel("hgemm_v6", 136, 264, 264);
  Stepper s = stepper(k), whole = stepper(k);
  whole.go_to(5000);
  whole.arrive();
  s.go_to(5000);
  int pieces = 0;
  while (s.go_on(100) == Arrival::going) {
    ++pieces;
    EXPECT_EQ(s.progress().target, 5000u);
  }
  EXPECT_GT(pieces, 20);
  EXPECT_EQ(digest(s.machine()), digest(whole.machine()));
  s.go_to(100);
  s.go_on(20);
  s.go_to(2000);
  s.arrive();
  EXPECT_EQ(s.position(), 2000u);
}

TEST(Ways, CopiesStayWithinTheirRoom) {
  const Named k = kernel("hgemm_v8", 136, 264, 328);
  const u64 room = few(k).bytes;
  Stepper s = stepper(k, {room, 0});
  s.to_the_end();
  s.arrive();
  EXPECT_GT(s.checkpoints().all().size(), 2u);
  EXPECT_LE(s.checkpoints().bytes(), room);
  EXPECT_EQ(s.checkpoints().all().begin()->first, 0u);
}

}  // namespace
}  // namespace tilescope
