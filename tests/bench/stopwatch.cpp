#include "tests/bench/stopwatch.h"

#include <algorithm>
#include <cmath>

namespace tilescope::bench {
namespace {

constexpr double launch_costs = 14e-6;  // this machine, at most: two kernels in one call
constexpr int most_in_a_row = 400;      // the driver's queue has room for 1,024 kernels
constexpr std::size_t scratch_bytes = std::size_t{256} << 20;
constexpr double fill_takes = scratch_bytes / 3.3e12;  // of an H200, which is the quickest

}  // namespace

void Stopwatch::give_head_start(int launches) {
  if (!scratch_) {
    Outcome<gpu::Memory> memory = device_.allocate(scratch_bytes);
    if (!memory) return;
    scratch_ = std::move(*memory);
  }
  const int fills = static_cast<int>(std::ceil(launches * launch_costs / fill_takes));
  for (int i = 0; i < fills; ++i) device_.driver().cuMemsetD8(scratch_->get(), 0, scratch_bytes);
}

Outcome<double> Stopwatch::row(const Enqueue& enqueue, int launches, std::size_t first) {
  return device_.seconds_of([&] {
    gpu::Result result = gpu::Result::success;
    for (int i = 0; i < launches && result == gpu::Result::success; ++i) {
      result = enqueue(first + static_cast<std::size_t>(i));
    }
    return result;
  });
}

Outcome<double> Stopwatch::run(const Enqueue& enqueue, double seconds, double& each) {
  return rows(enqueue, seconds, each, true);
}

std::optional<Error> Stopwatch::settle(const Enqueue& enqueue, double seconds, double& each) {
  const Outcome<double> takes = rows(enqueue, seconds, each, false);
  return takes ? std::nullopt : std::optional(takes.error());
}

Outcome<double> Stopwatch::rows(const Enqueue& enqueue, double seconds, double& each,
                                bool head_start) {
  constexpr int least = 4;
  double all = 0;
  std::size_t launches = 0;
  while (launches == 0 || all < 0.9 * seconds) {
    const double wanted = each > 0 ? (seconds - all) / each : 0;
    const int count = static_cast<int>(std::clamp(wanted, double{least}, double{most_in_a_row}));
    if (head_start && each < 4 * launch_costs) give_head_start(count);
    const Outcome<double> row_takes = row(enqueue, count, launches);
    if (!row_takes) return row_takes.error();
    all += *row_takes;
    launches += static_cast<std::size_t>(count);
    each = std::max(1e-7, *row_takes / count);
  }
  return all / static_cast<double>(launches);
}

std::optional<Error> Stopwatch::once(const Enqueue& enqueue) {
  const Outcome<double> takes = row(enqueue, 1, 0);
  return takes ? std::nullopt : std::optional(takes.error());
}

}  // namespace tilescope::bench
