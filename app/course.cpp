// tilescope course: kernels to write oneself.
//
//     course                      the exercises, and which are passed
//     course start NAME           writes NAME.cu, the kernel without what is to be written, and
//                                 opens the window there
//     course hint NAME [--number N]
//     course check NAME F.cu      judges a text
//     course check DIR            judges all NAME.cu in a folder, and in folders in it: a table
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/course_judge.h"
#include "app/files.h"
#include "app/gui.h"
#include "app/lesson_store.h"
#include "app/terminal.h"
#include "viz/scene/command_text.h"
#include "viz/session/course_state.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Options {
  std::vector<std::string> words;
  std::string out, csv;
  std::optional<std::int64_t> number, memory;
  std::optional<double> seconds;
  bool json = false, no_window = false;
};

Error usage() {
  return {
      ErrorKind::usage,
      "`tilescope course` lists the exercises; `course start NAME`, `course hint NAME`, `course "
      "check NAME F.cu` and `course check DIR` work on them.",
      ""};
}

LessonProgress::Of done_before() {
  const auto progress = saved_progress();
  if (!progress) return {};
  const auto at = progress->lessons.find(std::string(course_progress));
  return at == progress->lessons.end() ? LessonProgress::Of() : at->second;
}

void keep_done(const LessonProgress::Of& done, const char* what, Terminal& terminal) {
  LessonProgress progress;
  progress.lessons[std::string(course_progress)] = done;
  if (const auto error = write_progress(progress_text(progress))) {
    terminal.say(fmt::format("That it is {} was not saved: {}", what, error->sentence));
  }
}

int list_course(Terminal& terminal) {
  const CourseIndex list = course_exercises();
  const LessonProgress::Of before = done_before();
  Json all = Json::array();
  for (const CourseExercise& exercise : list.exercises) {
    const bool done = before.solved.count(exercise.name) > 0;
    const bool begun = before.seen.count(exercise.name) > 0;
    terminal.print(fmt::format("{:<16}{}{}\n", exercise.name, exercise.title,
                               done    ? " (passed)"
                               : begun ? " (begun)"
                                       : ""));
    all.push_back({{"name", exercise.name},
                   {"title", exercise.title},
                   {"kernel", exercise.kernel},
                   {"lesson", exercise.lesson},
                   {"shapes", exercise.shapes},
                   {"percent", exercise.percent},
                   {"begun", begun},
                   {"passed", done}});
  }
  for (const Error& problem : list.problems) {
    terminal.say(fmt::format("{} ({})", problem.sentence, problem.where));
  }
  if (terminal.json()) terminal.document({{"exercises", std::move(all)}});
  return 0;
}

// The window, standing in the exercise, where somebody sits before a display.
bool opens_window(const Options& options) {
  return !options.no_window && !options.json && has_display() && ::isatty(STDOUT_FILENO) == 1;
}

int start(const Options& options, Terminal& terminal) {
  if (options.words.size() != 2) return terminal.fail(usage());
  const auto exercise = exercise_named(course_exercises(), options.words[1]);
  if (!exercise) return terminal.fail(exercise.error());
  const auto source = course_source(*exercise);
  if (!source) return terminal.fail(source.error());
  const std::string file = options.out.empty() ? exercise->name + ".cu" : options.out;
  const auto text = first_text(*exercise, *source, file);
  if (!text) return terminal.fail(text.error());
  std::error_code ignored;
  if (fs::exists(file, ignored)) {
    return terminal.fail({ErrorKind::usage,
                          fmt::format("{} is there already, and may have your work in it. `--out "
                                      "F.cu` writes elsewhere.",
                                      file),
                          file});
  }
  if (const auto error = write_file(file, *text)) return terminal.fail(*error);
  LessonProgress::Of begun;
  begun.seen.insert(exercise->name);
  keep_done(begun, "begun", terminal);
  const std::string line = fmt::format("course {} {}", exercise->name, quoted_word(file));
  const std::string open = fmt::format("tilescope gui --do {}", shell_word(line));
  if (terminal.json()) {
    terminal.document({{"file", file}, {"exercise", exercise->name}, {"open", open}});
    return 0;
  }
  terminal.print(fmt::format("{}: {}\n\n", file, exercise->title));
  for (const std::string& paragraph : exercise->statement) {
    terminal.print(fmt::format("{}\n", paragraph));
  }
  terminal.print(fmt::format("\nIn the window: {}\nJudged by:     tilescope course check {} {}\n",
                             open, exercise->name, file));
  if (!opens_window(options)) return 0;
  GuiOptions window;
  window.commands = {line};
  return open_window(window, terminal);
}

