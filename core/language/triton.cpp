#include "core/language/triton.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/layout/bits.h"
#include "core/layout/refusal.h"
#include "core/layout/text.h"

namespace tilescope::triton {
namespace {

constexpr std::int64_t largest = std::int64_t{1} << 24;  // elements of a tensor

bool power_of_two(std::int64_t n) {
  return n > 0 && (n & (n - 1)) == 0;
}

std::optional<std::string> bad_numbers(const Numbers& numbers, const char* what, std::size_t rank) {
  if (numbers.size() != rank) {
    return fmt::format(
        "`{}` has {} numbers and `sizePerThread` {}: each has one for every "
        "dimension of the tensor.",
        what, numbers.size(), rank);
  }
  for (const std::int64_t n : numbers) {
    if (power_of_two(n) && n <= largest) continue;
    return fmt::format("`{}` has {}; Triton's sizes are powers of two.", what, n);
  }
  return std::nullopt;
}

std::optional<std::string> bad_order(const Numbers& order, const char* what, std::size_t rank) {
  Numbers sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool good = sorted.size() == rank;
  for (std::size_t i = 0; good && i < rank; ++i) good = sorted[i] == static_cast<std::int64_t>(i);
  if (good) return std::nullopt;
  return fmt::format("`{}` names each dimension from 0 to {} once, the fastest first.", what,
                     rank - 1);
}

std::optional<std::string> bad_shape(const Numbers& shape, std::size_t rank) {
  if (shape.size() != rank) {
    return fmt::format("The shape has {} extents and the encoding {} dimensions.", shape.size(),
                       rank);
  }
  std::int64_t elements = 1;
  for (const std::int64_t n : shape) {
    if (!power_of_two(n)) {
      return fmt::format("The shape has {}; extents of Triton's tensors are powers of two.", n);
    }
    elements = n > largest / elements ? largest + 1 : elements * n;
    if (elements > largest) return std::string("The shape has more than 2^24 elements.");
  }
  return std::nullopt;
}

// Adds the bits of an input that counts `sizes`, the fastest dimension first, behind what `covered`
// of each dimension is counted already.
void count(Bases& into, const Numbers& sizes, const Numbers& order, Numbers& covered) {
  for (const std::int64_t dim : order) {
    const auto d = static_cast<std::size_t>(dim);
    for (std::int64_t n = 1; n < sizes[d]; n *= 2) {
      Numbers basis(sizes.size(), 0);
      basis[d] = covered[d] * n;
      into.push_back(std::move(basis));
    }
    covered[d] *= sizes[d];
  }
}

// What the bases reach of each dimension: a power of two.
Numbers reach_of(const LinearLayout& layout, std::size_t rank) {
  Numbers all(rank, 0);
  for (const Bases& input : layout.bases) {
    for (const Numbers& basis : input) {
      for (std::size_t d = 0; d < rank; ++d) all[d] |= basis[d];
    }
  }
  for (std::int64_t& n : all) {
    std::int64_t reach = 1;
    while (reach <= n) reach *= 2;
    n = reach;
  }
  return all;
}

// Triton's ensureLayoutNotLargerThan: the largest steps along a dimension become 0 until the rest
// reaches no further than the shape. Registers that are left with no step go, where asked.
void shrink(LinearLayout& layout, const Numbers& shape, bool drop_registers) {
  const Numbers reach = reach_of(layout, shape.size());
  std::vector<bool> dropped(layout.bases[register_bits].size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    for (std::int64_t size = reach[d]; size > shape[d]; size /= 2) {
      for (Bases& input : layout.bases) {
        for (std::size_t k = 0; k < input.size(); ++k) {
          if (input[k][d] != size / 2) continue;
          input[k][d] = 0;
          const bool still =
              std::all_of(input[k].begin(), input[k].end(), [](std::int64_t n) { return n == 0; });
          if (&input == &layout.bases[register_bits] && still) dropped[k] = true;
        }
      }
    }
  }
  if (!drop_registers) return;
  Bases kept;
  for (std::size_t k = 0; k < dropped.size(); ++k) {
    if (!dropped[k]) kept.push_back(layout.bases[register_bits][k]);
  }
  layout.bases[register_bits] = std::move(kept);
}

// ensureLayoutNotSmallerThan: what is left of the shape is counted by further registers.
void grow(LinearLayout& layout, const Numbers& shape, const Numbers& order) {
  Numbers covered = reach_of(layout, shape.size()), more(shape.size(), 1);
  for (std::size_t d = 0; d < shape.size(); ++d)
    more[d] = std::max<std::int64_t>(1, shape[d] / covered[d]);
  count(layout.bases[register_bits], more, order, covered);
}

// The dimensions as the registers step through them, the fastest first; then the others, the last
// first.
Numbers order_of(const LinearLayout& layout, std::size_t rank) {
  Numbers out;
  const auto add = [&](std::size_t d) {
    const auto dim = static_cast<std::int64_t>(d);
    if (std::find(out.begin(), out.end(), dim) == out.end()) out.push_back(dim);
  };
  for (const Numbers& basis : layout.bases[register_bits]) {
    for (std::size_t d = 0; d < rank; ++d) {
      if (basis[d] != 0) add(d);
    }
  }
  for (std::size_t d = rank; d-- > 0;) add(d);
  return out;
}

}  // namespace

Or<LinearLayout> linear_of(const Blocked& blocked, const Numbers& asked) {
  const std::size_t rank = blocked.size_per_thread.size();
  if (rank == 0) return std::string("`sizePerThread` is empty; it has a number for a dimension.");
  const Numbers ones(rank, 1);
  const Numbers& ctas = blocked.ctas_per_cga.empty() ? ones : blocked.ctas_per_cga;
  const Numbers& split = blocked.cta_split.empty() ? ctas : blocked.cta_split;
  const Numbers& cta_order = blocked.cta_order.empty() ? blocked.order : blocked.cta_order;
  for (const auto& [numbers, name] :
       {std::pair{&blocked.size_per_thread, "sizePerThread"},
        std::pair{&blocked.threads_per_warp, "threadsPerWarp"},
        std::pair{&blocked.warps_per_cta, "warpsPerCTA"}, std::pair{&ctas, "CTAsPerCGA"},
        std::pair{&split, "CTASplitNum"}}) {
    if (auto bad = bad_numbers(*numbers, name, rank)) return *bad;
  }
  if (auto bad = bad_order(blocked.order, "order", rank)) return *bad;
  if (auto bad = bad_order(cta_order, "CTAOrder", rank)) return *bad;
  Numbers shape = asked;
  if (shape.empty()) {
    for (std::size_t d = 0; d < rank; ++d) {
      shape.push_back(blocked.size_per_thread[d] * blocked.threads_per_warp[d] *
                      blocked.warps_per_cta[d] * split[d]);
    }
  }
  if (auto bad = bad_shape(shape, rank)) return *bad;

  // Blocks of the cluster split the tensor first; those beyond the split hold copies.
  LinearLayout blocks;
  for (const std::int64_t dim : cta_order) {
    const auto d = static_cast<std::size_t>(dim);
    if (ctas[d] % split[d] != 0) {
      return fmt::format("`CTASplitNum` has {} for {} CTAs: it divides their number.", split[d],
                         ctas[d]);
    }
    for (std::int64_t n = 1; n < ctas[d]; n *= 2) {
      Numbers basis(rank, 0);
      basis[d] = n < split[d] ? n : 0;
      blocks.bases[block_bits].push_back(std::move(basis));
    }
  }
  shrink(blocks, shape, false);
  const Numbers split_into = reach_of(blocks, rank);
  Numbers of_block(rank);
  for (std::size_t d = 0; d < rank; ++d) of_block[d] = shape[d] / split_into[d];

  LinearLayout out;
  Numbers covered(rank, 1);
  count(out.bases[register_bits], blocked.size_per_thread, blocked.order, covered);
  count(out.bases[lane_bits], blocked.threads_per_warp, blocked.order, covered);
  count(out.bases[warp_bits], blocked.warps_per_cta, blocked.order, covered);
  grow(out, of_block, blocked.order);
  shrink(out, of_block, false);
  for (Numbers& basis : blocks.bases[block_bits]) {
    for (std::size_t d = 0; d < rank; ++d) basis[d] *= of_block[d];
  }
  out.bases[block_bits] = std::move(blocks.bases[block_bits]);
  out.shape = std::move(shape);
  return out;
}

Or<LinearLayout> linear_on(LinearLayout layout, const Numbers& asked) {
  std::size_t rank = 0;
  for (const Bases& input : layout.bases) {
    for (const Numbers& basis : input) rank = rank == 0 ? basis.size() : rank;
  }
  if (rank == 0) rank = asked.size();
  if (rank == 0) return std::string("A linear encoding without bases needs a shape: `on (1,1)`.");
  for (std::size_t i = 0; i < inputs; ++i) {
    for (const Numbers& basis : layout.bases[i]) {
      if (basis.size() != rank) {
        return fmt::format(
            "A basis of `{}` has {} numbers and another {}: each has one for every "
            "dimension.",
            input_names[i], basis.size(), rank);
      }
      for (const std::int64_t n : basis) {
        if (n < 0 || n >= largest) {
          return fmt::format("A basis of `{}` has {}; it is a coordinate of the tensor.",
                             input_names[i], n);
        }
      }
    }
  }
  const Numbers shape = asked.empty() ? reach_of(layout, rank) : asked;
  if (auto bad = bad_shape(shape, rank)) return *bad;
  const Numbers order = order_of(layout, rank);
  grow(layout, shape, order);
  shrink(layout, shape, true);
  layout.shape = shape;
  return layout;
}

Or<ThreadValue> thread_value_of(const LinearLayout& layout) {
  Numbers weights;
  std::int64_t weight = 1;
  Tuple shape;
  for (const std::int64_t extent : layout.shape) {
    weights.push_back(weight);
    weight *= extent;
    shape.push(Tuple(extent));
  }
  const auto image = [&](const Numbers& basis) {
    std::int64_t out = 0;
    for (std::size_t d = 0; d < basis.size(); ++d) out += basis[d] * weights[d];
    return out;
  };
  std::array<Numbers, 2> columns;  // of threads, of values
  for (const Input input : {lane_bits, warp_bits, block_bits}) {
    for (const Numbers& basis : layout.bases[input]) columns[0].push_back(image(basis));
  }
  for (const Numbers& basis : layout.bases[register_bits]) columns[1].push_back(image(basis));
  if (columns[0].size() + columns[1].size() > 24) {
    return std::string("The encoding has more than 2^24 pairs of threads and values.");
  }
  // Where no two bits move the same bit of the element XOR is addition, and bits are strides.
  std::int64_t seen = 0;
  bool strides = true;
  for (const Numbers& each : columns) {
    for (const std::int64_t column : each) {
      strides = strides && (seen & column) == 0;
      seen |= column;
    }
  }
  ThreadValue out;
  out.tiler = shape;
  if (strides) {
    for (const Numbers& each : columns) {
      detail::Leaves modes;
      for (const std::int64_t column : each) detail::push_coalesced(modes, {2, column});
      if (each.empty()) modes.push({1, 0});
      out.layout.modes.push(modes.done());
    }
    return out;
  }
  Tuple all;
  for (const Numbers& each : columns) {
    for (const std::int64_t column : each) all.push(Tuple(column));
  }
  const Result<Layout> swizzled = layout_of_matrix(all);
  const std::int64_t threads = std::int64_t{1} << columns[0].size();
  const std::int64_t values = std::int64_t{1} << columns[1].size();
  Tuple pairs;
  pairs.push(Tuple(threads));
  pairs.push(Tuple(values));
  const Result<Layout> counted = make_layout(pairs);
  if (swizzled && counted) {
    const Result<Layout> tv = composition(*swizzled, *counted);
    if (tv) {
      out.layout = *tv;
      return out;
    }
  }
  return std::string(
      "Several of its bits flip the same bit of an element, in a way that no single swizzle "
      "makes.");
}

}  // namespace tilescope::triton
