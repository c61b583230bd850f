#include "viz/scene/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/layout/text.h"
#include "viz/scene/command_text.h"
#include "viz/scene/open.h"
#include "viz/scene/presets.h"

namespace tilescope {
namespace {

using Answer = Outcome<std::string>;

Error usage(std::string sentence) {
  return {ErrorKind::usage, std::move(sentence), ""};
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

Answer run_open(Session& session, Workshop& workshop, std::string_view arguments) {
  const auto [what, rest] = first_word(arguments);
  if (what.empty()) {
    return usage("`open` needs what to open: `layout EXPR`, `preset NAME` or a kernel's name.");
  }
  if (what == "layout") return open_layout(session, unquoted(rest));
  if (what == "preset") return open_preset_named(session, unquoted(rest));
  return open_kernel(session, workshop, arguments);
}

Answer run_run(Session& session, Workshop& workshop, std::string_view) {
  const Choices& choices = session.choices;
  if (!choices.kernel) {
    return usage("There is no kernel to run: open one first, for example `open elementwise_add`.");
  }
  if (auto error = workshop.start(*choices.kernel, choices.options)) return *error;
  session.running = true;
  return fmt::format("Running {}.", choices.kernel->name);
}

Answer run_cancel(Session& session, Workshop& workshop, std::string_view) {
  if (!session.running) return usage("Nothing is running.");
  workshop.cancel();
  return std::string("Stopping the run.");
}

Answer run_select(Session& session, Workshop&, std::string_view arguments) {
  for (ViewName view : {ViewName::layout, ViewName::matrices, ViewName::diff}) {
    if (arguments != name_of(view)) continue;
    session.choices.view = view;
    show_in_field(session);
    return fmt::format("Showing the {}.", view == ViewName::diff ? "difference" : name_of(view));
  }
  return usage(fmt::format("There is no view `{}`: layout, matrices or diff.", arguments));
}

Answer run_colour(Session& session, Workshop&, std::string_view arguments) {
  const auto& layout = session.choices.layout;
  if (!layout) return usage("Only a layout is coloured by something: open one first.");
  const auto by = colour_by_name(arguments);
  if (!by) return by.error();
  const std::vector<ColourBy> can = layout->colours();
  if (std::find(can.begin(), can.end(), *by) == can.end()) {
    std::string names;
    for (ColourBy each : can)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(each));
    return Error{
        ErrorKind::mismatch,
        fmt::format("This layout has no {}: it can be coloured by {}.", name_of(*by), names), ""};
  }
  session.choices.colour = *by;
  return fmt::format("Coloured by {}.", name_of(*by));
}

Answer run_isolate(Session& session, Workshop&, std::string_view arguments) {
  Choices& choices = session.choices;
  if (!choices.layout) return usage("Only cells of a layout can be isolated: open one first.");
  const auto [what, which] = first_word(arguments);
  const auto on = focus_name(what);
  if (!on) return on.error();
  if (*on == Focus::On::nothing) {
    choices.isolate = {};
    return std::string("All cells are shown.");
  }
  const auto number = number_in(which);
  if (!number || *number < 0) {
    return usage(
        fmt::format("`isolate {}` needs a number, for example `isolate {} 3`.", what, what));
  }
  const std::int64_t count = choices.layout->categories(colour_telling(*on));
  if (*on != Focus::On::offset && *number >= count) {
    const std::string sentence = count == 0
                                     ? fmt::format("This layout has no {}s.", what)
                                     : fmt::format("There is no {} {}: this layout's are 0 to {}.",
                                                   what, *number, count - 1);
    return Error{ErrorKind::mismatch, sentence, ""};
  }
  choices.isolate = {*on, *number};
  return fmt::format("Only {} {} is shown in colour.", what, *number);
}

Answer run_label(Session& session, Workshop&, std::string_view arguments) {
  if (arguments != "coordinates" && arguments != "contents") {
    return usage("`label` takes coordinates or contents.");
  }
  session.choices.coordinates = arguments == "coordinates";
  return fmt::format("Cells show their {}.", arguments);
}

// Row, column, and in the layout view the grid and slice.
using Place = std::array<std::int64_t, 4>;

Outcome<Place> place_in(const Session& session, std::string_view name, std::string_view arguments) {
  const bool layout = session.choices.view == ViewName::layout;
  const std::vector<std::string> words = split_words(arguments);
  Place at{};
  bool good = words.size() >= 2 && words.size() <= (layout ? 4u : 2u);
  for (std::size_t i = 0; good && i < words.size(); ++i) {
    const auto number = number_in(words[i]);
    good = number && *number >= 0;
    if (good) at[i] = *number;
  }
  if (good) return at;
  return usage(
      layout ? fmt::format("`{}` takes a row, a column and, where there are several grids, "
                           "the grid and slice, counted from 0: `{} 3 5 1`.",
                           name, name)
             : fmt::format("`{}` takes a row, a column, counted from 0: `{} 3 5`.", name, name));
}

Outcome<Cell> cell_of(const Choices& choices, const Place& at) {
  if (!choices.layout) return usage("There is no layout to pick a cell of: open one first.");
  const Cell cell{static_cast<int>(std::min<std::int64_t>(at[2], 1 << 20)), at[3], at[0], at[1]};
  if (choices.layout->exists(cell)) return cell;
  const Panel& panel = choices.layout->panels().front();
  return Error{
      ErrorKind::mismatch,
      fmt::format("There is no cell in row {}, column {} of grid {}; the first grid has {} "
                  "rows and {} columns.",
                  cell.row, cell.column, cell.panel, panel.rows, panel.columns),
      ""};
}

Outcome<Element> element_of(const Choices& choices, const Place& at) {
  if (!choices.matrices) return usage("There are no matrices to pick from: run a kernel first.");
  const Element element{at[0], at[1]};
  const MatricesView::Matrix& any = choices.matrices->matrices().front();
  if (element.row < any.rows && element.column < any.columns) return element;
  return Error{ErrorKind::mismatch,
               fmt::format("There is no element in row {}, column {} of {} x {}.", element.row,
                           element.column, any.rows, any.columns),
               ""};
}

Answer run_pick(Session& session, Workshop&, std::string_view arguments) {
  Choices& choices = session.choices;
  if (arguments == "nothing") {
    choices.selected.reset();
    choices.element.reset();
    return std::string("Nothing is selected.");
  }
  const auto place = place_in(session, "pick", arguments);
  if (!place) return place.error();
  if (choices.view == ViewName::layout) {
    const auto cell = cell_of(choices, *place);
    if (!cell) return cell.error();
    choices.selected = *cell;
    return fmt::format("Selected row {}, column {}.", cell->row, cell->column);
  }
  const auto element = element_of(choices, *place);
  if (!element) return element.error();
  choices.element = *element;
  return fmt::format("Selected element ({}, {}){}.", element->row, element->column,
                     choices.result ? "" : "; run the kernel to learn who writes it");
}

Answer run_point(Session& session, Workshop&, std::string_view arguments) {
  if (arguments == "nowhere") {
    session.hover.reset();
    session.hover_element.reset();
    return std::string("Pointing nowhere.");
  }
  const auto place = place_in(session, "point", arguments);
  if (!place) return place.error();
  if (session.choices.view == ViewName::layout) {
    const auto cell = cell_of(session.choices, *place);
    if (!cell) return cell.error();
    session.hover = *cell;
    return fmt::format("Pointing at row {}, column {}.", cell->row, cell->column);
  }
  const auto element = element_of(session.choices, *place);
  if (!element) return element.error();
  session.hover_element = *element;
  return fmt::format("Pointing at row {}, column {}.", element->row, element->column);
}

Answer run_show(Session& session, Workshop&, std::string_view arguments) {
  if (arguments != "wrong" && arguments != "all") return usage("`show` takes wrong or all.");
  session.choices.only_wrong = arguments == "wrong";
  return std::string(session.choices.only_wrong ? "Only wrong elements are coloured."
                                                : "All differences are coloured.");
}

Answer run_back(Session& session, Workshop&, std::string_view) {
  Choices& choices = session.choices;
  if (choices.view == ViewName::layout) {
    if (choices.isolate.on != Focus::On::nothing) {
      choices.isolate = {};
      return std::string("All cells are shown.");
    }
    if (choices.selected) {
      choices.selected.reset();
      return std::string("Nothing is selected.");
    }
  } else if (choices.element) {
    choices.element.reset();
    return std::string("Nothing is selected.");
  }
  fit_view(session);
  return std::string("All of the view is shown.");
}

Answer run_zoom(Session& session, Workshop&, std::string_view arguments) {
  if (arguments == "fit") {
    fit_view(session);
    return std::string("All of the view is shown.");
  }
  if (arguments != "in" && arguments != "out") return usage("`zoom` takes in, out or fit.");
  session.pending_zoom *= arguments == "in" ? 1.5 : 1 / 1.5;
  return fmt::format("Zoomed {}.", arguments);
}

Answer run_theme(Session& session, Workshop&, std::string_view arguments) {
  const Theme* theme = theme_named(arguments);
  if (!theme) return usage(fmt::format("There is no theme `{}`: light or dark.", arguments));
  session.choices.dark = theme->dark;
  return fmt::format("The theme is {}.", arguments);
}

Answer run_export(Session& session, Workshop& workshop, std::string_view arguments) {
  const std::string path(unquoted(arguments));
  if (path.empty()) return usage("`export` needs a file's name: `export tiles.svg`.");
  if (const auto empty = emptiness(session)) return usage(empty->sentence);
  if (auto error = workshop.export_picture(export_scene(session), path)) return *error;
  return fmt::format("Wrote {}.", path);
}

Answer run_undo(Session& session, Workshop&, std::string_view) {
  if (session.past.empty()) return usage("There is nothing to undo.");
  Step step = std::move(session.past.back());
  session.past.pop_back();
  session.future.push_back({step.name, session.choices, false});
  session.choices = std::move(step.before);
  show_in_field(session);
  return fmt::format("Undid `{}`.", step.name);
}

Answer run_redo(Session& session, Workshop&, std::string_view) {
  if (session.future.empty()) return usage("There is nothing to redo.");
  Step step = std::move(session.future.back());
  session.future.pop_back();
  session.past.push_back({step.name, session.choices, false});
  session.choices = std::move(step.before);
  show_in_field(session);
  return fmt::format("Did `{}` again.", step.name);
}

constexpr std::array kTable = {
    WindowCommand{"open",
                  "layout EXPR | preset NAME | KERNEL [--m M] [--n N] [--a F.npy] [--b F.npy] "
                  "[--dtype T] [--seed S]",
                  "opens a layout expression, a preset or a kernel of the catalog",
                  "open layout zipped_divide((8,8):(8,1), <4,4>)", "", run_open},
    WindowCommand{"run", "", "runs the open kernel and compares every element with a reference",
                  "run", "F5", run_run},
    WindowCommand{"cancel", "", "stops the run", "cancel", "", run_cancel},
    WindowCommand{"select", "layout | matrices | diff", "changes the view", "select diff", "",
                  run_select},
    WindowCommand{
        "colour",
        "tile | thread | warp | value | offset | bank | axis | axis2 | axis3 | axis4 | none",
        "says what a cell's colour means", "colour offset", "", run_colour},
    WindowCommand{"isolate", "thread N | warp N | tile N | value N | offset N | nothing",
                  "leaves only the cells of one in colour", "isolate tile 2", "", run_isolate},
    WindowCommand{"label", "contents | coordinates", "says what is written in a cell",
                  "label coordinates", "", run_label},
    WindowCommand{"pick", "ROW COLUMN [GRID [SLICE]] | nothing",
                  "selects a cell or a matrix element, counted from 0", "pick 3 5", "", run_pick},
    WindowCommand{"point", "ROW COLUMN [GRID [SLICE]] | nowhere",
                  "shows what the pointer would show there", "point 3 5", "", run_point},
    WindowCommand{"show", "all | wrong", "colours all differences, or only wrong elements",
                  "show wrong", "", run_show},
    WindowCommand{"back", "", "goes back one: isolation, then selection, then zoom", "back", "Esc",
                  run_back},
    WindowCommand{"zoom", "in | out | fit", "zooms the view", "zoom fit", "Home", run_zoom},
    WindowCommand{"theme", "light | dark", "changes the colours of the window", "theme dark", "",
                  run_theme},
    WindowCommand{"export", "F.svg | F.png | F.pdf | F.tex", "writes the view as a picture",
                  "export tiles.svg", "", run_export},
    WindowCommand{"undo", "", "takes back the last choice", "undo", "Ctrl+Z", run_undo},
    WindowCommand{"redo", "", "makes the choice that was taken back again", "redo", "Ctrl+Shift+Z",
                  run_redo},
};

const WindowCommand* find_command(std::string_view name) {
  for (const WindowCommand& command : kTable) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

Error unknown_command(std::string_view name) {
  std::vector<std::string_view> names;
  for (const WindowCommand& command : kTable) names.push_back(command.name);
  const std::string_view near = nearest(name, names);
  return {ErrorKind::usage,
          near.empty()
              ? fmt::format("There is no window command `{}`; `tilescope list commands` "
                            "shows them.",
                            name)
              : fmt::format("There is no window command `{}`; did you mean `{}`?", name, near),
          ""};
}

// Undo and redo move between steps and are none themselves.
bool moves_in_history(std::string_view name) {
  return name == "undo" || name == "redo";
}

Answer execute_as(Session& session, Workshop& workshop, std::string_view line, bool typing) {
  const auto [name, arguments] = first_word(line);
  const WindowCommand* command = find_command(name);
  if (!command) {
    Error error = unknown_command(name);
    session.message = {error.sentence, true};
    return error;
  }
  Choices before = session.choices;
  Answer answer = command->arguments.empty() && !arguments.empty()
                      ? Answer(usage(fmt::format("`{}` takes no arguments.", name)))
                      : command->run(session, workshop, arguments);
  if (!answer) {
    session.choices = std::move(before);
    session.message = {answer.error().sentence, true};
    return answer;
  }
  session.message = {*answer, false};
  if (moves_in_history(name) || session.choices == before) return answer;
  session.future.clear();
  const bool joins = typing && !session.past.empty() && session.past.back().typing;
  if (joins) {
    session.past.back().name = line;
  } else {
    session.past.push_back({std::string(line), std::move(before), typing});
  }
  return answer;
}

// An error stands next to what caused it, and nowhere else.
void problem_at_field(Session& session, FieldProblem problem) {
  session.problem = std::move(problem);
  session.message = {};
}

}  // namespace

std::span<const WindowCommand> window_commands() {
  return kTable;
}

Outcome<std::string> execute(Session& session, Workshop& workshop, std::string_view line) {
  return execute_as(session, workshop, trimmed(line), false);
}

void type_field(Session& session, Workshop& workshop, std::string_view text) {
  session.field = text;
  session.problem.reset();
  const std::string_view expression = trimmed(text);
  if (expression.empty() || may_name_kernel(workshop, expression)) return;
  if ((session.problem = problem_in(session.field))) return;
  // Shown while it is being typed; the field keeps the text as it stands, blanks included.
  if (auto answer = execute_as(session, workshop, fmt::format("open layout {}", expression), true);
      !answer) {
    problem_at_field(session, {answer.error().sentence, 0, text.size()});
  }
  session.field = text;
}

Outcome<std::string> enter_field(Session& session, Workshop& workshop) {
  const std::string text(trimmed(session.field));
  const std::string_view name = first_word(text).first;
  const std::vector<KernelName> kernels = workshop.kernels();
  const bool kernel = std::any_of(kernels.begin(), kernels.end(),
                                  [&](const KernelName& each) { return each.name == name; });
  const bool as_is = kernel || name == "preset" || name.ends_with(".ptx");
  auto answer = execute(session, workshop, fmt::format("open {}{}", as_is ? "" : "layout ", text));
  if (!session.past.empty()) session.past.back().typing = false;
  session.problem.reset();
  if (answer) return answer;
  session.field = text;
  const FieldProblem whole{answer.error().sentence, 0, text.size()};
  problem_at_field(session, as_is ? whole : problem_in(text).value_or(whole));
  return answer;
}

}  // namespace tilescope
