#include "core/lesson/course.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace tilescope {
namespace {

constexpr std::string_view kBegin = "// [exercise", kEnd = "// exercise]";

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

bool ends_in(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> out;
  while (true) {
    const std::size_t end = std::min(text.find(at), text.size());
    if (const std::string_view part = trim(text.substr(0, end)); !part.empty()) {
      out.emplace_back(part);
    }
    if (end == text.size()) return out;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

class CourseReader {
 public:
  CourseReader(std::string_view text, std::string_view name) : lines_(lines_of(text)) {
    exercise_.name = name;
  }

  Outcome<CourseExercise> read() {
    for (; at_ < lines_.size() && !error_; ++at_) read_line(trim(lines_[at_]));
    if (!error_) finish();
    if (error_) return *error_;
    return std::move(exercise_);
  }

 private:
  enum class Part : std::uint8_t { statement, hints, mistakes };

  void fail(std::string sentence) {
    error_ = Error{ErrorKind::unreadable, std::move(sentence),
                   fmt::format("{}.md:{}", exercise_.name, std::min(at_, lines_.size()) + 1)};
  }

  void read_line(std::string_view line) {
    if (line.empty()) {
      open_ = nullptr;
    } else if (line == "```course") {
      read_head();
    } else if (line.substr(0, 3) == "## ") {
      open_ = nullptr;
      if (const std::string_view title = trim(line.substr(3)); title == "Hints") {
        part_ = Part::hints;
      } else if (title == "Mistakes") {
        part_ = Part::mistakes;
      } else {
        fail(fmt::format("`{}` is no part of an exercise: Hints and Mistakes are.", title));
      }
    } else if (line.substr(0, 2) == "# ") {
      exercise_.title = trim(line.substr(2));
    } else {
      add(line);
    }
  }

  // A line that goes on with the one before, or begins a paragraph or an item.
  void add(std::string_view line) {
    const bool item = line.substr(0, 2) == "- ";
    if (open_ && !item) {
      *open_ += fmt::format(" {}", line);
      if (part_ == Part::mistakes) exercise_.mistakes.back().sentence = *open_;
      return;
    }
    if (part_ == Part::statement) {
      exercise_.statement.emplace_back(line);
      open_ = &exercise_.statement.back();
    } else if (!item) {
      fail("Here are items only: a line that begins with `- `.");
    } else if (part_ == Part::hints) {
      exercise_.hints.emplace_back(trim(line.substr(2)));
      open_ = &exercise_.hints.back();
    } else {
      add_mistake(trim(line.substr(2)));
    }
  }

  void add_mistake(std::string_view line) {
    const std::size_t colon = line.find(": ");
    std::vector<std::string> words = split(line.substr(0, std::min(colon, line.size())), ',');
    if (colon == line.npos || words.empty()) {
      return fail("A mistake is `KIND, WORDS: what went wrong`; the words may be left out.");
    }
    CourseMistake mistake{
        words.front(), {words.begin() + 1, words.end()}, std::string(trim(line.substr(colon + 2)))};
    exercise_.mistakes.push_back(std::move(mistake));
    open_ = &exercise_.mistakes.back().sentence;
  }

  void read_head() {
    for (++at_; at_ < lines_.size() && !error_; ++at_) {
      const std::string_view line = trim(lines_[at_]);
      if (line == "```") return;
      const std::size_t colon = line.find(':');
      const std::string_view key = trim(line.substr(0, std::min(colon, line.size())));
      const std::string_view value =
          colon == line.npos ? std::string_view() : trim(line.substr(colon + 1));
      if (key == "kernel") {
        exercise_.kernel = value;
      } else if (key == "lesson") {
        exercise_.lesson = value;
      } else if (key == "source") {
        exercise_.source = value;
      } else if (key == "shapes") {
        exercise_.shapes = split(value, ';');
      } else if (key == "number") {
        exercise_.number = static_cast<int>(number(value));
      } else if (key == "time") {
        exercise_.percent = number(value);
      } else {
        fail(fmt::format("`{}` is not known: number, kernel, lesson, source, shapes and time are.",
                         key));
      }
    }
    if (!error_) fail("The ```course block has no end.");
  }

  std::int64_t number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > 10'000) {
      fail(fmt::format("`{}` is no number from 1 to 10000.", text));
    }
    return value;
  }

  void finish() {
    if (exercise_.title.empty()) return fail("The exercise has no title; `# Title` is one.");
    if (exercise_.kernel.empty() || exercise_.shapes.empty() || exercise_.percent == 0) {
      return fail("The ```course block has to say kernel, shapes and time.");
    }
    if (exercise_.statement.empty()) return fail("The exercise does not say what has to be done.");
  }

  std::vector<std::string_view> lines_;
  std::size_t at_ = 0;
  Part part_ = Part::statement;
  CourseExercise exercise_;
  std::string* open_ = nullptr;  // what the next line may go on with
  std::optional<Error> error_;
};

// Words in comment lines of at most 92 characters behind the indent.
std::string comment(std::string_view words, std::string_view indent) {
  std::string out, line;
  for (const std::string& word : split(words, ' ')) {
    if (!line.empty() && line.size() + 1 + word.size() > 92 - indent.size()) {
      out += fmt::format("{}// {}\n", indent, line);
      line.clear();
    }
    line += fmt::format("{}{}", line.empty() ? "" : " ", word);
  }
  return out + fmt::format("{}// {}\n", indent, line);
}

}  // namespace

Outcome<CourseExercise> read_course_exercise(std::string_view text, std::string_view name) {
  return CourseReader(text, name).read();
}

