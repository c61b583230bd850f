// The open layout from the program that it is down to LLVM.
#include <nlohmann/json.hpp>

#include "viz/session/lower_session.h"
#include "viz/session/session.h"
#include "viz/session/view_rows.h"

namespace tilescope {
namespace {

std::optional<Emptiness> no_lowering(const Session& session) {
  const auto lowering = lowering_of(session);
  if (lowering) return std::nullopt;
  // The first line: the place in the expression is for those who type it.
  const std::string& sentence = lowering.error().sentence;
  return Emptiness{sentence.substr(0, sentence.find('\n')), "select layout", "Show the grid"};
}

void draw_lower_view(Session& session, Picture& out, const Drawing& how) {
  const auto lowering = lowering_of(session);
  if (!lowering) return;
  Scroll& scroll = session.scrolls[ViewName::lower];
  const LayoutStudy& study = session.state.study;
  const Scene before = out.scene;
  LowerFrame frame = draw_lower(out.scene, *lowering, {study.lowered, study.lower_from, scroll.at});
  out.scroll = std::max(0.0, frame.height - how.size.height);
  if (scroll.at <= *out.scroll) return;
  scroll.at = *out.scroll;
  out.scene = before;
  draw_lower(out.scene, *lowering, {study.lowered, study.lower_from, scroll.at});
}

Scene lower_for_file(Session& quiet, const Session&) {
  return lower_scene(*lowering_of(quiet), quiet.state.study.lowered, quiet.theme());
}

std::string lower_page(const Session& session) {
  const auto lowering = lowering_of(session);
  return lowering ? lowering::page(*lowering) : std::string();
}

bool never(const Session&) {
  return false;
}

}  // namespace

const View lower_view = {
    .id = ViewName::lower,
    .name = "lower",
    .tab = "Lower",
    .said = "how a layout becomes instructions",
    .of = View::Of::layout,
    .list = true,
    .offered = never,
    .empty = no_lowering,
    .draw = draw_lower_view,
    .for_file = lower_for_file,
    .text = lower_page,
};

}  // namespace tilescope
