// flashinfer's kernels through their C++ entries, in two programs (GROUP), each by its name.
#include "check.h"

#if GROUP == 1
#include <flashinfer/activation.cuh>
#include <flashinfer/norm.cuh>
#include <flashinfer/pos_enc.cuh>
#include <flashinfer/quantization.cuh>
#else
#include <flashinfer/sampling.cuh>
#include <flashinfer/topk.cuh>
#endif

#include <map>
#include <numeric>

using T = nv_bfloat16;

#if GROUP == 1
constexpr int rows = 5, d = 1024;

// Each row over its root mean square, times the weights.
std::vector<float> normalised(const std::vector<float>& x, const std::vector<T>& weight,
                              float bias) {
  std::vector<float> y(x.size());
  for (std::size_t row = 0; row < x.size() / d; ++row) {
    double sum = 0;
    for (int i = 0; i < d; ++i) sum += double(x[row * d + i]) * x[row * d + i];
    const double scale = 1 / std::sqrt(sum / d + 1e-5);
    for (int i = 0; i < d; ++i)
      y[row * d + i] = float(x[row * d + i] * scale * (bias + float(weight[i])));
  }
  return y;
}
std::vector<float> wide(const std::vector<T>& x) {
  std::vector<float> y;
  for (const T one : x) y.push_back(float(one));
  return y;
}

