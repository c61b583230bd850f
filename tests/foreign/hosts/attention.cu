// A function (Q, K, V, O, batches, len_q, len_kv, dim) of the file: softmax(Q K^T / sqrt(dim)) V.
#include "check.h"
#include SOURCE
#define CALL_WITH (dq, dk, dv, o, batches, len_q, len_kv, dim)

int main(int, char** args) {
  const std::string name = args[1];
  const int batches = 2, len_q = 128, len_kv = 192, dim = 128;
  using T = nv_bfloat16;
  const auto q = check::random<T>(batches * len_q * dim, 1),
             k = check::random<T>(batches * len_kv * dim, 2),
             v = check::random<T>(batches * len_kv * dim, 3);
  std::vector<float> expected(q.size());
  for (int b = 0; b < batches; ++b) {
    for (int i = 0; i < len_q; ++i) {
      std::vector<double> p(len_kv);
      double most = -1e30, sum = 0;
      for (int j = 0; j < len_kv; ++j) {
        double s = 0;
        for (int d = 0; d < dim; ++d)
          s += double(float(q[(b * len_q + i) * dim + d])) * float(k[(b * len_kv + j) * dim + d]);
        p[j] = s / std::sqrt(double(dim));
        most = std::max(most, p[j]);
      }
      for (double& x : p) sum += x = std::exp(x - most);
      for (int d = 0; d < dim; ++d) {
        double o = 0;
        for (int j = 0; j < len_kv; ++j) o += p[j] * float(v[(b * len_kv + j) * dim + d]);
        expected[(b * len_q + i) * dim + d] = float(o / sum);
      }
    }
  }
  T *dq = check::upload(q), *dk = check::upload(k), *dv = check::upload(v),
    *o = check::room<T>(q.size());
  EACH(CALL_IF_NAMED)
  check::compare(name, check::download(o, q.size()), expected, 0.01);
  return check::verdict();
}
