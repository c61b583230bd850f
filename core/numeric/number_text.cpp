#include "core/numeric/number_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace tilescope {

std::string element_text(DType type, const std::byte* at) {
  if (type == DType::u64) {
    std::uint64_t value;
    std::memcpy(&value, at, sizeof value);
    return fmt::format("{}", value);
  }
  if (type == DType::i64) {
    std::int64_t value;
    std::memcpy(&value, at, sizeof value);
    return fmt::format("{}", value);
  }
  const double value = load_element(type, at);
  if (std::isnan(value)) return "nan";
  if (!is_float(type)) return fmt::format("{}", static_cast<std::int64_t>(value));
  // All float types of up to 32 bits are exactly an f32.
  return type == DType::f64 ? fmt::format("{}", value)
                            : fmt::format("{}", static_cast<float>(value));
}

}  // namespace tilescope
