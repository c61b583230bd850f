// Patterns of wrong elements: each is planted in random data and found; random mistakes have none.
#include "core/diff/patterns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "core/diff/ranking.h"

namespace tilescope {
namespace {

using Kind = Pattern::Kind;

Buffer random_matrix(std::int64_t rows, std::int64_t columns, unsigned seed,
                     DType type = DType::f32) {
  Buffer out;
  out.name = "C";
  out.dtype = type;
  out.shape = {rows, columns};
  out.bytes.resize(static_cast<std::size_t>(rows * columns) * bytes_of(type));
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 8);
  for (std::size_t i = 0; i < out.bytes.size(); i += bytes_of(type)) {
    store_element(type, out.bytes.data() + i, normal(random));
  }
  return out;
}

double value(const Buffer& b, std::int64_t row, std::int64_t column) {
  const std::size_t at = static_cast<std::size_t>(row * b.shape[1] + column) * bytes_of(b.dtype);
  return load_element(b.dtype, b.bytes.data() + at);
}
void set(Buffer& b, std::int64_t row, std::int64_t column, double v) {
  const std::size_t at = static_cast<std::size_t>(row * b.shape[1] + column) * bytes_of(b.dtype);
  store_element(b.dtype, b.bytes.data() + at, v);
}

class Patterns : public ::testing::TestWithParam<DType> {
 protected:
  // Elements for which `which` says so get `from` of where they are; from a random one, noise.
  using Which = std::function<bool(std::int64_t, std::int64_t)>;
  using Value = std::function<double(const Buffer& want, std::int64_t, std::int64_t)>;

  std::vector<Pattern> plant(std::int64_t rows, std::int64_t columns, const Which& which,
                             const Value& from, const PatternHints& hints = {}) {
    want_ = random_matrix(rows, columns, 1, GetParam());
    got_ = want_;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) {
        if (which(r, c)) set(got_, r, c, from(want_, r, c));
      }
    }
    return find_patterns(got_, want_, options(), hints);
  }
  DiffOptions options() const {
    DiffOptions out;
    out.tolerance = tolerance_for(GetParam());
    return out;
  }
  static Value noise() {
    auto random = std::make_shared<std::mt19937>(99);
    return [random](const Buffer&, std::int64_t, std::int64_t) {
      return std::normal_distribution<double>(0, 8)(*random);
    };
  }
  static std::string names(const std::vector<Pattern>& all) {
    std::string out;
    for (const Pattern& p : all) out += p.name + ": " + p.evidence + "\n";
    return out;
  }
  static void expect_only(const std::vector<Pattern>& all, Kind kind, const std::string& name) {
    ASSERT_EQ(all.size(), 1u) << names(all);
    EXPECT_EQ(all[0].kind, kind) << names(all);
    EXPECT_NE(all[0].name.find(name), std::string::npos) << names(all);
  }
  static const Pattern* find(const std::vector<Pattern>& all, Kind kind) {
    for (const Pattern& p : all) {
      if (p.kind == kind) return &p;
    }
    return nullptr;
  }
  static bool anywhere(std::int64_t, std::int64_t) { return true; }

  Buffer got_, want_;
};

TEST_P(Patterns, RandomMistakesHaveNone) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const double share = seed % 2 ? 0.01 : 0.4;
    const auto all = plant(
        200, 240,
        [&](std::int64_t, std::int64_t) {
          return std::uniform_real_distribution<double>()(random) < share;
        },
        noise());
    EXPECT_TRUE(all.empty()) << "seed " << seed << "\n" << names(all);
  }
}

TEST_P(Patterns, ARightResultAndAHandfulHaveNone) {
  EXPECT_TRUE(plant(
                  64, 64, [](auto, auto) { return false; }, noise())
                  .empty());
  EXPECT_TRUE(plant(
                  64, 64, [](auto r, auto c) { return r == c && r < 5; }, noise())
                  .empty());
}

