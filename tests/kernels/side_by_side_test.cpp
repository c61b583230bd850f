// Clusters on several threads: what comes of a grid is what one thread makes of it, bit for bit,
// with reports, counts and writers; whether they meet or not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "app/workers.h"
#include "core/sim/machine/machine.h"
#include "core/sim/machine/search.h"
#include "core/sim/memory/memory.h"
#include "tests/kernels/shipped.h"
#include "tests/sim/program.h"

namespace tilescope {
namespace {

struct Told {
  RunState state = RunState::running;
  std::vector<Buffer> buffers;
  std::uint64_t instructions = 0;
  std::uint64_t position = 0;
  Progress progress;
  std::vector<std::string> reports;
  std::vector<std::vector<std::uint64_t>> writers;  // of each byte of each buffer
  std::string printed;
  std::size_t threads = 0;
};

Told run(const Job& job, sim::Options options, std::uint64_t budget = std::uint64_t{1} << 16) {
  Outcome<sim::Machine> loaded = sim::Machine::load(job, options);
  Told told;
  if (!loaded.ok()) return told;
  sim::Machine machine = std::move(*loaded);
  for (int calls = 0; told.state == RunState::running && calls < 4096; ++calls) {
    told.state = machine.run(budget);
  }
  told.buffers = machine.buffers();
  told.instructions = machine.instructions();
  told.position = machine.position();
  told.progress = machine.progress();
  told.printed = machine.printed();
  told.threads = machine.threads();
  for (const Report& r : machine.reports()) {
    told.reports.push_back(r.kind + ": " + r.sentence + " | " + r.expected + " | " + r.found +
                           " | " + text(r.site) + " | " + std::to_string(r.count));
  }
  for (std::size_t b = 0; b < told.buffers.size(); ++b) {
    std::vector<std::uint64_t>& of = told.writers.emplace_back();
    const sim::Region& region = machine.buffer(b);
    for (std::uint64_t at = 0; at < region.size(); ++at) {
      of.push_back(region.writer(at).bits << 1 | region.is_undefined(at));
    }
  }
  return told;
}

void expect_same(const Told& got, const Told& want) {
  EXPECT_EQ(got.state, want.state);
  EXPECT_EQ(got.instructions, want.instructions);
  EXPECT_EQ(got.position, want.position);
  EXPECT_EQ(got.progress.done, want.progress.done);
  EXPECT_EQ(got.progress.total, want.progress.total);
  EXPECT_EQ(got.reports, want.reports);
  EXPECT_EQ(got.printed, want.printed);
  ASSERT_EQ(got.buffers.size(), want.buffers.size());
  for (std::size_t i = 0; i < got.buffers.size(); ++i) {
    EXPECT_TRUE(got.buffers[i].bytes == want.buffers[i].bytes) << got.buffers[i].name;
    EXPECT_TRUE(got.writers[i] == want.writers[i]) << got.buffers[i].name;
  }
}

// Does each task where it comes: in small pieces of a run the parts have their turns, so that CTAs
// beside each other are always of two of them.
class InTurns : public sim::Executor {
 public:
  std::size_t new_line() override { return lines_++; }
  std::uint64_t submit(std::size_t, Task task) override {
    task();
    return ++done_;
  }
  void wait(std::size_t, std::uint64_t) override {}

