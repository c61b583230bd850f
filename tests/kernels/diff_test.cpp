// The comparison of results: what counts as wrong, what is said about it, and how fast.
#include "core/diff/diff.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>

#include "core/numeric/random.h"

namespace tilescope {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Buffer tensor(std::string name, DType type, std::vector<std::int64_t> shape,
              const std::vector<double>& values) {
  Buffer b{std::move(name), type, std::move(shape), {}, false};
  b.bytes.resize(values.size() * bytes_of(type));
  for (std::size_t i = 0; i < values.size(); ++i) {
    store_element(type, b.bytes.data() + i * bytes_of(type), values[i]);
  }
  return b;
}

Buffer line(DType type, const std::vector<double>& values, std::string name = "C") {
  return tensor(std::move(name), type, {static_cast<std::int64_t>(values.size())}, values);
}

Buffer random_matrix(DType type, std::int64_t rows, std::int64_t cols, std::uint64_t stream) {
  return {"C",
          type,
          {rows, cols},
          random_elements(type, 0, stream, static_cast<std::size_t>(rows * cols)),
          false};
}

DiffReport compared(const Buffer& got, const Buffer& want, DiffOptions options = {}) {
  const Outcome<DiffReport> report = diff(got, want, options);
  if (!report.ok()) {
    ADD_FAILURE() << report.error().sentence;
    return {};
  }
  return *report;
}

bool is_wrong(double got, double want, Tolerance tolerance, bool nan_equal = true) {
  std::uint64_t counts[2];
  for (const DType type : {DType::f32, DType::f64}) {  // the fast path and the general one
    DiffOptions options;
    options.tolerance = tolerance;
    options.nan_equal = nan_equal;
    counts[type == DType::f64] = compared(line(type, {got}), line(type, {want}), options).wrong;
  }
  EXPECT_EQ(counts[0], counts[1]) << got << " " << want;
  return counts[0] == 1;
}

TEST(Diff, TheRuleIsAllcloses) {
  EXPECT_FALSE(is_wrong(1.5, 1.0, {0, 0.5}));
  EXPECT_TRUE(is_wrong(1.5625, 1.0, {0, 0.5}));
  EXPECT_FALSE(is_wrong(1.5, 1.0, {0.5, 0}));
  EXPECT_FALSE(is_wrong(2.5, 2.0, {0.25, 0}));  // relative to what was wanted
  EXPECT_TRUE(is_wrong(2.0, 2.75, {0.25, 0}));
  EXPECT_FALSE(is_wrong(-2.5, -2.0, {0.125, 0.25}));
  EXPECT_FALSE(is_wrong(0.0, -0.0, {0, 0}));
}

TEST(Diff, NothingButItselfEqualsANanOrAnInfinity) {
  const Tolerance generous{1e30, 1e30};
  EXPECT_FALSE(is_wrong(inf, inf, {0, 0}));
  EXPECT_FALSE(is_wrong(-inf, -inf, {0, 0}));
  EXPECT_TRUE(is_wrong(inf, -inf, generous));
  EXPECT_TRUE(is_wrong(1, inf, generous));
  EXPECT_TRUE(is_wrong(inf, 1, generous));
  EXPECT_FALSE(is_wrong(nan, nan, {0, 0}));
  EXPECT_TRUE(is_wrong(nan, nan, generous, false));
  EXPECT_TRUE(is_wrong(nan, 1, generous));
  EXPECT_TRUE(is_wrong(1, nan, generous));
  EXPECT_TRUE(is_wrong(inf, nan, generous));
}

TEST(Diff, TotalsExtremesAndMean) {
  const DiffReport r =
      compared(line(DType::f32, {1, 2, 3.5, -4, 10}),
               line(DType::f32, {1, 2.25, 3, -4, 8}, "reference"), {{0, 0.25}, true, 8, 8, 64, 64});
  EXPECT_EQ(r.compared, 5u);
  EXPECT_EQ(r.exact, 2u);
  EXPECT_EQ(r.wrong, 2u);
  EXPECT_EQ(r.max_absolute.value, 2);
  EXPECT_EQ(r.max_absolute.index, 4);
  EXPECT_EQ(r.max_relative.value, 0.25);
  EXPECT_EQ(r.max_relative.index, 4);
  EXPECT_EQ(r.max_ulp.value, 0x200000u);  // 8 to 10: a quarter of a binade of 2^23 values
  EXPECT_EQ(r.mean_absolute, 2.75 / 5);
  ASSERT_EQ(r.first.size(), 2u);
  EXPECT_EQ(r.first[0].index, 2);
  EXPECT_EQ(r.first[0].got, 3.5);
  EXPECT_EQ(r.first[0].want_text, "3");
  EXPECT_EQ(r.first[0].error.absolute, 0.5);
  EXPECT_EQ(r.worst[0].index, 4);
}

TEST(Diff, AnInfiniteErrorIsTheLargestAndLeftOutOfTheMean) {
  const DiffReport r = compared(line(DType::f32, {1, nan, 3}), line(DType::f32, {2, 2, 3}));
  EXPECT_EQ(r.wrong, 2u);
  EXPECT_EQ(r.not_finite, 1u);
  EXPECT_EQ(r.max_absolute.value, inf);
  EXPECT_EQ(r.max_absolute.index, 1);
  EXPECT_EQ(r.max_ulp.value, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(r.mean_absolute, 0.5);
}

TEST(Diff, TheFastPathForF32IsTheGeneralRule) {
  // Random bit patterns hold every kind: NaN, infinity, denormal, both signs.
  std::vector<std::byte> a(4 * 100000), b(a.size());
  for (std::uint32_t i = 0; i < a.size() / 16; ++i) {
    const auto words = philox4x32_10({i, 0, 0, 0}, {1, 1}),
               other = philox4x32_10({i, 1, 0, 0}, {1, 1});
    std::memcpy(a.data() + 16 * i, words.data(), 16);
    // Half of the elements differ in low bits only.
    for (std::size_t w = 0; w < 4; ++w) {
      std::uint32_t bits = w & 1 ? other[w] : words[w] ^ (other[w] & 7);
      if (i % 16 == 0) bits |= 0x7f800000;
      std::memcpy(b.data() + 16 * i + 4 * w, &bits, 4);
    }
  }
  const Buffer got{"a", DType::f32, {100000}, a, false}, want{"b", DType::f32, {100000}, b, false};
  DiffOptions options;
  options.tolerance = {1e-6, 1e-30};
  options.first = 1000;
  options.heat_cols = 20000;  // runs of five elements: most are finite and go the fast way
  const DiffReport r = compared(got, want, options);
  std::uint64_t wrong = 0, exact = 0, ulp = 0;
  for (std::size_t i = 0; i < 100000; ++i) {
    const Measure m = measure(DType::f32, &a[4 * i], &b[4 * i], options.tolerance, true);
    if (m.wrong && wrong < r.first.size()) {
      EXPECT_EQ(r.first[wrong].index, static_cast<std::int64_t>(i));
      EXPECT_EQ(r.first[wrong].error.ulp, m.ulp);
    }
    wrong += m.wrong, exact += m.absolute == 0 && !m.wrong;
    ulp = std::max(ulp, m.ulp);
  }
  EXPECT_EQ(r.wrong, wrong);
  EXPECT_EQ(r.exact, exact);
  EXPECT_EQ(r.max_ulp.value, ulp);
  EXPECT_GT(wrong, 40000u);
  EXPECT_GT(exact, 1000u);
}

TEST(Diff, SixtyFourBitIntegersCompareExactly) {
  const auto one = [](DType type, std::uint64_t value) {
    Buffer b{"C", type, {1}, std::vector<std::byte>(8), false};
    std::memcpy(b.bytes.data(), &value, 8);
    return b;
  };
  const std::uint64_t big = std::uint64_t{1} << 60;
  const DiffReport r = compared(one(DType::u64, big + 1), one(DType::u64, big));
  EXPECT_EQ(r.wrong, 1u);
  EXPECT_EQ(r.max_ulp.value, 1u);
  EXPECT_EQ(r.first.at(0).got_text, "1152921504606846977");
  EXPECT_EQ(r.first.at(0).want_text, "1152921504606846976");

  DiffOptions options;
  options.tolerance.atol = 1;
  EXPECT_TRUE(compared(one(DType::u64, big + 1), one(DType::u64, big), options).ok());
  EXPECT_FALSE(compared(one(DType::u64, big + 2), one(DType::u64, big), options).ok());
  // The whole range of i64 apart.
  EXPECT_EQ(compared(one(DType::i64, 0x8000000000000000), one(DType::i64, 0x7fffffffffffffff))
                .max_ulp.value,
            std::numeric_limits<std::uint64_t>::max());
}

TEST(Diff, EveryTypeIsCompared) {
  for (int t = 0; t <= static_cast<int>(DType::i64); ++t) {
    const DType type = static_cast<DType>(t);
    const DiffReport r = compared(line(type, {1, 2, 3}), line(type, {1, 2, 4}));
    EXPECT_EQ(r.wrong, 1u) << name_of(type);
    EXPECT_EQ(r.first.at(0).index, 2) << name_of(type);
    EXPECT_EQ(r.max_absolute.value, 1) << name_of(type);
    EXPECT_EQ(r.max_relative.value, 0.25) << name_of(type);
  }
}

TEST(Diff, TheListsHoldTheFirstAndTheWorst) {
  std::vector<double> got(1000), want(1000, 0.0);
  for (int i = 0; i < 1000; ++i) got[static_cast<std::size_t>(i)] = (i * 37) % 1000;
  DiffOptions options;
  options.first = 3, options.worst = 4;
  const DiffReport r = compared(line(DType::f64, got), line(DType::f64, want), options);
  EXPECT_EQ(r.wrong, 999u);
  ASSERT_EQ(r.first.size(), 3u);
  EXPECT_EQ(r.first[0].index, 1);
  EXPECT_EQ(r.first[2].index, 3);
  ASSERT_EQ(r.worst.size(), 4u);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(r.worst[k].got, 999.0 - static_cast<double>(k));
}

TEST(Diff, PiecesGiveTheSameReportAsTheWhole) {
  const Buffer a = random_matrix(DType::f16, 37, 53, 0), b = random_matrix(DType::f16, 37, 53, 1);
  DiffOptions options;
  options.heat_rows = 5, options.heat_cols = 7;
  options.tolerance.atol = 0.5;
  const DiffReport whole = compared(a, b, options);
  Outcome<Differ> differ = Differ::start(a, b, options);
  ASSERT_TRUE(differ.ok());
  std::int64_t last = 0;
  while (!differ->advance(17)) {
    EXPECT_EQ(differ->done(), last + 17);
    EXPECT_EQ(differ->report().compared, static_cast<std::uint64_t>(differ->done()));
    last = differ->done();
  }
  EXPECT_EQ(differ->done(), differ->total());
  EXPECT_EQ(text(differ->report()), text(whole));
  for (std::int64_t r = 0; r < whole.heat.bin_rows; ++r) {
    for (std::int64_t c = 0; c < whole.heat.bin_cols; ++c) {
      EXPECT_EQ(differ->report().heat.bin(r, c).wrong, whole.heat.bin(r, c).wrong);
    }
  }
}

TEST(Diff, AnEmptyTensorIsEqual) {
  const DiffReport r =
      compared(tensor("C", DType::f32, {0, 4}, {}), tensor("D", DType::f32, {0, 4}, {}));
  EXPECT_TRUE(r.ok());
  EXPECT_EQ(text(r), "C against D: f32 (0, 4), 0 elements, rtol 0, atol 0\n  all are equal\n");
  EXPECT_EQ(compared(tensor("C", DType::i8, {}, {1}), tensor("D", DType::i8, {}, {2})).wrong, 1u);
}

TEST(Diff, TensorsThatCannotBeComparedAreNamed) {
  const auto sentence = [](const Buffer& a, const Buffer& b, DiffOptions options = {}) {
    const Outcome<DiffReport> report = diff(a, b, options);
    if (report.ok()) return std::string("compared");
    EXPECT_EQ(report.error().kind, ErrorKind::mismatch);
    return report.error().sentence;
  };
  const Buffer c = tensor("C", DType::f32, {2, 1}, {1, 2});
  EXPECT_EQ(sentence(c, tensor("ref.npy", DType::f32, {1, 2}, {1, 2})),
            "C is f32 (2, 1), but ref.npy is f32 (1, 2): only tensors of one type and shape can be "
            "compared.");
  EXPECT_EQ(sentence(c, tensor("ref.npy", DType::f16, {2, 1}, {1, 2})),
            "C is f32 (2, 1), but ref.npy is f16 (2, 1): only tensors of one type and shape can be "
            "compared.");
  EXPECT_EQ(sentence(c, tensor("ref.npy", DType::f32, {2, 1}, {1})),
            "ref.npy is f32 (2, 1), which needs 8 bytes, but it has 4.");
  EXPECT_EQ(
      sentence(c, c, {{-1, 0}, true, 8, 8, 64, 64}),
      "A tolerance of rtol -1, atol 0 was asked for; each must be a number of 0 or more, like "
      "1e-5.");
  EXPECT_EQ(
      sentence(c, c, {{0, inf}, true, 8, 8, 64, 64}),
      "A tolerance of rtol 0, atol inf was asked for; each must be a number of 0 or more, like "
      "1e-5.");
}

// ---- heat map ----

TEST(HeatMap, EveryElementLiesInOneBin) {
  for (const std::int64_t rows : {1, 2, 63, 64, 65, 1000}) {
    for (const std::int64_t cols : {1, 64, 127, 129}) {
      const HeatMap heat({0, 0, rows, cols}, 64, 64);
      EXPECT_LE(heat.bin_rows, 64);
      EXPECT_LE(heat.bin_cols, 64);
      EXPECT_GE(heat.bin_rows * heat.row_step, rows);
      EXPECT_LT((heat.bin_rows - 1) * heat.row_step, rows);
      EXPECT_GE(heat.bin_cols * heat.col_step, cols);
      EXPECT_LT((heat.bin_cols - 1) * heat.col_step, cols);
    }
  }
}

TEST(HeatMap, AWrongTileIsSeenWhereItIs) {
  Buffer want = random_matrix(DType::f32, 256, 512, 0), got = want;
  for (std::int64_t r = 32; r < 48; ++r) {
    for (std::int64_t c = 128; c < 256; ++c) {
      store_element(DType::f32, got.bytes.data() + 4 * (r * 512 + c), 1000);
    }
  }
  DiffOptions options;
  options.heat_rows = 16, options.heat_cols = 4;  // bins of 16 x 128
  const DiffReport report = compared(got, want, options);
  EXPECT_EQ(report.wrong, 16u * 128);
  for (std::int64_t r = 0; r < 16; ++r) {
    for (std::int64_t c = 0; c < 4; ++c) {
      const HeatBin& bin = report.heat.bin(r, c);
      EXPECT_EQ(bin.compared, 2048u);
      EXPECT_EQ(bin.wrong, r == 2 && c == 1 ? 2048u : 0u) << r << " " << c;
      EXPECT_EQ(bin.max_absolute > 0, r == 2 && c == 1);
    }
  }
  EXPECT_EQ(report.heat.over({0, 0, 256, 512}).wrong, 2048u);
  EXPECT_EQ(report.heat.over({0, 0, 32, 512}).wrong, 0u);
  EXPECT_EQ(report.heat.over({31, 127, 2, 2}).wrong, 2048u);
  EXPECT_EQ(report.heat.over({300, 0, 10, 10}).compared, 0u);
}

TEST(HeatMap, OtherRanksAreSeenAsAMatrix) {
  EXPECT_EQ(as_matrix({2, 3, 4}).rows, 6);
  EXPECT_EQ(as_matrix({2, 3, 4}).cols, 4);
  EXPECT_EQ(as_matrix({5}).rows, 1);
  EXPECT_EQ(as_matrix({5}).cols, 5);
  EXPECT_EQ(as_matrix({}).cols, 1);
}

// ---- text and provenance ----

// An execution in which one thread wrote element 3 and nobody anything else.
class OneWriter : public Execution {
 public:
  RunState advance(std::uint64_t) override { return RunState::done; }
  Progress progress() const override { return {}; }
  const std::vector<Buffer>& buffers() const override { return buffers_; }
  const std::vector<Report>& reports() const override { return reports_; }
  std::optional<Site> writer(std::size_t buffer, std::size_t byte) const override {
    if (buffer != 2 || byte != 12) return std::nullopt;
    Site site;
    site.kernel = "elementwise_add";
    site.source = "kernels/elementwise/elementwise_add.cu";
    site.source_line = 42;
    site.ptx_line = 118;
    site.block = {3, 0, 0};
    site.warp = 2;
    site.lane = 5;
    return site;
  }

 private:
  std::vector<Buffer> buffers_;
  std::vector<Report> reports_;
};

TEST(DiffText, SaysHowManyWhereHowFarAndWho) {
  DiffReport report = compared(tensor("C", DType::f32, {2, 2}, {1, 0, 3, 5}),
                               tensor("reference", DType::f32, {2, 2}, {1, 2, 3, 4}));
  name_writers(report, OneWriter{}, 2);
  EXPECT_EQ(text(report),
            "C against reference: f32 (2, 2), 4 elements, rtol 0, atol 0\n  2 differ (50%), 2 are "
            "equal\n  largest absolute error  2           at (0, 1)\n  largest relative error  1   "
            "        at (0, 1)\n  largest ulp distance    1073741824  at (0, 1)\n  mean absolute "
            "error     0.75\nfirst 2 of 2 that differ\n  at      got  want  absolute  relative  "
            "ulp\n  (0, 1)  0    2     2         1         1073741824  never written\n  (1, 1)  5  "
            "  4     1         0.25      2097152     written by CTA (3,0,0), warp 2, lane 5 at "
            "kernels/elementwise/elementwise_add.cu:42\n");
}

TEST(DiffText, ListsTheWorstOnlyWhereTheFirstAreNotAll) {
  DiffOptions options;
  options.first = 1, options.worst = 1;
  const std::string listed =
      text(compared(line(DType::i32, {1, 2, 9}), line(DType::i32, {0, 2, 4}, "D"), options));
  EXPECT_NE(listed.find("first 1 of 2 that differ"), std::string::npos) << listed;
  EXPECT_NE(listed.find("worst 1 by absolute error"), std::string::npos) << listed;
  EXPECT_NE(listed.find("(2)  9    4     5         1.25      5\n"), std::string::npos) << listed;
  EXPECT_EQ(listed.find("written"), std::string::npos) << "nobody asked who wrote";
}

TEST(DiffText, WithinToleranceIsNotEqual) {
  DiffOptions options;
  options.tolerance = {0, 0.5};
  EXPECT_EQ(text(compared(line(DType::f32, {1, 2.25}), line(DType::f32, {1, 2}, "D"), options)),
            "C against D: f32 (2,), 2 elements, rtol 0, atol 0.5\n"
            "  all are within tolerance, 1 of them equal\n"
            "  largest absolute error  0.25     at (1)\n"
            "  largest relative error  0.125    at (1)\n"
            "  largest ulp distance    1048576  at (1)\n"
            "  mean absolute error     0.125\n");
}

TEST(DiffText, AWriterWithoutASourceLineHasItsPtxLine) {
  Site site;
  site.ptx_line = 7, site.block = {1, 2, 3};
  EXPECT_EQ(writer_text(site), "written by CTA (1,2,3), warp 0, lane 0 at PTX line 7");
}

// ---- speed ----

// Seconds of this process, so that others do not count; the best of five.
double time_to_compare(std::int64_t size) {
  const Buffer a = random_matrix(DType::f32, size, size, 0),
               b = random_matrix(DType::f32, size, size, 1);
  double best = inf;
  for (int i = 0; i < 5; ++i) {
    const std::clock_t begin = std::clock();
    EXPECT_GT(compared(a, b).wrong, static_cast<std::uint64_t>(size * size * 9 / 10));
    best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return best;
}

// A million differing elements take 16 times as long as 65536, and some. What they take in seconds,
// `./dev bench` says.
TEST(Diff, ItsTimeGrowsAsTheElements) {
  EXPECT_LT(time_to_compare(1024), 40 * time_to_compare(256));
}

}  // namespace
}  // namespace tilescope
