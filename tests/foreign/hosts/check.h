// What the hosts of foreign kernels share: inputs, device memory, a comparison. Each host includes
// a file of kernels (-DSOURCE) and computes what it expects on the CPU.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

// A program has several functions of its file: -DEACH(x)=x(f) x(g); the first argument names the
// one that is called, with whatever `CALL_WITH` is in the host.
#define CALL_IF_NAMED(f) \
  if (name == #f) f CALL_WITH;

namespace check {

// Small integers for integer types, else normal numbers; as the type holds them.
template <class T>
std::vector<T> random(std::size_t count, unsigned seed, float scale = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<T> values(count);
  for (T& value : values) {
    const float x = scale * normal(engine);
    value = std::is_integral_v<T> ? static_cast<T>(std::lround(3 * x)) : static_cast<T>(x);
  }
  return values;
}

template <class T>
T* upload(const std::vector<T>& values) {
  T* at = nullptr;
  cudaMalloc(&at, values.size() * sizeof(T));
  cudaMemcpy(at, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return at;
}

// Undefined until a kernel writes it.
template <class T>
T* room(std::size_t count) {
  T* at = nullptr;
  cudaMalloc(&at, count * sizeof(T));
  return at;
}

template <class T>
std::vector<T> download(const T* at, std::size_t count) {
  std::vector<T> values(count);
  cudaMemcpy(values.data(), at, count * sizeof(T), cudaMemcpyDeviceToHost);
  return values;
}

template <class T>
double number(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(value);
  } else {
    return static_cast<double>(static_cast<float>(value));
  }
}

inline int& verdict() {
  static int code = 0;
  return code;
}

// Each element within `tolerance` of the expected one, relative to the largest.
template <class T, class E>
void compare(const std::string& what, const std::vector<T>& found, const std::vector<E>& expected,
             double tolerance) {
  double largest = 0, worst = 0;
  std::size_t at = 0;
  for (const E& e : expected) largest = std::max(largest, std::fabs(number(e)));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double apart = std::fabs(number(found[i]) - number(expected[i]));
    if (!(apart <= worst)) worst = apart, at = i;
  }
  const cudaError_t error = cudaDeviceSynchronize();
  const bool good =
      found.size() == expected.size() && worst <= tolerance * largest && error == cudaSuccess;
  std::printf("%s: %s, %g apart at %zu of %zu, the largest is %g (%s)\n", what.c_str(),
              good ? "right" : "WRONG", worst, at, expected.size(), largest,
              cudaGetErrorString(error));
  if (!good) verdict() = 1;
}

}  // namespace check
