// Sums of the rows of a matrix: CALL names the file's function with its arguments.
#include "check.h"
#include SOURCE

int main() {
  const int m = 16, n = 4096;
  const auto x = check::random<float>(m * n, 1);
  std::vector<double> expected(m);
  for (int i = 0; i < m * n; ++i) expected[i / n] += x[i];
  float *in = check::upload(x), *out = check::upload(std::vector<float>(m));
  CALL;
  check::compare(QUOTED(CALL), check::download(out, m), expected, 1e-4);
  return check::verdict();
}