TEST_P(Patterns, EverythingIsOnePattern) {
  expect_only(plant(96, 80, anywhere, noise()), Kind::everything, "everything");
}

TEST_P(Patterns, AWholeTileWithItsRowsAndColumns) {
  const auto in_tile = [](auto r, auto c) { return r / 64 == 2 && c / 32 == 1; };
  auto all = plant(256, 256, in_tile, noise());
  expect_only(all, Kind::tile, "a whole tile");
  EXPECT_NE(all[0].evidence.find("tile (2,1) of 64x32: rows 128..191, columns 32..63"),
            std::string::npos)
      << all[0].evidence;
  EXPECT_EQ(all[0].first, 128 * 256 + 32);
  // The kernel's own tiles, which are no powers of two.
  PatternHints hints;
  hints.tile = {48, 80};
  all = plant(
      200, 250, [](auto r, auto c) { return r / 48 == 4 && c / 80 == 3; }, noise(), hints);
  expect_only(all, Kind::tile, "a whole tile");
  EXPECT_NE(all[0].evidence.find(
                "tile (4,3) of 48x80, what one CTA computes: rows 192..199, columns 240..249"),
            std::string::npos)
      << all[0].evidence;
}

TEST_P(Patterns, SeveralWholeTiles) {
  const auto all = plant(
      256, 256,
      [](auto r, auto c) {
        const auto t = r / 32 * 8 + c / 32;
        return t == 3 || t == 20 || t == 61;
      },
      noise());
  expect_only(all, Kind::tile, "3 whole tiles");
  EXPECT_NE(all[0].evidence.find("32x32: (0,3), (2,4), (7,5)"), std::string::npos)
      << all[0].evidence;
}

TEST_P(Patterns, EveryNthRowOrColumn) {
  expect_only(plant(
                  120, 96, [](auto r, auto) { return r % 6 == 4; }, noise()),
              Kind::rows, "every 6th row");
  expect_only(plant(
                  120, 96, [](auto, auto c) { return c % 2 == 1; }, noise()),
              Kind::columns, "every other column");
}

TEST_P(Patterns, TheRowsThatOneWarpHolds) {
  const auto all = plant(
      256, 128, [](auto r, auto) { return r % 64 / 16 == 2; }, noise());
  expect_only(all, Kind::rows, "rows 32..47 of every 64");
  EXPECT_NE(all[0].evidence.find("warp 2 of four holds of a wgmma"), std::string::npos);
}

TEST_P(Patterns, TheLastRowsAndAnOddRectangle) {
  expect_only(plant(
                  137, 90, [](auto r, auto) { return r >= 132; }, noise()),
              Kind::rectangle, "the last 5 rows");
  expect_only(
      plant(
          137, 90, [](auto r, auto c) { return r >= 30 && r < 51 && c >= 11 && c < 18; }, noise()),
      Kind::rectangle, "a rectangle");
}

TEST_P(Patterns, WhoWroteAllThatIsWrong) {
  PatternHints hints;
  hints.writer = [](std::int64_t index) {
    Site site;
    site.source = "k.cu";
    site.source_line = 7;
    site.warp = static_cast<std::uint32_t>(index * 2654435761u >> 7 & 3);
    return std::optional(site);
  };
  const auto all = plant(
      128, 128,
      [&](std::int64_t r, std::int64_t c) { return hints.writer(r * 128 + c)->warp == 3; }, noise(),
      hints);
  const Pattern* who = find(all, Kind::writer);
  ASSERT_TRUE(who) << names(all);
  EXPECT_EQ(who->name, "warp 3");
  for (const Pattern& p : all) EXPECT_EQ(p.name.find("line"), std::string::npos);
  // Those that nobody wrote.
  PatternHints none = hints;
  none.writer = [](std::int64_t index) {
    return index % 128 < 40 ? std::optional<Site>() : std::optional(Site{});
  };
  const auto unwritten = plant(
      128, 128, [](auto, auto c) { return c < 40; }, noise(), none);
  ASSERT_TRUE(find(unwritten, Kind::writer));
  EXPECT_EQ(find(unwritten, Kind::writer)->name, "never written");
}

