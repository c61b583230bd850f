#include "core/profile/run_graph.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilescope::sim {

double RunGraph::weight(const Edge& edge, const WhatIf& what) {
  const double latency = std::clamp(edge.latency, 0.0, edge.cycles);
  const double work = edge.cycles - latency;
  switch (edge.kind) {
    case PathKind::copies_in:
    case PathKind::copies_out:
      return (work + latency * what.latency) * what.copies;
    case PathKind::products:
      return edge.cycles * what.products;
    case PathKind::memory:
    case PathKind::drains:
    case PathKind::moves:
      return edge.cycles * what.latency;
    case PathKind::queued:
      return work + latency * what.latency;
    case PathKind::commit:
    case PathKind::wakes:
      return edge.cycles * what.barriers;
    default:
      return edge.cycles;
  }
}

std::vector<double> RunGraph::times(const WhatIf& what) const {
  std::vector<double> out(order_.size(), 0);
  for (const Point p : order_) {
    double at = 0;
    for (std::size_t i = first_[p]; i < first_[p + 1]; ++i) {
      at = std::max(at, out[edges_[i].from] + weight(edges_[i], what));
    }
    out[p] = at;
  }
  return out;
}

RunGraph::Point RunGraph::last_of(const std::vector<double>& times) const {
  Point last = none;
  for (const Point p : ends_) {
    if (last == none || times[p] >= times[last]) last = p;
  }
  return last;
}

double RunGraph::end_of(const std::vector<double>& times) const {
  const Point last = last_of(times);
  return last == none ? 0 : times[last];
}

std::vector<PathStep> RunGraph::path(const WhatIf& what, const std::vector<double>& times) const {
  std::vector<PathStep> out;
  Point at = last_of(times);
  if (at == none) return out;
  const auto cycle = [](double t) { return static_cast<Cycle>(t + 0.5); };
  // Each turn goes to a cause.
  for (std::size_t turns = order_.size(); turns > 0 && at != 0; --turns) {
    const Edge* best = nullptr;
    for (std::size_t i = first_[at]; i < first_[at + 1]; ++i) {
      const Edge& e = edges_[i];
      if (times[e.from] + weight(e, what) < times[at] - 1e-6) continue;
      best = &e;
      break;
    }
    if (!best) break;
    const Cycle from = cycle(times[best->from]), to = cycle(times[at]);
    if (from < to) {
      if (!out.empty() && out.back().kind == best->kind && out.back().event == best->event) {
        out.back().from = from;
      } else {
        out.push_back({best->kind, from, to, best->event});
      }
    }
    at = best->from;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::span<const Question> usual_questions() {
  static constexpr Question questions[] = {
      {"copies twice as fast", {.copies = 0.5}},
      {"tensor cores free", {.products = 0}},
      {"barriers free", {.barriers = 0}},
      {"half the latency", {.latency = 0.5}},
  };
  return questions;
}

std::string text_of(const WhatIf& what) {
  std::string out;
  const auto add = [&](std::string_view name, double share) {
    if (share == 1) return;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name,
                       share == 0 ? "free" : fmt::format("at {:.0f}%", 100 * share));
  };
  add("copies", what.copies);
  add("tensor cores", what.products);
  add("barriers", what.barriers);
  add("latency", what.latency);
  return out;
}

std::string_view left_out() {
  return "Copies are those of TMA and cp.async, in and out; latency is loads by threads, from "
         "issue to "
         "begin, and a copy's first byte. All else stays as long as it was: what warps compute "
         "themselves (mma.sync, too), what SMs take from each other of L2 and memory, which CTA "
         "comes "
         "to which SM.";
}

std::string what_if_text(const RunGraph& graph, const WhatIf& asked) {
  const double now = graph.end_of(graph.times({}));
  if (now == 0) return "";
  std::string out;
  const auto answer = [&](std::string_view text, const WhatIf& what) {
    const std::vector<double> times = graph.times(what);
    const double then = graph.end_of(times);
    const auto totals = totals_of(graph.path(what, times));
    const std::size_t most =
        static_cast<std::size_t>(std::max_element(totals.begin(), totals.end()) - totals.begin());
    out += fmt::format("  {:>9.0f}  {:4.1f}% less  {}; then {:.0f}% of it: {}\n", then,
                       std::max(0.0, 100 * (now - then) / now), text,
                       100 * static_cast<double>(totals[most]) / std::max(1.0, then),
                       name_of(static_cast<PathKind>(most)));
  };
  if (asked.changes()) {
    answer(text_of(asked), asked);
  } else {
    for (const Question& q : usual_questions()) answer(q.text, q.what);
  }
  return fmt::format("What if: the run's graph, timed again\n{}{}\n", out, left_out());
}

}  // namespace tilescope::sim
