// tilescope lesson [NAME]: lessons in the terminal.
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/commands.h"
#include "app/files.h"
#include "app/lesson_store.h"
#include "app/pictures.h"
#include "app/window_backend.h"
#include "core/lesson/glossary.h"
#include "core/run/deadlock_cause.h"
#include "viz/commands/commands.h"
#include "viz/commands/lesson_steps.h"
#include "viz/commands/script.h"
#include "viz/scene/command_text.h"
#include "viz/session/lesson_panel.h"
#include "viz/session/lesson_state.h"
#include "viz/session/panels.h"
#include "viz/session/result_view.h"
#include "viz/session/seek.h"
#include "viz/session/view_page.h"
#include "viz/session/views.h"

namespace tilescope {
namespace {

constexpr const char* kWords =
    "Type an answer, or: next, back, hint, again, view, inspect, words WORD,\n"
    "do COMMAND, help, quit.\n";
constexpr std::size_t kWidth = 80;    // of text, in characters
constexpr int kWidest = 100;          // of a picture, in characters
constexpr std::size_t kTallest = 40;  // lines of one

bool is_move(std::string_view word) {
  return word == "back" || word == "again" || word == "view" || word == "step";
}

struct Options {
  std::string name;
  std::optional<std::int64_t> step;
  bool json = false, keep = false;
};

// Lines of at most kWidth characters, each begun by `indent`.
std::string wrapped(const std::string& text, const std::string& indent = "") {
  std::string out, line = indent;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (line.size() > indent.size() && line.size() + 1 + word.size() > kWidth) {
      out += line + "\n";
      line = indent;
    }
    if (line.size() > indent.size()) line += ' ';
    line += word;
    begin = end + 1;
  }
  return out + line + "\n";
}

// The time that an exercise asks about: "1700" of "waits_for(2, 1700)"; empty: it asks of none.
std::string asked_time(const ViewState& state) {
  const auto& sheet = state.lesson.sheet;
  if (!sheet || !sheet->step.exercise) return "";
  const std::string& checker = sheet->step.exercise->checker;
  const std::string task = checker.substr(0, checker.find('('));
  if (task != "waits_for" && task != "parity_at" && task != "step_read" && task != "stage_read") {
    return "";
  }
  const std::size_t last = checker.find_last_of("(, ");
  const std::string time = checker.substr(last + 1, checker.rfind(')') - last - 1);
  return number_in(time) ? time : "";
}

// Words of the window in what a step says, and what does the same here.
std::string said_for_terminal(const std::string& text, const ViewState& state) {
  std::string lower = text;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto says = [&](std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](const char* word) { return lower.find(word) != std::string::npos; });
  };
  std::string out;
  const auto add = [&](const std::string& sentence) {
    out += fmt::format("{}{}", out.empty() ? "" : " ", sentence);
  };
  if (says({"point at", "inspector"})) {
    if (state.view == ViewName::layout) {
      add("Here `do pick ROW COLUMN` says of a cell what the inspector does.");
    } else if (state.view == ViewName::diff || state.view == ViewName::matrices) {
      add("Here `do pick ROW COLUMN` says of an element what the inspector does.");
    } else {
      add("Here `inspect` says what the inspector does.");
    }
  }
  if (const std::string time = asked_time(state); !time.empty()) {
    add(fmt::format("Here `do theatre at {}` says what goes on then.", time));
  } else if (says({"drag", "press play", "blue mark"})) {
    add("Here `do theatre at CYCLE` goes to another time.");
  }
  if (says({"the field above", "into the field"})) {
    add("Here `do open layout EXPRESSION` is the field.");
  }
  return out;
}

// A learner at a terminal: what is typed is an answer, or one of a few words.
class Reading {
 public:
  Reading(Terminal& terminal, bool keeps) : terminal_(terminal) {
    asks_ = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
    if (!keeps) return;
    auto taken = take_up_progress();
    if (taken) {
      session_.progress = std::move(taken->progress);
      workshop_.keep_progress_on_disk();
      if (!taken->news.empty()) terminal.say(taken->news);
    } else {
      terminal.say(fmt::format("{} ({})", taken.error().sentence, taken.error().where));
    }
  }

