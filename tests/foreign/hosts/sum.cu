// Sums of the rows of a matrix.
#include "check.h"
#include SOURCE

template <class... Sizes>
void call(void (*sum)(const float*, float*, int, int, Sizes...), const float* in, float* out, int m,
          int n) {
  if constexpr (sizeof...(Sizes) == 1) {
    sum(in, out, m, n, 128);  // threads
  } else {
    sum(in, out, m, n, 1024, 128);  // elements of a block, threads
  }
}

#undef CALL_IF_NAMED
#define CALL_IF_NAMED(f) \
  if (name == #f) call(f, in, out, m, n);

int main(int, char** args) {
  const std::string name = args[1];
  const int m = 16, n = 4096;
  const auto x = check::random<float>(m * n, 1);
  std::vector<double> expected(m);
  for (int i = 0; i < m * n; ++i) expected[i / n] += x[i];
  float *in = check::upload(x), *out = check::upload(std::vector<float>(m));
  EACH(CALL_IF_NAMED)
  check::compare(name, check::download(out, m), expected, 1e-4);
  return check::verdict();
}
