#include "viz/session/course_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "viz/scene/command_text.h"
#include "viz/session/lesson_evidence.h"
#include "viz/session/open.h"
#include "viz/session/panels.h"
#include "viz/session/session.h"

namespace tilescope {
namespace {

std::string kept_file_name(const CourseExercise& exercise) {
  return "course " + exercise.name;
}

const LessonProgress::Of* course_done(const Session& session) {
  const auto found = session.progress.lessons.find(std::string(course_progress));
  return found == session.progress.lessons.end() ? nullptr : &found->second;
}

LessonProgress::Of& course_done(Session& session) {
  return session.progress.lessons[std::string(course_progress)];
}

// Reads the file where it is another than before.
bool look_at_file(Session& session, Backend& backend, const CourseExercise& exercise) {
  CourseWork& work = session.course.work[exercise.name];
  bool adopted = false;
  if (work.file.empty()) {
    const auto kept = session.kept.find(kept_file_name(exercise));
    const bool known = kept != session.kept.end() && !kept->second.empty();
    const std::string file = known ? kept->second.front() : exercise.name + ".cu";
    if (backend.stamp(file) == 0) return false;
    // A file of this name may be something else, a copy of the kernel for example.
    const auto text = backend.read_text(file);
    if (!known && (!text || !is_text_of(exercise, *text))) return false;
    work.file = file;
    adopted = true;
  }
  const std::uint64_t stamp = backend.stamp(work.file);
  if (stamp == work.stamp) return adopted;
  const bool was_there = work.there(), was_changed = work.changed();
  if (stamp == 0) {
    work.stamp = 0;
    return true;
  }
  auto text = backend.read_text(work.file);
  if (!text) return adopted;  // an editor that puts another file in its place takes it away
  work.stamp = stamp;
  work.text = std::move(*text);
  return adopted || !was_there || work.changed() != was_changed;
}

void work_on(Session& session, Backend& backend, const CourseExercise& exercise,
             std::string_view file) {
  CourseWork& work = session.course.work[exercise.name];
  if (!file.empty() && work.file != file) {
    work = {};
    work.file = file;
  }
  look_at_file(session, backend, exercise);
  if (!work.file.empty()) {
    session.kept[kept_file_name(exercise)] = {backend.whole_path(work.file)};
  }
}

// The exercise of this name, or the one that is shown.
Outcome<CourseExercise> exercise_meant(Session& session, const Backend& backend,
                                       std::string_view name) {
  const auto index = course_of(session, backend);
  if (!name.empty()) return exercise_named(*index, name);
  if (const CourseExercise* shown = shown_exercise(session)) return *shown;
  return exercise_named(*index, "");
}

void show(Session& session, const CourseExercise& exercise) {
  session.state.exercise = exercise.name;
  session.state.view = ViewName::course;
  show_in_field(session);
}

std::string first_file(const CourseExercise& exercise, const CourseWork& work) {
  return work.file.empty() ? exercise.name + ".cu" : work.file;
}

Error no_file(const CourseExercise& exercise, const std::string& file) {
  return {ErrorKind::usage,
          fmt::format("There is no file {}: `course start {}{}` writes one to begin with.", file,
                      exercise.name, file == exercise.name + ".cu" ? "" : " " + quoted_word(file)),
          ""};
}

}  // namespace

std::shared_ptr<const CourseIndex> course_of(Session& session, const Backend& backend) {
  if (!session.course.index) {
    session.course.index = std::make_shared<const CourseIndex>(backend.course_exercises());
  }
  return session.course.index;
}

const CourseExercise* shown_exercise(const Session& session) {
  if (!session.course.index) return nullptr;
  const auto& all = session.course.index->exercises;
  for (const CourseExercise& each : all) {
    if (each.name == session.state.exercise) return &each;
  }
  for (const CourseExercise& each : all) {
    if (standing_of(session, each) != CourseStanding::passed) return &each;
  }
  return all.empty() ? nullptr : &all.front();
}

const CourseWork& work_of(const Session& session, const CourseExercise& exercise) {
  static const CourseWork blank;
  const auto found = session.course.work.find(exercise.name);
  return found == session.course.work.end() ? blank : found->second;
}

CourseStanding standing_of(const Session& session, const CourseExercise& exercise) {
  const LessonProgress::Of* done = course_done(session);
  if (done && done->solved.count(exercise.name) != 0) return CourseStanding::passed;
  const bool begun = work_of(session, exercise).there();
  return begun || (done && done->seen.count(exercise.name) != 0) ? CourseStanding::begun
                                                                 : CourseStanding::fresh;
}

std::vector<const CourseExercise*> exercises_of(const Session& session, std::string_view lesson) {
  std::vector<const CourseExercise*> out;
  if (!session.course.index) return out;
  for (const CourseExercise& each : session.course.index->exercises) {
    if (each.lesson == lesson) out.push_back(&each);
  }
  return out;
}

Outcome<std::string> open_exercise(Session& session, Backend& backend, std::string_view name,
                                   std::string_view file) {
  const auto exercise = exercise_meant(session, backend, name);
  if (!exercise) return exercise.error();
  if (!file.empty() && backend.stamp(std::string(file)) == 0) {
    return no_file(*exercise, std::string(file));
  }
  for (const CourseExercise& each : session.course.index->exercises) {
    look_at_file(session, backend, each);
  }
  work_on(session, backend, *exercise, file);
  show(session, *exercise);
  return fmt::format("{}: {}.", exercise->name, exercise->title);
}

Outcome<std::string> start_exercise(Session& session, Backend& backend, std::string_view name,
                                    std::string_view file) {
  const auto exercise = exercise_meant(session, backend, name);
  if (!exercise) return exercise.error();
  const std::string path =
      file.empty() ? first_file(*exercise, work_of(session, *exercise)) : std::string(file);
  if (!path.ends_with(".cu")) {
    return usage_error(fmt::format("`course start` writes a CUDA file, F.cu; {} is none.", path));
  }
  if (backend.stamp(path) != 0) {
    return usage_error(fmt::format(
        "{0} is there already, and may have your work in it: `course {1} {0}` goes on with it, "
        "`course start {1} F.cu` writes elsewhere.",
        quoted_word(path), exercise->name));
  }
  const auto source = backend.course_source(*exercise);
  if (!source) return source.error();
  const auto text = first_text(*exercise, *source, path);
  if (!text) return text.error();
  if (auto error = backend.write_text(path, *text)) return *error;
  work_on(session, backend, *exercise, path);
  course_done(session).seen.insert(exercise->name);
  show(session, *exercise);
  return fmt::format("Wrote {}: {}.{}", path, exercise->title, keep_progress(session, backend));
}

Outcome<std::string> hint_at_exercise(Session& session, Backend& backend) {
  const auto exercise = exercise_meant(session, backend, "");
  if (!exercise) return exercise.error();
  CourseWork& work = session.course.work[exercise->name];
  const std::size_t count = exercise->hints.size();
  if (work.hints >= count) {
    return usage_error(count == 0 ? fmt::format("{} has no hints.", exercise->name)
                                  : fmt::format("{} has {} hint{}, and all were given.",
                                                exercise->name, count, count == 1 ? "" : "s"));
  }
  show(session, *exercise);
  session.course.news = CourseState::News::hint;
  return exercise->hints[work.hints++];
}

Outcome<std::string> check_exercise(Session& session, Backend& backend, std::string_view file) {
  CourseState& course = session.course;
  if (course.check) {
    return usage_error(
        fmt::format("{} is being checked; `cancel` stops that.", course.check->exercise));
  }
  const auto exercise = exercise_meant(session, backend, "");
  if (!exercise) return exercise.error();
  const std::string path =
      file.empty() ? first_file(*exercise, work_of(session, *exercise)) : std::string(file);
  if (backend.stamp(path) == 0) return no_file(*exercise, path);
  if (session.edit.edit.path == path && session.edit.edit.unsaved()) {
    if (auto error = store_edit(session, backend)) return *error;
  }
  const auto text = backend.read_text(path);
  if (!text) return text.error();
  if (auto error = backend.start_check(*exercise, path)) return *error;
  session.run_error.reset();
  work_on(session, backend, *exercise, path);
  course.check = CourseCheck{exercise->name, path, *text, {}};
  show(session, *exercise);
  return fmt::format("Checking {}.", path);
}

namespace {

// What is told of a verdict in one line.
Message message_of(const CourseExercise& exercise, const CourseVerdict& verdict) {
  if (verdict.passed()) {
    return {fmt::format("{}: {}, in {} runs; {}.", exercise.name, summary(verdict), verdict.runs,
                        time_words(verdict, exercise)),
            false, true};
  }
  const std::string options = verdict.options.empty() ? "" : fmt::format(" ({})", verdict.options);
  return {fmt::format("{}: {}{}. {}", exercise.name, summary(verdict), options, verdict.sentence),
          true};
}

}  // namespace

bool take_check(Session& session, Backend& backend) {
  CourseState& course = session.course;
  if (!course.check) return false;
  auto result = backend.take_check();
  if (!result) {
    const CourseProgress now = backend.check_progress();
    const bool further = now.run != course.check->progress.run;
    course.check->progress = now;
    return further;
  }
  const CourseCheck check = *std::exchange(course.check, {});
  if (!*result) {
    const Error& error = result->error();
    const bool stopped = error.kind == ErrorKind::interrupted;
    session.message = {
        stopped ? fmt::format("The check of {} was stopped.", check.file) : error.sentence,
        !stopped};
    if (!stopped) session.run_error = error;
    return true;
  }
  const auto exercise = exercise_named(*course.index, check.exercise);
  if (!exercise) return true;
  CourseWork& work = course.work[check.exercise];
  if (work.file != check.file) return true;  // another is worked on since
  work.verdict = std::move(**result);
  work.judged = check.text;
  course.news = CourseState::News::verdict;
  session.message = message_of(*exercise, *work.verdict);
  if (work.verdict->passed()) {
    course_done(session).seen.insert(exercise->name);
    course_done(session).solved.insert(exercise->name);
    session.message.text += keep_progress(session, backend);
  }
  return true;
}

Outcome<std::string> stop_check(Session& session, Backend& backend) {
  backend.cancel_check();
  return fmt::format("Stopping the check of {}.", session.course.check->file);
}

Outcome<std::vector<std::string>> lines_to_edit(const Session& session) {
  const CourseExercise* exercise = shown_exercise(session);
  if (!exercise) return usage_error("There is no exercise to work on.");
  const CourseWork& work = work_of(session, *exercise);
  if (!work.there()) return no_file(*exercise, first_file(*exercise, work));
  const std::string file = quoted_word(work.file);
  std::vector<std::string> out = {
      fmt::format("open {} --source {} {}", exercise->kernel, file, exercise->shapes.front()),
      fmt::format("edit {}", file)};
  // Where the learner's part begins, as long as it says so.
  if (const std::size_t at = work.text.find("// Yours."); at != std::string::npos) {
    const auto begin = work.text.begin();
    out.push_back(fmt::format(
        "edit line {}", std::count(begin, begin + static_cast<std::ptrdiff_t>(at), '\n') + 1));
  }
  return out;
}

Outcome<std::vector<std::string>> lines_to_show(const Session& session) {
  const CourseExercise* exercise = shown_exercise(session);
  const CourseWork blank;
  const CourseWork& work = exercise ? work_of(session, *exercise) : blank;
  if (!work.verdict) {
    return usage_error("Nothing was checked yet: `course check` does, and then says what to see.");
  }
  if (work.verdict->passed()) {
    return usage_error(
        fmt::format("{} is {}: nothing is wrong.", work.file, summary(*work.verdict)));
  }
  if (work.verdict->show.empty()) {
    return usage_error(fmt::format("There is nothing to see of this: {}", work.verdict->sentence));
  }
  return work.verdict->show;
}

bool look_at_course(Session& session, Backend& backend) {
  const CourseExercise* exercise = shown_exercise(session);
  if (!exercise) return false;
  return look_at_file(session, backend, *exercise);
}

bool course_file_changed(const Session& session, const Backend& backend) {
  const CourseExercise* exercise = shown_exercise(session);
  if (!exercise || session.state.view != ViewName::course) return false;
  const CourseWork& work = work_of(session, *exercise);
  return !work.file.empty() && backend.stamp(work.file) != work.stamp;
}

bool edits_exercise(const Session& session) {
  const CourseExercise* exercise = shown_exercise(session);
  const std::string& path = session.edit.edit.path;
  return exercise && !path.empty() && work_of(session, *exercise).file == path;
}

std::vector<InspectorSection> course_sections(const Session& session) {
  const CourseExercise* exercise = shown_exercise(session);
  if (!exercise) return {};
  const CourseWork& work = work_of(session, *exercise);
  InspectorSection own{
      "Exercise", {{"name", exercise->name}, {"in place of", exercise->kernel}}, ""};
  own.lines.emplace_back("standing", name_of(standing_of(session, *exercise)));
  if (!work.file.empty()) own.lines.emplace_back("file", work.file);
  if (work.verdict)
    own.lines.emplace_back("last check", fmt::format("{} runs", work.verdict->runs));
  if (!exercise->lesson.empty()) {
    own.links.push_back({"its lesson", "explains the kernel", "lesson " + exercise->lesson});
  }
  InspectorSection judged{"How it is judged", {}, ""};
  judged.lines = {
      {"right",
       "It compiles, and at each shape every element agrees with the reference, without a fault or "
       "hazard."},
      {"safe", "The same with copies that come as late as they may, and in ten schedules."},
      {"fast", fmt::format("At {} it is predicted to take at most {}% of our kernel's time.",
                           exercise->shapes.back(), exercise->percent)}};
  return {std::move(own), std::move(judged)};
}

Strip course_strip(const Session& session) {
  Strip out;
  out.apart = true;
  const CourseExercise* exercise = shown_exercise(session);
  if (!exercise) return out;
  const CourseWork& work = work_of(session, *exercise);
  const auto& check = session.course.check;
  const bool checking = check && check->exercise == exercise->name;
  if (check) {
    const CourseProgress& now = check->progress;
    out.share = now.of > 0 ? static_cast<double>(now.run - 1) / static_cast<double>(now.of) : 0.0;
    out.progress = now.of > 0 ? fmt::format("run {} of {}: {}", now.run, now.of, now.options)
                              : fmt::format("checking {}", check->file);
  }
  out.steps.push_back({"File", work.there() ? work.file : "none yet", !work.verdict && !checking});
  const auto say = [&](const char* title, bool yes, const std::string& more) {
    std::string value = checking ? "being checked" : "not checked";
    if (!checking && work.verdict) value = more.empty() ? (yes ? "yes" : "no") : more;
    out.steps.push_back({title, std::move(value), false});
  };
  const CourseVerdict verdict = work.verdict.value_or(CourseVerdict{});
  say("Right", verdict.right, "");
  say("Safe", verdict.safe, verdict.right ? "" : "not asked");
  say("Fast", verdict.fast, verdict.safe ? "" : "not asked");
  return out;
}

}  // namespace tilescope