Outcome<std::string> without_marked(std::string_view source, const CourseExercise& exercise) {
  std::string out;
  int parts = 0;
  bool inside = false;
  int number = 0;
  const auto bad = [&](std::string_view sentence) {
    return Error{ErrorKind::unreadable, std::string(sentence),
                 fmt::format("{}, line {}", exercise.kernel, number)};
  };
  for (const std::string_view line : lines_of(source)) {
    ++number;
    const std::string_view words = trim(line);
    const bool begins = ends_in(words, kBegin), ends = ends_in(words, kEnd);
    if (begins && inside) return bad("`// [exercise` stands inside of a part that is left out.");
    if (ends && !inside) return bad("`// exercise]` has no `// [exercise` before it.");
    if (ends) inside = false;
    if (inside) {
      if (words.empty() || out.back() != '\1') continue;
      // The first line of the part says how far it is indented.
      out.pop_back();
      const std::string indent(line.substr(0, line.find_first_not_of(' ')));
      if (parts == 1) {
        for (const std::string& paragraph : exercise.statement) out += comment(paragraph, indent);
        out += fmt::format("{}//\n", indent);
      }
      out += fmt::format("{}// Yours.\n", indent);
      continue;
    }
    std::string_view kept = line;
    if (begins || ends) {
      const std::string_view mark = begins ? kBegin : kEnd;
      kept = line.substr(0, line.rfind(mark));
      while (!kept.empty() && kept.back() == ' ') kept.remove_suffix(1);
    }
    if (!kept.empty() || (!begins && !ends)) out += fmt::format("{}\n", kept);
    if (begins) {
      inside = true;
      ++parts;
      out += '\1';
    }
  }
  if (inside) return bad("`// [exercise` has no `// exercise]` behind it.");
  if (parts == 0) {
    return Error{ErrorKind::unreadable,
                 "Nothing is marked to be left out: a line that ends in `// [exercise` begins it, "
                 "one that ends in `// exercise]` ends it.",
                 exercise.kernel};
  }
  out.erase(std::remove(out.begin(), out.end(), '\1'), out.end());
  return out;
}

std::string without_marks(std::string_view source) {
  std::string out;
  while (!source.empty()) {
    const std::size_t end = std::min(source.find('\n'), source.size());
    std::string_view line = source.substr(0, end);
    for (const std::string_view mark : {kBegin, kEnd}) {
      if (!ends_in(line, mark)) continue;
      line.remove_suffix(mark.size());
      while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
    }
    out += line;
    if (end < source.size()) out += '\n';
    source.remove_prefix(std::min(end + 1, source.size()));
  }
  return out;
}

std::string mistake_told(const CourseExercise& exercise, std::string_view kind,
                         std::string_view sentence) {
  for (const CourseMistake& mistake : exercise.mistakes) {
    const bool all =
        std::all_of(mistake.words.begin(), mistake.words.end(),
                    [&](const std::string& word) { return sentence.find(word) != sentence.npos; });
    if (mistake.kind == kind && all) return mistake.sentence;
  }
  return "";
}

Outcome<CourseExercise> exercise_named(const CourseIndex& index, std::string_view name) {
  std::string names;
  for (const CourseExercise& exercise : index.exercises) {
    if (exercise.name == name) return exercise;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", exercise.name);
  }
  const std::string file = fmt::format("{}.md:", name);
  for (const Error& problem : index.problems) {
    if (problem.where.compare(0, file.size(), file) == 0) return problem;
  }
  return Error{
      ErrorKind::unknown,
      fmt::format("There is no exercise `{}`; there are {}.", name, names.empty() ? "none" : names),
      ""};
}

std::string_view name_of(CourseStanding standing) {
  switch (standing) {
    case CourseStanding::passed:
      return "passed";
    case CourseStanding::begun:
      return "begun";
    case CourseStanding::fresh:
      break;
  }
  return "not yet";
}

std::string_view summary(const CourseVerdict& verdict) {
  if (!verdict.built) return "does not compile";
  if (!verdict.right) return "not right";
  if (!verdict.safe) return "right, but not safe";
  return verdict.fast ? "right, safe and fast" : "right and safe, but too slow";
}

std::string time_words(const CourseVerdict& verdict, const CourseExercise& exercise) {
  if (!(verdict.ours > 0)) return "not asked before it is right and safe";
  return fmt::format("{:.2f} us where ours takes {:.2f} us: {:.0f}%, of {}% at most",
                     verdict.seconds * 1e6, verdict.ours * 1e6,
                     100 * verdict.seconds / verdict.ours, exercise.percent);
}

std::string shapes_words(const CourseExercise& exercise) {
  std::string out;
  for (const std::string& shape : exercise.shapes) {
    out += fmt::format("{}{}", out.empty() ? "" : ";  ", shape);
  }
  return out;
}

namespace {

std::string check_line(const CourseExercise& exercise) {
  return fmt::format("tilescope course check {} ", exercise.name);
}

}  // namespace

Outcome<std::string> first_text(const CourseExercise& exercise, std::string_view source,
                                std::string_view file) {
  const auto body = without_marked(source, exercise);
  if (!body) return body.error();
  std::string out = fmt::format("// {}: write the part that is left out.\n//\n", exercise.title);
  out += fmt::format("//   judged     {}{}\n", check_line(exercise), file);
  out += fmt::format("//   at         {}\n", shapes_words(exercise));
  out += fmt::format("//   time       at most {}% of what ours is predicted to take\n",
                     exercise.percent);
  if (!exercise.lesson.empty()) {
    out += fmt::format("//   explained  tilescope lesson {}\n", exercise.lesson);
  }
  return out + fmt::format("//   a hint     tilescope course hint {}\n\n{}", exercise.name, *body);
}

bool is_text_of(const CourseExercise& exercise, std::string_view text) {
  return text.find(check_line(exercise)) != text.npos;
}

}  // namespace tilescope
