// In which tile dense_gemm multiplies a shape: what the model chooses, the fastest of all that
// there are, or a named one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "kernels/catalog/dense_model.h"
#include "tests/bench/product_kind.h"

namespace tilescope::bench {

struct TileRule {
  enum class By : std::uint8_t { model, best, name };
  By by = By::model;
  DenseTile tile;  // of By::name
  bool operator==(const TileRule&) const = default;
};
// "model", "best", "128x256", "128x256:2x1" (the cluster; 2x1 where nobody says), "128x256:2x1:4"
// (slices), or several with commas between.
Outcome<std::vector<TileRule>> tile_rules(std::string_view text);

std::string text(const DenseTile& tile);  // "128x256:2x1", "64x64:1x1:4"
Choices choices_of(const ProductKind& kind, const DenseTile& tile);
DenseTile tile_of(const Fit& fit);  // that the catalog chose

// Those in which the program carries dense_gemm for this kind of product.
std::vector<DenseTile> carried_tiles(const ProductKind& kind);
// Those that `best` tries: the carried ones and, where a compiler makes them, some others; of them
// with K in slices the 16 that the model takes for the fastest. Each is one that the kernel can do.
std::vector<DenseTile> tiles_to_try(const ProductKind& kind, const Sizes& sizes, bool compiler);

}  // namespace tilescope::bench