 private:
  std::size_t lines_ = 0;
  std::uint64_t done_ = 0;
};

// With 1, 2, 3 and 16 threads; answers how many of these runs were side by side to the end.
int expect_same_with_threads(const Job& job, sim::Options options) {
  const Told alone = run(job, options);
  EXPECT_EQ(alone.threads, 1u);
  int beside = 0;
  for (const std::uint32_t threads : {2u, 3u, 16u}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    Workers workers(threads - 1);
    options.executor = &workers;
    options.beside = threads - 1;
    const Told got = run(job, options);
    expect_same(got, alone);
    beside += got.threads > 1;
  }
  return beside;
}

TEST(SideBySide, KernelsOfTheCatalogAreTheSame) {
  const std::vector<std::pair<std::string, Sizes>> kernels = {
      {"matmul_naive", {64, 128, 48}}, {"matmul_tiled", {64, 96, 80}},
      {"hgemm_v3", {256, 256, 128}},   {"hgemm_v6", {256, 256, 128}},
      {"hgemm_v8", {256, 384, 128}},   {"hgemm_v9", {512, 512, 128}},
      {"hgemm_v10", {512, 512, 128}},  {"wgmma_v1", {256, 256, 128}},
      {"wgmma_v4", {256, 256, 128}},   {"wgmma_v9", {512, 512, 512}}};
  for (const auto& [kernel, sizes] : kernels) {
    SCOPED_TRACE(kernel);
    // What is known of it is told, so that one thread tells it.
    const bool told = !(*find_kernel(kernel))->known.empty();
    EXPECT_EQ(expect_same_with_threads(test::shipped_job(kernel, sizes), {}), told ? 0 : 3);
  }
}

// All that a program may do, and be told of: what is told by one thread alone is told so.
TEST(SideBySide, ProgramsAreTheSame) {
  const std::string folder = std::string(TILESCOPE_SOURCE_DIR) + "/tests/sim/programs";
  int programs = 0, beside = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().extension() != ".ptx") continue;
    SCOPED_TRACE(file.path().filename().string());
    const test::SimProgram p = test::read_program(file.path().string());
    if (!p.error.empty() || p.job.launch.grid.count() < 2) continue;
    ++programs;
    sim::Options options;
    options.resident_blocks = p.resident;
    beside += expect_same_with_threads(p.job, options) > 0;
    if (HasFailure()) break;
  }
  EXPECT_GT(programs, 100);
  EXPECT_GT(beside, 10);
}

// ---- kernels that meet in every way
// --------------------------------------------------------------

constexpr std::uint32_t blocks = 48;

// `body` has X in %d0, Y in %d1, the CTA in %r0 and the thread in %r1; %r2 is both together, 32 to
// each CTA, and %d2 and %d3 are X and Y at that word.
Job job_of(const std::string& body) {
  Job job;
  job.program.ptx =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 x, .param .u64 y)\n{\n"
      "\t.reg .b32 %r<16>;\n\t.reg .b64 %d<12>;\n\t.reg .pred %p<4>;\n"
      "\tld.param.u64 %d0, [x];\n\tld.param.u64 %d1, [y];\n"
      "\tmov.u32 %r0, %ctaid.x;\n\tmov.u32 %r1, %tid.x;\n"
      "\tmad.lo.u32 %r2, %r0, 32, %r1;\n\tmul.wide.u32 %d4, %r2, 4;\n"
      "\tadd.u64 %d2, %d0, %d4;\n\tadd.u64 %d3, %d1, %d4;\n" +
      body + "\tret;\n}\n";
  job.launch.entry = "k";
  job.launch.grid = {blocks, 1, 1};
  job.launch.block = {32, 1, 1};
  for (const char* name : {"X", "Y"}) {
    Buffer b;
    b.name = name;
    b.dtype = DType::u32;
    b.shape = {blocks * 32 + 64};
    b.bytes.resize(static_cast<std::size_t>(b.shape[0]) * 4);
    for (std::size_t i = 0; i < b.bytes.size(); ++i)
      b.bytes[i] = static_cast<std::byte>(i * 37 >> 3);
    Argument a;
    a.bytes.resize(8);
    a.addresses.push_back({0, static_cast<std::uint32_t>(job.buffers.size()), 0});
    job.arguments.push_back(std::move(a));
    job.buffers.push_back(std::move(b));
  }
  return job;
}

struct Meeting {
  const char* name;
  const char* body;
  bool beside;           // nobody meets: it is to run on several threads to its end
  bool perhaps = false;  // they meet only where two threads happen to have neighbours
};

