// flashinfer's attention of one sequence, in the layout (token, head, dim): one query (decode), or
// many (prefill), with two heads of queries to one of keys.
#include <flashinfer/attention/decode.cuh>
#include <flashinfer/attention/default_decode_params.cuh>
#include <flashinfer/attention/default_prefill_params.cuh>
#include <flashinfer/attention/prefill.cuh>
#include <flashinfer/attention/variants.cuh>

#include "check.h"

using T = half;
using Variant = flashinfer::DefaultAttention<false, false, false, false>;
constexpr int heads = 4, kv_heads = 2, dim = 128, kv_len = 200;
const float scale = 1 / std::sqrt(float(dim));

struct Case {
  int q_len;
  bool causal;
  std::vector<T> q = check::random<T>(q_len * heads * dim, 1),
                 k = check::random<T>(kv_len * kv_heads * dim, 2),
                 v = check::random<T>(kv_len * kv_heads * dim, 3);
  T *dq = check::upload(q), *dk = check::upload(k), *dv = check::upload(v),
    *o = check::room<T>(q.size());

  void compare() {
    std::vector<float> expected(q.size());
    for (int i = 0; i < q_len; ++i) {
      for (int h = 0; h < heads; ++h) {
        const int g = h / (heads / kv_heads), last = causal ? kv_len - q_len + i + 1 : kv_len;
        std::vector<double> p(last), sum(dim);
        double all = 0;
        for (int j = 0; j < last; ++j) {
          double s = 0;
          for (int c = 0; c < dim; ++c)
            s += double(float(q[(i * heads + h) * dim + c])) *
                 float(k[(j * kv_heads + g) * dim + c]);
          all += p[j] = std::exp(s * scale);
        }
        for (int c = 0; c < dim; ++c) {
          for (int j = 0; j < last; ++j)
            sum[c] += p[j] / all * float(v[(j * kv_heads + g) * dim + c]);
          expected[(i * heads + h) * dim + c] = float(sum[c]);
        }
      }
    }
    check::compare("O", check::download(o, q.size()), expected, 0.01);
  }
};

void single_decode() {
  Case c{1, false};
  flashinfer::SingleDecodeParams<T, T, T> params(c.dq, c.dk, c.dv, c.o, nullptr, kv_len, heads,
                                                 kv_heads, flashinfer::QKVLayout::kNHD, dim, -1, 0,
                                                 scale, 1, 1e4f);
  flashinfer::SingleDecodeWithKVCacheDispatched<dim, flashinfer::PosEncodingMode::kNone, Variant>(
      params, check::room<T>(1 << 20), nullptr);
  c.compare();
}
template <flashinfer::MaskMode mask>
void prefill(bool causal) {
  Case c{150, causal};
  flashinfer::SinglePrefillParams<T, T, T> params(
      c.dq, c.dk, c.dv, nullptr, c.o, nullptr, nullptr, heads, kv_heads, c.q_len, kv_len,
      heads * dim, dim, kv_heads * dim, dim, dim, -1, 0, scale, 1, 1e4f);
  flashinfer::SinglePrefillWithKVCacheDispatched<dim, dim, flashinfer::PosEncodingMode::kNone,
                                                 false, mask, Variant>(
      params, check::room<T>(1 << 20), nullptr);
  c.compare();
}
void single_prefill() {
  prefill<flashinfer::MaskMode::kNone>(false);
}
void single_prefill_causal() {
  prefill<flashinfer::MaskMode::kCausal>(true);
}

#define CALL_WITH ()

int main(int, char** args) {
  const std::string name = args[1];
  EACH(CALL_IF_NAMED)
  return check::verdict();
}
