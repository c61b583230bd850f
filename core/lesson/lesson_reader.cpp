#include "core/lesson/lesson.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>

#include "core/lesson/glossary.h"
#include "core/lesson/pose.h"

namespace tilescope {
namespace {

constexpr std::string_view kFences = "lesson, do, draw, term and exercise";

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

bool begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

int words_in(std::string_view text) {
  int words = 0;
  bool inside = false;
  for (const char c : text) {
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    words += !blank && !inside;
    inside = !blank;
  }
  return words;
}

// "key: value" of a block's line; nothing where there is no such key.
struct Entry {
  std::string_view key, value;
};
std::optional<Entry> entry_of(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  return Entry{trim(line.substr(0, colon)), trim(line.substr(colon + 1))};
}

template <class Number>
bool read_number(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

class LessonReader {
 public:
  LessonReader(std::string_view text, std::string_view name) : text_(text) { lesson_.name = name; }

  Outcome<Lesson> read() {
    while (!error_ && next_line()) read_line();
    if (!error_) finish();
    if (error_) return *error_;
    return std::move(lesson_);
  }

 private:
  bool next_line() {
    if (at_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    line_ = text_.substr(at_, end - at_);
    at_ = end + 1;
    ++number_;
    return true;
  }

  void fail(int line, std::string sentence) {
    if (error_) return;
    error_ = Error{ErrorKind::unreadable, std::move(sentence),
                   fmt::format("{}.md:{}", lesson_.name, line)};
  }
  void fail(std::string sentence) { fail(number_, std::move(sentence)); }

  void read_line() {
    const std::string_view line = trim(line_);
    if (line.empty()) return end_paragraph();
    if (begins(line, "```")) return read_block(trim(line.substr(3)));
    if (begins(line, "## ")) return begin_step(trim(line.substr(3)));
    if (begins(line, "# ")) return take_title(trim(line.substr(2)));
    if (line[0] == '#') {
      return fail(fmt::format(
          "`{}` is no heading of a lesson: `# Title` is, once, and `## A step`.", line));
    }
    if (lesson_.steps.empty()) {
      return fail("There is text before the first step; a step begins with `## ` and its name.");
    }
    if (begins(line, "- ")) {
      end_paragraph();
      return begin_part(LessonPart::Kind::item, trim(line.substr(2)));
    }
    if (open_) {
      open_->text += fmt::format(" {}", line);
    } else {
      begin_part(LessonPart::Kind::paragraph, line);
    }
  }

  void end_paragraph() { open_ = nullptr; }
  void begin_part(LessonPart::Kind kind, std::string_view text) {
    step().parts.push_back({kind, std::string(text), ""});
    open_ = &step().parts.back();
  }
  LessonStep& step() { return lesson_.steps.back(); }

  void take_title(std::string_view title) {
    if (!lesson_.title.empty())
      return fail("The lesson has a title already; a step begins with `## `.");
    lesson_.title = title;
  }

  void begin_step(std::string_view title) {
    end_paragraph();
    end_step();
    if (lesson_.number <= 0) {
      return fail("A ```lesson block with its `number` and `about` comes before the first step.");
    }
    lesson_.steps.push_back({});
    step().title = title;
    step().line = number_;
  }

  void read_block(std::string_view fence) {
    end_paragraph();
    const int begin = number_;
    std::vector<std::pair<int, std::string>> lines;
    bool closed = false;
    while (!closed && next_line()) {
      closed = trim(line_) == "```";
      if (!closed && !trim(line_).empty()) lines.emplace_back(number_, trim(line_));
    }
    if (!closed) return fail(begin, fmt::format("The block ```{} does not end with ```.", fence));
    if (lines.empty()) return fail(begin, fmt::format("The block ```{} is empty.", fence));
    if (fence == "lesson") return read_header(lines);
    const bool known = fence == "do" || fence == "draw" || fence == "term" || fence == "exercise";
    if (!known) {
      return fail(begin, fmt::format("There are no blocks ```{}; there are {}.", fence, kFences));
    }
    if (lesson_.steps.empty()) {
      return fail(begin,
                  fmt::format("A ```{} block belongs to a step, which begins with `## `.", fence));
    }
    if (fence == "do") {
      for (auto& [line, command] : lines) step().commands.push_back(std::move(command));
    } else if (fence == "draw") {
      read_picture(lines);
    } else if (fence == "term") {
      for (const auto& [line, words] : lines) read_term(line, words);
    } else {
      read_exercise(begin, lines);
    }
  }

  using Lines = std::vector<std::pair<int, std::string>>;

  void read_header(const Lines& lines) {
    if (lesson_.number > 0 || !lesson_.steps.empty()) {
      return fail("A ```lesson block appears once, before the first step.");
    }
    for (const auto& [line, words] : lines) {
      const std::optional<Entry> entry = entry_of(words);
      if (entry && entry->key == "about") {
        lesson_.about = entry->value;
      } else if (!entry || entry->key != "number" || !read_number(entry->value, lesson_.number) ||
                 lesson_.number <= 0) {
        return fail(
            line,
            fmt::format("`{}` says nothing of a lesson; `number: 1` and `about: ...` do.", words));
      }
    }
  }

  void read_picture(const Lines& lines) {
    LessonPart picture{LessonPart::Kind::picture, "", ""};
    for (const auto& [line, words] : lines) {
      if (begins(words, "colour ")) {
        picture.colour = trim(std::string_view(words).substr(7));
      } else if (picture.text.empty()) {
        picture.text = words;
      } else {
        return fail(line,
                    "A ```draw block has one expression, and `colour BY` in a line of its own.");
      }
    }
    if (picture.text.empty()) return fail("A ```draw block needs the expression that is drawn.");
    step().parts.push_back(std::move(picture));
  }

  void read_term(int line, const std::string& words) {
    const std::optional<Entry> entry = entry_of(words);
    if (!entry || entry->key.empty() || entry->value.empty()) {
      return fail(
          line, fmt::format("`{}` explains no word; `stride, strides: how far ...` does.", words));
    }
    LessonTerm term{{}, std::string(entry->value), line};
    for (std::string_view rest = entry->key; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      if (const auto form = trim(rest.substr(0, comma)); !form.empty())
        term.forms.emplace_back(form);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    if (term.forms.empty()) return fail(line, fmt::format("`{}` names no word.", words));
    step().parts.push_back(
        {LessonPart::Kind::term, fmt::format("{}: {}", term.forms.front(), term.meaning), ""});
    step().terms.push_back(std::move(term));
  }

  void read_exercise(int begin, const Lines& lines) {
    if (step().exercise) return fail(begin, "A step has one exercise, and here is a second.");
    Exercise exercise;
    exercise.line = begin;
    bool seeded = false;
    for (const auto& [line, words] : lines) {
      const std::optional<Entry> entry = entry_of(words);
      const std::string_view key = entry ? entry->key : std::string_view();
      if (key == "question") {
        exercise.question = entry->value;
      } else if (key == "numbers") {
        exercise.numbers = entry->value;
      } else if (key == "checker") {
        exercise.checker = entry->value;
      } else if (key == "hint") {
        exercise.hints.emplace_back(entry->value);
      } else if (key == "seed") {
        seeded = read_number(entry->value, exercise.seed);
        if (!seeded)
          return fail(line, fmt::format("The seed is a number, and `{}` is none.", entry->value));
      } else if (key == "mistake") {
        read_mistake(line, entry->value, exercise);
      } else {
        return fail(line, fmt::format("`{}` says nothing of an exercise; there are question, seed, "
                                      "numbers, checker, hint and mistake, each with a colon.",
                                      words));
      }
    }
    if (exercise.question.empty() || exercise.checker.empty() || !seeded ||
        exercise.hints.size() != 2) {
      return fail(begin, "An exercise needs a question, a seed, a checker and two hints.");
    }
    step().exercise = std::move(exercise);
  }

  void read_mistake(int line, std::string_view words, Exercise& exercise) {
    const std::size_t arrow = words.find("=>");
    if (arrow == std::string_view::npos || trim(words.substr(0, arrow)).empty() ||
        trim(words.substr(arrow + 2)).empty()) {
      return fail(line, fmt::format("`{}` is no mistake; `ANSWER => what went wrong` is.", words));
    }
    exercise.mistakes.push_back(
        {std::string(trim(words.substr(0, arrow))), std::string(trim(words.substr(arrow + 2)))});
  }

  // What can be said of a step only when all of it is there.
  void end_step() {
    if (error_ || lesson_.steps.empty()) return;
    LessonStep& done = step();
    for (const LessonPart& part : done.parts) {
      if (part.kind != LessonPart::Kind::picture) done.words += words_in(without_links(part.text));
    }
    if (done.exercise) done.words += words_in(without_links(done.exercise->question));
    if (done.words > most_words) {
      return fail(done.line, fmt::format("The step `{}` has {} words; a step has {} at most.",
                                         done.title, done.words, most_words));
    }
    if (done.commands.empty()) {
      return fail(done.line, fmt::format("The step `{}` sets no view; a ```do block with window "
                                         "commands does.",
                                         done.title));
    }
    check_posed(done);
  }

  // The numbers can be drawn and filled in, and the checker takes its operands.
  void check_posed(const LessonStep& done) {
    const Outcome<PosedStep> posed = pose(done, 0);
    const int line = done.exercise ? done.exercise->line : done.line;
    if (!posed) return fail(line, posed.error().sentence);
    if (!posed->exercise) return;
    const auto task = make_task(posed->exercise->checker, {});
    if (!task) return fail(line, task.error().sentence);
    for (const LessonMistake& mistake : posed->exercise->mistakes) {
      if (const auto answer = read_answer((*task)->form(), mistake.answer); !answer) {
        return fail(line, fmt::format("The mistake `{}` is no answer. {}", mistake.answer,
                                      answer.error().sentence));
      }
    }
  }

  void finish() {
    end_step();
    if (error_) return;
    if (lesson_.title.empty()) return fail(1, "The lesson has no title; `# Title` is one.");
    if (lesson_.about.empty()) return fail(1, "The ```lesson block does not say `about: ...`.");
    if (lesson_.steps.empty()) fail(1, "The lesson has no steps; a step begins with `## `.");
  }

  std::string_view text_, line_;
  std::size_t at_ = 0;
  int number_ = 0;
  Lesson lesson_;
  LessonPart* open_ = nullptr;  // the paragraph or item that the next line may go on with
  std::optional<Error> error_;
};

}  // namespace

Outcome<Lesson> read_lesson(std::string_view text, std::string_view name) {
  return LessonReader(text, name).read();
}

}  // namespace tilescope