  int read(const Options& options) {
    session_.show_times = false;
    if (const auto opened = open(options); !opened) return terminal_.fail(opened.error());
    print(kWords);
    show_step();
    std::string line;
    for (LineRead read; ask(), (read = read_line(std::cin, line)) != LineRead::none;) {
      if (read == LineRead::cut) {
        return terminal_.fail({ErrorKind::unreadable,
                               fmt::format("A line of standard input is longer than {} bytes, and "
                                           "may never end; no more is read.",
                                           most_line),
                               ""});
      }
      if (!act(trimmed(line))) break;
    }
    return 0;
  }

 private:
  Outcome<std::string> open(const Options& options) {
    auto opened = execute(session_, workshop_, "lesson " + options.name);
    if (!opened || !options.step) return opened;
    return execute(session_, workshop_, fmt::format("lesson step {}", *options.step));
  }

  void ask() {
    if (asks_) terminal_.print("> ");
    std::cout.flush();
  }
  void print(const std::string& text) { terminal_.print(text); }
  void say(const Outcome<std::string>& answer) {
    print(wrapped(answer ? *answer : answer.error().sentence));
  }

  // False where the lesson has been left. What the window takes, `lesson again`, is taken too.
  bool act(std::string_view typed) {
    const auto [word, rest] = first_word(typed);
    if (typed.empty() || typed == "help" || typed == "?") {
      print(kWords);
    } else if (typed == "quit" || typed == "q" || typed == "exit" || typed == "lesson close") {
      return false;
    } else if (word == "next" && rest.empty()) {
      return next();
    } else if (is_move(word)) {
      move(fmt::format("lesson {}", typed));
    } else if (word == "lesson") {
      if (const auto what = first_word(rest).first; what == "next" || is_move(what)) {
        return act(rest);
      }
      move(std::string(typed));
    } else if (typed == "hint") {
      hint();
    } else if (typed == "inspect" || typed == "inspector") {
      inspect();
    } else if (word == "words" || word == "glossary") {
      say(execute(session_, workshop_, fmt::format("glossary {}", rest)));
    } else if (word == "do") {
      do_command(rest);
    } else {
      say(execute(session_, workshop_, fmt::format("answer {}", word == "answer" ? rest : typed)));
    }
    return true;
  }

  // As the window says it; but the word for other numbers is another one here.
  void hint() {
    const auto said = execute(session_, workshop_, "hint");
    const std::optional<LessonPanel> panel = lesson_panel(session_);
    if (!said || !panel || !panel->question || panel->question->told.empty()) return say(said);
    print(wrapped(fmt::format("The answer is {}.{}", panel->question->told,
                              panel->question->draws ? " `again` asks with other numbers." : "")));
  }

  void inspect() {
    std::string out;
    for (const InspectorSection& section : inspector(session_)) {
      if (section.lines.empty()) continue;
      out += fmt::format("{}\n", section.title);
      for (const auto& [name, value] : section.lines) {
        out += fmt::format("  {}  {}\n", name, value);
      }
    }
    show_page(out.empty() ? "Nothing is picked; `do pick ROW COLUMN` picks.\n" : out);
  }

  bool next() {
    const LessonPanel panel = *lesson_panel(session_);
    if (panel.step + 1 < panel.steps) {
      move("lesson next");
      return true;
    }
    print(fmt::format("That was the last step of {}.{}\n", panel.title,
                      panel.next_lesson.empty()
                          ? ""
                          : fmt::format(" The next is `tilescope lesson {}`.", panel.next_lesson)));
    for (const auto& [name, title] : panel.exercises) {
      print(fmt::format("Write it yourself: {}, `tilescope course start {}`.\n", title, name));
    }
    return false;
  }

  void move(const std::string& command) {
    const auto answer = execute(session_, workshop_, command);
    if (answer) return show_step();
    say(answer);
  }

  void do_command(std::string_view line) {
    const auto commands = split_commands(line);
    if (!commands) return say(commands.error());
    for (const std::string& command : *commands) {
      const auto answer = execute(session_, workshop_, command);
      const auto refused = answer ? finish_commands(session_, workshop_) : std::nullopt;
      if (refused) return print(wrapped(refused->sentence));
      while (session_.course.check) {
        workshop_.wait_check();
        take_check(session_, workshop_);
      }
      arrive();
      print(wrapped(answer ? session_.message.text : answer.error().sentence));
      if (!answer) return;
      if (session_.problem) return print(wrapped(session_.problem->sentence));
      if (first_word(command).first == "pick") return inspect();
      if (first_word(command).first == "export") return;
    }
    show_view();
  }