void rms_norm() {
  const auto x = check::random<T>(rows * d, 1), w = check::random<T>(d, 2);
  T* out = check::room<T>(rows * d);
  flashinfer::norm::RMSNorm(check::upload(x), check::upload(w), out, rows, d, d, d);
  check::compare("rows", check::download(out, rows * d), normalised(wide(x), w, 0), 0.01);
}
void gemma_rms_norm() {
  const auto x = check::random<T>(rows * d, 1), w = check::random<T>(d, 2);
  T* out = check::room<T>(rows * d);
  flashinfer::norm::GemmaRMSNorm(check::upload(x), check::upload(w), out, rows, d, d, d);
  check::compare("rows", check::download(out, rows * d), normalised(wide(x), w, 1), 0.01);
}
void fused_add_rms_norm() {
  const auto x = check::random<T>(rows * d, 1), w = check::random<T>(d, 2),
             r = check::random<T>(rows * d, 3);
  T *in = check::upload(x), *residual = check::upload(r);
  flashinfer::norm::FusedAddRMSNorm(in, residual, check::upload(w), rows, d, d, d);
  std::vector<float> sum(rows * d);
  for (int i = 0; i < rows * d; ++i) sum[i] = float(x[i]) + float(r[i]);
  check::compare("rows", check::download(in, rows * d), normalised(sum, w, 0), 0.01);
  check::compare("the residual", check::download(residual, rows * d), sum, 0.01);
}
void layer_norm() {
  const auto x = check::random<T>(rows * d, 1);
  const auto gamma = check::random<float>(d, 2), beta = check::random<float>(d, 3);
  T* out = check::room<T>(rows * d);
  flashinfer::norm::LayerNorm(check::upload(x), check::upload(gamma), check::upload(beta), out,
                              rows, d);
  std::vector<float> expected(rows * d);
  for (int row = 0; row < rows; ++row) {
    double mean = 0, square = 0;
    for (int i = 0; i < d; ++i) mean += float(x[row * d + i]) / double(d);
    for (int i = 0; i < d; ++i) square += std::pow(float(x[row * d + i]) - mean, 2) / d;
    for (int i = 0; i < d; ++i) {
      expected[row * d + i] =
          float((float(x[row * d + i]) - mean) / std::sqrt(square + 1e-5) * gamma[i] + beta[i]);
    }
  }
  check::compare("rows", check::download(out, rows * d), expected, 0.01);
}
__device__ float silu(const float& x) {
  return x / (1.0f + __expf(-x));
}
void silu_and_mul() {
  const auto x = check::random<T>(rows * 2 * d, 1);
  T* out = check::room<T>(rows * d);
  flashinfer::activation::act_and_mul_kernel<T, silu><<<rows, 128>>>(out, check::upload(x), d);
  std::vector<float> expected(rows * d);
  for (int i = 0; i < rows * d; ++i) {
    const float gate = float(x[i / d * 2 * d + i % d]), up = float(x[i / d * 2 * d + d + i % d]);
    expected[i] = gate / (1 + std::exp(-gate)) * up;
  }
  check::compare("rows", check::download(out, rows * d), expected, 0.01);
}
void pack_bits() {
  constexpr int n = 5000;
  std::mt19937 engine(1);
  std::vector<std::uint8_t> x(n), expected((n + 7) / 8);
  for (int i = 0; i < n; ++i) expected[i / 8] |= (x[i] = engine() % 2) << i % 8;
  auto* out = check::room<std::uint8_t>(expected.size());
  flashinfer::quantization::PackBits(reinterpret_cast<bool*>(check::upload(x)), out, n,
                                     flashinfer::quantization::BitOrder::kLittle, nullptr);
  check::compare("bytes", check::download(out, expected.size()), expected, 0);
}
void rope() {
  constexpr int tokens = 7, heads = 4, kv_heads = 2, dim = 128;
  const auto q = check::random<T>(tokens * heads * dim, 1),
             k = check::random<T>(tokens * kv_heads * dim, 2);
  std::vector<int> positions(tokens);
  for (int i = 0; i < tokens; ++i) positions[i] = 3 * i + 1;
  T *qo = check::room<T>(q.size()), *ko = check::room<T>(k.size());
  flashinfer::BatchQKApplyRotaryPosIds(check::upload(q), check::upload(k), qo, ko,
                                       check::upload(positions), tokens, heads, kv_heads, dim, dim,
                                       heads * dim, dim, kv_heads * dim, dim, heads * dim, dim,
                                       kv_heads * dim, dim, false, 1.0f, 1e4f);
  const auto turned = [&](const std::vector<T>& x, int count) {
    std::vector<float> y(x.size());
    for (int at = 0; at < static_cast<int>(x.size()); ++at) {
      const int i = at % dim, half = i % (dim / 2);
      const double angle = positions[at / dim / count] * std::pow(1e4, -2.0 * half / dim);
      const double other = i < dim / 2 ? -float(x[at + dim / 2]) : float(x[at - dim / 2]);
      y[at] = float(float(x[at]) * std::cos(angle) + other * std::sin(angle));
    }
    return y;
  };
  check::compare("q", check::download(qo, q.size()), turned(q, heads), 0.01);
  check::compare("k", check::download(ko, k.size()), turned(k, kv_heads), 0.01);
}
#else
constexpr int rows = 3, vocabulary = 5000, most = 20;

