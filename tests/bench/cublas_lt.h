// NVIDIA's cublasLt as the baseline of products, found at run time: C (m,n) = alpha A (m,k) B
// (n,k)^T
// + beta C, sums in f32. Of tf32 elements are f32, and tensor cores multiply them. Of 8-bit types
// FAST_ACCUM is 1: sums stay in the tensor core, as wgmma leaves them, and are not promoted now and
// then, as they are by default.
//
// Types and constants are written down as cublasLt.h documents them; nothing here needs CUDA to
// build.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "kernels/gpu/driver.h"
#include "tests/bench/product_kind.h"

namespace tilescope::gpu {

class CublasLt {
 public:
  // Of the current context; `library`: its file, or empty for that of the CUDA Toolkit. no_device:
  // there is no such library, or it does not start.
  static Outcome<std::unique_ptr<CublasLt>> open(const std::string& library);
  ~CublasLt();
  std::string version() const;  // "13.1.0"

  // All heuristics that it offers for the problem, with `workspace` bytes; how many there are.
  Outcome<int> ask(const bench::ProductKind& kind, const Sizes& sizes, std::size_t workspace);
  // Into the default stream; `which` of them. False: it refuses this one.
  bool enqueue(int which, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, CUdeviceptr workspace) const;

 private:
  CublasLt() = default;
  struct Library;
  struct Asked;
  std::unique_ptr<Library> library_;
  std::unique_ptr<Asked> asked_;
};

}  // namespace tilescope::gpu
