// A function (A, B, scales of A, scales of B, C, M, N, K) of the file: e4m3 with a ue8m0 scale for
// 32 elements along K. ORDER(rows, blocks, i, j) is where the scale of row i, block j lies.
#include "check.h"
#include SOURCE
#define CALL_WITH (da, db, dsa, dsb, c, m, n, k)

// 0: row by row; 1: (M/32, 8, blocks/4, 4, 4), as the file's second version reads them; 2: cuBLAS's
// (M/128, blocks/4, 32, 4, 4).
inline int place(int blocks, int i, int j) {
#if ORDER == 0
  return i * blocks + j;
#elif ORDER == 1
  return (((i / 32 * 8 + i % 8) * (blocks / 4) + j / 4) * 4 + i % 32 / 8) * 4 + j % 4;
#else
  return (((i / 128 * (blocks / 4) + j / 4) * 32 + i % 32) * 4 + i % 128 / 32) * 4 + j % 4;
#endif
}

int main(int, char** args) {
  const std::string name = args[1];
  const int m = 256, n = 256, k = 512, blocks = k / 32;
  const auto a = check::random<__nv_fp8_e4m3>(m * k, 1, 8),
             b = check::random<__nv_fp8_e4m3>(n * k, 2, 8);
  std::mt19937 engine(3);
  const auto scales = [&](int rows) {
    std::vector<char> s(rows * blocks);
    for (char& one : s) one = char(120 + engine() % 12);
    return s;
  };
  const auto sa = scales(m), sb = scales(n);
  const auto scale = [&](const std::vector<char>& s, int i, int j) {
    return std::ldexp(1.0, static_cast<unsigned char>(s[place(blocks, i, j)]) - 127);
  };
  std::vector<float> expected(m * n);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int block = 0; block < blocks; ++block) {
        double part = 0;
        for (int l = 32 * block; l < 32 * block + 32; ++l)
          part += double(float(a[i * k + l])) * float(b[j * k + l]);
        sum += part * scale(sa, i, block) * scale(sb, j, block);
      }
      expected[i * n + j] = float(sum);
    }
  }
  nv_bfloat16* c = check::room<nv_bfloat16>(m * n);
  const auto bytes = [](const auto* at) { return reinterpret_cast<const char*>(at); };
  const char *da = bytes(check::upload(a)), *db = bytes(check::upload(b)), *dsa = check::upload(sa),
             *dsb = check::upload(sb);
  EACH(CALL_IF_NAMED)
  check::compare(name, check::download(c, m * n), expected, 0.01);
  return check::verdict();
}
