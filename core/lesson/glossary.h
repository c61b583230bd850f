// The words of the lessons, each explained once, and where one is used before that.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/lesson/lesson.h"

namespace tilescope {

struct GlossaryEntry {
  LessonTerm term;
  std::string lesson;
  std::size_t step = 0;
};

// Whether a word is one of the term's forms, in any case.
bool has_form(const LessonTerm& term, std::string_view word);

// Of lessons in their order, by name.
std::vector<GlossaryEntry> glossary(std::span<const Lesson> lessons);

// A word in a step that only a later one explains: "layouts, step 2 says `tile`, which ...
// explains". A step's own terms are explained in it. Words are whole, in any case; code is not
// looked at.
std::vector<std::string> early_words(std::span<const Lesson> lessons);

// Text with `[words](term)` as its words alone: what is told where nothing can be clicked.
std::string without_links(std::string_view markdown);

// Such a link at the beginning of a text: its words, its term (empty: these words are explained by
// nothing), and its length with all brackets; 0: there is none.
struct TermLink {
  std::string_view words, term;
  std::size_t length = 0;
};
TermLink term_link(std::string_view text);

}  // namespace tilescope
