// Why the run took so long, and what if.
#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/run/deadlock_cause.h"
#include "viz/machine/fault_scene.h"
#include "viz/scene/items.h"
#include "viz/session/view_rows.h"
#include "viz/session/why_session.h"
#include "viz/why/deadlock_scene.h"

namespace tilescope {
namespace {

// Of a run that nobody could go on with, and of a machine that stands so. Null: it is none.
const Report* deadlock_of(const ViewState& state) {
  const auto in = [](const std::vector<Report>& reports) -> const Report* {
    for (const Report& report : reports) {
      if (report.deadlock && !report.deadlock->barriers.empty()) return &report;
    }
    return nullptr;
  };
  if (state.result) return in(state.result->reports);
  return state.live ? in(state.live->stepper.known_reports()) : nullptr;
}

std::optional<Emptiness> no_why(const Session& session) {
  const ViewState& state = session.state;
  if (deadlock_of(state)) return {};
  if (state.timeline) {
    const std::string none = sim::without_time(state.timeline->record());
    if (none.empty()) return {};
    return Emptiness{none, "", ""};
  }
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

// Its sentence stands, and what is below it is scrolled.
void draw_deadlock_view(Session& session, Picture& out, const Report& report, Size size) {
  const DeadlockCause& cause = *report.deadlock;
  Scroll& scroll = session.scrolls[session.state.view];
  const double edge = table_edge;
  double y = 24;
  draw_title(out.scene, std::string(title_of(report)), {edge, y});
  const std::string all = "all barriers, and who came";
  const double wide = text_width(all, small_text, Family::sans);
  // Beside the title, or below it.
  const double title =
      text_width(std::string(title_of(report)), title_text, Family::sans, FontWeight::bold);
  if (edge + title + 16 + wide > size.width - edge) y += 26;
  out.scene.add(words({size.width - edge, y}, all, Across::right, Role::accent));
  out.scene.targets.push_back({{size.width - edge - wide, y - 10, wide, 20},
                               "select barriers",
                               "the barriers at that moment"});
  y += 30;
  for (const std::string& line : wrapped(cause.sentence, size.width - 2 * edge, 6)) {
    out.scene.add(words({edge, y}, line));
    y += 18;
  }
  const Box room{0, y, size.width, std::max(0.0, size.height - y)};
  out.scroll = std::max(0.0, deadlock_height(cause, room.width) - room.height);
  scroll.at = std::min(scroll.at, *out.scroll);
  draw_deadlock(out.scene, cause, room, scroll.at);
}

void draw_why_view(Session& session, Picture& out, const Drawing& how) {
  if (const Report* report = deadlock_of(session.state)) {
    return draw_deadlock_view(session, out, *report, how.size);
  }
  const auto view = why_of(session);
  const WhyShown shown{*view, why_answer(session, *view), session.theme()};
  out.why = draw_why(out.scene, shown, how.size, session.scrolls[session.state.view]);
  out.scroll = out.why->scroll;
}

Json why_json(const Session& session, const Picture& picture) {
  Json out = describe(picture.scene);
  if (const Report* report = deadlock_of(session.state)) {
    out["deadlock"] = describe_deadlock(*report->deadlock);
  } else if (const auto view = why_of(session)) {
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
