// A GPU for tests of the bench that has none: the CUDA driver, cublasLt and the management library
// in one, on this machine's memory. It multiplies what wgmma_v8 and dense_gemm are given by tensor
// maps, and what cublasLt is asked for; a launch takes 5 ms of a clock of its own, cublasLt's 4 ms.
//
// FAKE_GPU says what goes wrong, words apart by commas:
//   wrong      dense_gemm's last element is off
//   nothing    dense_gemm writes nothing
//   no_fast    cublasLt takes 8-bit types only without FAST_ACCUM
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/numeric/dtype.h"
#include "tests/kernels/fake_driver.h"

namespace {

std::string linked;  // the texts of a program of several files

using namespace tilescope;
using namespace tilescope::gpu;

double clock_now = 0;  // milliseconds

bool says(const char* word) {
  const char* all = std::getenv("FAKE_GPU");
  return all && std::strstr(all, word);
}

// A matrix: element (i,j) is at i * row + j * column.
struct Matrix {
  std::byte* at = nullptr;
  DType type = DType::f16;
  std::int64_t row = 0, column = 0;
  std::byte* place(std::int64_t i, std::int64_t j) const {
    return at + (i * row + j * column) * static_cast<std::int64_t>(bytes_of(type));
  }
  double get(std::int64_t i, std::int64_t j) const { return load_element(type, place(i, j)); }
};

// c (m,n) = alpha a (m,k) b (k,n) + beta c
void multiply(const Matrix& a, const Matrix& b, const Matrix& c, std::int64_t m, std::int64_t n,
              std::int64_t k, float alpha, float beta) {
  std::vector<double> row(static_cast<std::size_t>(k)), all(static_cast<std::size_t>(k * n));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t p = 0; p < k; ++p) all[static_cast<std::size_t>(j * k + p)] = b.get(p, j);
  }
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t p = 0; p < k; ++p) row[static_cast<std::size_t>(p)] = a.get(i, p);
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t p = 0; p < row.size(); ++p) {
        sum += row[p] * all[static_cast<std::size_t>(j * k) + p];
      }
      sum *= static_cast<double>(alpha);
      if (beta != 0) sum += static_cast<double>(beta) * c.get(i, j);
      store_element(c.type, c.place(i, j), sum);
    }
  }
}

// What the driver's encoder was told, in the map's place.
struct Map {
  std::uint64_t address;
  std::uint64_t dims[2];
  int type;
  Matrix matrix(std::int64_t rows) const {
    const DType of = type == 6   ? DType::f16
                     : type == 7 ? DType::f32
                     : type == 9 ? DType::bf16
                                 : DType::e4m3;
    const bool across = static_cast<std::int64_t>(dims[0]) == rows && dims[0] != dims[1];
    return {reinterpret_cast<std::byte*>(address), of,
            across ? 1 : static_cast<std::int64_t>(dims[0]),
            across ? static_cast<std::int64_t>(dims[0]) : 1};
  }
};

template <class T>
T parameter(void** parameters, int index) {
  T value;
  std::memcpy(&value, parameters[index], sizeof value);
  return value;
}

std::vector<std::string>& names() {
  static std::vector<std::string> all;
  return all;
}

void run(const std::string& name, void** p) {
  const bool dense = name.rfind("dense_gemm", 0) == 0;
  const int sizes = dense ? 4 : 3;
  const std::int64_t m = parameter<int>(p, sizes), n = parameter<int>(p, sizes + 1),
                     k = parameter<int>(p, sizes + 2);
  const Matrix a = parameter<Map>(p, 0).matrix(m), b = parameter<Map>(p, 1).matrix(n),
               c = parameter<Map>(p, 2).matrix(m);
  if (dense && says("nothing")) return;
  multiply(a, {b.at, b.type, b.column, b.row}, {c.at, c.type, n, 1}, m, n, k,
           dense ? parameter<float>(p, 8) : 1, dense ? parameter<float>(p, 9) : 0);
  if (dense && says("wrong")) {
    const Matrix out{c.at, c.type, n, 1};
    store_element(c.type, out.place(m - 1, n - 1), out.get(m - 1, n - 1) + 7);
  }
}

