#include "kernels/catalog/dense_model.h"

#include <algorithm>

#include "kernels/catalog/products.h"

namespace tilescope {
namespace {

constexpr double l2_bytes = 4800, port_bytes = 52;         // a cycle: of L2, and into an SM
constexpr double tile_cycles = 1000;                       // of a tile, besides its stages
constexpr double slices_cycles = 2000, slices_bytes = 30;  // a cycle: from CTA to CTA
constexpr double idle_clock = 1.98e9, busy_clock = 1.35e9;
constexpr double memory_bytes = 3.0e12;  // a second
constexpr double launch_seconds = 5e-6;

}  // namespace

double dense_gemm_seconds(const DenseTile& tile, const Sizes& s, DenseBytes bytes,
                          std::int64_t processors) {
  using products::tiles;
  const bool sliced = tile.slices > 1;
  const std::int64_t down = sliced ? 1 : tile.cluster_m, across = sliced ? 1 : tile.cluster_n;
  const std::int64_t ctas = down * across * tile.slices, l = std::max<std::int64_t>(s.l, 1);
  const std::int64_t room = std::max<std::int64_t>(processors / ctas, 1);
  const std::int64_t all = tiles(s.m, tile.m * down) * tiles(s.n, tile.n * across) * l;
  const auto at_once = static_cast<double>(std::min(all, room) * ctas);
  const auto rounds = static_cast<double>(tiles(all, room));
  const auto stages = static_cast<double>(tiles(tiles(s.k * bytes.operand, 128), tile.slices));

  const auto m = static_cast<double>(tile.m), n = static_cast<double>(tile.n);
  const double tensor = m * n / 32;
  const double asked = 128 * (m / static_cast<double>(across) + n / static_cast<double>(down));
  const double stage = std::max({tensor, asked * at_once / l2_bytes, 128 * (m + n) / port_bytes});
  const double busy = std::min(1.0, tensor / stage * at_once / static_cast<double>(processors));
  const double clock = idle_clock - (idle_clock - busy_clock) * busy;
  const double adding = sliced ? slices_cycles + m * n * 4 / slices_bytes : 0;
  const double ctas_take = rounds * (stages * stage + tile_cycles + adding) / clock;

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