int hint(const Options& options, Terminal& terminal) {
  if (options.words.size() != 2) return terminal.fail(usage());
  const auto exercise = exercise_named(course_exercises(), options.words[1]);
  if (!exercise) return terminal.fail(exercise.error());
  const auto count = static_cast<std::int64_t>(exercise->hints.size());
  const std::int64_t number = options.number.value_or(1);
  if (number < 1 || number > count) {
    return terminal.fail({ErrorKind::usage,
                          count == 0 ? fmt::format("{} has no hints.", exercise->name)
                                     : fmt::format("{} has hints 1 to {}.", exercise->name, count),
                          ""});
  }
  const std::string& words = exercise->hints[static_cast<std::size_t>(number) - 1];
  if (terminal.json()) {
    terminal.document({{"hint", words}, {"number", number}, {"hints", count}});
    return 0;
  }
  terminal.print(words + "\n");
  if (number < count) {
    terminal.print(fmt::format("({} of {}; --number {} says more)\n", number, count, number + 1));
  }
  return 0;
}

std::optional<Error> wrong_limits(const Options& options) {
  if (options.seconds && !(*options.seconds >= 1 && *options.seconds <= 86'400)) {
    return Error{ErrorKind::usage,
                 fmt::format("--seconds {}: a run may take 1 to 86400 seconds.", *options.seconds),
                 ""};
  }
  if (options.memory && (*options.memory < 256 || *options.memory > 1 << 20)) {
    return Error{ErrorKind::usage,
                 fmt::format("--memory {}: a run may have 256 to 1048576 MiB; the program alone "
                             "needs some 200.",
                             *options.memory),
                 ""};
  }
  return {};
}

CourseLimits limits_of(const Options& options) {
  CourseLimits limits;
  if (options.seconds) limits.seconds = *options.seconds;
  if (options.memory) limits.megabytes = static_cast<std::uint64_t>(*options.memory);
  return limits;
}

int exit_of(const CourseVerdict& verdict) {
  if (verdict.passed()) return 0;
  if (!verdict.built) return 2;
  return verdict.kind == "different" || verdict.kind == "slow" ? 1 : 3;
}

// With its progress on a terminal; Ctrl-C ends it.
Outcome<CourseVerdict> judged(const CourseExercise& exercise, const std::string& file,
                              const Options& options, Terminal& terminal) {
  watch_for_interrupt();
  CourseWatch watch;
  watch.tell = [&](const CourseProgress& now) {
    terminal.progress(file, static_cast<double>(now.run) / static_cast<double>(now.of));
  };
  watch.keep_on = [] { return !interrupted(); };
  auto verdict = judge_course(exercise, file, limits_of(options), watch);
  terminal.end_progress();
  return verdict;
}

int check_one(const Options& options, Terminal& terminal) {
  const auto exercise = exercise_named(course_exercises(), options.words[1]);
  if (!exercise) return terminal.fail(exercise.error());
  const auto verdict = judged(*exercise, options.words[2], options, terminal);
  if (!verdict) return terminal.fail(verdict.error());
  if (verdict->passed()) {
    LessonProgress::Of passed;
    passed.seen.insert(exercise->name);
    passed.solved.insert(exercise->name);
    keep_done(passed, "passed", terminal);
  }
  terminal.print(text(*verdict, *exercise));
  if (terminal.json()) {
    Json document = to_json(*verdict);
    document["ok"] = verdict->passed();
    document["exercise"] = exercise->name;
    terminal.document(std::move(document));
  }
  return exit_of(*verdict);
}

// A text of a folder: whose it is (the folder that it lies in; empty: the folder itself), and of
// which exercise, as its name says.
struct Submission {
  std::string who, file;
  CourseExercise exercise;
};

std::vector<Submission> submissions_in(const fs::path& folder) {
  std::vector<Submission> out;
  const CourseIndex list = course_exercises();
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    if (entry.path().extension() != ".cu") continue;
    for (const CourseExercise& exercise : list.exercises) {
      if (entry.path().stem() != exercise.name) continue;
      std::string who = fs::relative(entry.path().parent_path(), folder, ignored).string();
      if (who == ".") who.clear();
      out.push_back({who, entry.path().string(), exercise});
    }
  }
  std::sort(out.begin(), out.end(), [](const Submission& a, const Submission& b) {
    return std::tie(a.who, a.exercise.number) < std::tie(b.who, b.exercise.number);
  });
  return out;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

int check_folder(const Options& options, Terminal& terminal) {
  const std::string& folder = options.words[1];
  const std::vector<Submission> all = submissions_in(folder);
  if (all.empty()) {
    return terminal.fail({ErrorKind::unreadable,
                          fmt::format("{} has no text that is named as an exercise, such as "
                                      "hgemm_v2.cu; `tilescope course` lists them.",
                                      folder),
                          folder});
  }
  Json rows = Json::array();
  std::string csv = "who,exercise,passed,right,safe,fast,seconds,ours,kind,sentence\n";
  bool passed = true;
  for (const Submission& each : all) {
    const auto verdict = judged(each.exercise, each.file, options, terminal);
    if (!verdict) return terminal.fail(verdict.error());
    passed = passed && verdict->passed();
    terminal.print(
        fmt::format("{:<20}{:<16}{}\n", each.who.empty() ? "-" : each.who, each.exercise.name,
                    verdict->passed()
                        ? std::string("passed")
                        : fmt::format("{}: {}", verdict->kind,
                                      verdict->told.empty() ? verdict->sentence : verdict->told)));
    Json row = {{"who", each.who}, {"exercise", each.exercise.name}, {"file", each.file}};
    row.update(to_json(*verdict));
    rows.push_back(std::move(row));
    csv += fmt::format("{},{},{},{},{},{},{:.9g},{:.9g},{},{}\n", csv_field(each.who),
                       each.exercise.name, verdict->passed(), verdict->right, verdict->safe,
                       verdict->fast, verdict->seconds, verdict->ours, verdict->kind,
                       csv_field(verdict->sentence));
  }
  if (!options.csv.empty()) {
    if (const auto error = write_file(options.csv, csv)) return terminal.fail(*error);
    terminal.say(fmt::format("wrote {}", options.csv));
  }
  if (terminal.json()) terminal.document({{"ok", passed}, {"submissions", std::move(rows)}});
  return passed ? 0 : 1;
}

int run_course(const Options& options, Terminal& terminal) {
  if (options.words.empty()) return list_course(terminal);
  const std::string& what = options.words.front();
  if (what == "start") return start(options, terminal);
  if (what == "hint") return hint(options, terminal);
  if (what != "check" || options.words.size() < 2 || options.words.size() > 3) {
    return terminal.fail(usage());
  }
  if (const auto error = wrong_limits(options)) return terminal.fail(*error);
  if (options.words.size() == 3) return check_one(options, terminal);
  std::error_code ignored;
  if (!fs::is_directory(options.words[1], ignored)) return terminal.fail(usage());
  return check_folder(options, terminal);
}

}  // namespace

Action define_course(CommandOptions& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("WHAT", options->words,
                 "start NAME, hint NAME, check NAME F.cu, or check DIR (default: list all)");
  app.add_option("--out", options->out, "start: where the text goes (default: NAME.cu)")
      .type_name("F.cu");
  app.add_flag("--no-window", options->no_window,
               "start: do not open the window, which opens where there is a display and stdout is "
               "a terminal");
  app.add_option("--number", options->number, "hint: which one (default 1)").type_name("N");
  app.add_option("--csv", options->csv, "check DIR: the table as a file").type_name("F.csv");
  app.add_option("--seconds", options->seconds, "check: of one run, at most (default 60)")
      .type_name("S");
  app.add_option("--memory", options->memory, "check: of one run, at most, in MiB (default: any)")
      .type_name("MIB");
  app.add_flag("--json", options->json, "one JSON document on stdout");
  return [options](Terminal& terminal) { return run_course(*options, terminal); };
}

}  // namespace tilescope
