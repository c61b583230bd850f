// What dense_gemm is asked for, as its kernel sees it, and which form of it does that: the tile,
// the cluster and the slices of K that nobody named are chosen by the model (dense_model.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/run/catalog_entry.h"
#include "kernels/catalog/dense_model.h"

namespace tilescope::dense {

// "128x256"
struct Pair {
  std::int64_t m = 0, n = 0;
  Pair exchanged() const { return {n, m}; }
};

// A finite number, all of the text.
std::optional<float> number_of(std::string_view text);

// One operand of the kernel.
struct Operand {
  std::uint32_t buffer = 0;
  std::string name, type;
  bool across = false;  // MN-major
  std::int64_t rows = 0, tile = 0;
  std::int64_t shares = 1;  // CTAs that each load a part of its tile, for all of them

  std::int64_t bytes() const { return static_cast<std::int64_t>(bytes_of(*stored_as(type))); }
};

// What the kernel is asked for: A and B exchanged, where C is m-major.
struct Problem {
  Operand a, b;
  std::string c_type, sums;
  std::int64_t k = 0, l = 1;
  float alpha = 1, beta = 0;
  bool exchanged = false;
  Pair cluster;
  std::int64_t slices = 1;  // of K: so many times the cluster's CTAs
  bool ping_pong = false;   // each consumer has a tile of its own

  std::int64_t c_bytes() const { return static_cast<std::int64_t>(bytes_of(*stored_as(c_type))); }
  std::int64_t ctas() const { return a.shares * b.shares; }
  // TMA wants rows that begin on 16 bytes; otherwise threads copy.
  bool plain() const;
};

// The options "auto", "128x256", "2x1" and so on of --tile, --cluster and --split-k; sizes of 0 are
// not known yet.
Problem problem_of(const Fit& fit);

// An operand's major order that its type, the tile or the cluster do not allow: a sentence.
std::optional<std::string> wrong_major(const Operand& operand);

// The tiles with their clusters among which the choice is made where both are left open, for these
// types, all K-major or not: the forms that are shipped.
std::vector<DenseTile> shipped_tiles(const Problem& problem);

}  // namespace tilescope::dense
