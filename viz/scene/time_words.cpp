#include "viz/scene/time_words.h"

#include <fmt/format.h>

namespace tilescope {

std::string seconds_text(double cycles, double clock) {
  if (!(clock > 0)) return "";
  const double ns = cycles / clock;
  if (ns < 10) return fmt::format("{:.2g} ns", ns);
  if (ns < 1000) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.2f} us", ns / 1e3);
  return fmt::format("{:.2f} ms", ns / 1e6);
}

}  // namespace tilescope
