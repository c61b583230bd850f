#include "viz/commands/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "viz/commands/commands.h"
#include "viz/commands/share.h"
#include "viz/layout/presets.h"
#include "viz/scene/command_text.h"
#include "viz/session/course_state.h"
#include "viz/session/lesson_state.h"

namespace tilescope {
namespace {

constexpr std::string_view kScheme = "tilescope://";
constexpr std::size_t kShown = 80;  // bytes of a link that a sentence repeats

// As a sentence repeats it: what does not print may be a control code of the terminal that shows
// it.
std::string shown_link(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kShown)) out += c >= ' ' && c <= '~' ? c : '?';
  return text.size() > kShown ? out + "..." : out;
}

Error no_link(std::string_view text, std::string_view why) {
  return {ErrorKind::usage, fmt::format("The link `{}` opens nothing: {}", shown_link(text), why),
          ""};
}

Error nothing_named(std::string_view text, std::string_view why) {
  Error error = no_link(text, why);
  error.kind = ErrorKind::unknown;
  return error;
}

struct Word {
  std::string_view word;
  Link::To to;
};
constexpr std::array kWords = {Word{"lesson", Link::To::lesson}, Word{"course", Link::To::course},
                               Word{"kernel", Link::To::kernel}, Word{"preset", Link::To::preset},
                               Word{"layout", Link::To::layout}};

bool plain_name(std::string_view name) {
  constexpr std::string_view taken =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_- ";
  return !name.empty() && name.find_first_not_of(taken) == name.npos && name.front() != '-' &&
         name.front() != ' ' && name.back() != ' ' && name.find(" -") == name.npos;
}

bool prints(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

Outcome<Link> read_lesson_step(std::string_view text, Link link) {
  const std::size_t slash = link.what.find('/');
  if (slash == link.what.npos) return link;
  const auto step = number_in(std::string_view(link.what).substr(slash + 1));
  if (!step || *step < 1) {
    return no_link(text, "behind a lesson stands the number of a step, counted from 1.");
  }
  link.step = static_cast<std::size_t>(*step);
  link.what.erase(slash);
  return link;
}

// The names of these, for a sentence.
template <class Each, class Name>
std::string names_of(const Each& all, const Name& name) {
  std::string out;
  for (const auto& each : all) out += fmt::format("{}{}", out.empty() ? "" : ", ", name(each));
  return out.empty() ? "none" : out;
}

std::optional<Error> no_such_step(Session& session, const Backend& backend, std::string_view text,
                                  const Link& link) {
  const std::shared_ptr<const LessonIndex> shelf = shelf_of(session, backend);
  for (const Lesson& lesson : shelf->lessons) {
    if (lesson.name != link.what) continue;
    if (link.step <= lesson.steps.size()) return {};
    return nothing_named(
        text, fmt::format("the lesson {} has steps 1 to {}.", link.what, lesson.steps.size()));
  }
  return nothing_named(
      text, fmt::format("the lessons are {}.", names_of(shelf->lessons, [](const Lesson& lesson) {
                          return lesson.name;
                        })));
}

std::optional<Error> no_such_kernel(const Backend& backend, std::string_view text,
                                    const Link& link) {
  const std::vector<KernelName> kernels = backend.kernels();
  for (const KernelName& kernel : kernels) {
    if (kernel.name == link.what) return {};
  }
  return nothing_named(
      text, fmt::format("the kernels are {}.",
                        names_of(kernels, [](const KernelName& kernel) { return kernel.name; })));
}

}  // namespace

bool has_scheme(std::string_view text) {
  constexpr std::string_view scheme = kScheme.substr(0, kScheme.size() - 2);
  return lower(trimmed(text).substr(0, scheme.size())) == scheme;
}

bool is_link(std::string_view text) {
  return lower(trimmed(text).substr(0, kScheme.size())) == kScheme;
}

Outcome<Link> read_link(std::string_view given) {
  const std::string_view text = trimmed(given);
  if (text.size() > most_link) {
    return no_link(text, fmt::format("it has {} bytes, and {} are read.", text.size(), most_link));
  }
  if (!is_link(text)) {
    return no_link(text, is_share(text) ? "it is a share string, which the window takes by Ctrl+V."
                                        : "one begins with `tilescope://`.");
  }
  const std::string_view body = text.substr(kScheme.size());
  if (body.find_first_of("?#") != body.npos) {
    return no_link(text, "`?` is written %3F in it, and `#` is no part of one.");
  }
  const std::size_t slash = std::min(body.find('/'), body.size());
  const std::string word = lower(body.substr(0, slash));
  const auto found = std::find_if(kWords.begin(), kWords.end(),
                                  [&](const Word& each) { return each.word == word; });
  if (found == kWords.end()) {
    return no_link(text, fmt::format("behind `tilescope://` stands one of {}.",
                                     names_of(kWords, [](const Word& each) { return each.word; })));
  }
  const auto what = percent_decoded(body.substr(std::min(slash + 1, body.size())));
  if (!what) return no_link(text, "a % in it is not followed by two hexadecimal digits.");
  if (what->empty()) return no_link(text, fmt::format("it names no {}.", word));
  if (!prints(*what)) return no_link(text, "it has bytes that do not print.");
  Link link{found->to, *what, 0};
  if (link.to == Link::To::layout) return link;
  if (link.to == Link::To::lesson) {
    auto with_step = read_lesson_step(text, std::move(link));
    if (!with_step) return with_step;
    link = std::move(*with_step);
  }
  if (!plain_name(link.what)) {
    return no_link(text, fmt::format("the name of a {} has letters, digits, `_` and `-`.", word));
  }
  return link;
}

Outcome<std::string> command_of_link(Session& session, const Backend& backend,
                                     std::string_view text) {
  const auto link = read_link(text);
  if (!link) return link.error();
  switch (link->to) {
    case Link::To::lesson:
      if (auto error = no_such_step(session, backend, text, *link)) return *error;
      return link->step ? fmt::format("lesson {} {}", link->what, link->step)
                        : fmt::format("lesson {}", link->what);
    case Link::To::course: {
      // By a whole name alone: `course check` would judge a file.
      const auto exercise = exercise_named(*course_of(session, backend), link->what);
      if (!exercise) return nothing_named(text, exercise.error().sentence);
      return fmt::format("course {}", exercise->name);
    }
    case Link::To::kernel:
      if (auto error = no_such_kernel(backend, text, *link)) return *error;
      return fmt::format("open {}", link->what);
    case Link::To::preset: {
      const auto preset = preset_named(link->what);
      if (!preset) return nothing_named(text, preset.error().sentence);
      return fmt::format("open preset {}", preset->name);
    }
    case Link::To::layout: {
      const auto view = LayoutView::of_expression(link->what);
      if (!view) return no_link(text, view.error().sentence);
      return fmt::format("open layout {}", link->what);
    }
  }
  return no_link(text, "nothing is known of it.");
}

// The command would leave a step of its own behind this one.
Outcome<std::string> open_link(Session& session, Backend& backend, std::string_view text) {
  const auto command = command_of_link(session, backend, text);
  if (!command) return command.error();
  std::vector<Step> past = session.past, future = session.future;
  auto answer = execute(session, backend, *command);
  session.past = std::move(past);
  session.future = std::move(future);
  return answer;
}

}  // namespace tilescope
