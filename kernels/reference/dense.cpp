#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kernels/reference/products.h"
#include "kernels/reference/reference.h"

namespace tilescope::reference {
namespace {

// What a tensor core reads of an f32: its sign, exponent and the upper ten bits behind the point.
double as_tf32(const std::byte* at) {
  std::uint32_t bits;
  std::memcpy(&bits, at, sizeof bits);
  bits &= 0xffffe000;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Matrix number `batch` of an operand of `rows` rows of k, row by row however it lies.
std::vector<double> operand(const Buffer& from, std::size_t batch, std::size_t rows, std::size_t k,
                            bool across, bool tf32) {
  const std::size_t width = bytes_of(from.dtype);
  const std::byte* const first = from.bytes.data() + batch * rows * k * width;
  std::vector<double> out(rows * k);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t p = 0; p < k; ++p) {
      const std::byte* const at = first + (across ? p * rows + r : r * k + p) * width;
      out[r * k + p] = tf32 ? as_tf32(at) : load_element(from.dtype, at);
    }
  }
  return out;
}

bool has(const Buffer& tensor, std::int64_t elements) {
  return tensor.elements() == elements &&
         tensor.bytes.size() == static_cast<std::size_t>(elements) * bytes_of(tensor.dtype);
}

// The largest that e4m3 has: what is beyond becomes that, as cvt.rn.satfinite does.
double kept_finite(DType type, double value) {
  return type == DType::e4m3 ? std::clamp(value, -448.0, 448.0) : value;
}

}  // namespace

Outcome<Buffer> dense(const Buffer& a, const Buffer& b, const Buffer& c, const DenseProblem& p,
                      const Effort& effort) {
  if (!has(a, p.l * p.m * p.k) || !has(b, p.l * p.n * p.k) || !has(c, p.l * p.m * p.n)) {
    return Error{ErrorKind::mismatch,
                 fmt::format("{} {}, {} {} and {} {} are no product of m = {}, n = {}, k = {}, "
                             "l = {}.",
                             a.name, shape_text(a.shape), b.name, shape_text(b.shape), c.name,
                             shape_text(c.shape), p.m, p.n, p.k, p.l),
                 ""};
  }
  const auto m = static_cast<std::size_t>(p.m), n = static_cast<std::size_t>(p.n),
             k = static_cast<std::size_t>(p.k);
  const std::size_t width = bytes_of(c.dtype);
  Buffer out{"reference", c.dtype, c.shape, std::vector<std::byte>(c.bytes.size()), false};
  for (std::size_t batch = 0; batch < static_cast<std::size_t>(p.l); ++batch) {
    const std::vector<double> left = operand(a, batch, m, k, p.a_across, p.tf32);
    const std::vector<double> right = operand(b, batch, n, k, p.b_across, p.tf32);
    const auto put = [&](std::size_t row, const double* sums) {
      for (std::size_t column = 0; column < n; ++column) {
        const std::size_t at =
            (batch * m * n + (p.c_across ? column * m + row : row * n + column)) * width;
        double value = p.alpha * sums[column];
        if (p.beta != 0) value += p.beta * load_element(c.dtype, &c.bytes[at]);
        store_element(c.dtype, &out.bytes[at], kept_finite(c.dtype, value));
      }
    };
    if (!for_each_row(left, right, m, n, k, effort, put)) return given_up();
  }
  return out;
}

}  // namespace tilescope::reference
