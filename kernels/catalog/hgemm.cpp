// The ladder of matrix products (kernels/blackwell): D (M,N) = A (M,K) * B (N,K)^T, f16 or bf16
// with f32 sums, one step better than the one before.
#include <fmt/format.h>

#include "kernels/catalog/catalog.h"
#include "kernels/catalog/products.h"

namespace tilescope {
namespace {

using products::tiles;

constexpr std::int64_t tile_m = 128, tile_n = 128, tile_k = 64, threads = 128;
constexpr products::BoxRows boxes{128, 128, 128};
// Where threads copy, the offset of a tile's last row, 127 rows down, is an int;
constexpr std::int64_t most_stride = std::int64_t{1} << 24;
// and a grid has up to 65,535 blocks in y (CUDA C++ Programming Guide, Compute Capabilities), which
// are tiles of columns up to step 5. Memory ends most products long before.
constexpr std::int64_t most_columns = 65535 * tile_n;

std::optional<std::string> one_tile(const Sizes& s) {
  if (s.m == tile_m && s.n == tile_n && s.k == tile_k) return std::nullopt;
  return fmt::format(
      "hgemm_v1 multiplies one tile, m = 128, n = 128, k = 64, not {}; hgemm_v2 takes any k in "
      "multiples of 64, hgemm_v3 any number of whole tiles.",
      products::shape_text(s));
}

std::optional<std::string> one_tile_deep(const Sizes& s) {
  if (s.m == tile_m && s.n == tile_n && s.k % tile_k == 0) return std::nullopt;
  return fmt::format(
      "hgemm_v2 multiplies one tile of D, m = 128, n = 128, with k in multiples of 64, not {}; "
      "hgemm_v3 takes any number of whole tiles.",
      products::shape_text(s));
}

std::optional<std::string> whole_tiles(const Sizes& s) {
  if (s.m % tile_m == 0 && s.n % tile_n == 0 && s.k % tile_k == 0) return std::nullopt;
  return fmt::format(
      "hgemm_v3 multiplies whole tiles, m and n in multiples of 128 and k in multiples of 64, not "
      "{}.",
      products::shape_text(s));
}

Launch launch_grid(const Sizes& s, std::int64_t) {
  Launch launch;
  launch.grid.x = static_cast<std::uint32_t>(tiles(s.m, tile_m));
  launch.grid.y = static_cast<std::uint32_t>(tiles(s.n, tile_n));
  launch.block.x = threads;
  return launch;
}

// At most a block for each SM.
Launch launch_persistent(const Sizes& s, std::int64_t processors, std::uint32_t block) {
  Launch launch;
  const std::int64_t all = tiles(s.m, tile_m) * tiles(s.n, tile_n);
  launch.grid = {static_cast<std::uint32_t>(all < processors ? all : processors), 1, 1};
  launch.block.x = block;
  return launch;
}

std::vector<NamedLayout> layouts(const Sizes& s, const Variant&) {
  using products::matrix;
  return {
      {"A", matrix(s.m, s.k), "A in global memory: row-major, offsets in elements"},
      {"B", matrix(s.n, s.k), "B in global memory: N rows of K, so that K is contiguous in both"},
      {"D", matrix(s.m, s.n), "D in global memory"},
      {"atom", "composition(Sw<3,3,3>, (8,64):(64,1))",
       "8 rows of 128 bytes; the swizzle exchanges the 16-byte pieces of a row by its number"},
      {"tile", "tile_to_shape(composition(Sw<3,3,3>, (8,64):(64,1)), (128,64))",
       "A's and B's tile in shared memory: 16 atoms, 1024 bytes apart"},
      {"accumulator", "(128,128):(65536,1)",
       "D's tile in TMEM, as addresses: the row is the lane, in the upper 16 bits"}};
}

// From step 9 on a cluster of two blocks has a tile of 256 columns and, a consumer, 256 rows.
constexpr std::int64_t pair_m = 256, pair_n = 256;
constexpr std::int64_t most_of_pairs = (std::int64_t{1} << 31) - 1024;

Launch launch_pairs(const Sizes& s, std::int64_t processors, std::int64_t consumers,
                    std::uint32_t block) {
  const std::int64_t all = tiles(s.m, consumers * pair_m) * tiles(s.n, pair_n);
  const std::int64_t room = processors > 1 ? processors / 2 : 1;
  std::int64_t clusters = all < room ? all : room;
  // Step 10 takes no more of them than finish at the same time: 2 x 64, not 74 and then 54.
  if (consumers > 1) clusters = tiles(all, tiles(all, clusters));
  Launch launch;
  launch.cluster = Dim3{2, 1, 1};
  launch.grid.x = static_cast<std::uint32_t>(2 * clusters);
  launch.block.x = block;
  return launch;
}

std::vector<NamedLayout> pair_layouts(const Sizes& s, const Variant& variant) {
  std::vector<NamedLayout> out = layouts(s, variant);
  out[4].help = "a CTA's half of A's and of B's tile in shared memory: 16 atoms, 1024 bytes apart";
  out.back() = {"accumulator", "(128,256):(65536,1)",
                "a CTA's 128 rows of D's tile in its TMEM, all 256 columns, as addresses"};
  return out;
}

CatalogEntry entry_of(int step, std::string help, Sizes fallback) {
  CatalogEntry entry = products::entry(fmt::format("hgemm_v{}", step), std::move(help), "blackwell",
                                       "sm_100a", fallback);
  if (step < 6) entry.sizes[1].most = most_columns;
  if (step < 4) entry.sizes[2].most = most_stride;
  entry.tensors[2].tile = {tile_m, tile_n};
  entry.launch = launch_grid;
  entry.layouts = layouts;
  return entry;
}

}  // namespace

std::vector<CatalogEntry> hgemm_entries() {
  std::vector<CatalogEntry> out;
  out.push_back(entry_of(1, "D = A * B^T, step 1: one tile, tensor core and TMEM",
                         {tile_m, tile_n, tile_k, 0}));
  out.back().objection = one_tile;
  out.back().arguments = [](const Sizes&) { return products::arguments({}, {}); };

  out.push_back(entry_of(2, "D = A * B^T, step 2: a loop over K, the accumulator stays in TMEM",
                         {tile_m, tile_n, 512, 0}));
  out.back().objection = one_tile_deep;
  out.back().arguments = [](const Sizes& s) { return products::arguments({}, {s.k}); };

  out.push_back(entry_of(3, "D = A * B^T, step 3: a grid of tiles", {256, 256, 256, 0}));
  out.back().objection = whole_tiles;
  out.back().arguments = [](const Sizes& s) { return products::arguments({}, {s.n, s.k}); };

  const auto with_maps = [&](int step, std::string help, Sizes fallback) {
    out.push_back(entry_of(step, std::move(help), fallback));
    CatalogEntry& entry = out.back();
    const std::string name = entry.name;
    entry.objection = [name](const Sizes& s) { return products::rows_of_16_bytes(name, s); };
    entry.arguments = [](const Sizes& s) { return products::arguments(boxes, {s.k}); };
  };
  with_maps(4, "D = A * B^T, step 4: TMA copies whole tiles, in and out", {256, 256, 256, 0});
  with_maps(5, "D = A * B^T, step 5: two stages, loads overlap MMAs", {512, 512, 512, 0});
  const auto persistent = [&](int step, std::uint32_t block, std::string help) {
    with_maps(step, std::move(help), {1024, 1024, 1024, 0});
    out.back().launch = [=](const Sizes& s, std::int64_t processors) {
      return launch_persistent(s, processors, block);
    };
    out.back().arguments = [](const Sizes& s) {
      return products::arguments(boxes, {s.m, s.n, s.k});
    };
  };
  persistent(6, threads, "D = A * B^T, step 6: persistent CTAs");
  persistent(7, 256, "D = A * B^T, step 7: warp-specialised: load, MMA, epilogue");
  persistent(8, 256, "D = A * B^T, step 8: four stages");
  const auto paired = [&](int step, std::int64_t consumers, std::uint32_t block, std::string help) {
    persistent(step, block, std::move(help));
    CatalogEntry& entry = out.back();
    entry.launch = [=](const Sizes& s, std::int64_t processors) {
      return launch_pairs(s, processors, consumers, block);
    };
    entry.layouts = pair_layouts;
    for (auto& size : entry.sizes) size.most = most_of_pairs;
  };
  const auto warps = [](std::uint32_t first, std::uint32_t last) {
    std::vector<std::uint32_t> of;
    for (std::uint32_t warp = first; warp <= last; ++warp) of.push_back(warp);
    return of;
  };
  const std::vector<WarpRole> one_consumer{
      {warps(0, 3), "write back"}, {{4}, "MMAs"}, {{7}, "copies in"}};
  for (std::size_t i = out.size() - 2; i < out.size(); ++i) out[i].roles = one_consumer;
  paired(9, 1, 256, "D = A * B^T, step 9: CTA pairs (cta_group::2)");
  out.back().roles = one_consumer;
  paired(10, 2, 384, "D = A * B^T, step 10: two consumers share B's tile");
  out.back().roles = {{warps(0, 7), "write back"}, {{8, 9}, "MMAs"}, {{11}, "copies in"}};
  return out;
}

}  // namespace tilescope
