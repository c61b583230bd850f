// Products of tensor cores as who watches them is told: their traces end in what the machine has
// written, to the bit, and the bytes that they read are those that the machine reads.
#include "core/sim/stepping/products.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "core/profile/pipeline.h"
#include "core/record/recorder.h"
#include "core/sim/machine/model.h"
#include "core/sim/matrix/operand.h"
#include "core/sim/matrix/product_trace.h"
#include "tests/kernels/shipped.h"
#include "tests/sim/chip_times.h"
#include "tests/sim/program.h"

namespace tilescope {
namespace {

using sim::ProductSeen;
using sim::ProductUnit;

class All : public sim::ProductWatch {
 public:
  explicit All(std::size_t most = 200) : most_(most) {}
  bool wants(const sim::ProductIssue&) override { return seen_.size() < most_; }
  void seen(ProductSeen&& product) override { seen_.push_back(std::move(product)); }
  const std::vector<ProductSeen>& all() const { return seen_; }

 private:
  std::size_t most_;
  std::vector<ProductSeen> seen_;
};

std::string name(const ProductSeen& p) {
  return std::string(a_type(p)) + " x " + std::string(b_type(p)) + " -> " + std::string(d_type(p)) +
         (p.sparse ? " sparse" : "") + (p.sum.scales.block ? " scaled" : "");
}

// What is told of the terms is what A and B hold, and what they come to is what was written, as
// near as the sum is kept. `factors`: of a warp's product, which are in no term; nor are sums of
// bits.
void expect_terms(const ProductSeen& p, std::uint32_t row, std::uint32_t column,
                  const sim::ElementTrace& t, bool factors) {
  const bool scaled = p.sum.scales.block != 0;
  if (t.steps.empty() || a_type(p) == "b1") return;
  const bool four = t.source.find("V100") != std::string::npos;  // B's column is another than D's
  double start = t.steps.front().accumulator, all = 0, size = 0;
  std::size_t terms = 0;
  for (const sim::TracedStep& s : t.steps) {
    if (s.what.starts_with("C is added")) {
      start = t.before_value;
      continue;
    }
    double exact = s.accumulator;
    for (const sim::TracedTerm& term : s.terms) {
      ++terms;
      all += term.a * term.b;
      exact += term.a * term.b;
      size += std::abs(term.a * term.b);
      if (scaled) continue;
      EXPECT_EQ(std::abs(term.a), std::abs(element_of_a(p, row, term.k))) << name(p);
      if (!four) {
        EXPECT_EQ(std::abs(term.b), std::abs(element_of_b(p, column, term.k))) << name(p);
      }
    }
    if (std::isfinite(exact)) {
      EXPECT_EQ(s.lost(), exact - s.after_value) << name(p);
    }
    if (s.aligned && d_type(p) == "f16" && p.issue.unit != ProductUnit::warp) {
      EXPECT_EQ(s.bits, 11) << name(p);
    }
  }
  all += start;
  if (factors || size < 1e-30) return;  // f32 has nothing so small
  if (terms == 0 || !std::isfinite(all) || !std::isfinite(t.after_value)) return;
  if (d_type(p) == "s32" && std::abs(all) >= 2147483648.0) return;  // it wraps, or stops
  EXPECT_LE(std::abs(all - t.after_value), (size + std::abs(start)) / 256)
      << name(p) << " " << t.rule;
}

// Every element of D, or each `step`-th.
void expect_traced(const ProductSeen& p, std::uint32_t step, std::map<std::string, int>& exact,
                   bool factors = false) {
  const std::uint32_t count = p.m * p.n;
  for (std::uint32_t at = 0; at < count; at += step) {
    const sim::ElementTrace t = trace_of(p, at / p.n, at % p.n);
    ASSERT_TRUE(t.agrees) << name(p) << " element " << at / p.n << ", " << at % p.n;
    EXPECT_EQ(t.after, p.after[at]);
    expect_terms(p, at / p.n, at % p.n, t, factors && p.issue.unit == ProductUnit::warp);
    if (t.state != sim::TraceState::exact) continue;
    ++exact[name(p)];
    ASSERT_FALSE(t.steps.empty());
    EXPECT_EQ(t.steps.back().after, p.after[at]) << name(p);
    EXPECT_FALSE(t.rule.empty());
    EXPECT_FALSE(t.source.empty());
    for (std::size_t i = 1; i < t.steps.size(); ++i) {
      if (p.issue.unit != ProductUnit::warp) {
        EXPECT_EQ(t.steps[i - 1].after, t.steps[i].before);
      }
    }
    // What was kept adds up to the sum, and what each term lost is less than the unit.
    for (const sim::TracedStep& s : t.steps) {
      if (!s.aligned || s.special) continue;
      for (const sim::TracedTerm& term : s.terms) {
        EXPECT_LT(std::abs(term.a * term.b - term.kept), std::ldexp(1.0, s.unit)) << name(p);
        EXPECT_LE(std::abs(term.kept), std::abs(term.a * term.b));
      }
    }
  }
}

TEST(Products, TracesOfAllProgramsEndInWhatTheyWrote) {
  std::map<std::string, int> exact;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TILESCOPE_SOURCE_DIR) +
                                                               "/tests/sim/programs")) {
    if (entry.path().extension() != ".ptx") continue;
    const test::SimProgram program = test::read_program(entry.path().string());
    if (!program.error.empty() || program.job.program.ptx.find("mma") == std::string::npos)
      continue;
    All watch(24);
    sim::Options options;
    options.products = &watch;
    Outcome<sim::Machine> machine = sim::Machine::load(program.job, options);
    if (!machine) continue;
    machine->run(2'000'000);
    SCOPED_TRACE(entry.path().filename().string());
    const bool factors = program.job.program.ptx.find("block_scale") != std::string::npos;
    for (const ProductSeen& p : watch.all()) {
      expect_traced(p, p.m * p.n > 4096 ? 61 : 1, exact, factors);
    }
  }
  for (const char* each : {"f16 x f16 -> f32", "f16 x f16 -> f16", "bf16 x bf16 -> f32",
                           "tf32 x tf32 -> f32", "e4m3 x e4m3 -> f32", "e4m3 x e4m3 -> f32 scaled",
                           "f16 x f16 -> f32 sparse", "s8 x s8 -> s32"}) {
    EXPECT_GT(exact[each], 0) << each;
  }
}

