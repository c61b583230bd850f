// What bounds a kernel, in a sentence or two. A unit that is busy nearly all the time does; where
// none is, what those wait for who feed the busiest one: the tensor core where there are products.
#include <fmt/format.h>

#include <algorithm>

#include "core/profile/statistics.h"

namespace tilescope::sim {
namespace {

constexpr double nearly_all = 0.75, much = 0.4;

std::string percent(double share) {
  return fmt::format("{:.0f}%", 100 * share);
}

std::string_view unit_text(Pipe pipe) {
  switch (pipe) {
    case Pipe::issue:
      return "issuing instructions";
    case Pipe::integer:
      return "integer arithmetic";
    case Pipe::floating:
      return "f32 arithmetic";
    case Pipe::half:
      return "f16 arithmetic";
    case Pipe::wide:
      return "f64 arithmetic";
    case Pipe::special:
      return "special functions";
    case Pipe::load_store:
      return "the load/store units";
    case Pipe::shared:
      return "shared memory";
    case Pipe::tensor:
      return "the tensor cores";
    case Pipe::tensor_memory:
      return "moves to and from TMEM";
    case Pipe::copies:
      return "the copy engines";
    case Pipe::l2:
      return "L2's bandwidth";
    case Pipe::memory:
      return "memory bandwidth";
    default:
      return name_of(pipe);
  }
}

double busy(const Statistics& s, Pipe pipe) {
  const PipeUse* use = find(s, pipe);
  return use ? use->busy : 0;
}

// "memory is busy 31% of the time, L2 45%"
std::string bandwidths(const Statistics& s) {
  return fmt::format("memory is busy {} of the time, L2 {}", percent(busy(s, Pipe::memory)),
                     percent(busy(s, Pipe::l2)));
}

// Of the tensor core's idle time, by what its warps waited for.
struct Idle {
  double copies = 0, writers = 0, products = 0, running = 0, other = 0;
  std::string other_name;
};
Idle idle_of(const UnitUse& tensor) {
  Idle idle;
  idle.running = tensor.idle_running;
  double most = 0;
  for (const Waited& w : tensor.idle) {
    const bool mbarrier = w.key.stall == Stall::mbarrier;
    if (w.key.stall == Stall::group ||
        (mbarrier && (w.key.by == Unit::copy_in || w.key.by == Unit::async_copy))) {
      idle.copies += w.share;
    } else if (mbarrier && w.key.by == Unit::warp) {
      idle.writers += w.share;
    } else if (w.key.stall == Stall::products || (mbarrier && w.key.by == Unit::commit)) {
      idle.products += w.share;
    } else {
      idle.other += w.share;
      if (w.share > most) most = w.share, idle.other_name = text(w.key);
    }
  }
  return idle;
}

std::string tensor_waits(const Statistics& s, const UnitUse& tensor) {
  const Idle idle = idle_of(tensor);
  const std::string head =
      fmt::format("the tensor core is busy {} of a CTA's time", percent(tensor.busy));
  const double most = std::max(
      {idle.copies, idle.writers, idle.products, idle.running, idle.other, tensor.outside});
  if (most <= 0) return fmt::format("Bound by latency: {}.", head);
  if (most == tensor.outside) {
    return fmt::format(
        "Bound by prologue and epilogue of CTAs: {}, and {} of it is before its first MMA or "
        "after its last, such as the epilogue; more work for each CTA would help, with the "
        "epilogue of one tile overlapping the MMAs of the next.",
        head, percent(most));
  }
  if (most == idle.copies) {
    const bool full = busy(s, Pipe::memory) > much || busy(s, Pipe::l2) > much;
    return fmt::format(
        "Bound by load latency: {}, and {} of it the warps that issue MMAs wait for data; {}, so "
        "{}.",
        head, percent(idle.copies), bandwidths(s),
        full ? "better reuse of what L2 has, or larger tiles, would help"
             : "more stages in flight would help");
  }
  if (most == idle.writers) {
    return fmt::format(
        "Bound by the handover between warps: {}, and {} of it the warps that issue MMAs wait for "
        "an arrival, such as an accumulator still being read.",
        head, percent(idle.writers));
  }
  if (most == idle.products) {
    return fmt::format(
        "Bound by MMA latency: {}, and {} of it the warps that issue them wait for earlier MMAs to "
        "complete.",
        head, percent(idle.products));
  }
  if (most == idle.running) {
    return fmt::format(
        "Bound by other instructions of the warps that issue MMAs: {}, and {} of it these warps "
        "execute something else.",
        head, percent(idle.running));
  }
  return fmt::format(
      "Bound by latency: {}, and {} of it the warps that issue MMAs wait, most of it for {}.", head,
      percent(idle.other), idle.other_name);
}

std::string latency(const Statistics& s) {
  if (s.stalls.empty()) return "";
  const Waited& first = s.stalls.front();
  std::string out = fmt::format("Bound by latency: {} of the stall cycles are for {}",
                                percent(first.share), text(first.key));
  if (first.key.stall == Stall::global) out += fmt::format("; {}", bandwidths(s));
  if (s.resident_warps > 0 && 2 * s.resident_warps < s.warps_at_most) {
    out += fmt::format("; an SM has {} of {} warps to hide it", s.resident_warps, s.warps_at_most);
  }
  return out + ".";
}

std::string main_sentence(const Statistics& s) {
  if (s.seconds > 0 && s.launch > s.seconds / 2) {
    return fmt::format("Bound by launch overhead: {} of the time.", percent(s.launch / s.seconds));
  }
  if (!s.pipes.empty() && s.pipes.front().busy >= nearly_all) {
    const PipeUse& top = s.pipes.front();
    return fmt::format("Bound by {}: busy {} of the time.", unit_text(top.pipe), percent(top.busy));
  }
  const UnitUse* tensor = find(s, Unit::tensor);
  if (tensor && tensor->busy >= nearly_all) {
    return fmt::format("Bound by the tensor cores: busy {} of a CTA's time, {} of the whole.",
                       percent(tensor->busy), percent(busy(s, Pipe::tensor)));
  }
  return tensor ? tensor_waits(s, *tensor) : latency(s);
}

}  // namespace

std::string verdict_of(const Statistics& s) {
  if (!s.known_time) {
    return "There is no time in this record: the schedule was randomised (--schedule, --lazy or a "
           "held warp), and its unit is instructions.";
  }
  const bool one_unit = !s.pipes.empty() && s.pipes.front().busy >= nearly_all;
  std::string out;
  if (s.kept_from && !one_unit) {
    out = fmt::format(
        "The record has events of cycles {} to {} only, and what warps wait for there need not be "
        "what bounds the kernel: a record of all of the run says that.",
        *s.kept_from, s.kept_to);
  } else {
    out = main_sentence(s);
  }
  // Of work that some SMs never get, and of those that wait for the last ones.
  if (s.processors_used > 0 && s.processors_used < s.processors && s.blocks < s.processors) {
    out += fmt::format(" Only {} of {} SMs {} a CTA.", s.processors_used, s.processors,
                       s.processors_used == 1 ? "has" : "have");
  } else if (s.blocks_simulated == s.blocks && s.folded == 0 && s.occupied > 0 &&
             s.occupied < nearly_all) {
    out += fmt::format(" SMs have a CTA {} of the time.", percent(s.occupied));
  }
  return out;
}

}  // namespace tilescope::sim
