#include "app/heartbeat.h"

#include <fmt/format.h>

namespace tilescope {

std::optional<std::string> Heartbeat::due(Time now, const Progress& progress) {
  if (now - last_ < std::chrono::seconds(10)) return std::nullopt;
  last_ = now;
  return fmt::format(
      "still running after {:.0f} s: {} PTX instructions by warps, {} of {} CTAs done",
      std::chrono::duration<double>(now - begun_).count(), progress.instructions, progress.done,
      progress.total);
}

}  // namespace tilescope