// ---- cublasLt: columns first --------------------------------------------------------------------

struct Layout {
  int type;
  std::uint64_t rows, columns;
  std::int64_t leading;
  Matrix matrix(const void* at, bool transposed) const {
    const DType of = type == 2    ? DType::f16
                     : type == 14 ? DType::bf16
                     : type == 28 ? DType::e4m3
                     : type == 29 ? DType::e5m2
                                  : DType::f32;
    auto* const bytes = static_cast<std::byte*>(const_cast<void*>(at));
    return transposed ? Matrix{bytes, of, leading, 1} : Matrix{bytes, of, 1, leading};
  }
};
struct Product {
  int compute = 0, transpose[2] = {0, 0};
  bool fast = false;
};

}  // namespace

extern "C" {

Result cuInit(unsigned) {
  return Result::success;
}
Result cuGetErrorName(Result, const char** name) {
  *name = "CUDA_ERROR_OF_A_TEST";
  return Result::success;
}
Result cuDeviceGetName(char* name, int length, CUdevice) {
  std::snprintf(name, static_cast<std::size_t>(length), "Fake H100");
  return Result::success;
}
Result cuDeviceGetPCIBusId(char* id, int length, CUdevice) {
  std::snprintf(id, static_cast<std::size_t>(length), "0000:1B:00.0");
  return Result::success;
}
Result cuDeviceGetAttribute(int* value, int attribute, CUdevice) {
  *value = attribute == capability_major ? 9 : attribute == capability_minor ? 0 : 132;
  return Result::success;
}
Result cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  *context = reinterpret_cast<CUcontext>(&clock_now);
  return Result::success;
}
Result cuDevicePrimaryCtxRelease_v2(CUdevice) {
  return Result::success;
}
Result cuCtxSetCurrent(CUcontext) {
  return Result::success;
}
Result cuModuleLoadDataEx(CUmodule* module, const void*, unsigned, int*, void**) {
  *module = reinterpret_cast<CUmodule>(&clock_now);
  return Result::success;
}
Result cuLinkCreate_v2(unsigned, int*, void**, CUlinkState* state) {
  *state = nullptr;
  return Result::success;
}
Result cuLinkAddData_v2(CUlinkState, int, void* data, std::size_t, const char*, unsigned, int*,
                        void**) {
  linked += static_cast<const char*>(data);
  return Result::success;
}
Result cuLinkComplete(CUlinkState, void** image, std::size_t* bytes) {
  *image = linked.data();
  *bytes = linked.size();
  return Result::success;
}
Result cuLinkDestroy(CUlinkState) {
  return Result::success;
}
Result cuModuleUnload(CUmodule) {
  return Result::success;
}
Result cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  names().emplace_back(name);
  *function = reinterpret_cast<CUfunction>(names().size());
  return Result::success;
}
Result cuFuncSetAttribute(CUfunction, int, int) {
  return Result::success;
}
Result cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  *address = reinterpret_cast<CUdeviceptr>(std::malloc(bytes));
  return *address ? Result::success : Result::out_of_memory;
}
Result cuMemFree_v2(CUdeviceptr address) {
  std::free(reinterpret_cast<void*>(address));
  return Result::success;
}
Result cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return Result::success;
}
Result cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return Result::success;
}
Result cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t bytes) {
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return Result::success;
}
Result cuLaunchKernelEx(const LaunchConfig*, CUfunction function, void** parameters, void**) {
  run(names()[reinterpret_cast<std::size_t>(function) - 1], parameters);
  clock_now += 5;
  return Result::success;
}
Result cuEventCreate(CUevent* event, unsigned) {
  *event = reinterpret_cast<CUevent>(new double(0));
  return Result::success;
}
Result cuEventDestroy_v2(CUevent event) {
  delete reinterpret_cast<double*>(event);
  return Result::success;
}
Result cuEventRecord(CUevent event, CUstream) {
  *reinterpret_cast<double*>(event) = clock_now;
  return Result::success;
}
Result cuEventQuery(CUevent) {
  return Result::success;
}
Result cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  *milliseconds =
      static_cast<float>(*reinterpret_cast<double*>(end) - *reinterpret_cast<double*>(begin));
  return Result::success;
}
Result cuTensorMapEncodeTiled(void* map, int type, unsigned, void* address,
                              const std::uint64_t* dims, const std::uint64_t*, const unsigned*,
                              const unsigned*, int, int, int, int) {
  const Map all{reinterpret_cast<std::uint64_t>(address), {dims[0], dims[1]}, type};
  std::memcpy(map, &all, sizeof all);
  return Result::success;
}
Result cuTensorMapEncodeIm2col(void*, int, unsigned, void*, const std::uint64_t*,
                               const std::uint64_t*, const int*, const int*, unsigned, unsigned,
                               const unsigned*, int, int, int, int) {
  return Result::invalid_value;
}