  void show_step() {
    const LessonPanel panel = *lesson_panel(session_);
    print(fmt::format("\n{}, step {} of {}: {}\n\n", panel.title, panel.step + 1, panel.steps,
                      panel.heading));
    std::string said;
    bool list = false;
    for (const LessonBlock& block : panel.blocks) {
      const bool item = block.kind == LessonPart::Kind::item;
      if (list && !item) print("\n");
      list = item;
      show_block(block);
      said += plain_text(block.spans) + " ";
    }
    if (list) print("\n");
    if (panel.question) said += plain_text(panel.question->question);
    const std::string here = said_for_terminal(said, session_.state);
    if (!here.empty()) print(wrapped(here) + "\n");
    show_view();
    if (panel.question) {
      print(wrapped("Exercise. " + plain_text(panel.question->question)));
      for (const std::string& choice : panel.question->choices) print(wrapped(choice, "  "));
      print(wrapped(fmt::format("(the answer is {}; `hint` helps)", panel.question->form)));
    }
  }

  void show_block(const LessonBlock& block) {
    if (block.picture) {
      show_grids(*block.picture, block.choice);
    } else if (block.kind == LessonPart::Kind::item) {
      print(wrapped("- " + plain_text(block.spans)));
    } else {
      const bool term = block.kind == LessonPart::Kind::term;
      print(wrapped(plain_text(block.spans), term ? "  | " : "") + "\n");
    }
  }

  // The machine is where the view has it; the window shows it on its way.
  void arrive() {
    while (seeking(session_)) seek_on(session_, workshop_, 1000);
  }

  // What the window would show beside the lesson.
  void show_view() {
    arrive();
    const ViewState& state = session_.state;
    if (state.view == ViewName::layout) {
      if (state.layout) show_grids(*state.layout, layout_choice(session_));
      return;
    }
    if (state.kernel && !shows_layout(state.view)) {
      print(wrapped(fmt::format("{}: {}", state.kernel->name, state.kernel->launch)));
    }
    if (state.result) {
      print(wrapped(outcome(*state.result)));
      if (state.view == ViewName::diff && state.result->diff) {
        const std::string all = text(*state.result->diff);
        print(all.substr(0, all.find("first ")));  // the map of the page says where
      }
    }
    const std::optional<std::string> page = view_page(session_, kWidest);
    if (!page) return print(wrapped(fmt::format("This view is a picture. {}", elsewhere())) + "\n");
    show_page(*page);
  }

  // Of a deadlock its cause in a few sentences, and not all that every warp waits for.
  static std::string outcome(const RunResult& result) {
    for (const Report& report : result.reports) {
      if (!report.deadlock || report.deadlock->sentence.empty()) continue;
      return fmt::format("{}: deadlock. {}", result.kernel.name, report.deadlock->sentence);
    }
    return outcome_of(result, false);
  }

  void show_grids(const LayoutView& view, const LayoutChoice& choice) {
    const std::string page =
        small_text_for(view, choice, light_theme(), kWidest, static_cast<int>(kTallest));
    if (page.empty()) {
      return print(
          wrapped(fmt::format("{} is too large for characters. {}", view.title(), elsewhere())) +
          "\n");
    }
    show_page(page, ::isatty(STDOUT_FILENO) != 1);  // no colours there, which count no signs
  }

  // `narrow`: it may have lines that are too long; else they are short enough, and may have
  // colours.
  void show_page(const std::string& page, bool narrow = true) {
    std::size_t left = 0;
    constexpr int unlimited = 1 << 20;
    print(cut_page(page, narrow ? kWidest : unlimited, kTallest, left));
    if (left > 0) {
      print(
          wrapped(fmt::format("... {} line{} more. {}", left, left == 1 ? "" : "s", elsewhere())));
    }
    print("\n");
  }

  // Where all of the view is to be seen: told at length once.
  std::string elsewhere() {
    if (std::exchange(told_elsewhere_, true)) return "`do export F.png` writes all of it.";
    const LessonPlace& place = session_.state.lesson;
    return fmt::format(
        "`do export F.png` writes all of it, and `tilescope gui --do 'lesson {} {}'` shows it.",
        place.open() ? place.open()->name : "", place.step + 1);
  }

  Terminal& terminal_;
  Session session_;
  AppBackend workshop_;
  bool asks_ = false;
  bool told_elsewhere_ = false;
};

