#include "tests/bench/cublas_lt.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

namespace tilescope::gpu {
namespace {

using Status = int;  // 0: success
using Handle = void*;
using Descriptor = void*;

// cudaDataType_t
int type_of(DType type) {
  switch (type) {
    case DType::f16:
      return 2;
    case DType::bf16:
      return 14;
    case DType::e4m3:
      return 28;
    case DType::e5m2:
      return 29;
    default:
      return 0;  // CUDA_R_32F
  }
}
constexpr int compute_f32 = 68, compute_tf32 = 77;  // cublasComputeType_t
constexpr int as_it_is = 0, transposed = 1;         // cublasOperation_t
constexpr int attribute_transpose_a = 3;            // cublasLtMatmulDescAttributes_t
constexpr int attribute_transpose_b = 4;
constexpr int attribute_fast_accumulation = 25;
constexpr int preference_workspace = 1;  // cublasLtMatmulPreferenceAttributes_t
constexpr int most_heuristics = 64;

struct Algorithm {
  std::uint64_t data[8];
};
struct Heuristic {  // cublasLtMatmulHeuristicResult_t
  Algorithm algorithm;
  std::size_t workspace;
  Status state;
  float waves;
  int reserved[4];
};

}  // namespace

struct CublasLt::Library {
  Status (*create)(Handle*);
  Status (*destroy)(Handle);
  std::size_t (*version)();
  Status (*description_create)(Descriptor*, int compute, int scale);
  Status (*description_destroy)(Descriptor);
  Status (*description_set)(Descriptor, int attribute, const void* value, std::size_t bytes);
  Status (*layout_create)(Descriptor*, int type, std::uint64_t rows, std::uint64_t columns,
                          std::int64_t leading);
  Status (*layout_destroy)(Descriptor);
  Status (*preference_create)(Descriptor*);
  Status (*preference_destroy)(Descriptor);
  Status (*preference_set)(Descriptor, int attribute, const void* value, std::size_t bytes);
  Status (*heuristics)(Handle, Descriptor, Descriptor a, Descriptor b, Descriptor c, Descriptor d,
                       Descriptor preference, int wanted, Heuristic*, int* found);
  Status (*multiply)(Handle, Descriptor, const void* alpha, const void* a, Descriptor,
                     const void* b, Descriptor, const void* beta, const void* c, Descriptor,
                     void* d, Descriptor, const Algorithm*, void* workspace, std::size_t bytes,
                     CUstream);
  Handle handle = nullptr;

  bool find(void* from) {
    bool all = true;
    const auto get = [&](auto*& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(from, name));
      all = all && function;
    };
    get(create, "cublasLtCreate");
    get(destroy, "cublasLtDestroy");
    get(version, "cublasLtGetVersion");
    get(description_create, "cublasLtMatmulDescCreate");
    get(description_destroy, "cublasLtMatmulDescDestroy");
    get(description_set, "cublasLtMatmulDescSetAttribute");
    get(layout_create, "cublasLtMatrixLayoutCreate");
    get(layout_destroy, "cublasLtMatrixLayoutDestroy");
    get(preference_create, "cublasLtMatmulPreferenceCreate");
    get(preference_destroy, "cublasLtMatmulPreferenceDestroy");
    get(preference_set, "cublasLtMatmulPreferenceSetAttribute");
    get(heuristics, "cublasLtMatmulAlgoGetHeuristic");
    get(multiply, "cublasLtMatmul");
    return all;
  }
};

struct CublasLt::Asked {
  const Library& library;
  Descriptor product = nullptr, a = nullptr, b = nullptr, c = nullptr, d = nullptr;
  float alpha = 1, beta = 0;
  std::size_t workspace = 0;
  std::array<Heuristic, most_heuristics> heuristics{};
  explicit Asked(const Library& l) : library(l) {}
  ~Asked() {
    if (product) library.description_destroy(product);
    for (Descriptor layout : {a, b, c, d}) {
      if (layout) library.layout_destroy(layout);
    }
  }
};

CublasLt::~CublasLt() {
  asked_.reset();
  if (library_ && library_->handle) library_->destroy(library_->handle);
}

