#include "core/lesson/glossary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

namespace tilescope {
namespace {

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// What stands between backquotes is code and not words; what is linked says by itself what it is.
std::string bare_words(std::string_view text) {
  std::string out;
  bool code = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '`') code = !code;
    if (const TermLink link = term_link(text.substr(at)); !code && link.length > 0) {
      out += fmt::format(" {} ", link.term);
      at += link.length - 1;
    } else {
      out += code || c == '`' ? ' ' : c;
    }
  }
  return out;
}

bool has_word(const std::string& text, const std::string& word) {
  const auto letter = [&](std::size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    if ((at == 0 || !letter(at - 1)) && !letter(at + word.size())) return true;
  }
  return false;
}

// All that a learner reads in a step, in lower case.
std::string words_of(const LessonStep& step) {
  std::string all = step.title;
  for (const LessonPart& part : step.parts) {
    if (part.kind != LessonPart::Kind::picture) all += " \n " + part.text;
  }
  if (step.exercise) {
    all += " \n " + step.exercise->question;
    for (const std::string& hint : step.exercise->hints) all += " \n " + hint;
    for (const LessonMistake& mistake : step.exercise->mistakes) all += " \n " + mistake.sentence;
  }
  return lower(bare_words(all));
}

}  // namespace

TermLink term_link(std::string_view text) {
  if (text.empty() || text[0] != '[') return {};
  const std::size_t middle = text.find("](");
  const std::size_t end = middle == text.npos ? text.npos : text.find(')', middle);
  if (end == text.npos || text.substr(1, middle - 1).find('[') != text.npos) return {};
  return {text.substr(1, middle - 1), text.substr(middle + 2, end - middle - 2), end + 1};
}

std::string without_links(std::string_view markdown) {
  std::string out;
  bool code = false;
  for (std::size_t at = 0; at < markdown.size(); ++at) {
    if (markdown[at] == '`') code = !code;
    if (const TermLink link = term_link(markdown.substr(at)); !code && link.length > 0) {
      out += link.words;
      at += link.length - 1;
    } else {
      out += markdown[at];
    }
  }
  return out;
}

bool has_form(const LessonTerm& term, std::string_view word) {
  const std::string wanted = lower(word);
  return std::any_of(term.forms.begin(), term.forms.end(),
                     [&](const std::string& form) { return lower(form) == wanted; });
}

std::vector<GlossaryEntry> glossary(std::span<const Lesson> lessons) {
  std::vector<GlossaryEntry> all;
  for (const Lesson& lesson : lessons) {
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
      for (const LessonTerm& term : lesson.steps[i].terms) all.push_back({term, lesson.name, i});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const GlossaryEntry& a, const GlossaryEntry& b) {
    return lower(a.term.forms.front()) < lower(b.term.forms.front());
  });
  return all;
}

std::vector<std::string> early_words(std::span<const Lesson> lessons) {
  const std::vector<GlossaryEntry> terms = glossary(lessons);
  std::map<std::string, std::size_t> order;  // of lessons
  for (std::size_t i = 0; i < lessons.size(); ++i) order[lessons[i].name] = i;
  std::vector<std::string> found;
  for (std::size_t l = 0; l < lessons.size(); ++l) {
    for (std::size_t s = 0; s < lessons[l].steps.size(); ++s) {
      const std::string words = words_of(lessons[l].steps[s]);
      for (const GlossaryEntry& entry : terms) {
        const std::size_t lesson = order[entry.lesson];
        if (lesson < l || (lesson == l && entry.step <= s)) continue;
        for (const std::string& form : entry.term.forms) {
          if (!has_word(words, lower(form))) continue;
          found.push_back(fmt::format("{}, step {} says `{}`, which {}, step {} explains.",
                                      lessons[l].name, s + 1, form, entry.lesson, entry.step + 1));
        }
      }
    }
  }
  return found;
}

}  // namespace tilescope
