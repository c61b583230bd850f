#include "viz/session/why_session.h"

#include <fmt/format.h>

namespace tilescope {

std::shared_ptr<const WhyView> why_of(const Session& session) {
  const ViewState& state = session.state;
  if (!state.timeline) return nullptr;
  WhyCache& cache = session.why;
  if (cache.of != state.timeline) {
    cache.of = state.timeline;
    cache.view = std::make_shared<const WhyView>(state.timeline->shared_record(),
                                                 state.timeline->shared_timeline());
    cache.answer = cache.view->run();
  }
  return cache.view;
}

const WhyAnswer& why_answer(const Session& session, const WhyView& view) {
  WhyAnswer& answer = session.why.answer;
  if (!(answer.what == session.state.why)) answer = view.ask(session.state.why);
  return answer;
}

std::vector<std::string> why_lines(const ViewState& state) {
  if (!state.timeline || !state.why.changes()) return {};
  std::string line = "why";
  sim::WhatIf what = state.why;
  for (const WhyPart part : why_parts) {
    if (share_of(what, part) != 1) {
      line += fmt::format(" {} {}", name_of(part), share_of(what, part));
    }
  }
  return {line};
}

}  // namespace tilescope
