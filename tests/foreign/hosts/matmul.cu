// A function (A, B, C, M, N, K) of the file: C = A * B. A is (M, K) row-major; B is (K, N), of
// which the columns are contiguous, or the rows with B_ROWS; C is row-major, or column-major with
// C_COLUMNS. IN and OUT are the types; CALL_WITH are other arguments than these.
#include "check.h"
#ifdef PRELUDE
#include PRELUDE
#endif
#include SOURCE
#ifndef CALL_WITH
#define CALL_WITH (da, db, dc, m, n, k)
#endif

int main(int, char** args) {
  const std::string name = args[1];
  const int m = std::atoi(args[2]), n = std::atoi(args[3]), k = std::atoi(args[4]);
  const auto a = check::random<IN>(std::size_t(m) * k, 1),
             b = check::random<IN>(std::size_t(n) * k, 2);
  std::vector<float> expected(std::size_t(m) * n), wide_b(b.size());
  for (int i = 0; i < k; ++i) {
    for (int j = 0; j < n; ++j) {
#ifdef B_ROWS
      wide_b[std::size_t(j) * k + i] = static_cast<float>(b[std::size_t(i) * n + j]);
#else
      wide_b[std::size_t(j) * k + i] = static_cast<float>(b[std::size_t(j) * k + i]);
#endif
    }
  }
  std::vector<float> row(k);
  for (int i = 0; i < m; ++i) {
    for (int l = 0; l < k; ++l) row[l] = static_cast<float>(a[std::size_t(i) * k + l]);
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l) sum += double(row[l]) * wide_b[std::size_t(j) * k + l];
#ifdef C_COLUMNS
      expected[std::size_t(j) * m + i] = static_cast<float>(sum);
#else
      expected[std::size_t(i) * n + j] = static_cast<float>(sum);
#endif
    }
  }
  IN *da = check::upload(a), *db = check::upload(b);
  OUT* dc = check::room<OUT>(expected.size());
  EACH(CALL_IF_NAMED)
  check::compare(name, check::download(dc, expected.size()), expected, 0.01);
  return check::verdict();
}
