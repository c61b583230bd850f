#include "kernels/catalog/dense_model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/catalog/products.h"

namespace tilescope {
namespace {

constexpr double l2_bytes = 5700, port_bytes = 64;  // a cycle: of L2, and into an SM
constexpr double astride = 1.45;                    // times what L2 has to do
constexpr double stage_cycles = 20;                 // of a stage besides
// Cycles of a tile besides its stages: until the first is there, and C's elements.
constexpr double tile_cycles = 1000, element_cycles = 0.14;
constexpr double neighbour_cycles = 50;  // of a tile, for each other CTA of its cluster
constexpr double slices_cycles = 1850, slices_bytes = 13;  // and a cycle: from CTA to CTA
constexpr double idle_clock = 2.05e9, busy_clock = 1.6e9;
// With all processors multiplying without a pause, tiles of 128 x 256 in pairs, at 700 W; and what
// part of that power goes into reading shared memory and L2.
constexpr double limited_clock = 1.336e9, reads_power = 0.1, l2_power = 0.02;
constexpr double memory_bytes = 2.5e12;  // a second
constexpr double together = 0.1;  // of what takes less time, that the longer one does not hide
constexpr double launch_seconds = 1.9e-6;

}  // namespace

// Of 132 processors: a cluster has to be in one GPC, and not each has as many processors.
std::int64_t room_for_clusters(std::int64_t ctas, std::int64_t processors) {
  constexpr std::array<std::int64_t, 9> of_132 = {132, 132, 66, 39, 30, 22, 17, 15, 15};
  if (ctas >= static_cast<std::int64_t>(of_132.size())) return 1;
  return std::max<std::int64_t>(of_132[static_cast<std::size_t>(ctas)] * processors / 132, 1);
}

bool fits_one_consumer(std::int64_t m, std::int64_t n, bool half_sums) {
  return m <= 128 && m / 64 * n / (half_sums ? 4 : 2) <= 128;
}

bool can_slice(std::int64_t m, std::int64_t n, bool half_sums) {
  return m < 256 || n / (half_sums ? 2 : 1) <= 160;
}

bool has_rounds(const DenseTile& t, const Sizes& s, std::int64_t processors) {
  const std::int64_t all = products::tiles(s.m, t.m * t.cluster_m) *
                           products::tiles(s.n, t.n * t.cluster_n) * std::max<std::int64_t>(s.l, 1);
  return all > room_for_clusters(t.cluster_m * t.cluster_n * t.slices, processors);
}

double dense_gemm_seconds(const DenseTile& tile, const Sizes& s, DenseBytes bytes,
                          std::int64_t processors) {
  using products::tiles;
  const bool sliced = tile.slices > 1;
  const std::int64_t down = tile.cluster_m, across = tile.cluster_n;
  const std::int64_t ctas = down * across * tile.slices, l = std::max<std::int64_t>(s.l, 1);
  const std::int64_t room = room_for_clusters(ctas, processors);
  const std::int64_t all = tiles(s.m, tile.m * down) * tiles(s.n, tile.n * across) * l;
  const auto at_once = static_cast<double>(std::min(all, room) * ctas);
  const auto rounds = static_cast<double>(tiles(all, room));
  const auto stages = static_cast<double>(tiles(tiles(s.k * bytes.operand, 128), tile.slices));

  const auto m = static_cast<double>(tile.m), n = static_cast<double>(tile.n);
  const double tensor = m * n / 32;
  const double asked = 128 * (m / static_cast<double>(across) + n / static_cast<double>(down)) *
                       (s.k * bytes.operand % 128 == 0 ? 1 : astride);
  const double stage =
      std::max({tensor, asked * at_once / l2_bytes, 128 * (m + n) / port_bytes}) + stage_cycles;
  const double busy =
      std::min(1.0, tensor / (stage - stage_cycles) * at_once / static_cast<double>(processors));
  // What a product of 64 x n reads of shared memory for each element, beside one of 64 x 256: that
  // takes power too.
  const double reads = (64 + n) / n / 1.25;
  const double clock = idle_clock - (idle_clock - busy_clock) * busy * reads;
  const double ends = tile_cycles + m * n * element_cycles +
                      neighbour_cycles * static_cast<double>(down * across - 1);
  const bool turns = !sliced && fits_one_consumer(tile.m, tile.n, false);
  const double products_take = stages * stage, both_take = products_take + ends;
  const double cycles =
      turns ? ends + rounds * std::max(products_take, both_take / 2) : rounds * both_take;
  // What C itself takes: products outside of it are of zeros.
  const double least = static_cast<double>(s.m * s.n * l * s.k * bytes.operand) / 128 / 32 /
                       static_cast<double>(processors) / limited_clock;
  const double asked_by_pairs = 128.0 * (128 + 256 / 2) / (128 * 256);
  const double power =
      1 + reads_power * (reads - 1) + l2_power * (asked / (m * n) / asked_by_pairs - 1);
  // The longer of the two, and more where they are alike: to be done as soon as its energy allows a
  // chip whose processors idle now and then has to run faster, which takes more of it.
  const double ctas_take =
      std::pow(std::pow(cycles / clock, 6) + std::pow(least * power, 6), 1.0 / 6);

  const auto moved =
      static_cast<double>(l * (bytes.operand * s.k * (s.m + s.n) + bytes.result * s.m * s.n));
  const double adding = sliced ? rounds * (slices_cycles + m * n * 4 / slices_bytes) / clock : 0;
  const double memory_takes = moved / memory_bytes;
  return std::max(ctas_take, memory_takes) + together * std::min(ctas_take, memory_takes) + adding +
         launch_seconds;
}

DenseTile choose_dense_tile(const std::vector<DenseTile>& tiles, const Sizes& sizes,
                            DenseBytes bytes, std::int64_t processors) {
  return *std::min_element(tiles.begin(), tiles.end(), [&](const DenseTile& a, const DenseTile& b) {
    return dense_gemm_seconds(a, sizes, bytes, processors) <
           dense_gemm_seconds(b, sizes, bytes, processors);
  });
}

}  // namespace tilescope
