// What the ladders of matrix products share: D (M,N) = A (M,K) * B (N,K)^T, f16 or bf16 with f32
// sums, A, B and D row-major.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/run/catalog_entry.h"

namespace tilescope::products {

// Tiles of `tile` that `extent` takes, the last one cut.
std::int64_t tiles(std::int64_t extent, std::int64_t tile);

// "m = 128, n = 256, k = 64"
std::string shape_text(const Sizes& s);

// For a kernel that copies by tensor maps: what is wrong with n or k, if anything.
std::optional<std::string> rows_of_16_bytes(const std::string& name, const Sizes& s);

// A, B and D by address, or as maps of boxes of 64 columns and so many rows, in the 128-byte
// swizzle; then what of (m, n, k) the kernel is told, in this order.
struct BoxRows {
  std::uint32_t a = 0, b = 0, d = 0;  // 0: by address
};
std::vector<Argument> arguments(BoxRows boxes, std::initializer_list<std::int64_t> sizes);

// Names, tensors, types and tolerances, reference; no launch and no arguments yet.
CatalogEntry entry(std::string name, std::string help, std::string folder, std::string target,
                   Sizes fallback);

// Stages are given back to the other CTAs of the cluster in the scope of the own one.
Suppression narrow_release();

// Of (rows, columns), row-major, in the layout language.
std::string matrix(std::int64_t rows, std::int64_t columns);

}  // namespace tilescope::products