Outcome<std::unique_ptr<CublasLt>> CublasLt::open(const std::string& file) {
  void* library = nullptr;
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}) {
    if (!library && file.empty()) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (!file.empty()) library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::unique_ptr<CublasLt> out(new CublasLt);
  out->library_ = std::make_unique<Library>();
  if (!library || !out->library_->find(library)) {
    return Error{ErrorKind::no_device,
                 "There is no cublasLt to compare with: libcublasLt.so.13 or .12 of the CUDA "
                 "Toolkit, in LD_LIBRARY_PATH, would do.",
                 ""};
  }
  if (out->library_->create(&out->library_->handle) != 0) {
    return Error{ErrorKind::no_device, "cublasLt does not start on this GPU.", ""};
  }
  return out;
}

std::string CublasLt::version() const {
  const std::size_t v = library_->version();
  return fmt::format("{}.{}.{}", v / 10000, v / 100 % 100, v % 100);
}

// It counts columns first: C^T (n,m) = B A^T. B (n,k) is to it a matrix of k rows, which it is to
// transpose, or where B is n-major one of n rows as it is; A likewise, the other way around.
Outcome<int> CublasLt::ask(const bench::ProductKind& kind, const Sizes& s, std::size_t workspace) {
  const Library& l = *library_;
  asked_ = std::make_unique<Asked>(l);
  Asked& q = *asked_;
  q.workspace = workspace;
  q.alpha = kind.alpha;
  q.beta = kind.beta;
  Status bad = l.description_create(&q.product, kind.a == "tf32" ? compute_tf32 : compute_f32,
                                    type_of(DType::f32));
  const int first = kind.b_across ? as_it_is : transposed;
  const int second = kind.a_across ? transposed : as_it_is;
  bad |= l.description_set(q.product, attribute_transpose_a, &first, sizeof first);
  bad |= l.description_set(q.product, attribute_transpose_b, &second, sizeof second);
  if (kind.eight_bits()) {
    constexpr std::int8_t fast = 1;
    bad |= l.description_set(q.product, attribute_fast_accumulation, &fast, sizeof fast);
  }
  const auto layout = [&](Descriptor& out, const std::string& type, std::int64_t rows,
                          std::int64_t columns) {
    const auto u = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
    bad |= l.layout_create(&out, type_of(*stored_as(type)), u(rows), u(columns), rows);
  };
  const auto operand = [&](Descriptor& out, const std::string& type, bool across,
                           std::int64_t rows) {
    layout(out, type, across ? rows : s.k, across ? s.k : rows);
  };
  operand(q.a, kind.b, kind.b_across, s.n);
  operand(q.b, kind.a, kind.a_across, s.m);
  // Of 8-bit results what is added to them has 16 bits; without a beta nobody reads it.
  layout(q.c, kind.c == "e4m3" ? "bf16" : kind.c, s.n, s.m);
  layout(q.d, kind.c, s.n, s.m);
  Descriptor preference = nullptr;
  bad |= l.preference_create(&preference);
  bad |= l.preference_set(preference, preference_workspace, &workspace, sizeof workspace);
  int found = 0;
  if (!bad) {
    bad = l.heuristics(l.handle, q.product, q.a, q.b, q.c, q.d, preference, most_heuristics,
                       q.heuristics.data(), &found);
  }
  if (preference) l.preference_destroy(preference);
  if (!bad && found > 0) return found;
  return Error{
      ErrorKind::unsupported,
      fmt::format("cublasLt has no product of {} x {} x {} of {}.", s.m, s.n, s.k, kind.name()),
      ""};
}

bool CublasLt::enqueue(int which, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c,
                       CUdeviceptr workspace) const {
  const auto at = [](CUdeviceptr p) { return reinterpret_cast<void*>(p); };
  const Asked& q = *asked_;
  return library_->multiply(library_->handle, q.product, &q.alpha, at(b), q.a, at(a), q.b, &q.beta,
                            at(c), q.c, at(c), q.d,
                            &q.heuristics[static_cast<std::size_t>(which)].algorithm, at(workspace),
                            q.workspace, nullptr) == 0;
}

}  // namespace tilescope::gpu
