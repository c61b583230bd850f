#include "viz/commands/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "core/layout/text.h"
#include "viz/commands/command_table.h"
#include "viz/commands/link.h"
#include "viz/commands/share.h"
#include "viz/scene/command_text.h"
#include "viz/session/files.h"
#include "viz/session/open.h"

namespace tilescope {
namespace {

const WindowCommand* find_command(std::string_view name) {
  for (const WindowCommand& command : window_commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

Error unknown_command(std::string_view name) {
  std::vector<std::string_view> names;
  for (const WindowCommand& command : window_commands()) names.push_back(command.name);
  const std::string_view near = nearest(name, names);
  return {ErrorKind::usage,
          near.empty()
              ? fmt::format("There is no window command `{}`; `tilescope list commands` "
                            "shows them.",
                            name)
              : fmt::format("There is no window command `{}`; did you mean `{}`?", name, near),
          ""};
}

// Undo and redo move between steps and are none themselves; what is typed makes its own.
bool moves_in_history(std::string_view name) {
  return name == "undo" || name == "redo" || name == "type" || name == "complete" ||
         name == "recall" || name == "paste";
}

// Which step of a lesson it went to says more than `lesson next`. A share string is too long for a
// list of steps.
std::string step_name(std::string_view line, const ViewState& before, const ViewState& after) {
  if (first_word(line).first == "lesson" && after.lesson.open() &&
      !(before.lesson == after.lesson)) {
    return step_command(after);
  }
  constexpr std::size_t most = 96;
  if (line.size() <= most) return std::string(line);
  return fmt::format("{}...", line.substr(0, most - 3));
}

Answer execute_as(Session& session, Backend& backend, std::string_view line, bool typing) {
  const auto [name, arguments] = first_word(line);
  const WindowCommand* command = find_command(name);
  if (!command) {
    Error error = unknown_command(name);
    session.message = {error.sentence, true};
    return error;
  }
  ViewState before = session.state;
  session.edit.change.reset();
  Answer answer = command->arguments.empty() && !arguments.empty()
                      ? Answer(usage_error(fmt::format("`{}` takes no arguments.", name)))
                      : command->run(session, backend, arguments);
  if (!answer) {
    // A machine that was loaded meanwhile is kept: it goes back to where it is to stand.
    const bool same =
        before.kernel == session.state.kernel && before.options == session.state.options;
    if (same && !before.live) before.live = session.state.live;
    session.state = std::move(before);
    session.message = {answer.error().sentence, true};
    return answer;
  }
  session.message = {*answer, false};
  const auto change = std::exchange(session.edit.change, nullptr);
  const bool text = change && change->before != change->after;
  if (moves_in_history(name) || (session.state == before && !text)) return answer;
  session.future.clear();
  const bool joins = !session.past.empty() &&
                     ((typing && session.past.back().typing) ||
                      (name == "move" && first_word(session.past.back().name).first == "move"));
  if (joins) {
    session.past.back().name = line;
  } else {
    session.past.push_back({step_name(line, before, session.state), before, typing, change});
  }
  return answer;
}

// An error stands next to what caused it, and nowhere else.
void problem_at_field(Session& session, FieldProblem problem) {
  session.problem = std::move(problem);
  session.message = {};
}

}  // namespace

std::span<const CommandGroup> command_groups() {
  static const std::array groups = {
      CommandGroup{"Open", open_commands()},
      CommandGroup{"View", view_commands()},
      CommandGroup{"Layout", layout_commands()},
      CommandGroup{"Derivation", derivation_commands()},
      CommandGroup{"Access", access_commands()},
      CommandGroup{"Slices", slice_commands()},
      CommandGroup{"Lowering", lower_commands()},
      CommandGroup{"Editor", editor_commands()},
      CommandGroup{"Kernel", kernel_commands()},
      CommandGroup{"Source", edit_commands()},
      CommandGroup{"Difference", diff_commands()},
      CommandGroup{"Steps", walk_commands()},
      CommandGroup{"Breakpoints", break_commands()},
      CommandGroup{"Theatre", theatre_commands()},
      CommandGroup{"Why", why_commands()},
      CommandGroup{"Product", product_commands()},
      CommandGroup{"Timeline", timeline_commands()},
      CommandGroup{"Compare", compare_commands()},
      CommandGroup{"Memory", memory_commands()},
      CommandGroup{"Lesson", lesson_commands()},
      CommandGroup{"Course", course_commands()},
      CommandGroup{"History", history_commands()},
      CommandGroup{"Share and keep", share_commands()},
      CommandGroup{"Settings", settings_commands()},
      CommandGroup{"Window", shell_commands()},
  };
  return groups;
}

std::span<const WindowCommand> window_commands() {
  static const std::vector<WindowCommand> table = [] {
    std::vector<WindowCommand> all;
    for (const CommandGroup& group : command_groups()) {
      all.insert(all.end(), group.commands.begin(), group.commands.end());
    }
    return all;
  }();
  return table;
}

std::vector<KeyBinding> key_bindings(const WindowCommand& command) {
  std::vector<KeyBinding> out;
  std::string_view rest = command.shortcut;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(", "), rest.size());
    const auto [keys, arguments] = first_word(rest.substr(0, comma));
    const std::string_view blank = arguments.empty() ? "" : " ";
    out.push_back({std::string(keys), fmt::format("{}{}{}", command.name, blank, arguments)});
    rest.remove_prefix(std::min(comma + 2, rest.size()));
  }
  return out;
}

std::string keys_text(const WindowCommand& command) {
  std::string out;
  for (const KeyBinding& binding : key_bindings(command)) {
    out += (out.empty() ? "" : ", ") + binding.keys;
  }
  return out;
}

Outcome<std::string> execute(Session& session, Backend& backend, std::string_view line) {
  return execute_as(session, backend, trimmed(line), false);
}

void type_field(Session& session, Backend& backend, std::string_view text) {
  session.field = text;
  session.problem.reset();
  const std::string_view expression = trimmed(text);
  if (is_link(expression)) return;  // opened by Enter: of step 12 there is a step 1
  if (is_share(expression)) {       // opened as soon as it is whole: who pastes one wants to see it
    if (read_share(expression)) {
      (void)execute(session, backend, fmt::format("open share {}", expression));
    }
    return;
  }
  if (expression.empty() || may_name_kernel(backend, expression)) return;
  if ((session.problem = problem_in(session.field))) return;
  // Shown while it is being typed; the field keeps the text as it stands, blanks included.
  if (auto answer = execute_as(session, backend, fmt::format("open layout {}", expression), true);
      !answer) {
    problem_at_field(session, {answer.error().sentence, 0, text.size()});
  }
  session.field = text;
}

Outcome<std::string> enter_field(Session& session, Backend& backend) {
  const std::string text(trimmed(session.field));
  if (is_link(text) || is_share(text)) {
    const std::string_view as = is_link(text) ? "" : "share ";
    auto answer = execute(session, backend, fmt::format("open {}{}", as, text));
    if (!answer) problem_at_field(session, {answer.error().sentence, 0, session.field.size()});
    return answer;
  }
  const std::string_view name = first_word(text).first;
  const std::vector<std::string> words = split_words(text);
  const std::vector<KernelName> kernels = backend.kernels();
  const bool kernel = std::any_of(kernels.begin(), kernels.end(),
                                  [&](const KernelName& each) { return each.name == name; });
  const bool as_is = kernel || name == "preset" || (!words.empty() && names_file(words.front()));
  auto answer = execute(session, backend, fmt::format("open {}{}", as_is ? "" : "layout ", text));
  if (!session.past.empty()) session.past.back().typing = false;
  session.problem.reset();
  if (answer && shows_layout(session.state.view)) remember(session, text);
  if (answer) return answer;
  session.field = text;
  const FieldProblem whole{answer.error().sentence, 0, text.size()};
  problem_at_field(session, as_is ? whole : problem_in(text).value_or(whole));
  session.editor.caret = session.problem->end;  // where it is to be mended
  return answer;
}

}  // namespace tilescope
