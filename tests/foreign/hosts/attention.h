// What attention has to give, on the CPU: softmax(scale * Q K^T) V, with scale = 1 / sqrt(dim).
#pragma once

#include "check.h"

namespace check {

// Tensors of [batch][row][head][dim], or of [batch][head][row][dim] where heads are outside of
// rows. Several heads of Q share one of K and V. Causal: the last rows of Q and K see each other.
struct Attention {
  int batches, heads, kv_heads, len_q, len_kv, dim, dim_v;
  bool causal = false, heads_outside = false;

  std::size_t row(int of_heads, int length, int batch, int head, int i) const {
    return heads_outside ? (std::size_t(batch) * of_heads + head) * length + i
                         : (std::size_t(batch) * length + i) * of_heads + head;
  }
  std::size_t q_size() const { return std::size_t(batches) * heads * len_q * dim; }
  std::size_t k_size() const { return std::size_t(batches) * kv_heads * len_kv * dim; }
  std::size_t v_size() const { return std::size_t(batches) * kv_heads * len_kv * dim_v; }
  std::size_t o_size() const { return std::size_t(batches) * heads * len_q * dim_v; }

  // Q, K and V of o's numbers.
  template <class T>
  std::vector<float> operator()(const std::vector<T>& q, const std::vector<T>& k,
                                const std::vector<T>& v) const {
    std::vector<float> o(o_size());
    for (int b = 0; b < batches; ++b) {
      for (int h = 0; h < heads; ++h) {
        const int kv_head = h / (heads / kv_heads);
        for (int i = 0; i < len_q; ++i) {
          const T* q_row = &q[row(heads, len_q, b, h, i) * dim];
          const int seen = causal ? std::min(len_kv, i + 1 + len_kv - len_q) : len_kv;
          std::vector<double> p(seen), sums(dim_v);
          double most = -1e30, all = 0;
          for (int j = 0; j < seen; ++j) {
            const T* k_row = &k[row(kv_heads, len_kv, b, kv_head, j) * dim];
            double s = 0;
            for (int d = 0; d < dim; ++d) s += number(q_row[d]) * number(k_row[d]);
            p[j] = s / std::sqrt(double(dim));
            most = std::max(most, p[j]);
          }
          for (int j = 0; j < seen; ++j) {
            const T* v_row = &v[row(kv_heads, len_kv, b, kv_head, j) * dim_v];
            all += p[j] = std::exp(p[j] - most);
            for (int d = 0; d < dim_v; ++d) sums[d] += p[j] * number(v_row[d]);
          }
          float* o_row = &o[row(heads, len_q, b, h, i) * dim_v];
          for (int d = 0; d < dim_v; ++d) o_row[d] = float(sums[d] / all);
        }
      }
    }
    return o;
  }
};

}  // namespace check
