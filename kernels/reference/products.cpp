#include "kernels/reference/products.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>
#include <thread>

#if __has_include(<dlfcn.h>) && !defined(__EMSCRIPTEN__)
#include <dlfcn.h>
#define TILESCOPE_HAS_DLOPEN 1
#endif

namespace tilescope::reference {
namespace {

using std::size_t;

// sums (rows,n) of left (rows,k) and right (n,k).
using Multiply = void (*)(const double* left, size_t rows, const double* right, size_t n, size_t k,
                          double* sums);

// ---- ours ----

// Of each sum eight parts, so that the processor adds several products at once, and 256 products at
// a time, of copies that lie close together and stay in the cache while those of other rows go by.
// In this order whatever the processor: its vectors say only how many sums are in hand.
constexpr size_t parts = 8, depth_at_once = 256;

// Vectors of so many bytes, wherever an element may lie.
struct Narrow {
  typedef double Vector __attribute__((vector_size(16), aligned(sizeof(double))));
};
struct Wide {
  typedef double Vector __attribute__((vector_size(32), aligned(sizeof(double))));
};
struct Widest {
  typedef double Vector __attribute__((vector_size(64), aligned(sizeof(double))));
};

// Of rows of `depth`.
template <class Vectors, size_t rows, size_t columns>
[[gnu::always_inline]] inline void add_tile(const double* left, const double* right, size_t depth,
                                            double* sums, size_t width) {
  using Vector = typename Vectors::Vector;
  constexpr size_t step = sizeof(Vector) / sizeof(double), vectors = parts / step;
  Vector part[rows][columns][vectors] = {};
  size_t p = 0;
  for (; p + parts <= depth; p += parts) {
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; ++v) {
#pragma GCC unroll 4
      for (size_t r = 0; r < rows; ++r) {
        const Vector a = *reinterpret_cast<const Vector*>(left + r * depth + p + v * step);
#pragma GCC unroll 4
        for (size_t c = 0; c < columns; ++c) {
          part[r][c][v] += a * *reinterpret_cast<const Vector*>(right + c * depth + p + v * step);
        }
      }
    }
  }
#pragma GCC unroll 4
  for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (size_t c = 0; c < columns; ++c) {
      double s[parts];
      std::memcpy(s, part[r][c], sizeof s);
      for (size_t q = p; q < depth; ++q) s[0] += left[r * depth + q] * right[c * depth + q];
      sums[r * width + c] += ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
    }
  }
}

// `depth` elements of each of so many rows of k.
void copy_rows(const double* from, size_t rows, size_t k, size_t depth, std::vector<double>& to) {
  to.resize(rows * depth);
  for (size_t r = 0; r < rows; ++r) {
    std::copy(from + r * k, from + r * k + depth, to.begin() + r * depth);
  }
}

// Up to 64 columns of the sums at a time, which lie close together until they are complete.
template <class Vectors, size_t rows_at_once, size_t columns_at_once>
[[gnu::always_inline]] inline void multiply(const double* left, size_t rows, const double* right,
                                            size_t n, size_t k, double* sums) {
  constexpr size_t width = 64;
  std::vector<double> mine, theirs, done(rows * width);
  for (size_t j = 0; j < n; j += width) {
    const size_t columns = std::min(width, n - j);
    std::fill(done.begin(), done.end(), 0);
    for (size_t p = 0; p < k; p += depth_at_once) {
      const size_t depth = std::min(depth_at_once, k - p);
      copy_rows(left + p, rows, k, depth, mine);
      copy_rows(right + j * k + p, columns, k, depth, theirs);
      size_t c = 0;
      for (; c + columns_at_once <= columns; c += columns_at_once) {
        size_t r = 0;
        for (; r + rows_at_once <= rows; r += rows_at_once) {
          add_tile<Vectors, rows_at_once, columns_at_once>(&mine[r * depth], &theirs[c * depth],
                                                           depth, &done[r * width + c], width);
        }
        for (; r < rows; ++r) {
          add_tile<Vectors, 1, columns_at_once>(&mine[r * depth], &theirs[c * depth], depth,
                                                &done[r * width + c], width);
        }
      }
      for (; c < columns; ++c) {
        for (size_t r = 0; r < rows; ++r) {
          add_tile<Vectors, 1, 1>(&mine[r * depth], &theirs[c * depth], depth, &done[r * width + c],
                                  width);
        }
      }
    }
    for (size_t r = 0; r < rows; ++r) {
      std::copy(&done[r * width], &done[r * width] + columns, sums + r * n + j);
    }
  }
}

