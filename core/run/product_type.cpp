#include "core/run/product_type.h"

#include <iterator>

namespace tilescope {

std::string_view name_of(ProductType type) {
  constexpr std::string_view names[] = {"", "f16", "tf32", "f64", "f8", "i8", "f4"};
  static_assert(std::size(names) == static_cast<std::size_t>(ProductType::count_));
  return names[static_cast<std::size_t>(type)];
}

double rate_of(const DeviceTimes& times, ProductType type) {
  switch (type) {
    case ProductType::f16:
      return times.tensor_f16;
    case ProductType::tf32:
      return times.tensor_tf32;
    case ProductType::f64:
      return times.tensor_f64;
    case ProductType::f8:
      return times.tensor_f8;
    case ProductType::i8:
      return times.tensor_i8;
    case ProductType::f4:
      return times.tensor_f4;
    default:
      return 0;
  }
}

}  // namespace tilescope