// Of f64 every product is added by itself.
TEST(Products, TracesOfDoublesAreChains) {
  Job job;
  job.program = {"doubles.ptx", R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry doubles(.param .u64 out)
{
	.reg .b32 t;
	.reg .f64 a, b, c, d<2>;
	.reg .b64 o, p;
	ld.param.u64 o, [out];
	mov.u32 t, %tid.x;
	cvt.rn.f64.u32 a, t;
	add.f64 a, a, 0d3FB999999999999A;
	mul.f64 b, a, 0d3FD5555555555555;
	mov.f64 c, 0d3FF0000000000001;
	mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {d0, d1}, {a}, {b}, {c, c};
	mul.wide.u32 p, t, 16;
	add.u64 p, o, p;
	st.global.v2.f64 [p], {d0, d1};
	ret;
}
)"};
  job.launch.block = {32, 1, 1};
  Buffer b;
  b.name = "OUT";
  b.dtype = DType::f64;
  b.shape = {64};
  b.bytes.resize(512);
  job.buffers = {b};
  job.arguments = {Argument::pointer(0)};
  All watch;
  sim::Options options;
  options.products = &watch;
  Outcome<sim::Machine> machine = sim::Machine::load(job, options);
  ASSERT_TRUE(machine.ok()) << machine.error().sentence;
  ASSERT_EQ(machine->run(100'000), RunState::done);
  ASSERT_EQ(watch.all().size(), 1u);
  std::map<std::string, int> exact;
  expect_traced(watch.all()[0], 1, exact);
  EXPECT_EQ(exact["f64 x f64 -> f64"], 64);
  EXPECT_EQ(trace_of(watch.all()[0], 3, 5).steps.size(), 4u);
}

// ---- of a kernel, by its record ----

struct Recorded {
  std::optional<sim::Machine> start;
  sim::Record record;
  Recorded(const std::string& kernel, Sizes sizes, bool timed) {
    sim::Options options;
    if (timed) {
      options.clocked = true;
      options.times = test::chip_times();
    }
    const Job job = test::shipped_job(kernel, sizes);
    sim::Recorder recorder;
    sim::Options with = options;
    with.recorder = &recorder;
    Outcome<sim::Machine> machine = sim::Machine::load(job, with);
    EXPECT_TRUE(machine.ok());
    machine->run(~std::uint64_t{0});
    EXPECT_EQ(machine->state(), RunState::done);
    record = recorder.take();
    start.emplace(std::move(*sim::Machine::load(job, options)));
  }
  std::vector<sim::EventId> products(std::uint64_t block) const {
    std::vector<sim::EventId> out;
    for (sim::EventId id = 0; id < record.events.size(); ++id) {
      const sim::Event e = record.events[id];
      const sim::Track& track = record.tracks[e.track];
      if (e.kind == sim::EventKind::operation && track.unit == sim::Unit::tensor &&
          track.block == block) {
        out.push_back(id);
      }
    }
    return out;
  }
};

void expect_sum(const std::string& kernel, std::uint64_t block, std::uint32_t step, bool timed) {
  SCOPED_TRACE(kernel);
  const Recorded run(kernel, {256, 256, 256}, timed);
  const sim::WantedProducts wanted{&run.record, run.products(0), block};
  ASSERT_FALSE(wanted.events.empty());
  const auto seen = seen_products(*run.start, wanted);
  ASSERT_EQ(seen.size(), wanted.events.size());
  std::map<std::string, int> exact;
  for (const ProductSeen& p : seen) expect_traced(p, step, exact);
  EXPECT_GT(exact["f16 x f16 -> f32"], 0);
  const auto sum = sum_of(seen, seen.size() - 1);
  EXPECT_GE(sum.size(), 4u);
  EXPECT_FALSE(seen[sum.front()].accumulate);
  // From zero through all of them, one element after the other.
  std::uint64_t at = 0;
  for (const std::size_t i : sum) {
    const sim::ElementTrace t = trace_of(seen[i], 5, 9);
    if (i != sum.front()) {
      EXPECT_EQ(t.before, at);
    }
    at = t.after;
  }
}

TEST(Products, AllElementsOfATileOfTcgen05) {
  expect_sum("hgemm_v7", 0, 1, true);
}
TEST(Products, AllElementsOfATileOfWgmma) {
  expect_sum("wgmma_v5", 0, 1, true);
}
TEST(Products, OfAPair) {
  expect_sum("hgemm_v9", 0, 7, true);
  expect_sum("hgemm_v9", 1, 7, true);
}
TEST(Products, WithoutAClock) {
  expect_sum("hgemm_v7", 0, 61, false);
  expect_sum("wgmma_v5", 0, 61, false);
}

// Bytes that are lit, against those that the machine has in use for the product.
TEST(Products, BytesReadAreThoseOfTheMachine) {
  for (const char* kernel : {"hgemm_v7", "wgmma_v5"}) {
    SCOPED_TRACE(kernel);
    const Recorded run(kernel, {256, 256, 256}, true);
    const auto events = run.products(0);
    const auto seen = seen_products(*run.start, {&run.record, {events[1]}, 0});
    ASSERT_EQ(seen.size(), 1u);
    const ProductSeen& p = seen[0];
    std::set<std::uint32_t> lit, used;
    for (const sim::ProductOperand* o : {&p.a_from, &p.b_from}) {
      for (const std::uint32_t at : pieces(*o->matrix, o->rows, o->stored, o->row_bytes)) {
        for (std::uint32_t b = at; b < at + 16; ++b) lit.insert(b);
      }
    }
    for (const sim::Range& r : p.reads) {
      for (std::uint32_t b = r.begin; b < r.end; ++b) used.insert(b);
    }
    EXPECT_EQ(lit, used);
    EXPECT_EQ(lit.size(), p.a.size() + p.b.size());
  }
}

}  // namespace
}  // namespace tilescope
