// The course: exercises, and what was written of them.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "viz/course/course_scene.h"
#include "viz/session/course_state.h"
#include "viz/session/session.h"
#include "viz/session/view_rows.h"

namespace tilescope {
namespace {

std::optional<Emptiness> no_course(const Session& session) {
  if (shown_exercise(session)) return {};
  return Emptiness{"There are no exercises here. Kernels that are whole can be opened and run.",
                   "open elementwise_add", "Open elementwise_add"};
}

CourseShown course_shown(const Session& session) {
  const CourseExercise& exercise = *shown_exercise(session);
  const CourseWork& work = work_of(session, exercise);
  CourseShown out{{}, exercise, work.file};
  for (const CourseExercise& each : session.course.index->exercises) {
    out.rows.push_back({each.name, each.title, standing_of(session, each), &each == &exercise});
  }
  out.there = work.there();
  out.changed = work.changed();
  out.verdict = work.verdict ? &*work.verdict : nullptr;
  out.hints = work.hints;
  if (const auto& check = session.course.check) {
    const CourseProgress& now = check->progress;
    const std::string how_far =
        now.of > 0 ? fmt::format(": run {} of {}, {}", now.run, now.of, now.options) : "";
    out.checking = fmt::format("Checking {}{}", check->file, how_far);
  }
  return out;
}

// As far down as it must be for all of a part to be seen, or its begin.
double scrolled_to(const CourseFrame::Part& part, double scrolled, double height) {
  const double least = part.end + 16 - height;
  return std::min(std::max(scrolled, least), std::max(0.0, part.begin - 16));
}

void draw_course_view(Session& session, Picture& out, const Drawing& how) {
  Scroll& scroll = session.scrolls[ViewName::course];
  const CourseShown shown = course_shown(session);
  Scene tried;
  tried.size = how.size;
  tried.theme = out.scene.theme;
  const CourseFrame frame = draw_course(tried, shown, how.size, 0, 0);
  const CourseState::News news = session.course.news;
  if (news == CourseState::News::verdict) {
    scroll.at = scrolled_to(frame.verdict, scroll.at, how.size.height);
  } else if (news == CourseState::News::hint) {
    scroll.at = scrolled_to(frame.hints, scroll.at, how.size.height);
  }
  if (!how.stands_alone) session.course.news = CourseState::News::none;
  scroll.at = how.stands_alone ? 0 : std::clamp(scroll.at, 0.0, frame.scroll);
  scroll.beside = std::clamp(scroll.beside, 0.0, frame.scroll_beside);
  draw_course(out.scene, shown, how.size, scroll.at, scroll.beside);
  out.scroll = frame.scroll;
  out.beside = frame.beside;
  out.scroll_beside = frame.scroll_beside;
}

// As high as all of it is.
Scene course_for_file(Session& quiet, const Session& session) {
  quiet.course = session.course;
  quiet.progress = session.progress;
  const CourseShown shown = course_shown(quiet);
  Scene out;
  out.theme = quiet.theme();
  out.size = {1280, 640};
  Scene tried = out;
  const CourseFrame frame = draw_course(tried, shown, out.size, 0, 0);
  out.size.height += std::max(frame.scroll, frame.scroll_beside);
  draw_course(out, shown, out.size, 0, 0);
  return out;
}

Json course_json(const Session& session, const Picture& picture) {
  Json out = describe(picture.scene);
  out["course"] = describe_course(course_shown(session));
  return out;
}

bool has_exercise(const Session& session) {
  return !session.state.exercise.empty();
}

}  // namespace

const View course_view = {
    .id = ViewName::course,
    .name = "course",
    .tab = "Course",
    .said = "what there is to write oneself",
    .of = View::Of::course,
    .list = true,
    .offered = has_exercise,
    .empty = no_course,
    .draw = draw_course_view,
    .for_file = course_for_file,
    .json = course_json,
};

}  // namespace tilescope
