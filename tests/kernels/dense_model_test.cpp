// The model by which dense_gemm's tile is chosen, against what an H100 takes.
#include "kernels/catalog/dense_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

namespace tilescope {
namespace {

struct Row {
  DenseTile tile;
  double seconds = 0;
};
using Shape = std::array<std::int64_t, 3>;

std::map<Shape, std::vector<Row>> measured() {
  std::map<Shape, std::vector<Row>> out;
  std::ifstream file(TILESCOPE_SOURCE_DIR "/tests/time/h100_dense_gemm.tsv");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream cells(line);
    Shape s{};
    Row row;
    double microseconds = 0;
    cells >> s[0] >> s[1] >> s[2] >> row.tile.m >> row.tile.n >> row.tile.cluster_m >>
        row.tile.cluster_n >> row.tile.slices >> microseconds;
    row.seconds = microseconds * 1e-6;
    if (row.tile.m > 0) out[s].push_back(row);
  }
  return out;
}

Sizes sizes_of(const Shape& s) {
  return {s[0], s[1], s[2], 1};
}

constexpr std::int64_t processors = 132;

TEST(DenseModel, ChoosesATileThatIsNearlyTheFastest) {
  const auto all = measured();
  ASSERT_EQ(all.size(), 46u);
  double sum = 0;
  for (const auto& [shape, rows] : all) {
    ASSERT_GE(rows.size(), 3u);
    std::vector<DenseTile> tiles;
    for (const Row& row : rows) tiles.push_back(row.tile);
    const DenseTile chosen = choose_dense_tile(tiles, sizes_of(shape), {}, processors);
    double taken = 0, best = 1;
    for (const Row& row : rows) {
      best = std::min(best, row.seconds);
      if (row.tile == chosen) taken = row.seconds;
    }
    EXPECT_LT(taken, 1.2 * best) << shape[0] << " " << shape[1] << " " << shape[2] << ": "
                                 << chosen.m << " x " << chosen.n;
    sum += taken / best;
  }
  EXPECT_LT(sum / static_cast<double>(all.size()), 1.035);
}

TEST(DenseModel, IsNotFarOffOnTheWhole) {
  double sum = 0;
  int count = 0;
  for (const auto& [shape, rows] : measured()) {
    for (const Row& row : rows) {
      const double said = dense_gemm_seconds(row.tile, sizes_of(shape), {}, processors);
      EXPECT_LT(std::abs(std::log(said / row.seconds)), std::log(1.6))
          << shape[0] << " " << shape[1] << " " << shape[2] << ": " << row.tile.m << " x "
          << row.tile.n << ", " << row.tile.slices << " slices";
      sum += std::abs(std::log(said / row.seconds));
      ++count;
    }
  }
  EXPECT_LT(std::exp(sum / count), 1.1);
}

// Twice the matrices take about twice as long, and elements of a byte half as many stages.
TEST(DenseModel, KnowsBatchesAndTypes) {
  const DenseTile tile;
  const double one = dense_gemm_seconds(tile, {4096, 4096, 4096, 1}, {}, processors);
  EXPECT_NEAR(dense_gemm_seconds(tile, {4096, 4096, 4096, 2}, {}, processors), 2 * one, 0.1 * one);
  EXPECT_NEAR(dense_gemm_seconds(tile, {4096, 4096, 4096, 1}, {1, 2}, processors), one / 2,
              0.1 * one);
}

}  // namespace
}  // namespace tilescope
