// Views of products: the block, where its copies begin, and all of them together.
//
//     blocked_product((2,5):(5,1), (3,4):(1,3)) = ((2,3),(5,4)):((5,10),(1,30))
//                                                    |      |
//                        coordinates in the block ---+      +--- which copy: its tile
//
// Which modes of a product count copies its operation says, not its numbers.
#include <algorithm>
#include <array>

#include "core/layout/text.h"
#include "viz/layout/layout_view.h"

namespace tilescope {
namespace {

Result<Layout> blocked(const Layout& a, const Tiler& b) {
  return blocked_product(a, b.layout());
}
Result<Layout> raked(const Layout& a, const Tiler& b) {
  return raked_product(a, b.layout());
}

// Where an operation puts the copies: behind the modes of the block, or in a pair with each.
enum class Copies : std::uint8_t { behind_one, behind_all, paired_second, paired_first };
struct Operation {
  std::string_view name;
  Copies copies;
  const char* axes;
  Result<Layout> (*of)(const Layout& block, const Tiler& copies);
};
constexpr std::array<Operation, 6> operations{
    {{"logical_product", Copies::behind_one, "a column is one copy", logical_product},
     {"zipped_product", Copies::behind_one, "a column is one copy", zipped_product},
     {"tiled_product", Copies::behind_one, "a column is one copy", tiled_product},
     {"flat_product", Copies::behind_all, "the block's modes, then the copies'", flat_product},
     {"blocked_product", Copies::paired_second, "copies side by side", blocked},
     {"raked_product", Copies::paired_first, "copies interleaved", raked}}};

// The product's modes with strides that count copies alone: (coordinate) -> copy. The first
// `pairs` modes are pairs; of the others the first `block_rank` are the block's.
Layout counting(const Layout& product, int pairs, int block_rank, bool copies_first = false) {
  Layout out(product.modes);
  std::int64_t copy = 1;
  int leaf = 0;
  for (int i = 0; i < product.rank(); ++i) {
    const Tree<Mode> mode = product.modes.mode(i);
    const int first = i < pairs ? mode.mode(0).leaves : i < block_rank ? mode.leaves : 0;
    for (int k = 0; k < mode.leaves; ++k, ++leaf) {
      Mode& m = out.modes.leaf[leaf];
      const bool counts = (k >= first) != copies_first;
      m.stride = counts ? copy : 0;
      if (counts) copy *= m.shape.value;
    }
  }
  return out;
}

}  // namespace

Outcome<LayoutView> LayoutView::multiplied(std::string_view operation, const Layout& block,
                                           const Tiler& copies) {
  const auto found = std::find_if(operations.begin(), operations.end(),
                                  [&](const Operation& each) { return each.name == operation; });
  if (found == operations.end() || !block.offset.is(0)) return plain(block);
  const Result<Layout> product = found->of(block, copies);
  if (!product) return refused(sentence(product.refusal));
  const Result<Layout> zipped = zipped_product(block, copies);
  if (!zipped) return refused(sentence(zipped.refusal));
  Outcome<LayoutView> view = plain(*product);
  if (!view) return view;
  const bool by_mode = found->name == "logical_product" && copies.by_mode();
  Layout begins(zipped->modes.mode(1));
  begins.swizzle = zipped->swizzle;
  const bool paired =
      found->copies == Copies::paired_first || found->copies == Copies::paired_second;
  const int pairs = paired ? product->rank() : by_mode ? copies.rank() : 0;
  const int block_rank = by_mode ? product->rank()
                         : found->copies == Copies::behind_all
                             ? Layout(zipped->modes.mode(0)).rank()
                             : 1;

  view->panels_.clear();
  view->add_panel("Block", axes_of(block), block);
  view->panels_.back().tiles = counting(block, 0, block.rank());
  view->add_panel("Copies", "where each copy of the block begins", begins);
  view->panels_.back().tiles = counting(begins, 0, 0);
  const char* axes = by_mode ? "each mode: the block's, then the copies'" : found->axes;
  view->add_panel("Product", axes, *product);
  view->panels_.back().tiles =
      counting(*product, pairs, block_rank, found->copies == Copies::paired_first);
  view->division_.tiles = *size(begins);
  view->owned_.threads = view->owned_.values = 0;
  return view;
}

}  // namespace tilescope
