// Hopper's ladder of matrix products (kernels/hopper): D (M,N) = A (M,K) * B (N,K)^T, f16 or bf16
// with f32 sums, one step better than the one before.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/catalog/catalog.h"
#include "kernels/catalog/products.h"

namespace tilescope {
namespace {

using products::tiles;

constexpr std::int64_t rows = 64, tile_n = 256, tile_k = 64;  // rows: of a consumer
// Where threads copy, the offset of a tile's last row, 255 rows down, is an int;
constexpr std::int64_t most_stride = std::int64_t{1} << 23;
// and a grid has up to 65,535 blocks in y (CUDA C++ Programming Guide, Compute Capabilities), which
// are tiles of columns up to step 5.
constexpr std::int64_t most_columns = 65535 * tile_n;

// What a step is made of.
struct Step {
  int number;
  std::string_view help;
  int consumers = 1;
  int producers = 1;  // warpgroups
  bool persistent = false;
  int ctas = 1;  // of a cluster
  bool store_by_tma = false;

  std::int64_t tile_m() const { return consumers * rows; }
  std::uint32_t threads() const {
    return static_cast<std::uint32_t>(128 * (consumers + producers));
  }
};

std::optional<std::string> whole_tiles(const Sizes& s) {
  if (s.m % rows == 0 && s.n % tile_n == 0 && s.k % tile_k == 0) return std::nullopt;
  return fmt::format(
      "wgmma_v1 multiplies whole tiles, m and k in multiples of 64 and n in multiples of 256, not "
      "{}; wgmma_v2 takes any m, and n and k in multiples of 8.",
      products::shape_text(s));
}

Launch launch_of(const Step& step, const Sizes& s, std::int64_t processors) {
  const std::int64_t cluster_m = step.ctas * step.tile_m();
  const std::int64_t down = tiles(s.m, cluster_m), across = tiles(s.n, tile_n);
  Launch launch;
  launch.block.x = step.threads();
  if (!step.persistent) {
    launch.grid = {static_cast<std::uint32_t>(down), static_cast<std::uint32_t>(across), 1};
    return launch;
  }
  const std::int64_t room = processors > step.ctas ? processors / step.ctas : 1;
  launch.grid.x = static_cast<std::uint32_t>(step.ctas * std::min(room, down * across));
  if (step.ctas > 1) launch.cluster = Dim3{static_cast<std::uint32_t>(step.ctas), 1, 1};
  return launch;
}

std::vector<Argument> arguments_of(const Step& step, const Sizes& s) {
  products::BoxRows boxes;
  if (step.number > 1) {
    boxes.a = static_cast<std::uint32_t>(step.tile_m());
    boxes.b = static_cast<std::uint32_t>(tile_n / step.ctas);
    boxes.d = step.store_by_tma ? rows : 0;
  }
  return products::arguments(boxes, {s.m, s.n, s.k});
}

std::vector<NamedLayout> layouts_of(const Step& step, const Sizes& s, const Variant& variant) {
  using products::matrix;
  const auto tile = [](std::int64_t rows) {
    return fmt::format("tile_to_shape(composition(Sw<3,3,3>, (8,64):(64,1)), ({},64))", rows);
  };
  const std::string type = variant.dtypes[0] == DType::f16 ? "F16" : "BF16";
  std::vector<NamedLayout> out = {
      {"A", matrix(s.m, s.k), "A in global memory: row-major, offsets in elements"},
      {"B", matrix(s.n, s.k), "B in global memory: N rows of K, so that K is contiguous in both"},
      {"D", matrix(s.m, s.n), "D in global memory"},
      {"atom", "composition(Sw<3,3,3>, (8,64):(64,1))",
       "8 rows of 128 bytes; the swizzle exchanges the 16-byte pieces of a row by its number"},
      {"a_tile", tile(step.tile_m()), "A's tile in shared memory: atoms, 1024 bytes apart"},
      {"b_tile", tile(tile_n), "B's tile in shared memory: 32 atoms"},
      {"product", fmt::format("SM90_64x256x16_F32{0}{0}_SS<K,K>", type),
       "one wgmma.mma_async of a consumer, four of them a stage"},
      {"accumulator", "((4,8,4),(2,2,32)):((128,1,16),(64,8,512))",
       "a consumer's sums, (64,256): thread and register to row + 64 column"}};
  if (step.store_by_tma) {
    out.push_back({"box", tile(rows), "64 columns of a consumer's D in shared memory, for TMA"});
  }
  return out;
}

// The first warpgroup copies, by its first warp; a warp of each consumer sends D away.
std::vector<WarpRole> roles_of(const Step& step) {
  if (step.producers == 0) return {};
  std::vector<WarpRole> out{{{0}, "copies in"}};
  WarpRole products{{}, "MMAs"}, both{{}, "MMAs, copies out"};
  for (std::uint32_t warp = 4; warp < step.threads() / 32; ++warp) {
    (step.store_by_tma && warp % 4 == 0 ? both : products).warps.push_back(warp);
  }
  if (!both.warps.empty()) out.push_back(std::move(both));
  out.push_back(std::move(products));
  return out;
}

CatalogEntry entry_of(const Step& step, Sizes fallback) {
  CatalogEntry entry =
      products::entry(fmt::format("wgmma_v{}", step.number),
                      fmt::format("D = A * B^T on Hopper, step {}: {}", step.number, step.help),
                      "hopper", "sm_90a", fallback);
  if (!step.persistent) entry.sizes[1].most = most_columns;
  if (step.number == 1) {
    entry.sizes[2].most = most_stride;
    entry.objection = whole_tiles;
  } else {
    entry.objection = [name = entry.name](const Sizes& s) {
      return products::rows_of_16_bytes(name, s);
    };
  }
  entry.tensors[2].tile = {step.tile_m(), tile_n};
  entry.launch = [step](const Sizes& s, std::int64_t processors) {
    return launch_of(step, s, processors);
  };
  entry.arguments = [step](const Sizes& s) { return arguments_of(step, s); };
  entry.layouts = [step](const Sizes& s, const Variant& variant) {
    return layouts_of(step, s, variant);
  };
  entry.roles = roles_of(step);
  if (step.number >= 7) entry.known = {products::narrow_release()};
  return entry;
}

}  // namespace

std::vector<CatalogEntry> wgmma_entries() {
  const Sizes small{128, 256, 256}, middle{256, 512, 512}, large{1024, 1024, 1024};
  const std::pair<Step, Sizes> steps[] = {
      {{1, "wgmma, synchronously", 1, 0}, small},
      {{2, "TMA copies whole tiles", 1, 0}, small},
      {{3, "four stages, loads overlap products", 1, 0}, middle},
      {{4, "warps with roles: a producer, a consumer", 1, 1}, middle},
      {{5, "two consumers share B's tile", 2, 1}, middle},
      {{6, "persistent CTAs", 2, 1, true}, large},
      {{7, "clusters of two: B's tile by multicast", 2, 1, true, 2}, large},
      {{8, "D goes back by TMA, beside the next tile", 2, 1, true, 2, true}, large},
      {{9, "launches overlap: a launch begins before the one before has ended", 2, 1, true, 2,
        true},
       large}};
  std::vector<CatalogEntry> out;
  for (const auto& [step, fallback] : steps) out.push_back(entry_of(step, fallback));
  return out;
}

}  // namespace tilescope
