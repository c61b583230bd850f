// C = A + B for matrices of any size (kernels/elementwise/elementwise_add.cu).
//
// A block of 128 threads owns a tile of 16 x 128 elements, one column of
// zipped_divide(matrix, <16,128>); blocks take the tiles along the rows. A thread owns as many
// neighbours of a row as it can load in 128 bits: 4 x 4 elements of 4 bytes, or 2 x 8 of 2 bytes.
#include <fmt/format.h>

#include "kernels/catalog/catalog.h"
#include "kernels/reference/reference.h"

namespace tilescope {
namespace {

constexpr std::int64_t tile_rows = 16, tile_cols = 128, threads = 128;
constexpr std::int64_t most_elements = (std::int64_t{1} << 31) - 1;  // the kernel counts in int

std::int64_t tiles(std::int64_t extent, std::int64_t tile) {
  return (extent + tile - 1) / tile;
}

std::optional<std::string> too_many_elements(const Sizes& s) {
  if (s.m <= most_elements / s.n) return std::nullopt;
  return fmt::format(
      "elementwise_add with m = {}, n = {} has {} elements; it counts them in 32 bits, "
      "so m * n must be below 2^31.",
      s.m, s.n, s.m * s.n);
}

// Rows of which not each begins on 16 bytes are divided from the boundary before them, so the last
// of their columns lie up to an access less one further right.
std::int64_t tiles_across(const Sizes& s, std::int64_t vector) {
  return tiles(s.n % vector == 0 ? s.n : s.n + vector - 1, tile_cols);
}

std::int64_t elements_of_16_bytes(const Variant& variant) {
  return 16 / static_cast<std::int64_t>(bytes_of(variant.dtypes[0]));
}

Launch launch(const Fit& fit, std::int64_t) {
  const Sizes& s = fit.sizes;
  Launch launch;
  launch.grid.x = static_cast<std::uint32_t>(tiles(s.m, tile_rows) *
                                             tiles_across(s, elements_of_16_bytes(fit.variant)));
  launch.block.x = threads;
  return launch;
}

// elementwise_add(const Element* a, const Element* b, Element* c, int m, int n)
std::vector<Argument> arguments(const Sizes& s) {
  return {Argument::pointer(0), Argument::pointer(1), Argument::pointer(2),
          Argument::i32(static_cast<std::int32_t>(s.m)),
          Argument::i32(static_cast<std::int32_t>(s.n))};
}

std::vector<NamedLayout> layouts(const Sizes& s, const Variant& variant) {
  const std::string matrix = fmt::format("({},{}):({},1)", s.m, s.n, s.n);
  // The grid covers whole tiles: what lies beyond the matrix is masked by the coordinate tensor.
  const std::int64_t vector = elements_of_16_bytes(variant);
  const std::int64_t down = tiles(s.m, tile_rows), wide = tiles_across(s, vector);
  const std::string covered =
      fmt::format("({},{}):({},1)", down * tile_rows, wide * tile_cols, s.n);
  const std::int64_t across = tile_cols / vector, rows = tile_rows / vector;
  return {
      {"matrix", matrix, "A, B and C in global memory: row-major, offsets in elements"},
      {"thread layout", fmt::format("({},{}):({},1)", vector, across, across),
       across == 32 ? "which thread owns what: 4 warps of 32 lanes a row"
                    : "which thread owns what: 4 warps, 16 lanes in each of two rows"},
      {"value layout", fmt::format("({},{}):({},1)", rows, vector, vector),
       fmt::format("the {} x {} values of a thread, {} in a row to load at once", rows, vector,
                   vector == 4 ? "four" : "eight")},
      {"thread-value layout",
       fmt::format("make_layout_tv(({0},{1}):({1},1), ({2},{0}):({0},1))", vector, across, rows),
       "(thread, value) to the place in the 16 x 128 tile, counted down its columns"},
      {"tiles", fmt::format("zipped_divide({}, <{},{}>)", covered, tile_rows, tile_cols),
       "(place in the tile, tile): one column a CTA; rounded up to whole tiles"},
      {"CTAs", fmt::format("({},{}):({},1)", down, wide, wide),
       "(tile down, tile across) to the number of its CTA: along the rows, as memory lies"}};
}

Outcome<std::vector<Buffer>> reference_of(const Job& job, const Fit&, const Effort&) {
  Outcome<Buffer> sum = reference::add(job.buffers[0], job.buffers[1]);
  if (!sum) return sum.error();
  return std::vector<Buffer>{std::move(*sum)};
}

}  // namespace

CatalogEntry elementwise_add_entry() {
  CatalogEntry entry;
  entry.name = "elementwise_add";
  entry.help = "C = A + B for matrices of any size: tiles, thread-value layout, predicated edges";
  entry.ptx = "ptx/elementwise_add.ptx";
  entry.source = "kernels/elementwise/elementwise_add.cu";
  entry.target = "sm_80";
  entry.lesson = "elementwise_add";
  entry.sizes = {{"m", &Sizes::m, 256, 1, most_elements, "rows"},
                 {"n", &Sizes::n, 512, 1, most_elements, "columns"}};
  entry.options = {{"launches",
                    {"apart", "overlapping"},
                    "WHEN",
                    "apart",
                    "overlapping: placed while the launch before is ending (from sm_90 on)"}};
  entry.tensors = {{"A", TensorRole::input, {&Sizes::m, &Sizes::n}, "the first matrix"},
                   {"B", TensorRole::input, {&Sizes::m, &Sizes::n}, "the second matrix"},
                   {"C", TensorRole::output, {&Sizes::m, &Sizes::n}, "the sum"}};
  // One correctly rounded addition an element leaves nothing to tolerate, in any type.
  for (const auto& [launches, image] :
       {std::pair("apart", ""), std::pair("overlapping", "ptx/elementwise_add_sm_90.ptx")}) {
    for (const auto& [name, type] :
         {std::pair("elementwise_add", DType::f32), std::pair("elementwise_add_f16", DType::f16),
          std::pair("elementwise_add_bf16", DType::bf16),
          std::pair("elementwise_add_i32", DType::i32)}) {
      entry.variants.push_back(
          {name, {type, type, type}, 0, 0, image, {}, {{"launches", launches}}});
    }
  }
  entry.objection = too_many_elements;
  entry.launch = launch;
  entry.arguments = arguments;
  entry.layouts = layouts;
  entry.reference = reference_of;
  return entry;
}

}  // namespace tilescope
