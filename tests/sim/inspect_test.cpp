// What can be read of a machine that stands still, against what small programs and kernels are
// known to hold there.
#include "core/sim/stepping/inspect.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/numeric/dtype.h"
#include "core/sim/stepping/stepper.h"
#include "tests/kernels/shipped.h"
#include "tests/sim/program.h"

namespace tilescope {
namespace {

using sim::Arrival;
using sim::Step;
using sim::StepBy;
using sim::Stepper;

// Two warps meet at a barrier behind which each thread stores its number; `u` is never written.
constexpr const char* meeting = R"(
.version 9.0
.target sm_90
.address_size 64
.visible .entry meeting(.param .u64 out)
{
	.reg .pred p;
	.reg .b32 t, u, v, w;
	.reg .b64 o, d;
	.shared .align 4 .b32 box[64];
	ld.param.u64 o, [out];
	mov.u32 t, %tid.x;
	add.u32 v, u, 1;
	bar.sync 3;
	setp.lt.u32 p, t, 40;
	mul.wide.u32 d, t, 4;
	mov.u32 w, box;
	add.u32 w, w, 4;
	@p st.shared.u32 [w], t;
	add.u64 d, o, d;
	st.global.u32 [d], t;
	ret;
}
)";

Stepper stepper(const char* ptx, std::uint32_t threads) {
  Job job;
  job.program = {"golden.ptx", ptx};
  job.launch.block = {threads, 1, 1};
  Buffer b;
  b.name = "OUT";
  b.dtype = DType::u32;
  b.shape = {64};
  b.undefined = true;
  b.bytes.resize(256);
  job.buffers = {b};
  job.arguments = {Argument::pointer(0)};
  Outcome<Stepper> s = Stepper::load(job);
  EXPECT_TRUE(s.ok()) << s.error().sentence;
  return std::move(*s);
}

Stepper stepper(const std::string& kernel, std::int64_t m, std::int64_t n, std::int64_t k) {
  sim::Options options;
  options.exact = false;
  Outcome<Stepper> s = Stepper::load(test::shipped_job(kernel, {m, n, k}), options);
  EXPECT_TRUE(s.ok());
  return std::move(*s);
}

Arrival step(Stepper& s, StepBy by, std::uint64_t count = 1) {
  Step how;
  how.by = by;
  how.count = count;
  s.step(how);
  return s.arrive();
}

TEST(Inspect, RegistersByTheirNames) {
  Stepper s = stepper(meeting, 64);
  step(s, StepBy::instruction, 4);  // the first warp waits
  const sim::Registers registers(s.machine().program());
  const auto t = registers.find(s.machine(), 0, 0, "t");
  ASSERT_TRUE(t);
  EXPECT_TRUE(t->alive);
  EXPECT_EQ(t->low[7], 7u);
  EXPECT_EQ(t->undefined[7], 0u);
  EXPECT_EQ(text(*t, 7), "t = 0x00000007");
  const auto p = registers.find(s.machine(), 0, 0, "p");
  ASSERT_TRUE(p);
  EXPECT_FALSE(p->alive);
  EXPECT_EQ(text(*p, 0), "p is not alive here");
  EXPECT_FALSE(registers.find(s.machine(), 0, 0, "%nobody"));
  EXPECT_FALSE(registers.find(s.machine(), 5, 0, "t"));
  EXPECT_FALSE(registers.find(s.machine(), 0, 9, "t"));
  step(s, StepBy::instruction, 2);
  const auto u = registers.find(s.machine(), 0, 1, "u");
  ASSERT_TRUE(u);
  EXPECT_TRUE(u->alive);
  EXPECT_EQ(u->undefined[3], 0xfu);
  EXPECT_EQ(text(*u, 3), "u = undefined");
  const auto second = registers.find(s.machine(), 0, 1, "t");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->low[0], 32u);
  std::vector<std::string> alive;
  for (const sim::RegisterValue& v : registers.all(s.machine(), 0, 1)) alive.push_back(v.name);
  EXPECT_EQ(alive, (std::vector<std::string>{"t", "u", "o"}));
}

