#include <fmt/format.h>

#include <vector>

#include "kernels/reference/products.h"
#include "kernels/reference/reference.h"

namespace tilescope::reference {
namespace {

std::vector<double> values(const Buffer& matrix) {
  const std::size_t width = bytes_of(matrix.dtype);
  std::vector<double> out(matrix.bytes.size() / width);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = load_element(matrix.dtype, &matrix.bytes[i * width]);
  }
  return out;
}

// left (m,k) times right (n,k), transposed.
Outcome<Buffer> product(const std::vector<double>& left, const std::vector<double>& right,
                        DType type, std::size_t m, std::size_t n, std::size_t k,
                        const Effort& effort) {
  const std::size_t width = bytes_of(type);
  Buffer out{"reference",
             type,
             {static_cast<std::int64_t>(m), static_cast<std::int64_t>(n)},
             std::vector<std::byte>(m * n * width),
             false};
  const auto put = [&](std::size_t row, const double* sums) {
    for (std::size_t j = 0; j < n; ++j) {
      store_element(type, &out.bytes[(row * n + j) * width], sums[j]);
    }
  };
  if (!for_each_row(left, right, m, n, k, effort, put)) return given_up();
  return out;
}

// Two matrices of one type, with a's rows as long as b's extent number `mode`.
bool fit_together(const Buffer& a, const Buffer& b, std::size_t mode) {
  return a.shape.size() == 2 && b.shape.size() == 2 && a.dtype == b.dtype &&
         a.shape[1] == b.shape[mode];
}

Error do_not_fit(const Buffer& a, const Buffer& b, std::string_view rule) {
  return Error{
      ErrorKind::mismatch,
      fmt::format("{} is {} {} and {} is {} {}; {}.", a.name, name_of(a.dtype), shape_text(a.shape),
                  b.name, name_of(b.dtype), shape_text(b.shape), rule),
      ""};
}

}  // namespace

Outcome<Buffer> gemm(const Buffer& a, const Buffer& b, const Effort& effort) {
  if (!fit_together(a, b, 1)) {
    return do_not_fit(a, b,
                      "the product of (m, k) and the transpose of (n, k) needs two matrices of one "
                      "type with rows of one length");
  }
  return product(values(a), values(b), a.dtype, static_cast<std::size_t>(a.shape[0]),
                 static_cast<std::size_t>(b.shape[0]), static_cast<std::size_t>(a.shape[1]),
                 effort);
}

Outcome<Buffer> matmul(const Buffer& a, const Buffer& b, const Effort& effort) {
  if (!fit_together(a, b, 0)) {
    return do_not_fit(
        a, b,
        "the product of (m, k) and (k, n) needs two matrices of one type, and as many "
        "columns in the first as rows in the second");
  }
  const auto m = static_cast<std::size_t>(a.shape[0]), n = static_cast<std::size_t>(b.shape[1]),
             k = static_cast<std::size_t>(a.shape[1]);
  const std::vector<double> rows = values(b);
  std::vector<double> columns(rows.size());
  for (std::size_t p = 0; p < k; ++p) {
    for (std::size_t j = 0; j < n; ++j) columns[j * k + p] = rows[p * n + j];
  }
  return product(values(a), columns, a.dtype, m, n, k, effort);
}

}  // namespace tilescope::reference
