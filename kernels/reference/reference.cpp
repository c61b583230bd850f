#include "kernels/reference/reference.h"

#include <fmt/format.h>

#include <cstring>

namespace tilescope::reference {
namespace {

// Two's complement: the low bits of the sum are the wrapped sum, signed or not.
void add_integers(std::size_t width, const std::byte* a, const std::byte* b, std::byte* sum) {
  std::uint64_t x = 0, y = 0;
  std::memcpy(&x, a, width);
  std::memcpy(&y, b, width);
  x += y;
  std::memcpy(sum, &x, width);
}

}  // namespace

Outcome<Buffer> add(const Buffer& a, const Buffer& b) {
  if (a.dtype != b.dtype || a.shape != b.shape) {
    return Error{
        ErrorKind::mismatch,
        fmt::format("{} is {} {} and {} is {} {}; only tensors of one type and shape can be "
                    "added.",
                    a.name, name_of(a.dtype), shape_text(a.shape), b.name, name_of(b.dtype),
                    shape_text(b.shape)),
        ""};
  }
  const std::size_t width = bytes_of(a.dtype);
  Buffer sum{"reference", a.dtype, a.shape, std::vector<std::byte>(a.bytes.size()), false};
  for (std::size_t at = 0; at + width <= a.bytes.size(); at += width) {
    if (is_float(a.dtype)) {
      const double x = load_element(a.dtype, &a.bytes[at]), y = load_element(a.dtype, &b.bytes[at]);
      store_element(a.dtype, &sum.bytes[at], x + y);
    } else {
      add_integers(width, &a.bytes[at], &b.bytes[at], &sum.bytes[at]);
    }
  }
  return sum;
}

}  // namespace tilescope::reference