TEST_P(Patterns, TransposedAsAWholeAndWithinTiles) {
  auto all =
      plant(96, 96, anywhere, [](const Buffer& w, auto r, auto c) { return value(w, c, r); });
  ASSERT_TRUE(find(all, Kind::moved)) << names(all);
  EXPECT_EQ(find(all, Kind::moved)->name, "transposed");
  all = plant(96, 128, anywhere, [](const Buffer& w, auto r, auto c) {
    return value(w, r / 16 * 16 + c % 16, c / 16 * 16 + r % 16);
  });
  ASSERT_TRUE(find(all, Kind::moved)) << names(all);
  EXPECT_EQ(find(all, Kind::moved)->name, "transposed within tiles of 16x16");
}

TEST_P(Patterns, ASwizzleThatWasNotTakenBack) {
  const auto all = plant(128, 64, anywhere, [](const Buffer& w, auto r, auto c) {
    return value(w, r, c ^ (r & 7) << 3);
  });
  const Pattern* moved = find(all, Kind::moved);
  ASSERT_TRUE(moved) << names(all);
  EXPECT_NE(moved->name.find("swizzle: row bits 0..2 XORed into column bits 3..5"),
            std::string::npos)
      << moved->name;
}

TEST_P(Patterns, ShiftedAndSwapped) {
  auto all = plant(
      90, 100, [](auto r, auto c) { return c < 97 && r > 20; },
      [](const Buffer& w, auto r, auto c) { return value(w, r, c + 3); });
  ASSERT_TRUE(find(all, Kind::moved)) << names(all);
  EXPECT_EQ(find(all, Kind::moved)->name, "shifted by 3 columns");
  all = plant(256, 64, anywhere,
              [](const Buffer& w, auto r, auto c) { return value(w, r ^ 128, c); });
  ASSERT_TRUE(find(all, Kind::moved)) << names(all);
  EXPECT_EQ(find(all, Kind::moved)->name, "swapped: blocks of 128 rows");
}

TEST_P(Patterns, FactorsOffsetsZerosAndNaN) {
  const auto some = [](auto r, auto c) { return (r * 7 + c * 3) % 11 < 4; };
  const auto only = [&](const Value& from, const std::string& name) {
    const auto all = plant(80, 90, some, from);
    const Pattern* p = find(all, Kind::value);
    ASSERT_TRUE(p) << name << "\n" << names(all);
    EXPECT_NE(p->name.find(name), std::string::npos) << p->name;
  };
  only([](const Buffer& w, auto r, auto c) { return 2 * value(w, r, c); }, "factor, 2");
  only([](const Buffer& w, auto r, auto c) { return -value(w, r, c); }, "the sign");
  only([](const Buffer& w, auto r, auto c) { return value(w, r, c) + 32; }, "offset, +32");
  only([](const Buffer&, auto, auto) { return 0.0; }, "zeros");
  only([](const Buffer&, auto, auto) { return std::nan(""); }, "not a number");
  only([](const Buffer&, auto, auto) { return 3.0; }, "the same value, 3");
}

