// The command line of gpu_bench.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/bench/dense_forms.h"
#include "tests/bench/product_kind.h"

namespace tilescope::bench {

struct GpuOptions {
  int rounds = 0;                  // 0: as many as are usual
  std::string kernels;             // names begin so; empty: all
  std::vector<Sizes> shapes;       // empty: the usual ones
  std::vector<ProductKind> kinds;  // empty: the usual ones
  std::vector<TileRule> tiles = {TileRule{}};
  int random_shapes = 0;   // instead of `shapes`
  std::uint64_t seed = 1;  // of them
  bool ladder = false;     // what each rung buys, in place of everything else
  std::string device;      // whose description predicts; empty: of the GPU here
  bool carried = false;    // no form of dense_gemm is compiled
  std::string json;        // a file; empty: none
  std::string commit;      // said there
  bool help = false;
};

std::string help_text();
// Refused with a sentence: what is not known or makes no sense.
Outcome<GpuOptions> gpu_options(const std::vector<std::string>& words);

// "4096x4096x4096,64x8192x8192"
Outcome<std::vector<Sizes>> shapes_in(std::string_view text);

}  // namespace tilescope::bench