TEST(Inspect, WhyAWarpWaits) {
  Stepper s = stepper(meeting, 64);
  EXPECT_TRUE(warps_of(s.machine(), 0).empty());  // no block has begun
  step(s, StepBy::instruction, 4);
  const auto warps = warps_of(s.machine(), 0);
  ASSERT_EQ(warps.size(), 2u);
  ASSERT_EQ(warps[0].splits.size(), 1u);
  EXPECT_EQ(warps[0].executed, 4u);
  EXPECT_EQ(warps[0].splits[0].why, "bar 3: 32 of 64 threads are there");
  EXPECT_EQ(warps[0].splits[0].text, "bar.sync 3");
  EXPECT_EQ(text(warps[0].splits[0]),
            "lanes 0-31 at PTX line 14: bar.sync 3; waits at bar 3: 32 of 64 threads are there");
  EXPECT_EQ(warps[1].splits[0].why, "");
  const auto barriers = barriers_of(s.machine(), 0);
  ASSERT_EQ(barriers.size(), 1u);
  EXPECT_EQ(barriers[0].number, 3u);
  EXPECT_EQ(barriers[0].expected, 64u);
  EXPECT_EQ(barriers[0].waiting, std::vector<std::uint32_t>{0});
  step(s, StepBy::barrier);
  EXPECT_TRUE(barriers_of(s.machine(), 0).empty());
}

TEST(Inspect, WhoWroteAByteLast) {
  Stepper s = stepper(meeting, 64);
  step(s, StepBy::barrier);
  for (const sim::ByteState& b : shared_bytes(s.machine(), 0, 0, 1000)) EXPECT_TRUE(b.undefined);
  EXPECT_EQ(shared_bytes(s.machine(), 0, 250, 1000).size(), 6u);
  Step how;
  how.by = StepBy::write;
  how.watch = {sim::Watch::Where::shared, 0, 4, 8, {}};
  s.step(how);
  ASSERT_EQ(s.arrive(), Arrival::there);
  const auto bytes = shared_bytes(s.machine(), 0, 0, 8);
  EXPECT_TRUE(bytes[3].undefined);
  EXPECT_FALSE(bytes[3].writer);
  EXPECT_FALSE(bytes[4].undefined);
  ASSERT_TRUE(bytes[4].writer);
  EXPECT_EQ(bytes[4].writer->warp, 1u);  // it arrived last, and goes on
  EXPECT_EQ(bytes[4].writer->lane, 0u);  // the lowest lane of those that store to one place
  EXPECT_EQ(bytes[4].writer->ptx_line, 19u);
  EXPECT_EQ(std::to_integer<int>(bytes[4].value), 32);
  EXPECT_TRUE(element(s.machine(), 0, 50)->undefined);
  s.to_the_end();
  s.arrive();
  const auto e = element(s.machine(), 0, 50);
  ASSERT_TRUE(e && e->writer);
  EXPECT_EQ(e->value, 50);
  EXPECT_EQ(e->writer->warp, 1u);
  EXPECT_EQ(e->writer->lane, 18u);
  EXPECT_FALSE(element(s.machine(), 0, 64));
  EXPECT_FALSE(element(s.machine(), 1, 0));
}

// D begins as 4 * thread + register, and A and B are zeros.
constexpr const char* group = R"(
.version 8.6
.target sm_90a
.address_size 64
.visible .entry group(.param .u64 out)
{
	.reg .b32 t, at, v;
	.reg .b64 o, a;
	.reg .f32 d<4>;
	.shared .align 1024 .b8 tile[2048];
	ld.param.u64 o, [out];
	mov.u32 t, %tid.x;
	mov.u64 a, tile;
	shr.u64 a, a, 4;
	or.b64 a, a, 0x0000001000080000;
	mov.u32 at, tile;
	mad.lo.u32 at, t, 16, at;
	mov.b32 v, 0;
	st.shared.v4.b32 [at], {v, v, v, v};
	shl.b32 v, t, 2;
	cvt.rn.f32.u32 d0, v;
	add.f32 d1, d0, 0f3F800000;
	add.f32 d2, d1, 0f3F800000;
	add.f32 d3, d2, 0f3F800000;
	fence.proxy.async.shared::cta;
	bar.sync 0;
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3}, a, a, 1, 1, 1, 0, 0;
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	add.f32 d0, d0, d1;
	add.f32 d0, d0, d2;
	add.f32 d0, d0, d3;
	st.global.f32 [o], d0;
	ret;
}
)";