// C = A B^T of k = 256, with one stage of 64 gone wrong.
TEST_P(Patterns, AStageOfKThatIsStaleMissingOrThereTwice) {
  constexpr std::int64_t m = 48, n = 40, k = 256, stage = 64;
  const Buffer a = random_matrix(m, k, 5), b = random_matrix(n, k, 6);
  PatternHints hints;
  hints.operands = [&](std::int64_t row, std::int64_t column, std::vector<double>& x,
                       std::vector<double>& y) {
    x.clear(), y.clear();
    for (std::int64_t i = 0; i < k; ++i) {
      x.push_back(value(a, row, i));
      y.push_back(value(b, column, i));
    }
    return true;
  };
  const auto found = [&](auto&& of_stage) {
    want_ = got_ = random_matrix(m, n, 7, GetParam());
    for (std::int64_t r = 0; r < m; ++r) {
      for (std::int64_t c = 0; c < n; ++c) {
        double right = 0, wrong = 0;
        for (std::int64_t i = 0; i < k; ++i) {
          right += value(a, r, i) * value(b, c, i);
          wrong += of_stage(i / stage, r, c, i);
        }
        set(want_, r, c, right);
        set(got_, r, c, r < 20 ? wrong : right);
      }
    }
    const auto all = find_patterns(got_, want_, options(), hints);
    const Pattern* p = find(all, Kind::stage);
    return p ? p->name + ": " + p->evidence : names(all);
  };
  const auto term = [&](auto r, auto c, auto i) { return value(a, r, i) * value(b, c, i); };
  EXPECT_NE(
      found([&](auto s, auto r, auto c, auto i) { return term(r, c, s == 2 ? i - stage : i); })
          .find("stale operands by 64 of K: got is want with A and B of k = 64..127 in "
                "place of those of k = 128..191"),
      std::string::npos);
  EXPECT_NE(found([&](auto s, auto r, auto c, auto i) {
              return value(a, r, s == 3 ? i - stage : i) * value(b, c, i);
            }).find("stale A by 64 of K"),
            std::string::npos);
  // Two stages behind, and two of them: one mistake, whose stage may be taken for one of 128.
  EXPECT_NE(found([&](auto s, auto r, auto c, auto i) {
              return value(a, r, s >= 2 ? i - 2 * stage : i) * value(b, c, i);
            }).find("stale A by 128 of K"),
            std::string::npos);
  EXPECT_NE(found([&](auto s, auto r, auto c, auto i) {
              return s == 3 ? 0 : term(r, c, i);
            }).find("a missing stage of K: got is want without k = 192..255"),
            std::string::npos);
  EXPECT_NE(found([&](auto s, auto r, auto c, auto i) {
              return (s == 0 ? 2 : 1) * term(r, c, i);
            }).find("a stage of K twice"),
            std::string::npos);
  // Noise is no stage.
  auto random = std::make_shared<std::mt19937>(3);
  EXPECT_EQ(found([&](auto, auto, auto, auto) {
              return std::normal_distribution<double>(0, 40)(*random);
            }).find("of K"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Types, Patterns, ::testing::Values(DType::f32, DType::f16, DType::bf16),
                         [](const auto& type) { return std::string(name_of(type.param)); });

TEST(Ranking, TheWorstByEachErrorAreThoseOfAFullSort) {
  Buffer want = random_matrix(40, 50, 3), got = want;
  std::mt19937 random(4);
  for (int i = 0; i < 300; ++i) {
    const auto r = static_cast<std::int64_t>(random() % 40),
               c = static_cast<std::int64_t>(random() % 50);
    set(got, r, c, std::normal_distribution<double>(0, 3)(random));
  }
  DiffOptions options;
  options.tolerance = tolerance_for(DType::f32);
  for (const Measured by : kMeasured) {
    const std::vector<Mismatch> all = worst(got, want, options, by, 10000);
    EXPECT_EQ(all.size(), diff(got, want, options)->wrong);
    for (std::size_t i = 1; i < all.size(); ++i) {
      EXPECT_GE(badness(all[i - 1].error, by), badness(all[i].error, by)) << name_of(by);
    }
    const std::vector<Mismatch> few = worst(got, want, options, by, 7);
    ASSERT_EQ(few.size(), 7u);
    for (std::size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i].index, all[i].index);
    EXPECT_TRUE(worst(got, want, options, by, 0).empty());
    EXPECT_TRUE(worst(want, want, options, by, 5).empty());
  }
}

}  // namespace
}  // namespace tilescope