int cublasLtCreate(void** handle) {
  *handle = &clock_now;
  return 0;
}
int cublasLtDestroy(void*) {
  return 0;
}
std::size_t cublasLtGetVersion() {
  return 130100;
}
int cublasLtMatmulDescCreate(void** out, int compute, int) {
  *out = new Product{compute, {0, 0}, false};
  return 0;
}
int cublasLtMatmulDescDestroy(void* product) {
  delete static_cast<Product*>(product);
  return 0;
}
int cublasLtMatmulDescSetAttribute(void* product, int attribute, const void* value, std::size_t) {
  auto& p = *static_cast<Product*>(product);
  if (attribute == 3 || attribute == 4)
    p.transpose[attribute - 3] = *static_cast<const int*>(value);
  if (attribute == 25) p.fast = *static_cast<const char*>(value) != 0;
  return 0;
}
int cublasLtMatrixLayoutCreate(void** out, int type, std::uint64_t rows, std::uint64_t columns,
                               std::int64_t leading) {
  *out = new Layout{type, rows, columns, leading};
  return 0;
}
int cublasLtMatrixLayoutDestroy(void* layout) {
  delete static_cast<Layout*>(layout);
  return 0;
}
int cublasLtMatmulPreferenceCreate(void** out) {
  *out = &clock_now;
  return 0;
}
int cublasLtMatmulPreferenceDestroy(void*) {
  return 0;
}
int cublasLtMatmulPreferenceSetAttribute(void*, int, const void*, std::size_t) {
  return 0;
}
// Of 8-bit types none without FAST_ACCUM, so that a test sees that it is set.
int cublasLtMatmulAlgoGetHeuristic(void*, void* product, void* a, void*, void*, void*, void*, int,
                                   void*, int* found) {
  const bool eight = static_cast<Layout*>(a)->type >= 28;
  *found = eight && static_cast<Product*>(product)->fast == says("no_fast") ? 0 : 3;
  return 0;
}
int cublasLtMatmul(void*, void* product, const void* alpha, const void* a, void* a_layout,
                   const void* b, void* b_layout, const void* beta, const void*, void*, void* d,
                   void* d_layout, const void*, void*, std::size_t, void*) {
  const auto& p = *static_cast<Product*>(product);
  const auto &x = *static_cast<Layout*>(a_layout), &y = *static_cast<Layout*>(b_layout),
             &z = *static_cast<Layout*>(d_layout);
  const auto s = [](std::uint64_t v) { return static_cast<std::int64_t>(v); };
  multiply(x.matrix(a, p.transpose[0]), y.matrix(b, p.transpose[1]), z.matrix(d, false), s(z.rows),
           s(z.columns), s(p.transpose[0] ? x.rows : x.columns), *static_cast<const float*>(alpha),
           *static_cast<const float*>(beta));
  clock_now += 4;
  return 0;
}

int nvmlInit_v2() {
  return 0;
}
int nvmlShutdown() {
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** out) {
  *out = &clock_now;
  return std::strcmp(id, "0000:1B:00.0");
}
int nvmlDeviceGetHandleByIndex_v2(unsigned, void** out) {
  *out = &clock_now;
  return 0;
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* megahertz) {
  *megahertz = type == 1 ? 1410 : 2619;
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 693000;
  return 0;
}
int nvmlDeviceGetTemperature(void*, int, unsigned* degrees) {
  *degrees = 61;
  return 0;
}

}  // extern "C"