void step_before(Stepper& s, std::string_view text) {
  for (int i = 0; i < 400; ++i) {
    const auto warps = warps_of(s.machine(), 0);
    if (!warps.empty() && warps[0].splits[0].text.starts_with(text)) return;
    Step one;
    one.block = 0;
    one.warp = 0;
    s.step(one);
    s.arrive();
  }
  FAIL() << "warp 0 has not come to " << text;
}

// Who holds what of D is figure 154 of PTX ISA 9.7.15.5.1, written down here once more.
TEST(Inspect, AccumulatorsOfAWarpgroup) {
  Stepper s = stepper(group, 128);
  const sim::Registers registers(s.machine().program());
  EXPECT_TRUE(registers.accumulators(s.machine(), 0, 0).empty());  // no block has begun
  step_before(s, "wgmma.commit_group");
  auto all = registers.accumulators(s.machine(), 0, 1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].in_use);
  step_before(s, "add.f32 d0, d0, d1");
  all = registers.accumulators(s.machine(), 0, 0);
  ASSERT_EQ(all.size(), 1u);
  const sim::GroupAccumulator& d = all[0];
  EXPECT_EQ(d.type, "f32");
  EXPECT_EQ(d.columns, 8u);
  EXPECT_EQ(d.registers, (std::vector<std::string>{"d0", "d1", "d2", "d3"}));
  EXPECT_EQ(d.site.ptx_line, 28u);
  for (std::uint32_t row = 0; row < 16; ++row) {  // of warp 0, which stands there
    for (std::uint32_t column = 0; column < 8; ++column) {
      const auto& e = d.at(row, column);
      EXPECT_TRUE(e.held && !e.undefined) << row << ", " << column;
      EXPECT_EQ(e.warp, 0u);
      EXPECT_EQ(e.lane, row % 8 * 4 + column / 2) << row << ", " << column;
      EXPECT_EQ(e.reg, row / 8 * 2 + column % 2) << row << ", " << column;
      EXPECT_EQ(e.value, 4 * e.lane + e.reg) << row << ", " << column;
    }
  }
  EXPECT_EQ(d.at(49, 3).warp, 3u);
  EXPECT_EQ(d.at(49, 3).lane, 5u);
  step_before(s, "st.global.f32");
  all = registers.accumulators(s.machine(), 0, 0);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].at(0, 0).held) << "d0 is still wanted";
  EXPECT_FALSE(all[0].at(0, 1).held) << "d1 is not";
  EXPECT_TRUE(all[0].in_use) << "the other warps have not waited";
  EXPECT_TRUE(registers.accumulators(s.machine(), 0, 4).empty());  // there is no such warpgroup
}

// A warp whose lanes have parted: of each lane what it wants where it stands.
TEST(Inspect, AccumulatorsOfAWarpInTwoSplits) {
  std::string ptx = group;
  const std::string from = "\tadd.f32 d0, d0, d1;\n";
  const std::size_t low = ptx.find(from), end = ptx.find("\tret;\n", low);
  ptx.insert(end + 6, "HIGH:\n\tadd.f32 d0, d0, d3;\n\tst.global.f32 [o], d0;\n\tret;\n");
  ptx.insert(low, "\tand.b32 v, t, 16;\n\tsetp.ne.u32 p, v, 0;\n\t@p bra HIGH;\n");
  ptx.replace(ptx.find("\t.reg .b64 o, a;"), 0, "\t.reg .pred p;\n");
  Stepper s = stepper(ptx.c_str(), 128);
  const sim::Registers registers(s.machine().program());
  const auto parted = [&] {
    const auto warps = warps_of(s.machine(), 0);
    return !warps.empty() && warps[0].splits.size() == 2 &&
           std::any_of(warps[0].splits.begin(), warps[0].splits.end(), [](const auto& split) {
             return split.text.starts_with("add.f32 d0, d0, d3") && split.lanes == 0xffff0000;
           });
  };
  for (int i = 0; i < 600 && !parted(); ++i) {
    Step one;
    one.block = 0;
    one.warp = 0;
    s.step(one);
    s.arrive();
  }
  ASSERT_TRUE(parted());
  const auto all = registers.accumulators(s.machine(), 0, 0);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].splits[0], 2u);
  for (std::uint32_t row = 0; row < 8; ++row) {  // lanes 4 * row to 4 * row + 3
    EXPECT_EQ(all[0].at(row, 1).held, row < 4) << "d1 is for the low lanes alone, row " << row;
  }
}

