// Pictures of products and of every form of a division: which tile a cell belongs to.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/viz/layout_of.h"
#include "viz/layout/layout_scene.h"

namespace tilescope {
namespace {

template <class F>
void for_each_cell(const LayoutView& view, int panel, F f) {
  const Panel& p = view.panels()[static_cast<std::size_t>(panel)];
  for (std::int64_t k = 0; k < p.slices; ++k) {
    for (std::int64_t j = 0; j < p.columns; ++j) {
      for (std::int64_t i = 0; i < p.rows; ++i) f(Cell{panel, k, i, j});
    }
  }
}

constexpr int block = 0, copies = 1, product = 2;

// A cell of copy t that the block has at offset x is at x + (where copy t begins).
TEST(Product, ACellBelongsToTheCopyThatItIsIn) {
  for (const char* expression :
       {"blocked_product((2,5):(5,1), (3,4):(1,3))", "raked_product((2,5):(5,1), (3,4):(1,3))",
        "logical_product((2,2):(4,1), 6:1)", "zipped_product((2,5):(5,1), <3:5,4:6>)",
        "logical_product((2,5):(5,1), <3:5,4:6>)", "tiled_product((2,5):(5,1), (3,4):(1,3))",
        "flat_product((2,5):(5,1), (3,4):(1,3))",
        "raked_product(((2,2),4):((1,8),2), (3,2):(1,3))"}) {
    const LayoutView view = view_of(expression);
    ASSERT_EQ(view.panels().size(), 3u) << expression;
    EXPECT_EQ(view.colour({}), ColourBy::tile) << expression;
    std::map<std::int64_t, std::int64_t> begin;
    for_each_cell(view, copies,
                  [&](const Cell& cell) { begin[view.tile(cell)] = view.offset(cell); });
    EXPECT_EQ(static_cast<std::int64_t>(begin.size()), view.tiles()) << expression;
    std::set<std::int64_t> in_block;
    for_each_cell(view, block, [&](const Cell& cell) {
      EXPECT_EQ(view.tile(cell), 0) << expression;
      in_block.insert(view.offset(cell));
    });
    std::map<std::int64_t, std::size_t> seen;
    for_each_cell(view, product, [&](const Cell& cell) {
      const std::int64_t tile = view.tile(cell);
      ASSERT_TRUE(begin.contains(tile)) << expression;
      EXPECT_TRUE(in_block.contains(view.offset(cell) - begin[tile])) << expression;
      ++seen[tile];
    });
    for (const auto& [tile, count] : seen) EXPECT_EQ(count, in_block.size()) << expression;
  }
}

TEST(Product, BlockedCopiesStandSideBySideAndRakedOnesAreInterleaved) {
  const LayoutView blocked = view_of("blocked_product((2,5):(5,1), (3,4):(1,3))");
  EXPECT_EQ(blocked.tile({product, 0, 3, 6}), 1 + 3 * 1);
  const LayoutView raked = view_of("raked_product((2,5):(5,1), (3,4):(1,3))");
  EXPECT_EQ(raked.tile({product, 0, 3, 6}), 0 + 3 * 2);
}

TEST(DividedForms, AreShownAsTheyAreAskedFor) {
  const char* args = "((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)";
  for (const auto& [operation, title, rows, columns, slices] :
       {std::tuple{"zipped_divide", "Zipped divide", 24, 12, 1},
        std::tuple{"tiled_divide", "Tiled divide", 24, 3, 4},
        std::tuple{"flat_divide", "Flat divide", 3, 8, 12}}) {
    const std::string name = operation;  // clang 14 captures no structured binding
    const LayoutView view = view_of(name + args);
    const Panel& last = view.panels().back();
    EXPECT_EQ(last.title, title);
    EXPECT_EQ(last.rows, rows) << name;
    EXPECT_EQ(last.columns, columns) << name;
    EXPECT_EQ(last.slices, slices) << name;
    // The same element has the same tile in the input.
    std::map<std::int64_t, std::int64_t> tile_of;
    for_each_cell(view, 0, [&](const Cell& cell) { tile_of[view.offset(cell)] = view.tile(cell); });
    for_each_cell(view, 2, [&](const Cell& cell) {
      EXPECT_EQ(view.tile(cell), tile_of[view.offset(cell)]) << name;
    });
  }
  const LayoutView flat = view_of(std::string("flat_divide") + args);
  for_each_cell(flat, 2, [&](const Cell& cell) { EXPECT_EQ(flat.tile(cell), cell.slice); });
}

}  // namespace
}  // namespace tilescope
