// A lesson: steps that each set a view, say what to see there, and may ask something about it.
//
// It is Markdown with five kinds of fenced blocks:
//
//     # Layouts                              the title
//     ```lesson                              once, before the first step
//     number: 1                              its place among the lessons
//     about: from coordinates to offsets     one line
//     ```
//     ## A step                              as many as wanted
//     Text with `code`, and lists:           paragraphs, and lines that begin with "- ".
//                                            Words that a term has explained lead to it, several
//                                            words before one of them; [words](term) leads to that
//                                            one, and [words]() to none
//     ```do                                  window commands, one a line: the step's view.
//     open layout (4,8):(8,1)                Every step has one
//     ```
//     ```draw                                a picture: an expression, and if wanted `colour BY`
//     (4,8):(1,4)                            in a line of its own
//     ```
//     ```term                                a word and what it means, with its other forms
//     stride, strides: how far ...
//     ```
//     ```exercise                            at most one a step; task.h says what can be asked
//     question: Which offset has ({i},{j})?
//     seed: 7                                of the numbers: numbers.h
//     numbers: i = 1..3; j = 0..7
//     checker: offset_of((4,8):(8,1), ({i},{j}))
//     hint: ...                              two, the second says more than the first
//     hint: ...
//     mistake: {j*4+i} => ...                as many as wanted: an answer and what went wrong
//     ```
//
// Numbers in braces stand anywhere in a step that has an exercise, so its view, text and pictures
// show the numbers that were drawn; of a layout's own braces, `?{div=16}`, only what stands in
// braces inside them, `?{div={n}}`. There is no place for an answer: the checker computes it.
//
// Laws that the reader keeps: every step has a view and at most `most_words` words; every exercise
// has two hints, a checker that exists and operands that it takes. What breaks one is refused with
// its line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace tilescope {

inline constexpr int most_words = 120;  // of a step: text, terms and question

struct LessonTerm {
  std::vector<std::string> forms;  // "stride", "strides"; the first is its name
  std::string meaning;
  int line = 0;
};

struct LessonMistake {
  std::string answer, sentence;
};

struct Exercise {
  std::string question, numbers, checker;
  std::uint64_t seed = 0;
  std::vector<std::string> hints;
  std::vector<LessonMistake> mistakes;
  int line = 0;
};

struct LessonPart {
  enum class Kind : std::uint8_t { paragraph, item, term, picture } kind = Kind::paragraph;
  std::string text;    // of a term: "stride: how far ..."; of a picture: the expression
  std::string colour;  // of a picture, where it says one
};

struct LessonStep {
  std::string title;
  int line = 0;
  std::vector<LessonPart> parts;  // in reading order
  std::vector<std::string> commands;
  std::vector<LessonTerm> terms;
  std::optional<Exercise> exercise;
  int words = 0;
};

struct Lesson {
  std::string name, title, about;
  int number = 0;
  std::vector<LessonStep> steps;
};

// `name`: what `lesson NAME` takes; the place of an error is "NAME.md:LINE".
Outcome<Lesson> read_lesson(std::string_view text, std::string_view name);

}  // namespace tilescope
