// The course: kernels to write oneself, and the judge of what is written there.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "viz/commands/command_table.h"
#include "viz/session/course_state.h"
#include "viz/session/seek.h"
#include "viz/session/session.h"

namespace tilescope {
namespace {

constexpr std::array kCourseWords = {"start", "hint", "check", "show", "edit"};

// The lines as one command: what they choose is one step of undo. Those behind a run or a
// compilation follow when it has ended.
Answer carry_out(Session& session, Backend& backend, const std::vector<std::string>& lines) {
  const std::vector<Step> past = session.past, future = session.future;
  std::string said;
  std::size_t next = 0;
  while (next < lines.size() && (next == 0 || !busy(session))) {
    const auto answer = execute(session, backend, lines[next++]);
    session.past = past;
    session.future = future;
    if (!answer) return answer;
    said = *answer;
  }
  session.script = {{lines.begin() + static_cast<std::ptrdiff_t>(next), lines.end()}, true};
  return said;
}

// The editor is there while the text is being compiled.
Answer edit_exercise(Session& session, Backend& backend) {
  const auto lines = lines_to_edit(session);
  if (!lines) return lines.error();
  auto opened = carry_out(session, backend, {lines->front()});
  if (!opened) return opened;
  return carry_out(session, backend, {lines->begin() + 1, lines->end()});
}

// "check F.cu": one word more, or none.
Outcome<std::string> one_file(std::string_view what, std::string_view rest) {
  const std::vector<std::string> words = split_words(rest);
  if (words.size() <= 1) return words.empty() ? std::string() : words.front();
  return usage_error(
      fmt::format("`course {0}` takes a file, or nothing: `course {0} F.cu`.", what));
}

Answer run_course(Session& session, Backend& backend, std::string_view arguments) {
  const auto [what, rest] = first_word(arguments);
  if (what == "check") {
    const auto file = one_file(what, rest);
    return file ? check_exercise(session, backend, *file) : Answer(file.error());
  }
  if (what == "hint" || what == "show" || what == "edit") {
    if (!rest.empty()) return usage_error(fmt::format("`course {}` takes nothing more.", what));
    if (what == "hint") return hint_at_exercise(session, backend);
    if (what == "edit") return edit_exercise(session, backend);
    const auto lines = lines_to_show(session);
    return lines ? carry_out(session, backend, *lines) : Answer(lines.error());
  }
  const bool starts = what == "start";
  const std::vector<std::string> words = split_words(starts ? rest : arguments);
  if (words.size() > 2) {
    return usage_error(
        fmt::format("`course{0}` takes an exercise and a file: `course{0} hgemm_v2 "
                    "mine.cu`.",
                    starts ? " start" : ""));
  }
  const std::string name = words.empty() ? "" : words[0], file = words.size() < 2 ? "" : words[1];
  return starts ? start_exercise(session, backend, name, file)
                : open_exercise(session, backend, name, file);
}

std::vector<Suggestion> suggest_exercise(const Session& session, const Backend&) {
  std::vector<Suggestion> out;
  if (session.course.index) {
    for (const CourseExercise& each : session.course.index->exercises) {
      out.push_back({each.name, each.title});
    }
    for (const CourseExercise& each : session.course.index->exercises) {
      out.push_back({"start " + each.name, "writes the file to begin with"});
    }
  }
  out.push_back({"hint", "the next hint"});
  out.push_back({"check", "judges the file: right, safe, fast"});
  out.push_back({"show", "carries out the commands that show what is wrong"});
  out.push_back({"edit", "opens the file in the window, as the kernel's source"});
  return out;
}

constexpr std::array kCourseCommands = {
    WindowCommand{
        "course", "[NAME [F.cu]] | start [NAME [F.cu]] | hint | check [F.cu] | show | edit",
        "kernels to write oneself: opens an exercise, judges what is written in its file, "
        "shows what is wrong",
        "course hgemm_v2", "", run_course, suggest_exercise, true},
};

}  // namespace

bool is_course_word(std::string_view word) {
  return std::find(kCourseWords.begin(), kCourseWords.end(), word) != kCourseWords.end();
}

std::span<const WindowCommand> course_commands() {
  return kCourseCommands;
}

}  // namespace tilescope