void multiply_plainly(const double* left, size_t rows, const double* right, size_t n, size_t k,
                      double* sums) {
  multiply<Narrow, 1, 3>(left, rows, right, n, k, sums);
}

#ifdef __x86_64__
[[gnu::target("avx2,fma")]] void multiply_avx2(const double* left, size_t rows, const double* right,
                                               size_t n, size_t k, double* sums) {
  multiply<Wide, 2, 3>(left, rows, right, n, k, sums);
}
[[gnu::target("avx512f")]] void multiply_avx512(const double* left, size_t rows,
                                                const double* right, size_t n, size_t k,
                                                double* sums) {
  multiply<Widest, 4, 4>(left, rows, right, n, k, sums);
}
#endif

// ---- OpenBLAS ----

using Dgemm = void (*)(int order, int transposes_a, int transposes_b, int m, int n, int k,
                       double alpha, const double* a, int lda, const double* b, int ldb,
                       double beta, double* c, int ldc);

// Each call in the calling thread alone. Not where somebody else in this process has loaded it
// (NumPy): how many threads it has is theirs to say.
Dgemm load_dgemm() {
#ifdef TILESCOPE_HAS_DLOPEN
  constexpr const char* name = "libopenblas.so.0";
  if (void* const others = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) {
    dlclose(others);
    return nullptr;
  }
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  const auto set_threads =
      reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
  const auto dgemm = reinterpret_cast<Dgemm>(dlsym(library, "cblas_dgemm"));
  if (!set_threads || !dgemm) return nullptr;
  set_threads(1);
  return dgemm;
#else
  return nullptr;
#endif
}

Dgemm dgemm() {
  static const Dgemm found = load_dgemm();
  return found;
}

void multiply_by_openblas(const double* left, size_t rows, const double* right, size_t n, size_t k,
                          double* sums) {
  constexpr int row_major = 101, as_it_is = 111, transposed = 112;  // of cblas.h
  const int depth = static_cast<int>(k), width = static_cast<int>(n);
  dgemm()(row_major, as_it_is, transposed, static_cast<int>(rows), width, depth, 1, left, depth,
          right, depth, 0, sums, width);
}

Multiply multiply_by(Loops loops) {
  switch (loops) {
#ifdef __x86_64__
    case Loops::avx2:
      return multiply_avx2;
    case Loops::avx512:
      return multiply_avx512;
#endif
    case Loops::openblas:
      return multiply_by_openblas;
    default:
      return multiply_plainly;
  }
}

}  // namespace

bool are_there(Loops loops) {
  switch (loops) {
#ifdef __x86_64__
    case Loops::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Loops::avx512:
      return __builtin_cpu_supports("avx512f");
#endif
    case Loops::openblas:
      return dgemm() != nullptr;
    default:
      return loops == Loops::narrow;
  }
}

Loops fastest_loops() {
  for (const Loops loops : {Loops::openblas, Loops::avx512, Loops::avx2}) {
    if (are_there(loops)) return loops;
  }
  return Loops::narrow;
}

bool for_each_row(const std::vector<double>& left, const std::vector<double>& right, size_t m,
                  size_t n, size_t k, const Effort& effort, const PutRow& put, Loops loops) {
  constexpr size_t rows_at_once = 128;
  const size_t blocks = (m + rows_at_once - 1) / rows_at_once;
  constexpr size_t most = std::numeric_limits<int>::max();  // of a BLAS
  const bool fits = n > 0 && k > 0 && n <= most && k <= most;
  const Multiply multiply = multiply_by(fits ? loops : Loops::narrow);
  std::atomic<size_t> next{0};
  std::atomic<bool> goes_on{true};
  std::mutex asking;
  const auto work = [&] {
    std::vector<double> sums;
    for (size_t b = next++; b < blocks && goes_on; b = next++) {
      if (effort.keep_on) {
        const std::lock_guard lock(asking);
        if (!effort.keep_on()) goes_on = false;
      }
      if (!goes_on) return;
      const size_t first = b * rows_at_once, rows = std::min(rows_at_once, m - first);
      sums.resize(rows * n);
      multiply(left.data() + first * k, rows, right.data(), n, k, sums.data());
      for (size_t r = 0; r < rows; ++r) put(first + r, sums.data() + r * n);
    }
  };
  const size_t threads = std::min<size_t>(std::max(1u, effort.threads), blocks);
  std::vector<std::thread> others;
  for (size_t t = 1; t < threads; ++t) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  return goes_on;
}

}  // namespace tilescope::reference
