// NVIDIA's cublasLt as the baseline of products, found at run time: D (m,n) = A (m,k) B (n,k)^T,
// all row-major, sums in f32.
//
// Types and constants are written down as cublasLt.h documents them; nothing here needs CUDA to
// build.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/numeric/dtype.h"
#include "kernels/gpu/driver.h"

namespace tilescope::gpu {

struct LtProblem {
  std::int64_t m = 0, n = 0, k = 0;
  DType operands = DType::f16, result = DType::f16;
};

class CublasLt {
 public:
  // Of the current context. no_device: there is no such library, or it does not start.
  static Outcome<std::unique_ptr<CublasLt>> open();
  ~CublasLt();
  std::string version() const;  // "13.1.0"

  // All heuristics that it offers for the problem, with `workspace` bytes; how many there are.
  Outcome<int> ask(const LtProblem& problem, std::size_t workspace);
  // Into the default stream; `which` of them. False: it refuses this one.
  bool enqueue(int which, CUdeviceptr a, CUdeviceptr b, CUdeviceptr d, CUdeviceptr workspace) const;

 private:
  CublasLt() = default;
  struct Library;
  struct Asked;
  std::unique_ptr<Library> library_;
  std::unique_ptr<Asked> asked_;
};

}  // namespace tilescope::gpu
