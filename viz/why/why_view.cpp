#include "viz/why/why_view.h"

#include <utility>

namespace tilescope {

WhyView::WhyView(std::shared_ptr<const sim::Record> record,
                 std::shared_ptr<const sim::Timeline> timeline)
    : record_(std::move(record)), timeline_(std::move(timeline)), graph_(*timeline_) {
  run_ = ask({});
  lines_ = sim::lines_of(*record_, run_.path);
  for (const sim::Question& q : sim::usual_questions()) {
    usual_.push_back({std::string(q.text), ask(q.what)});
  }
}

WhyAnswer WhyView::ask(const sim::WhatIf& what) const {
  const std::vector<double> times = graph_.times(what);
  return {what, graph_.end_of(times), graph_.path(what, times)};
}

}  // namespace tilescope
