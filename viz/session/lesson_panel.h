// The open lesson as data: what its panel shows, in the window, in --describe and in the terminal.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "viz/scene/describe.h"
#include "viz/session/lesson_state.h"

namespace tilescope {

struct Session;

// A stretch of text in one kind of letters: `code`, **strong**, or plain.
struct TextSpan {
  enum class Kind : std::uint8_t { plain, code, strong } kind = Kind::plain;
  std::string text;
  // Of [words](term): what explains it; empty: nothing does. Not set: its words are looked up.
  std::optional<std::string> term = {};
};
std::vector<TextSpan> spans_of(std::string_view markdown);

struct LessonBlock {
  LessonPart::Kind kind = LessonPart::Kind::paragraph;
  std::vector<TextSpan> spans;
  std::shared_ptr<const LayoutView> picture;
  LayoutChoice choice;     // of the picture
  std::string expression;  // of the picture
};

struct LessonQuestion {
  std::vector<TextSpan> question;
  std::vector<std::string> choices;  // what is to be put in order: "a: starts the copy"
  std::string form;                  // "a number, such as 12"
  std::string answer;                // given last
  std::optional<Judgement> verdict;
  std::vector<std::vector<TextSpan>> hints;  // shown so far
  std::string told;                          // the answer, where it was asked for
  std::string hint_button;  // "Hint", "Another hint", "Show the answer"; empty: all is told
  bool solved = false;      // now or earlier
  bool draws = true;        // it has numbers, and others can be drawn
};

struct LessonPanel {
  std::string lesson, title;  // "layouts", "Layouts"
  std::size_t step = 0, steps = 0;
  std::vector<bool> done;  // by step
  std::string heading;
  std::vector<LessonBlock> blocks;
  std::vector<std::string> commands;  // that set the view
  std::optional<LessonQuestion> question;
  std::string next_lesson;  // its name, at the last step; empty: there is none
  // At the last step: what of the course it explains, each with its title.
  std::vector<std::pair<std::string, std::string>> exercises;
};

// Nothing where no lesson is open.
std::optional<LessonPanel> lesson_panel(const Session& session);

// The spans as text: code between backquotes.
std::string plain_text(const std::vector<TextSpan>& spans);

Json describe(const LessonPanel& panel);

}  // namespace tilescope