// Where an instruction that is no product has written D its elements are no sums.
TEST(Inspect, SumsThatAnotherInstructionHasChanged) {
  Stepper s = stepper(group, 128);
  const sim::Registers registers(s.machine().program());
  step_before(s, "add.f32 d0, d0, d2");
  const auto all = registers.accumulators(s.machine(), 0, 0);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].at(0, 0).held && all[0].at(0, 0).changed) << "d0 had d1 added";
  EXPECT_TRUE(all[0].at(8, 0).held && !all[0].at(8, 0).changed) << "d2 is as the product left it";
  EXPECT_FALSE(all[0].at(16, 0).changed) << "the other warps are not there";
  EXPECT_EQ(all[0].rows_from, std::vector<std::uint64_t>(64, 0)) << "no TMA brought the tile";
}

// A in registers: of each row of D where in A's tensor its row of A came from, also where TMA has
// filled the stage anew, and nothing where that is not known.
class RowsInRegisters : public ::testing::Test {
 protected:
  // Of the sums after the last product, as distances in A; -1: not known.
  std::vector<std::int64_t> rows_of(const std::string& file, std::string_view before = "",
                                    std::string_view added = "") {
    test::SimProgram program =
        test::read_program(std::string(TILESCOPE_TESTS_DIR "/programs/") + file);
    std::string& ptx = program.job.program.ptx;
    const std::size_t at = before.empty() ? 0 : ptx.find(before);
    EXPECT_NE(at, std::string::npos) << before;
    if (!before.empty()) ptx.insert(at, added);
    Outcome<Stepper> s = Stepper::load(std::move(program.job));
    EXPECT_TRUE(s.ok()) << s.error().sentence;
    step_before(*s, "st.global.v2.f32");
    const auto all = sim::Registers(s->machine().program()).accumulators(s->machine(), 0, 0);
    EXPECT_EQ(all.size(), 1u);
    std::vector<std::int64_t> out;
    for (const std::uint64_t from : all.at(0).rows_from) {
      out.push_back(from ? static_cast<std::int64_t>(from - s->machine().buffer(0).base()) : -1);
    }
    return out;
  }
  // Rows of A are 128 bytes; the last product begins at its element 48.
  template <class F>
  static std::vector<std::int64_t> each_row(F f) {
    std::vector<std::int64_t> out;
    for (std::int64_t row = 0; row < 64; ++row) out.push_back(f(row));
    return out;
  }
  const std::vector<std::int64_t> straight =
      each_row([](std::int64_t row) { return row * 128 + 96; });
  static constexpr const char* ldmatrix = "wgmma_a_by_ldmatrix.ptx";
  static constexpr const char* global = "wgmma_a_from_global.ptx";
  static constexpr std::string_view products = "\twgmma.fence";
};

TEST_F(RowsInRegisters, AreThoseThatWereLoaded) {
  EXPECT_EQ(rows_of(ldmatrix), straight);
  EXPECT_EQ(rows_of(global), straight);
}

TEST_F(RowsInRegisters, AreNotKnownWhereAThreadHasWrittenTheStage) {
  auto expected = straight;
  expected[0] = -1;
  EXPECT_EQ(rows_of(ldmatrix, "\t// Lane l names", "\t@first st.shared.b32 [a_tile+96], t;\n"),
            expected);
}