const Meeting meetings[] = {
    {"each its own words",
     "ld.global.u32 %r3, [%d2];\nadd.u32 %r3, %r3, 5;\nst.global.u32 [%d3], %r3;\n", true},
    {"in place", "ld.global.u32 %r3, [%d2];\nadd.u32 %r3, %r3, 5;\nst.global.u32 [%d2], %r3;\n",
     true},
    {"reads what nobody writes", "ld.global.u32 %r3, [%d2+128];\nst.global.u32 [%d3], %r3;\n",
     true},
    {"bytes of words of its own",
     "st.global.u8 [%d3+1], %r2;\nld.global.u8 %r3, [%d3+3];\nst.global.u8 [%d3+2], %r3;\n", true},
    {"reads what the next CTA writes", "ld.global.u32 %r3, [%d2+128];\nst.global.u32 [%d2], %r3;\n",
     false},
    {"reads what the CTA before wrote",
     "mov.u32 %r3, 7;\nsetp.eq.u32 %p0, %r0, 0;\n@!%p0 ld.global.u32 %r3, [%d3+-128];\nadd.u32 "
     "%r3, %r3, 1;\n"
     "st.global.u32 [%d3], %r3;\n",
     false},
    {"reads what the last CTA writes",
     "setp.eq.u32 %p0, %r0, 0;\nsetp.eq.u32 %p1, %r0, 47;\n"
     "@%p0 ld.global.u32 %r3, [%d1+6400];\n@!%p0 mov.u32 %r3, 1;\nst.global.u32 [%d3], %r3;\n"
     "@%p1 st.global.u32 [%d1+6400], %r2;\n",
     false},
    {"the last one wins", "st.global.u32 [%d1], %r2;\n", false},
    {"all store the same", "mov.u32 %r3, 9;\nst.global.u32 [%d1], %r3;\n", false},
    {"bytes of one word",
     "add.u64 %d5, %d1, 0;\ncvt.u64.u32 %d6, %r0;\nadd.u64 %d5, %d5, %d6;\nst.global.u8 [%d5], "
     "%r0;\n",
     false, true},
    {"atomic sums", "red.global.add.u32 [%d1], %r2;\n", false},
    {"tickets", "atom.global.add.u32 %r3, [%d1], 1;\nst.global.u32 [%d2], %r3;\n", false},
    {"a chain of flags",
     "cvt.u64.u32 %d5, %r0;\nshl.b64 %d5, %d5, 2;\nadd.u64 %d5, %d5, %d1;\nsetp.eq.u32 %p0, %r0, "
     "0;\n@%p0 bra GO;\n"
     "ASK: ld.acquire.gpu.global.u32 %r3, [%d5+-4];\nsetp.ne.u32 %p1, %r3, 77;\n@%p1 bra ASK;\n"
     "GO: mov.u32 %r4, 77;\nst.release.gpu.global.u32 [%d5], %r4;\n",
     false},
    {"volatile",
     "ld.volatile.global.u32 %r3, [%d1];\nst.volatile.global.u32 [%d1], %r2;\nst.global.u32 [%d2], "
     "%r3;\n",
     false},
    {"asks for its SM", "mov.u32 %r3, %smid;\nst.global.u32 [%d3], %r3;\n", false},
    {"asks for the time", "mov.u32 %r3, %clock;\nst.global.u32 [%d3], %r3;\n", false},
    {"a fault in the middle",
     "setp.eq.u32 %p0, %r0, 30;\n@%p0 add.u64 %d3, %d3, 100000;\nst.global.u32 [%d3], %r2;\n",
     false},
    {"stores what nobody wrote",
     ".shared .b32 s[32];\nmov.u32 %r4, s;\nld.shared.u32 %r3, [%r4];\nst.global.u32 [%d3], %r3;\n",
     false},
    {"by generic addresses",
     "cvta.global.u64 %d5, %d3;\nst.u32 [%d5], %r2;\nld.u32 %r3, [%d5];\nst.u32 [%d5], %r3;\n",
     true},
};

TEST(SideBySide, KernelsThatMeetAreTheSame) {
  for (const Meeting& m : meetings) {
    SCOPED_TRACE(m.name);
    const Job job = job_of(m.body);
    const Outcome<sim::Machine> machine = sim::Machine::load(job, {});
    ASSERT_TRUE(machine.ok()) << machine.error().sentence;
    const int beside = expect_same_with_threads(job, {});
    if (!m.perhaps) EXPECT_EQ(beside, m.beside ? 3 : 0);
    InTurns in_turns;
    sim::Options options;
    options.executor = &in_turns;
    options.beside = 1;
    const Told got = run(job, options, 16);
    expect_same(got, run(job, {}));
    EXPECT_EQ(got.threads, m.beside ? 2u : 1u);
  }
}

