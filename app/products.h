// `explain product`: runs a kernel by a chip's clock, and opens one of its products of tensor cores
// (viz/product): bits, bytes, sums, and an element term by term.
#pragma once

#include <optional>
#include <string>

#include "app/handoffs.h"

namespace tilescope {

struct ProductOptions {
  HandoffsOptions of;
  std::optional<std::int64_t> event;   // of the record
  std::optional<std::int64_t> number;  // of the CTA
  std::optional<std::int64_t> at;      // cycles
  std::uint64_t warp = 0;              // of mma.sync
  std::string element = "0,0";
};

// Answers the exit code.
int explain_product(const ProductOptions& options, Terminal& terminal);

}  // namespace tilescope