std::vector<float> probabilities() {
  auto x = check::random<float>(rows * vocabulary, 1, 3);
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int i = 0; i < vocabulary; ++i)
      sum += x[row * vocabulary + i] = std::exp(x[row * vocabulary + i]);
    for (int i = 0; i < vocabulary; ++i)
      x[row * vocabulary + i] = float(x[row * vocabulary + i] / sum);
  }
  return x;
}
// The values of each row's largest, sorted.
std::vector<float> largest(const std::vector<float>& x) {
  std::vector<float> all;
  for (int row = 0; row < rows; ++row) {
    std::vector<float> one(x.begin() + row * vocabulary, x.begin() + (row + 1) * vocabulary);
    std::partial_sort(one.begin(), one.begin() + most, one.end(), std::greater<>());
    all.insert(all.end(), one.begin(), one.begin() + most);
  }
  return all;
}
void compare_top(const std::vector<float>& x, float* values, int* indices) {
  auto found = check::download(values, rows * most);
  const auto at = check::download(indices, rows * most);
  for (int i = 0; i < rows * most; ++i) {
    const bool inside = at[i] >= 0 && at[i] < vocabulary;
    if (!inside || x[i / most * vocabulary + at[i]] != found[i]) check::verdict() = 1;
  }
  for (int row = 0; row < rows; ++row)
    std::sort(found.begin() + row * most, found.begin() + (row + 1) * most, std::greater<>());
  check::compare("values", found, largest(x), 0);
}
void filtered_top_k() {
  const auto x = check::random<float>(rows * vocabulary, 1);
  float* values = check::room<float>(rows * most);
  int* indices = check::room<int>(rows * most);
  flashinfer::sampling::FilteredTopK<float, int>(check::upload(x), indices, values, nullptr, rows,
                                                 most, vocabulary);
  compare_top(x, values, indices);
}
void radix_top_k() {
  const auto x = check::random<float>(rows * vocabulary, 1);
  float* values = check::room<float>(rows * most);
  int* indices = check::room<int>(rows * most);
  auto* states = reinterpret_cast<flashinfer::sampling::RadixRowState*>(
      check::upload(std::vector<char>(1 << 20)));
  flashinfer::sampling::RadixTopKMultiCTA<float, int>(check::upload(x), indices, values, nullptr,
                                                      rows, most, vocabulary, states, false);
  compare_top(x, values, indices);
}
void top_k_sampling() {
  const auto p = probabilities();
  int* out = check::room<int>(rows);
  bool* valid = check::room<bool>(rows);
  flashinfer::sampling::TopKSamplingFromProb<float, int>(check::upload(p), out, valid, nullptr,
                                                         nullptr, rows, most, vocabulary, true,
                                                         nullptr, 42, nullptr, 0);
  const auto bound = largest(p);
  const auto chosen = check::download(out, rows);
  std::vector<float> taken, expected(rows, 1);
  for (int row = 0; row < rows; ++row) {
    taken.push_back(chosen[row] >= 0 && chosen[row] < vocabulary &&
                    p[row * vocabulary + chosen[row]] >= bound[row * most + most - 1]);
  }
  check::compare("each is one of the largest", taken, expected, 0);
}
void top_p_renorm() {
  const auto p = probabilities();
  float* out = check::room<float>(p.size());
  flashinfer::sampling::TopPRenormProb<float>(check::upload(p), out, nullptr, rows, 0.8f,
                                              vocabulary);
  std::vector<float> expected(p.size());
  for (int row = 0; row < rows; ++row) {
    std::vector<int> order(vocabulary);
    std::iota(order.begin(), order.end(), row * vocabulary);
    std::sort(order.begin(), order.end(), [&](int a, int b) { return p[a] > p[b]; });
    double sum = 0;
    std::size_t count = 0;
    while (sum < 0.8) sum += p[order[count++]];
    for (std::size_t i = 0; i < count; ++i) expected[order[i]] = float(p[order[i]] / sum);
  }
  check::compare("probabilities", check::download(out, p.size()), expected, 1e-3);
}
void online_softmax() {
  const auto x = check::random<float>(rows * vocabulary, 1, 3);
  float* out = check::room<float>(x.size());
  void* work = check::room<char>(1 << 20);
  flashinfer::sampling::OnlineSoftmax<float>(check::upload(x), out, rows, vocabulary, nullptr, 1.0f,
                                             work, 1 << 20, false);
  std::vector<float> expected(x.size());
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int i = 0; i < vocabulary; ++i) sum += std::exp(double(x[row * vocabulary + i]));
    for (int i = 0; i < vocabulary; ++i)
      expected[row * vocabulary + i] = float(std::exp(double(x[row * vocabulary + i])) / sum);
  }
  check::compare("probabilities", check::download(out, x.size()), expected, 1e-4);
}
#endif

#define CALL_WITH ()

int main(int, char** args) {
  const std::string name = args[1];
  EACH(CALL_IF_NAMED)
  return check::verdict();
}
