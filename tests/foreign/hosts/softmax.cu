// A function (input, output, workspace, M, N) of the file: softmax of each row.
#include "check.h"
#include SOURCE
#define CALL_WITH (in, out, work, m, n)

int main(int, char** args) {
  const std::string name = args[1];
  const int m = 37, n = 1000;
  const auto x = check::random<float>(m * n, 1);
  std::vector<float> expected(m * n);
  for (int i = 0; i < m; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += std::exp(double(x[i * n + j]));
    for (int j = 0; j < n; ++j) expected[i * n + j] = float(std::exp(double(x[i * n + j])) / sum);
  }
  float *in = check::upload(x), *out = check::room<float>(m * n), *work = check::room<float>(m * 2);
  EACH(CALL_IF_NAMED)
  check::compare(name, check::download(out, m * n), expected, 1e-4);
  return check::verdict();
}
