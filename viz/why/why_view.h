// Why a run took as long as it did, made of its record: its graph of times, the longest chain, and
// what the usual questions are answered with.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/profile/run_graph.h"
#include "core/record/timeline.h"

namespace tilescope {

// The run timed again: as it was, or with something changed.
struct WhyAnswer {
  sim::WhatIf what;
  double end = 0;  // cycles
  std::vector<sim::PathStep> path;
};

class WhyView {
 public:
  // The timeline is of this record.
  WhyView(std::shared_ptr<const sim::Record> record, std::shared_ptr<const sim::Timeline> timeline);

  const sim::Record& record() const { return *record_; }
  const WhyAnswer& run() const { return run_; }
  const std::vector<sim::PathLine>& lines() const { return lines_; }  // of the run's chain
  WhyAnswer ask(const sim::WhatIf& what) const;
  struct Usual {
    std::string text;
    WhyAnswer answer;
  };
  const std::vector<Usual>& usual() const { return usual_; }

 private:
  std::shared_ptr<const sim::Record> record_;
  std::shared_ptr<const sim::Timeline> timeline_;
  sim::RunGraph graph_;
  WhyAnswer run_;
  std::vector<sim::PathLine> lines_;
  std::vector<Usual> usual_;
};

}  // namespace tilescope
