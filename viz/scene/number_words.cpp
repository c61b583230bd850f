#include "viz/scene/number_words.h"

#include <fmt/format.h>

namespace tilescope {

std::string grouped(std::uint64_t number) {
  const std::string digits = fmt::format("{}", number);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string duration(double seconds) {
  if (!(seconds >= 0)) return "";
  if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.1f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

}  // namespace tilescope
