#include "core/profile/run_time.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilescope::sim {

RunTime run_time_of(const Record& record) {
  RunTime out;
  out.cycles = record.end;
  out.launch = record.device.times.launch * 1e-6;
  out.clock = record.device.times.clock;
  if (!record.timed) return out;
  out.seconds = record.seconds;
  const double inside = record.seconds - out.launch;
  const bool faulted =
      std::any_of(record.reports.begin(), record.reports.end(),
                  [](const Report& report) { return report.weight == Weight::fault; });
  if (inside > 0 && !faulted) {
    out.clock = static_cast<double>(record.end) / inside * 1e-9;
  } else if (out.clock > 0) {  // until the fault, which left CTAs that were not over
    out.seconds = out.launch + static_cast<double>(record.end) / (out.clock * 1e9);
  }
  return out;
}

std::string time_text(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.2f} us", seconds * 1e6)
                        : fmt::format("{:.3f} ms", seconds * 1e3);
}

std::string text(const RunTime& time) {
  if (!(time.seconds > 0)) return "";
  if (!(time.launch > 0)) return time_text(time.seconds);
  return fmt::format("{} with its launch, {} without", time_text(time.seconds),
                     time_text(time.without_launch()));
}

}  // namespace tilescope::sim
