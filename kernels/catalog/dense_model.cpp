#include "kernels/catalog/dense_model.h"

#include <algorithm>
#include <array>

#include "kernels/catalog/products.h"

namespace tilescope {
namespace {

constexpr double l2_bytes = 5400, port_bytes = 64;  // a cycle: of L2, and into an SM
constexpr double astride = 2;                       // times what L2 has to do
constexpr double stage_cycles = 80;                 // of a stage besides
// Cycles of a tile besides its stages: until the first is there, and C's elements.
constexpr double tile_cycles = 500, element_cycles = 0.04;
constexpr double slices_cycles = 3000, slices_bytes = 30;  // and a cycle: from CTA to CTA
constexpr double idle_clock = 1.98e9, busy_clock = 1.35e9;
constexpr double memory_bytes = 3.0e12;  // a second
constexpr double launch_seconds = 3e-6;

// Of 132 processors, how many clusters of so many CTAs there is room for: they have to be in one
// GPC, and not each has as many processors.
std::int64_t room_for(std::int64_t ctas, std::int64_t processors) {
  constexpr std::array<std::int64_t, 9> of_132 = {132, 132, 66, 39, 30, 22, 17, 15, 15};
  if (ctas >= static_cast<std::int64_t>(of_132.size())) return 1;
  return std::max<std::int64_t>(of_132[static_cast<std::size_t>(ctas)] * processors / 132, 1);
}

}  // namespace

double dense_gemm_seconds(const DenseTile& tile, const Sizes& s, DenseBytes bytes,
                          std::int64_t processors) {
  using products::tiles;
  const bool sliced = tile.slices > 1;
  const std::int64_t down = tile.cluster_m, across = tile.cluster_n;
  const std::int64_t ctas = down * across * tile.slices, l = std::max<std::int64_t>(s.l, 1);
  const std::int64_t room = room_for(ctas, processors);
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
  const double clock = idle_clock - (idle_clock - busy_clock) * busy;
  const double adding = sliced ? slices_cycles + m * n * 4 / slices_bytes : 0;
  const double ends = tile_cycles + m * n * element_cycles + adding;
  const double ctas_take = rounds * (stages * stage + ends) / clock;

  const auto moved =
      static_cast<double>(l * (bytes.operand * s.k * (s.m + s.n) + bytes.result * s.m * s.n));
  return std::max(ctas_take, moved / memory_bytes) + launch_seconds;
}

DenseTile choose_dense_tile(const std::vector<DenseTile>& tiles, const Sizes& sizes,
                            DenseBytes bytes, std::int64_t processors) {
  return *std::min_element(tiles.begin(), tiles.end(), [&](const DenseTile& a, const DenseTile& b) {
    return dense_gemm_seconds(a, sizes, bytes, processors) <
           dense_gemm_seconds(b, sizes, bytes, processors);
  });
}

}  // namespace tilescope