TEST_F(RowsInRegisters, AreNotKnownWhereTheRegisterWasChanged) {
  const auto halves = each_row([](std::int64_t row) { return row % 16 < 8 ? -1 : row * 128 + 96; });
  auto lane = straight;
  lane[8] = -1;
  for (const char* file : {ldmatrix, global}) {
    EXPECT_EQ(rows_of(file, products, "\tadd.u32 x12, x12, 0;\n"), halves) << file;
    EXPECT_EQ(rows_of(file, products, "\t@first mov.b32 x13, 0;\n"), lane) << file;
  }
}

TEST_F(RowsInRegisters, GoWithTheValue) {
  const auto earlier =
      each_row([](std::int64_t row) { return row * 128 + (row % 16 < 8 ? 64 : 96); });
  for (const char* file : {ldmatrix, global}) {
    EXPECT_EQ(rows_of(file, products, "\t.reg .b32 y;\n\tmov.b32 y, x8;\n\tmov.b32 x12, y;\n"),
              earlier)
        << file;
  }
}

// From the stage before it is filled anew, as a thread or a warp loads it.
TEST_F(RowsInRegisters, AreThoseOfAnyLoad) {
  const std::string before =
      "\tbar.sync 0;\n\t@first mbarrier.arrive.expect_tx.shared.b64 _, "
      "[full], 8192;";
  const auto one = each_row([](std::int64_t row) { return row % 16 < 8 ? 96 : row * 128 + 96; });
  EXPECT_EQ(rows_of(ldmatrix, before, "\tld.shared.b32 x12, [a_tile+96];\n"), one);
  EXPECT_EQ(rows_of(ldmatrix, before, "\tld.shared.v2.b32 {x0, x12}, [a_tile+88];\n"),
            each_row([](std::int64_t row) { return row % 16 < 8 ? 92 : row * 128 + 96; }));
  EXPECT_EQ(rows_of(ldmatrix, before,
                    "\tmov.u64 b, a_tile;\n\tcvta.shared.u64 b, b;\n\tld.b32 x12, [b+96];\n"),
            one);
  EXPECT_EQ(
      rows_of(ldmatrix, before,
              "\tldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {x12, x13, x14, x15}, [at];\n"),
      each_row([](std::int64_t row) { return row / 8 * 8 * 128 + 96 + row % 8 * 2; }));
}

// ---- sums on their way, and the rows and columns that they belong to ----

struct Multiplied {
  Job job;
  std::int64_t m, n, k;
  double a(std::int64_t row, std::int64_t at) const { return element_of(0, row * k + at); }
  double b(std::int64_t row, std::int64_t at) const { return element_of(1, row * k + at); }
  double element_of(std::size_t buffer, std::int64_t at) const {
    const Buffer& each = job.buffers[buffer];
    return load_element(each.dtype, each.bytes.data() + at * bytes_of(each.dtype));
  }
  double sum(std::int64_t row, std::int64_t column, std::int64_t terms) const {
    double out = 0;
    for (std::int64_t i = 0; i < terms; ++i) out += a(row, i) * b(column, i);
    return out;
  }
};

// Small integers, so that every sum of them is exact.
Multiplied small_integers(const std::string& kernel, std::int64_t m, std::int64_t n,
                          std::int64_t k) {
  Multiplied out{test::shipped_job(kernel, {m, n, k}), m, n, k};
  for (std::size_t i = 0; i < 2; ++i) {
    Buffer& each = out.job.buffers[i];
    const std::int64_t length = each.shape[1];
    for (std::int64_t at = 0; at < each.elements(); ++at) {
      const std::int64_t row = at / length, column = at % length;
      const auto value = static_cast<double>((row * 5 + column * 3 + row * column % 7) % 9 - 4);
      store_element(each.dtype, each.bytes.data() + at * bytes_of(each.dtype), value);
    }
  }
  return out;
}

