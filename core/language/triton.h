// Triton's distributed layouts, read as its compiler prints them, as thread/value layouts.
//
//     #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1],
//                   order = [1, 0]}> on (64,32)
//     #ttg.linear<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
//                  warp = [], block = []}>
//
// Triton prints the tensor's shape with the tensor; here it is behind `on`. Without it the
// shape is what the encoding covers once. Both name what an element is by bits: basis k of an input
// is what its bit k adds (XOR) to the coordinate. Inputs are register, lane, warp and block, the
// lowest first; a value is a register, a thread is lane + 32 * (warp + warps * block).
//
// A blocked encoding is, from the fastest dimension of `order` on, the register's bits, then the
// lane's, then the warp's; blocks of the cluster split the tensor first. A larger tensor repeats
// the whole in further registers, along `order`; of a smaller one the highest bits become 0, so
// that several threads or registers hold one element.
//
// Source: Triton, lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp (BlockedEncodingAttr::
// toLinearLayout, combineCtaCgaWithShape) and lib/Dialect/TritonGPU/IR/Dialect.cpp
// (ensureLayoutNotLargerThan, ensureLayoutNotSmallerThan); its unit tests are our tests.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/layout/algebra.h"

namespace tilescope::triton {

using Numbers = std::vector<std::int64_t>;
using Bases = std::vector<Numbers>;  // of one input: basis by bit, each a coordinate

enum Input { register_bits, lane_bits, warp_bits, block_bits, inputs };
inline constexpr std::array<const char*, inputs> input_names{"register", "lane", "warp", "block"};

struct LinearLayout {
  std::array<Bases, inputs> bases;
  Numbers shape;  // of the tensor
};

struct Blocked {
  Numbers size_per_thread, threads_per_warp, warps_per_cta, order;
  Numbers ctas_per_cga, cta_split, cta_order;  // empty: one block
};

// A sentence where there is no layout.
template <class T>
using Or = std::variant<T, std::string>;

// `shape` empty: what the encoding covers.
Or<LinearLayout> linear_of(const Blocked& blocked, const Numbers& shape);
Or<LinearLayout> linear_on(LinearLayout layout, const Numbers& shape);
// (thread, value) -> element of the tensor, counted colexicographically, and its shape.
Or<ThreadValue> thread_value_of(const LinearLayout& layout);

}  // namespace tilescope::triton
