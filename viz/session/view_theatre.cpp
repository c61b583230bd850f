// A cluster's pipeline at one time, to be played.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "viz/session/seek.h"
#include "viz/session/theatre_session.h"
#include "viz/session/view_rows.h"

namespace tilescope {
namespace {

std::optional<Emptiness> no_theatre(const Session& session) {
  const ViewState& state = session.state;
  const std::string& name = state.kernel->name;
  if (session.running) {
    return Emptiness{
        fmt::format("{} is running. Its pipeline is played here when it has ended.", name), "", ""};
  }
  if (!state.timeline) {
    return Emptiness{fmt::format("The pipeline of {} is played here when it has run: what copies "
                                 "bring, what the tensor core multiplies, who waits for whom.",
                                 name),
                     "run", "Run"};
  }
  return no_cluster(session);
}

void draw_theatre_view(Session& session, Picture& out, const Drawing& how) {
  const auto view = theatre_of(session);
  const TheatreNow now =
      theatre_at(*view, theatre_time(session, *view), theatre_rank(session, *view));
  out.theatre = draw_theatre(out.scene, theatre_shown(session, *view, now), how.size);
}

Json theatre_json(const Session& session, const Picture& picture) {
  const auto view = theatre_of(session);
  if (!view) return describe(picture.scene);
  const TheatreNow now =
      theatre_at(*view, theatre_time(session, *view), theatre_rank(session, *view));
  Json out = describe(picture.scene);
  out["theatre"] = describe_theatre(theatre_shown(session, *view, now));
  return out;
}

std::string theatre_words(const Session& session) {
  const auto view = theatre_of(session);
  if (!view) return "";
  const TheatreNow now =
      theatre_at(*view, theatre_time(session, *view), theatre_rank(session, *view));
  return theatre_page(theatre_shown(session, *view, now));
}

}  // namespace

const View theatre_view = {
    .id = ViewName::theatre,
    .name = "theatre",
    .tab = "Theatre",
    .empty = no_theatre,
    .draw = draw_theatre_view,
    .text = theatre_words,
    .json = theatre_json,
};

}  // namespace tilescope
