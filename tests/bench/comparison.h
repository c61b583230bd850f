// One product of one shape: kernels of the catalog beside cublasLt, as NVIDIA's guide to measuring
// asks: the clock settled, events, many launches, matrices in turn that L2 does not hold, uniform
// random numbers, and all in one process in an order of its own each round. Nothing is measured
// that is not right first: some elements against sums in double, all against cublasLt.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/contender.h"
#include "tests/bench/cublas_lt.h"
#include "tests/bench/stopwatch.h"

namespace tilescope::bench {

// Seconds of launches.
struct Pace {
  int rounds = 15;
  double settle = 0.1;     // until the clock has settled
  double measured = 0.05;  // of a round
  double tried = 0.01;     // of a heuristic or a tile, three times, to find the fastest
};

struct Comparison {
  Sizes sizes;
  ProductKind kind;
  std::size_t sets = 0;
  std::vector<Contender> contenders;  // the baseline last, where there is one
  const Contender* baseline() const;
  // Baseline's time over this one's, of each round: the median. At its limit of power a GPU's clock
  // wanders by 5% and more from one second to the next, for both alike. 0 without a baseline.
  double ratio(const Contender& contender) const;
};

class Comparer {
 public:
  // What goes wrong but ends nothing is told here: who, and a sentence.
  using Tell = std::function<void(const std::string& who, const std::string& what)>;
  // `compiles`: forms of dense_gemm that the program does not carry, where nvcc is here.
  Comparer(gpu::GpuDevice& device, Pace pace, bool compiles, Tell tell);
  ~Comparer();

  std::string baseline_version() const;  // "13.1.0"; empty without one

  // Those entries of the catalog that multiply this; dense_gemm by each of the rules. An Error ends
  // it all: the GPU does not go on.
  Outcome<Comparison> compare(const Sizes& sizes, const ProductKind& kind,
                              const std::vector<const CatalogEntry*>& entries,
                              const std::vector<TileRule>& rules);

 private:
  std::optional<Error> add_dense(Comparison& c, const TileRule& rule, const Matrices& matrices);
  std::optional<Error> add_baseline(Comparison& c, const Matrices& matrices);
  std::optional<Error> check(Comparison& c, const Matrices& matrices);
  std::optional<Error> measure(Comparison& c);
  // The fastest of `count`, by index; negative where none runs.
  Outcome<int> fastest(std::size_t sets, int count,
                       const std::function<gpu::Result(int which, std::size_t set)>& enqueue);

  gpu::GpuDevice& device_;
  const Pace pace_;
  const Tell tell_;
  Stopwatch stopwatch_;
  const bool compiles_;
  Shelf shelf_;
  std::unique_ptr<gpu::CublasLt> lt_;
  std::unique_ptr<ChipWatch> watch_;
  gpu::Memory workspace_;  // of cublasLt
};

}  // namespace tilescope::bench
