// The view itself: which one, what is selected or pointed at in it, zoom, colours, files.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "viz/scene/command_text.h"
#include "viz/session/open.h"
#include "viz/session/product_session.h"
#include "viz/session/seek.h"
#include "viz/session/theatre_session.h"
#include "viz/session/timeline_session.h"
#include "viz/session/value_table.h"

namespace tilescope {
namespace {

Answer run_select(Session& session, Backend& backend, std::string_view arguments) {
  if (arguments == "lesson" || arguments == "inspector") {
    LessonPlace& lesson = session.state.lesson;
    if (!lesson.open() && arguments == "lesson") {
      return usage_error("No lesson is open; `lesson layouts` opens the first.");
    }
    lesson.shown = arguments == "lesson";
    return fmt::format("Showing the {}.", arguments);
  }
  std::string names;
  for (const View* view : views()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", view->name);
    if (arguments != view->name) continue;
    // What shows a machine makes one.
    if (view->of == View::Of::machine && !not_built(session)) {
      if (const auto live = live_run(session, backend); !live) return live.error();
    }
    session.state.view = view->id;
    if (view->of == View::Of::course) (void)look_at_course(session, backend);
    // What is selected in the timeline is opened, where it is a product.
    const auto products = view->id == ViewName::product ? product_index(session) : nullptr;
    const auto selected = products ? selected_product(session, *products) : std::nullopt;
    if (selected) session.state.product.number = selected;
    show_in_field(session);
    if (view->of == View::Of::machine) {
      const std::string line = fmt::format("select {}", view->name);
      if (const auto way = leave_end(session, backend, line); way && !*way) return way->error();
    }
    return view->said.empty() ? fmt::format("Showing the {}.", view->name)
                              : fmt::format("Showing {}.", view->said);
  }
  return usage_error(
      fmt::format("`select` takes a view ({}), or a panel (lesson, inspector); `{}` is neither.",
                  names, arguments));
}

// Row, column, and in the layout view the grid and slice.
using Place = std::array<std::int64_t, 4>;

Outcome<Place> place_in(const Session& session, std::string_view name, std::string_view arguments) {
  const bool layout = shows_layout(session.state.view);
  const std::vector<std::string> words = split_words(arguments);
  Place at{};
  bool good = words.size() >= 2 && words.size() <= (layout ? 4u : 2u);
  for (std::size_t i = 0; good && i < words.size(); ++i) {
    const auto number = number_in(words[i]);
    good = number && *number >= 0;
    if (good) at[i] = *number;
  }
  if (good) return at;
  return usage_error(
      layout ? fmt::format("`{}` takes a row, a column and, where there are several grids, "
                           "the grid and slice, counted from 0: `{} 3 5 1`.",
                           name, name)
             : fmt::format("`{}` takes a row, a column, counted from 0: `{} 3 5`.", name, name));
}

Outcome<Cell> cell_of(const ViewState& state, const Place& at) {
  if (!state.layout) return usage_error("There is no layout to pick a cell of: open one first.");
  const Cell cell{static_cast<int>(std::min<std::int64_t>(at[2], 1 << 20)), at[3], at[0], at[1]};
  if (state.layout->exists(cell)) return cell;
  const std::size_t count = state.layout->panels().size();
  if (at[2] >= static_cast<std::int64_t>(count)) {
    return Error{ErrorKind::mismatch,
                 count == 1
                     ? fmt::format("There is no grid {}: this layout has one, grid 0.", at[2])
                     : fmt::format("There is no grid {}: this layout has {}, 0 to {}.", at[2],
                                   count, count - 1),
                 ""};
  }
  const Panel& panel = state.layout->panels()[static_cast<std::size_t>(at[2])];
  if (at[3] >= panel.all_slices) {
    return Error{ErrorKind::mismatch,
                 fmt::format("There is no slice {} of grid {}: it has {}, counted from 0.", at[3],
                             at[2], panel.all_slices),
                 ""};
  }
  return Error{
      ErrorKind::mismatch,
      fmt::format("There is no cell in row {}, column {} of grid {}, which has {} rows and {} "
                  "columns.",
                  cell.row, cell.column, cell.panel, panel.rows, panel.columns),
      ""};
}

// Of what an element is selected: the comparison's, or the output's.
MatrixShape elements_of(const ViewState& state) {
  if (state.diff) return {state.diff->source().rows(), state.diff->source().columns()};
  return {state.matrices->rows(), state.matrices->columns()};
}

Outcome<Element> element_of(const ViewState& state, const Place& at) {
  if (!state.matrices)
    return usage_error("There are no matrices to pick from: run a kernel first.");
  const Element element{at[0], at[1]};
  const MatrixShape any = elements_of(state);
  if (element.row < any.rows && element.column < any.cols) return element;
  return Error{ErrorKind::mismatch,
               fmt::format("There is no element in row {}, column {} of {} x {}.", element.row,
                           element.column, any.rows, any.cols),
               ""};
}

Answer run_pick(Session& session, Backend&, std::string_view arguments) {
  ViewState& state = session.state;
  if (arguments == "nothing") {
    state.selected.reset();
    state.element.reset();
    state.timeline_choice.selected = state.baseline_rows.selected = sim::no_event;
    return std::string("Nothing is selected.");
  }
  if (const auto [what, number] = first_word(arguments); what == "event") {
    return pick_event(session, number);
  }
  const auto place = place_in(session, "pick", arguments);
  if (!place) return place.error();
  if (shows_layout(state.view)) {
    const auto cell = cell_of(state, *place);
    if (!cell) return cell.error();
    state.selected = *cell;
    return fmt::format("Selected row {}, column {}.", cell->row, cell->column);
  }
  const auto element = element_of(state, *place);
  if (!element) return element.error();
  state.element = *element;
  const bool to_run = state.kernel && !state.result;
  return fmt::format("Selected element ({}, {}){}.", element->row, element->column,
                     to_run ? "; run the kernel to learn who writes it" : "");
}

Answer run_point(Session& session, Backend&, std::string_view arguments) {
  if (arguments == "nowhere") {
    session.hovered.cell.reset();
    session.hovered.element.reset();
    session.hovered.bar.reset();
    return std::string("Pointing nowhere.");
  }
  if (const auto [what, which] = first_word(arguments); what == "bar") {
    const auto bar = number_in(which);
    if (!bar || *bar < 0 || !session.state.diff || session.state.view != ViewName::diff) {
      return usage_error(
          "`point bar N` points at a bar of the diff view's histogram, counted from 0.");
    }
    session.hovered.bar = static_cast<std::size_t>(*bar);
    return fmt::format("Pointing at bar {}.", *bar);
  }
  const auto place = place_in(session, "point", arguments);
  if (!place) return place.error();
  if (shows_layout(session.state.view)) {
    const auto cell = cell_of(session.state, *place);
    if (!cell) return cell.error();
    session.hovered.cell = *cell;
    return fmt::format("Pointing at row {}, column {}.", cell->row, cell->column);
  }
  const auto element = element_of(session.state, *place);
  if (!element) return element.error();
  session.hovered.element = *element;
  session.hovered.matrix.reset();
  return fmt::format("Pointing at row {}, column {}.", element->row, element->column);
}

// The neighbour in a direction, or the place itself at the edge.
template <class At>
At moved(At at, std::string_view direction) {
  if (direction == "left" && at.column > 0) --at.column;
  if (direction == "right") ++at.column;
  if (direction == "up" && at.row > 0) --at.row;
  if (direction == "down") ++at.row;
  return at;
}

// Up and down the list.
Answer move_exercise(Session& session, Backend& backend, std::string_view direction) {
  const auto& all = session.course.index->exercises;
  const CourseExercise& shown = *shown_exercise(session);
  std::size_t at = 0;
  while (all[at].name != shown.name) ++at;
  if (direction == "up" && at > 0) --at;
  if (direction == "down" && at + 1 < all.size()) ++at;
  return open_exercise(session, backend, all[at].name, "");
}

Answer run_move(Session& session, Backend& backend, std::string_view direction) {
  if (direction != "left" && direction != "right" && direction != "up" && direction != "down") {
    return usage_error("`move` takes left, right, up or down.");
  }
  if (const auto empty = emptiness(session)) return usage_error(empty->sentence);
  ViewState& state = session.state;
  if (state.view == ViewName::course) return move_exercise(session, backend, direction);
  if (shows_layout(state.view)) {
    const std::optional<Cell> from = state.selected;
    const Cell to = from ? moved(*from, direction) : Cell{};
    if (state.layout->exists(to)) state.selected = to;
    if (!state.selected) return usage_error("This layout has no cell to select.");
    return fmt::format("Selected row {}, column {}.", state.selected->row, state.selected->column);
  }
  if (state.view == ViewName::timeline) return move_event(session, direction);
  const MatrixShape any = elements_of(state);
  const Element to = state.element ? moved(*state.element, direction) : Element{};
  if (to.row < any.rows && to.column < any.cols) state.element = to;
  return fmt::format("Selected element ({}, {}).", state.element->row, state.element->column);
}

Answer run_back(Session& session, Backend&, std::string_view) {
  if (session.overlay.open()) {
    session.overlay = {};
    return std::string("The view is shown again.");
  }
  if (session.tour) {
    session.tour.reset();
    return std::string("The tour has ended; `tour` begins it again.");
  }
  ViewState& state = session.state;
  if (state.view == ViewName::lower && state.study.lowered) {
    state.study.lowered.reset();
    return std::string("Following nothing.");
  }
  if (shows_layout(state.view)) {
    if (state.isolate.on != Focus::On::nothing) {
      state.isolate = {};
      return std::string("All cells are shown.");
    }
    if (state.selected) {
      state.selected.reset();
      return std::string("Nothing is selected.");
    }
  } else if (state.view == ViewName::timeline) {
    if (const auto answer = timeline_back(state)) return *answer;
  } else if (state.view == ViewName::memory && state.spot.byte) {
    state.spot.byte.reset();
    fit_view(session);
    return std::string("All of shared memory is shown.");
  } else if (state.view == ViewName::tmem && state.spot.cell) {
    state.spot.cell.reset();
    return std::string("Nothing is selected.");
  } else if (state.element) {
    state.element.reset();
    return std::string("Nothing is selected.");
  }
  fit_view(session);
  return std::string("All of the view is shown.");
}

std::optional<double> decimal_in(const std::string& text) {
  char* end = nullptr;
  const double out = std::strtod(text.c_str(), &end);
  const bool whole = !text.empty() && end == text.c_str() + text.size();
  return whole && std::isfinite(out) && std::fabs(out) < 1e12 ? std::optional(out) : std::nullopt;
}

// "24 5.5 12 [GRID SLICE]", as share strings have it.
std::optional<ViewportPlace> look_in(const std::vector<std::string>& words) {
  std::vector<double> numbers;
  for (const std::string& word : words) {
    const auto number = decimal_in(word);
    if (!number) return {};
    numbers.push_back(*number);
  }
  if ((numbers.size() != 3 && numbers.size() != 5) || numbers[0] <= 0) return {};
  ViewportPlace out{numbers[0], numbers[1], numbers[2]};
  if (numbers.size() == 5) {
    out.grid = static_cast<int>(std::clamp(numbers[3], 0.0, 1e6));
    out.slice = static_cast<std::int64_t>(std::max(numbers[4], 0.0));
  }
  return out;
}

Answer run_zoom(Session& session, Backend&, std::string_view arguments) {
  if (arguments == "fit") {
    fit_view(session);
    return std::string("All of the view is shown.");
  }
  std::vector<std::string> words = split_words(arguments);
  const std::string what = words.empty() ? "" : words[0];
  double factor = what == "in" ? 1.5 : what == "out" ? 1 / 1.5 : 1;
  std::optional<ViewportPlace> look;
  bool good = words.size() == 1 && factor != 1;
  const bool by = words.size() >= 2 && words[words.size() - 2] == "by";
  if (by) {
    factor = decimal_in(words.back()).value_or(0);
    words.resize(words.size() - 2);
    good = words.empty();
  }
  if (what == "at") {
    words.erase(words.begin());
    look = look_in(words);
    good = look.has_value();
  }
  good = good && factor > 1e-6 && factor < 1e6;
  if (!good) {
    return usage_error(
        "`zoom` takes in, out or fit, by FACTOR, or at: pixels a cell, and the row and the column "
        "in "
        "the middle (of which grid and slice): `zoom at 24 5.5 12`.");
  }
  if (const auto empty = emptiness(session)) return usage_error(empty->sentence);
  if (session.state.view == ViewName::lower) {
    return usage_error(
        "A lowering is scrolled, not zoomed; `lower from LLVM` brings other levels.");
  }
  if (shows_layout(session.state.view) && session.state.view != ViewName::layout) {
    return usage_error(
        fmt::format("The {} are always shown whole; `select layout` shows the grid, "
                    "which can be zoomed.",
                    name_of(session.state.view)));
  }
  if (session.state.view == ViewName::timeline) {
    if (!look) return timeline_zoom(session, factor);
    return usage_error("A timeline has no rows and columns: `timeline range 1200 3400`.");
  }
  if (look) {
    if (const View& view = view_of(session.state.view); view.viewport)
      view.viewport(session).look = look;
    session.pending_zoom = factor;
    return fmt::format("Looking at row {:.6g}, column {:.6g}.", look->row, look->column);
  }
  session.pending_zoom *= factor;
  return fmt::format("Zoomed {}. Zoom is no step of undo; Home shows all.",
                     factor > 1 ? "in" : "out");
}

// What plays: the theatre alone.
Answer export_film(Session& session, Backend& backend, const std::string& path, bool painted) {
  const auto view = session.state.view == ViewName::theatre ? theatre_of(session) : nullptr;
  if (!view) {
    return usage_error(fmt::format(
        "Only the theatre plays: `select theatre`, then `export {}`. Other views are pictures: "
        ".svg, .png, .pdf or .tex.",
        path));
  }
  Session quiet;
  quiet.state = session.state;
  const Film film = theatre_film(quiet, *view, {1280, 720}, painted ? 240 : 600);
  if (auto error = backend.export_film(film, path)) return *error;
  return fmt::format("Wrote {}: {} frames.", path, film.frames.size());
}

Answer run_export(Session& session, Backend& backend, std::string_view arguments) {
  const std::string path(unquoted(arguments));
  if (path.empty()) {
    return usage_error(
        "`export` needs a file's name that ends in .svg, .png, .pdf, .tex, .csv or .txt: `export "
        "tiles.svg`.");
  }
  if (const auto empty = emptiness(session)) return usage_error(empty->sentence);
  const std::string_view end =
      std::string_view(path).substr(std::min(path.rfind('.'), path.size()));
  const bool layout = session.state.view == ViewName::layout;
  if (end == ".html" || end == ".gif" || end == ".webm") {
    return export_film(session, backend, path, end != ".html");
  }
  constexpr std::array ends = {".svg", ".png", ".pdf", ".tex", ".csv", ".txt"};
  if (std::find(ends.begin(), ends.end(), end) == ends.end()) {
    return usage_error(
        fmt::format("`export` writes .svg, .png, .pdf or .tex (the view), .csv or .txt (its "
                    "values), and .html, "
                    ".gif or .webm (the theatre, played); `{}` ends in none of them.",
                    path));
  }
  if (end == ".csv" || (end == ".txt" && !layout)) {
    if (const auto text = view_of(session.state.view).text; text && end == ".txt") {
      if (auto error = backend.write_text(path, text(session))) return *error;
      return fmt::format("Wrote {}.", path);
    }
    const auto table = value_table(session);
    if (!table) return table.error();
    const std::string text = end == ".csv" ? csv(*table) : aligned(*table);
    if (auto error = backend.write_text(path, text)) return *error;
    return fmt::format("Wrote {}: {} rows.", path, table->rows.size());
  }
  if (end == ".txt") {
    Session quiet;
    quiet.state = session.state;
    if (auto error = backend.export_text(*session.state.layout, layout_choice(quiet),
                                         session.theme(), path)) {
      return *error;
    }
    return fmt::format("Wrote {}.", path);
  }
  if (auto error = backend.export_picture(export_scene(session), path)) return *error;
  return fmt::format("Wrote {}.", path);
}

constexpr std::array kViewCommands = {
    WindowCommand{
        "select",
        "layout | banks | sectors | bits | lower | course | kernel | matrices | diff | theatre | "
        "timeline | why | "
        "handoffs | product | source | registers | barriers | memory | tmem | compare | "
        "lesson | inspector",
        "changes the view, or the panel at the right", "select diff", "", run_select, nullptr,
        true},
    WindowCommand{"pick", "ROW COLUMN [GRID [SLICE]] | event N | nothing",
                  "selects a cell, a matrix element or an event of the timeline, counted from 0",
                  "pick 3 5", "", run_pick, nullptr, true},
    WindowCommand{"move", "left | right | up | down", "moves the selection by one", "move right",
                  "Left left, Right right, Up up, Down down", run_move, nullptr, true},
    WindowCommand{"point", "ROW COLUMN [GRID [SLICE]] | bar N | nowhere",
                  "shows what the pointer would show there", "point 3 5", "", run_point},
    WindowCommand{"back", "", "goes back one: isolation, then selection, then zoom", "back", "Esc",
                  run_back},
    WindowCommand{"zoom", "in | out | fit | by FACTOR | at PIXELS ROW COLUMN [GRID SLICE]",
                  "zooms the view; `at` puts a cell into its middle", "zoom fit", "Home fit",
                  run_zoom, nullptr, true},
    WindowCommand{"export",
                  "F.svg | F.png | F.pdf | F.tex | F.csv | F.txt | F.html | F.gif | F.webm",
                  "writes the view as a picture, its values as a table, or the theatre, played",
                  "export tiles.svg", "", run_export},
};

}  // namespace

std::span<const WindowCommand> view_commands() {
  return kViewCommands;
}

}  // namespace tilescope