// Of all accumulators of a machine: each row and column is one of the tile of D that its block is
// about, and its values are sums of so many terms, the same of all. Answers how many were compared.
std::size_t compare_sums(const Multiplied& of, const sim::Machine& machine,
                         const sim::Registers& registers, std::int64_t tall, std::int64_t wide) {
  std::size_t compared = 0;
  const auto base = [&](std::size_t buffer) { return machine.buffer(buffer).base(); };
  const auto row_of = [&](std::uint64_t from, std::size_t buffer) {
    if (from == 0) return std::int64_t{-1};
    const auto at = static_cast<std::int64_t>(from - base(buffer)) / 2;
    return at / of.k;
  };
  for (const sim::Block& block : machine.blocks()) {
    for (std::uint32_t warp = 0; warp + 4 <= block.warps.size(); warp += 4) {
      for (const auto& d : registers.accumulators(machine, block.number, warp)) {
        if (d.rows_from.empty()) continue;
        // Each of a persistent block's tiles has its place by itself.
        const auto first = std::find_if(d.rows_from.begin(), d.rows_from.end(),
                                        [](std::uint64_t from) { return from != 0; });
        if (first == d.rows_from.end()) continue;
        const std::int64_t top = row_of(*first, 0) - (first - d.rows_from.begin());
        const std::int64_t left = row_of(d.columns_from[0], 1);
        EXPECT_EQ(top % tall, (warp / 4 - 1) * 64) << "the consumer's half of a tile";
        EXPECT_EQ(left % wide, 0);
        if (machine.launch().grid.y > 1) {
          EXPECT_EQ(top / tall, block.index.x);
          EXPECT_EQ(left / wide, block.index.y);
        }
        for (std::int64_t r = 0; r < 64; ++r) {
          const std::int64_t row = row_of(d.rows_from[static_cast<std::size_t>(r)], 0);
          EXPECT_EQ(row, top + r < of.m ? top + r : -1) << "row " << r << " of warp " << warp;
        }
        for (std::uint32_t c = 0; c < d.columns; ++c) {
          const std::int64_t column = row_of(d.columns_from[c], 1);
          EXPECT_EQ(column, left + c < of.n ? left + c : -1) << "column " << c;
        }
        const auto is_sum = [&](std::int64_t terms, std::int64_t step) {
          for (std::int64_t r = 0; r < 64 && top + r < of.m; r += step) {
            for (std::int64_t c = 0; c < d.columns && left + c < of.n; c += step) {
              const auto& e = d.at(static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(c));
              if (e.held && !e.changed && e.value != of.sum(top + r, left + c, terms)) return false;
            }
          }
          return true;
        };
        std::int64_t terms = 16;
        while (terms <= of.k && !is_sum(terms, 9)) terms += 16;
        EXPECT_LE(terms, of.k) << "no sum of A and B, block " << block.number << " warp " << warp;
        EXPECT_TRUE(is_sum(terms, 1)) << terms << " terms";
        ++compared;
      }
    }
  }
  return compared;
}

// Two consumers, tiles of 128 x 256, the last of them beyond the matrix. In the middle of the sums,
// in the epilogue, and after going back; with persistent blocks, whose stages hold the next tile's
// operands by then.
TEST(Inspect, SumsBelongToTheRowsAndColumnsThatTheirProductsRead) {
  for (const char* kernel : {"wgmma_v5", "wgmma_v6"}) {
    Multiplied of = small_integers(kernel, 200, 264, 192);
    const bool persistent = of.job.launch.grid.y == 1;
    EXPECT_EQ(persistent, std::string(kernel) == "wgmma_v6");
    if (persistent) of.job.launch.grid.x = 2;  // two blocks for the four tiles
    sim::Options options;
    Outcome<Stepper> loaded = Stepper::load(of.job, options);
    ASSERT_TRUE(loaded.ok()) << loaded.error().sentence;
    Stepper& s = *loaded;
    const sim::Registers registers(s.machine().program());
    std::vector<std::pair<std::uint64_t, std::size_t>> seen;  // position, how many accumulators
    std::size_t all = 0;
    for (int i = 0; i < 14 && step(s, StepBy::product, 9) == Arrival::there; ++i) {
      seen.emplace_back(s.position(), compare_sums(of, s.machine(), registers, 128, 256));
      all += seen.back().second;
    }
    EXPECT_GT(all, 12u) << kernel;
    // The epilogue: where something has been written.
    for (int i = 0; i < 6; ++i) {
      if (step(s, StepBy::write) != Arrival::there) break;
      compare_sums(of, s.machine(), registers, 128, 256);
    }
    for (const auto& [position, count] : {seen[3], seen[8]}) {
      s.go_to(position);
      ASSERT_EQ(s.arrive(), Arrival::there);
      EXPECT_EQ(compare_sums(of, s.machine(), registers, 128, 256), count) << "after going back";
    }
  }
}

