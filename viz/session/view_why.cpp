// Why the run took so long, and what if.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "viz/session/view_rows.h"
#include "viz/session/why_session.h"

namespace tilescope {
namespace {

std::optional<Emptiness> no_why(const Session& session) {
  const ViewState& state = session.state;
  if (state.timeline) return {};
  const std::string& name = state.kernel->name;
  if (session.running) {
    return Emptiness{
        fmt::format("{} is running. What its time went to is told here when it has ended.", name),
        "", ""};
  }
  return Emptiness{
      fmt::format("What the time of {} went to is told here when it has run: the chain "
                  "of causes that is longest, and what if something took less.",
                  name),
      "run", "Run"};
}

void draw_why_view(Session& session, Picture& out, const Drawing& how) {
  const auto view = why_of(session);
  const WhyShown shown{*view, why_answer(session, *view), session.theme()};
  out.why = draw_why(out.scene, shown, how.size, session.scrolls[session.state.view]);
  out.scroll = out.why->scroll;
}

Json why_json(const Session& session, const Picture& picture) {
  Json out = describe(picture.scene);
  if (const auto view = why_of(session)) {
    out["why"] = describe_why({*view, why_answer(session, *view), session.theme()});
  }
  return out;
}

}  // namespace

const View why_view = {
    .id = ViewName::why,
    .name = "why",
    .tab = "Why",
    .said = "what the time went to",
    .list = true,
    .empty = no_why,
    .draw = draw_why_view,
    .json = why_json,
};

}  // namespace tilescope