// A block's turn is over before it is, so that in order those that are resident take turns.
TEST(SideBySide, LongBlocksThatTakeTurnsAreTheSame) {
  sim::Options options;
  options.block_turn = 256;
  const std::string loop =
      "mov.u32 %r5, 0;\nAGAIN: ld.global.u32 %r3, [%d2];\nadd.u32 %r3, %r3, %r5;\nst.global.u32 "
      "[%d3], %r3;\n"
      "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p0, %r5, 300;\n@%p0 bra AGAIN;\n";
  EXPECT_EQ(expect_same_with_threads(job_of(loop), options), 3);
  const std::string meets = loop + "st.global.u32 [%d1+6200], %r2;\n";
  EXPECT_EQ(expect_same_with_threads(job_of(meets), options), 0);
}

// An element of a tile that two CTAs write is told by one thread.
TEST(SideBySide, TilesThatTwoBlocksWriteAreTold) {
  Job job = job_of("st.global.u32 [%d3], %r2;\nst.global.u32 [%d3+256], %r2;\n");
  job.buffers[1].tile = {64};
  const Told alone = run(job, {});
  const auto told = [](const std::string& report) {
    return report.rfind("tile_computed_twice", 0) == 0;
  };
  ASSERT_TRUE(std::any_of(alone.reports.begin(), alone.reports.end(), told));
  EXPECT_EQ(expect_same_with_threads(job, {}), 0);
}

// What a search finds, and after how many orders, does not depend on how many are tried at once.
TEST(SideBySide, SearchesFindTheSame) {
  for (const std::string kernel : {"hgemm_v3", "hgemm_v6"}) {
    SCOPED_TRACE(kernel);
    const Job job = test::shipped_job(kernel, {256, 128, 192});
    const auto search = [&](sim::Options options, std::uint64_t budget) {
      sim::Search search(*sim::Machine::load(job, options), {.runs = 40});
      RunState state = RunState::running;
      while (state == RunState::running) state = search.advance(budget);
      const sim::Search::Progress p = search.progress();
      std::string told = fmt::format("{} {} {} {} {}", static_cast<int>(state), p.tried, p.known,
                                     p.points, search.cut_short());
      if (!search.found()) return told;
      for (const sim::Hold& h : search.found()->holds) {
        told += fmt::format(" {}.{}@{}", h.block, h.warp, h.at);
      }
      for (const Report& r : search.found()->reports) told += "\n" + r.sentence + text(r.site);
      return told;
    };
    const std::string alone = search({}, 1'000'000);
    for (const std::uint32_t threads : {2u, 3u, 5u}) {
      Workers workers(threads - 1);
      sim::Options options;
      options.executor = &workers;
      options.beside = threads - 1;
      EXPECT_EQ(search(options, 1'000'000), alone);
      EXPECT_EQ(search(options, 7'777), alone);
    }
  }
}

// Budgets cut a run anywhere; a copy on the way is the same run from its start.
TEST(SideBySide, GoesOnInPiecesOfAnySize) {
  const Job job = test::shipped_job("matmul_tiled", {64, 96, 80});
  const Told alone = run(job, {});
  Workers workers(2);
  sim::Options options;
  options.executor = &workers;
  options.beside = 2;
  for (const std::uint64_t budget : {std::uint64_t{100}, std::uint64_t{4099}, ~std::uint64_t{0}}) {
    SCOPED_TRACE(budget);
    sim::Machine machine = *sim::Machine::load(job, options);
    machine.run(budget);
    sim::Machine copy(machine);
    while (copy.run(1u << 20) == RunState::running) {
    }
    while (machine.run(budget) == RunState::running) {
    }
    for (const sim::Machine* m : {&machine, &copy}) {
      EXPECT_EQ(m->state(), alone.state);
      EXPECT_EQ(m->instructions(), alone.instructions);
      for (std::size_t b = 0; b < alone.buffers.size(); ++b) {
        EXPECT_TRUE(m->buffers()[b].bytes == alone.buffers[b].bytes);
      }
    }
  }
}

// Whoever gives it up, and whoever looks for a stop, leaves nothing behind that goes on.
TEST(SideBySide, CanBeGivenUp) {
  Workers workers(3);
  sim::Options options;
  options.executor = &workers;
  options.beside = 3;
  const Job job = test::shipped_job("matmul_tiled", {64, 96, 80});
  for (std::uint64_t budget = 1000; budget < 60000; budget += 7000) {
    sim::Machine machine = *sim::Machine::load(job, options);
    machine.run(budget);
  }
}

}  // namespace
}  // namespace tilescope