nlohmann::ordered_json step_json(const LessonStep& step, const PosedStep& posed) {
  nlohmann::ordered_json text = nlohmann::ordered_json::array();
  for (const LessonPart& part : posed.parts) {
    if (part.kind == LessonPart::Kind::picture) {
      text.push_back({{"picture", part.text}});
      if (!part.colour.empty()) text.back()["colour"] = part.colour;
      continue;
    }
    text.push_back({{"text", without_links(part.text)},
                    {"kind", part.kind == LessonPart::Kind::term   ? "term"
                             : part.kind == LessonPart::Kind::item ? "item"
                                                                   : "paragraph"}});
  }
  nlohmann::ordered_json out = {
      {"title", step.title}, {"blocks", std::move(text)}, {"commands", posed.commands}};
  if (posed.exercise) {
    out["exercise"] = {{"question", without_links(posed.exercise->question)},
                       {"form", posed.exercise->form},
                       {"hints", posed.exercise->hints}};
    RunEvidence nothing_ran;
    nothing_ran.workshop.file = lesson_file;
    if (auto pieces = choices(*posed.exercise, nothing_ran); !pieces.empty()) {
      out["exercise"]["choices"] = std::move(pieces);
    }
  }
  return out;
}

int lesson_document(const Lesson& lesson, Terminal& terminal) {
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const LessonStep& step : lesson.steps) {
    const Outcome<PosedStep> posed = pose(step, 0);
    if (!posed) return terminal.fail(posed.error());
    steps.push_back(step_json(step, *posed));
  }
  terminal.document({{"name", lesson.name},
                     {"title", lesson.title},
                     {"about", lesson.about},
                     {"steps", std::move(steps)}});
  return 0;
}

int list_lessons(Terminal& terminal) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  const auto progress = saved_progress();
  if (!progress) {
    terminal.say(fmt::format("{} ({})", progress.error().sentence, progress.error().where));
  }
  for (const std::string& name : lesson_names()) {
    const auto text = lesson_text(name);
    const auto lesson = text ? read_lesson(*text, name) : Outcome<Lesson>(text.error());
    if (!lesson) {  // one of the user's own, most likely: the others are there all the same
      terminal.say(fmt::format("{} ({})", lesson.error().sentence, lesson.error().where));
      continue;
    }
    all.push_back({{"number", lesson->number},
                   {"name", name},
                   {"title", lesson->title},
                   {"about", lesson->about},
                   {"steps", lesson->steps.size()},
                   {"progress", progress ? progress_words(*progress, *lesson) : ""}});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a["number"].template get<int>() < b["number"].template get<int>();
  });
  for (const auto& lesson : all) {
    const auto words = lesson["progress"].get<std::string>();
    terminal.print(fmt::format("{:<18}{}{}\n", lesson["name"].get<std::string>(),
                               lesson["about"].get<std::string>(),
                               words.empty() ? "" : fmt::format(" ({})", words)));
  }
  if (terminal.json()) terminal.document({{"lessons", std::move(all)}});
  return 0;
}

bool known(const std::string& name) {
  const std::vector<std::string> names = lesson_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

// As the window says it, with the lessons in their order.
Error no_lesson(const std::string& name) {
  Session session;
  AppBackend backend;
  return open_lesson(session, backend, name).error();
}

int run_lesson(const Options& options, Terminal& terminal) {
  if (options.name.empty()) return list_lessons(terminal);
  if (!terminal.json()) {
    return Reading(terminal, options.keep || ::isatty(STDIN_FILENO) == 1).read(options);
  }
  const auto text = lesson_text(options.name);
  if (!text) return terminal.fail(known(options.name) ? text.error() : no_lesson(options.name));
  const auto lesson = read_lesson(*text, options.name);
  if (!lesson) return terminal.fail(lesson.error());
  return lesson_document(*lesson, terminal);
}

}  // namespace

Action define_lesson(CommandOptions& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("NAME", options->name, "which one (default: list all)");
  app.add_option("--step", options->step,
                 "where to begin, counted from 1 (default: where you left off)")
      .type_name("N");
  app.add_flag("--keep", options->keep, "keep the progress though the input is no terminal");
  app.add_flag("--json", options->json, "one JSON document on stdout: the lesson, or the list");
  return [options](Terminal& terminal) { return run_lesson(*options, terminal); };
}

}  // namespace tilescope
