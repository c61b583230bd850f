// A run as a graph of times: each event's issue, begin and end is a point, and each point comes no
// earlier than others and what lies between them. From it follow the longest chain of the run, and
// what the run would take if copies, products, barriers or latencies took less: the same graph,
// timed again.
//
//     a warp's events follow each other; what it issues and arrives at comes as far into a run as
//       the record says
//     an operation begins behind its issue, and behind what its unit began before; it ends behind
//       its begin, and behind the last of its bytes or products
//     a phase ends with the last of its arrivals; a wait behind what ended it
//     a copy into a stage is issued behind the phase that freed it, what reads a stage behind the
//       phase that filled it, a sum is read behind the phase that completed it: also where the run
//       had no need to wait (core/profile/pipeline.h)
//
// With nothing changed, every point is exactly where the record has it. With something changed, the
// rest stays as long as it was: how SMs share L2 and memory, what others take of a scheduler, which
// CTA comes to which SM. So the answer is a bound on what an improvement can bring, and the run of
// a changed kernel is the proof.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/profile/critical_path.h"
#include "core/record/timeline.h"

namespace tilescope::sim {

// Shares of the time that they take in the run: 1 as it is, 0.5 twice as fast, 0 free.
struct WhatIf {
  double copies = 1;    // TMA, bulk copies and cp.async, from begin to end
  double products = 1;  // of tensor cores
  double barriers = 1;  // commits, arrivals on their way, and until who waits goes on
  double latency = 1;   // loads of threads, TMEM's loads, from issue to begin, a copy's first byte
  bool operator==(const WhatIf&) const = default;
  bool changes() const { return *this != WhatIf{}; }
};

// What one asks first: "copies twice as fast", "tensor cores free" ...
struct Question {
  std::string_view text;
  WhatIf what;
};
std::span<const Question> usual_questions();
// "copies at 50%, tensor cores free"; empty: nothing is changed.
std::string text_of(const WhatIf& what);

class RunGraph {
 public:
  // Of the events that the record keeps whole.
  explicit RunGraph(const Timeline& timeline);

  // When each point comes, in cycles.
  std::vector<double> times(const WhatIf& what) const;
  // When the run is over: the last warp has exited, and what was left on its way is there. 0
  // without events.
  double end_of(const std::vector<double>& times) const;
  // The chain that decides when that is, from the run's start to it, without gaps.
  // Times are those of `times`.
  std::vector<PathStep> path(const WhatIf& what, const std::vector<double>& times) const;

 private:
  using Point = std::uint32_t;
  static constexpr Point none = ~Point{0};

  // `to` comes no earlier than `from` and this many cycles.
  struct Edge {
    Point from = 0, to = 0;
    PathKind kind = PathKind::runs;
    EventId event = no_event;  // that takes the time
    double cycles = 0;
    double latency = 0;  // of these, what is latency and not work
  };

  static double weight(const Edge& edge, const WhatIf& what);
  Point last_of(const std::vector<double>& times) const;

  class Builder;

  std::vector<Point> order_;        // causes before effects
  std::vector<Edge> edges_;         // by `to`; of two that decide alike, the first is told
  std::vector<std::size_t> first_;  // of a point's, in edges_
  std::vector<Point> ends_;         // of which the last is the end of the run
};

// The usual questions and their answers, a line each, and what they leave out. `asked`: that one
// alone.
std::string what_if_text(const RunGraph& graph, const WhatIf& asked = {});
// What such a timing leaves out, a sentence.
std::string_view left_out();

}  // namespace tilescope::sim
