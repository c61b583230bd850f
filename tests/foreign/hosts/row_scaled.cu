// row_scaled_mm_v1 of the file: C = (A * B) * scale of A's row * scale of B's column.
#include "check.h"
#include SOURCE

int main() {
  const int m = 256, n = 128, k = 256;
  const auto a = check::random<IN>(m * k, 1), b = check::random<IN>(n * k, 2);
  auto sa = check::random<float>(m, 3), sb = check::random<float>(n, 4);
  std::vector<float> expected(m * n);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l) sum += double(float(a[i * k + l])) * float(b[j * k + l]);
      expected[i * n + j] = float(sum * sa[i] * sb[j]);
    }
  }
  nv_bfloat16* c = check::room<nv_bfloat16>(m * n);
  row_scaled_mm_v1(check::upload(a), check::upload(b), check::upload(sa), check::upload(sb), c, m,
                   n, k);
  check::compare("row_scaled_mm_v1", check::download(c, m * n), expected, 0.01);
  return check::verdict();
}