// A copy of TMA on its way into shared memory, and the mbarrier that it completes on.
TEST(Inspect, CopiesInFlightAndTheirMbarrier) {
  Stepper s = stepper("hgemm_v4", 136, 136, 200);
  ASSERT_EQ(step(s, StepBy::copy), Arrival::there);
  const auto issued = operations_of(s.machine(), s.reason()->block);
  ASSERT_EQ(issued.size(), 1u);
  const sim::OperationState copy = issued[0];
  EXPECT_EQ(copy.name, "cp.async.bulk.tensor");
  EXPECT_EQ(copy.stage, sim::Stage::issued);
  ASSERT_EQ(copy.writes.size(), 1u);
  EXPECT_EQ(copy.transactions, copy.writes[0].end - copy.writes[0].begin);
  EXPECT_LT(copy.global.begin, copy.global.end);
  ASSERT_TRUE(copy.mbarrier);
  EXPECT_NE(text(copy).find("issued, writes bytes"), std::string::npos) << text(copy);
  const std::uint64_t block = s.reason()->block;
  EXPECT_TRUE(shared_bytes(s.machine(), block, copy.writes[0].begin, 1)[0].undefined);
  const auto waiting = [&] {
    for (const sim::MbarrierState& b : mbarriers_of(s.machine(), block)) {
      if (b.offset == *copy.mbarrier) return b;
    }
    return sim::MbarrierState{};
  };
  EXPECT_EQ(waiting().phase, 0u);
  ASSERT_EQ(step(s, StepBy::phase), Arrival::there);
  EXPECT_EQ(s.reason()->object, *copy.mbarrier);
  EXPECT_EQ(s.reason()->number, 0u);
  EXPECT_EQ(waiting().phase, 1u);
  const auto there = shared_bytes(s.machine(), block, copy.writes[0].begin, 1)[0];
  EXPECT_FALSE(there.undefined);
  ASSERT_TRUE(there.writer);
  EXPECT_EQ(there.writer->ptx_line, copy.issuer.ptx_line);
}

TEST(Inspect, CellsOfTensorMemory) {
  Stepper s = stepper("hgemm_v4", 136, 136, 200);
  EXPECT_TRUE(cells_of(s.machine(), 0, 0, 0, 4).empty());
  Step how;
  how.by = StepBy::product;
  how.stages = bit(sim::Stage::issued);
  s.step(how);
  ASSERT_EQ(s.arrive(), Arrival::there);
  const std::uint64_t block = s.reason()->block;
  const auto columns = columns_of(s.machine(), block);
  ASSERT_EQ(columns.size(), 1u);
  const std::uint32_t at = columns[0].column;
  EXPECT_EQ(cells_of(s.machine(), block, 5, at, 1)[0].undefined, 0xf);
  EXPECT_EQ(cells_of(s.machine(), block, 5, at, 1000).size(), columns[0].columns);
  const std::uint32_t line = s.machine().program().code[s.reason()->pc].line;
  how.stages = bit(sim::Stage::written);
  s.step(how);
  ASSERT_EQ(s.arrive(), Arrival::there);
  const auto cell = cells_of(s.machine(), block, 5, at, 1)[0];
  EXPECT_EQ(cell.undefined, 0);
  ASSERT_TRUE(cell.writer);
  EXPECT_GE(cell.writer->ptx_line, line);
  EXPECT_TRUE(cells_of(s.machine(), block, 128, at, 1).empty());
}

}  // namespace
}  // namespace tilescope
