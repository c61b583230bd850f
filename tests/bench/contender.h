// What is compared: a kernel of the catalog in one form, or cublasLt with one heuristic, ready to
// be launched on any set of the matrices.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/gpu/launcher.h"
#include "tests/bench/chip_watch.h"
#include "tests/bench/dense_forms.h"
#include "tests/bench/matrices.h"

namespace tilescope::bench {

double median_of(std::vector<double> values);  // 0 of none

struct Contender {
  std::string kernel;  // "dense_gemm", "cublasLt"
  std::string form;    // "128x256:2x1", "best of 8"; of the ladders nothing
  std::string rule;    // how the tile came about: "model", "best of 17"
  std::function<gpu::Result(std::size_t set)> enqueue;
  double each = 0;  // seconds of a launch, about; 0: not known

  Rightness rightness;
  std::vector<double> seconds;  // of a launch, in each round
  ChipState chip;               // meanwhile
  double median() const;
  bool is_baseline() const { return kernel == "cublasLt"; }
};

// Kernels that are in the GPU's memory already: a form is loaded once for all shapes.
class Shelf {
 public:
  // `compiles`: whether forms that the program does not carry are made by nvcc.
  Shelf(gpu::GpuDevice& device, bool compiles) : device_(device), compiles_(compiles) {}
  // Refused: a shape or a type that the kernel cannot do; a form that is neither carried nor made.
  Outcome<Contender> kernel(const CatalogEntry& entry, const ProductKind& kind, const Sizes& sizes,
                            const Matrices& matrices);
  // Without a tile in the form that the catalog chooses.
  Outcome<Contender> dense(const ProductKind& kind, const Sizes& sizes,
                           const std::optional<DenseTile>& tile, const Matrices& matrices);

 private:
  struct Loaded {
    std::string ptx;
    std::shared_ptr<gpu::Launcher> launcher;
  };
  Outcome<Contender> on(const CatalogEntry& entry, const Fit& fit, const Matrices& matrices);

  gpu::GpuDevice& device_;
  const bool compiles_;
  std::map<std::string, Loaded> loaded_;  // by image and entry
};

}  // namespace tilescope::bench
