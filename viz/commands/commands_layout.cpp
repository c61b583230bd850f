// How the open layout is looked at: colours, isolation, labels.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "viz/scene/command_text.h"

namespace tilescope {
namespace {

Answer run_colour(Session& session, Backend&, std::string_view arguments) {
  const auto& layout = session.state.layout;
  if (!layout) return usage_error("Only a layout is coloured by something: open one first.");
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
  session.state.colour = *by;
  return fmt::format("Coloured by {}.", name_of(*by));
}

// The number is one that a grid shows: that grid's where one is named, else the element's place in
// memory. A swizzle's input shows other numbers than its result for the same element.
Answer isolate_offset(ViewState& state, std::string_view arguments) {
  const LayoutView& view = *state.layout;
  const std::vector<std::string> words = split_words(arguments);
  const auto number = words.empty() ? std::nullopt : number_in(words[0]);
  const auto grid = words.size() < 2 ? std::nullopt : number_in(words[1]);
  if (!number || words.size() > 2 || (words.size() == 2 && !grid)) {
    return usage_error(
        "`isolate offset` takes a number, and the grid that shows it, counted from 0, where grids "
        "show different ones: `isolate offset 3`, `isolate offset 3 0`.");
  }
  const auto grids = static_cast<std::int64_t>(view.panels().size());
  if (grid && (*grid < 0 || *grid >= grids)) {
    return Error{ErrorKind::mismatch,
                 fmt::format("There is no grid {}: this view's are 0 to {}.", *grid, grids - 1),
                 ""};
  }
  const Panel* own = grid ? &view.panels()[static_cast<std::size_t>(*grid)] : nullptr;
  const bool translated = own != nullptr && own->through;
  const std::int64_t lowest = translated ? 0 : view.lowest_offset();
  const std::int64_t highest = translated ? *size(*own->through) - 1 : view.highest_offset();
  if (!view.shows_places() && (*number < lowest || *number > highest)) {
    return Error{
        ErrorKind::mismatch,
        fmt::format("There is no offset {}{}: offsets are {} to {}.", *number,
                    own ? fmt::format(" in the grid {}", own->title) : "", lowest, highest),
        ""};
  }
  state.isolate = {Focus::On::offset, *number, translated ? static_cast<int>(*grid) : -1};
  state.view = shows_layout(state.view) ? ViewName::layout : state.view;
  if (!translated) return fmt::format("Only offset {} is shown in colour.", *number);
  return fmt::format("Only {} of the grid {} is shown in colour: offset {} in memory.", *number,
                     own->title, view.resolved(state.isolate).number);
}

Answer run_isolate(Session& session, Backend&, std::string_view arguments) {
  ViewState& state = session.state;
  if (!state.layout) return usage_error("Only cells of a layout can be isolated: open one first.");
  const auto [what, which] = first_word(arguments);
  if (what == name_of(Focus::On::nothing)) {
    state.isolate = {};
    return std::string("All cells are shown.");
  }
  const auto on = focus_name(what);
  if (!on) return on.error();
  if (*on == Focus::On::offset) return isolate_offset(state, which);
  const auto number = number_in(which);
  if (!number || *number < 0) {
    return usage_error(
        fmt::format("`isolate {}` needs a number, for example `isolate {} 3`.", what, what));
  }
  std::int64_t count = state.layout->categories(colour_telling(*on));
  if (*on == Focus::On::phase) {
    const auto access = access_of(session);
    if (!access) return access.error();
    count = static_cast<std::int64_t>((*access)->phases().size());
  }
  if (*number >= count) {
    const std::string sentence = count == 0
                                     ? fmt::format("This layout has no {}s.", what)
                                     : fmt::format("There is no {} {}: this layout's are 0 to {}.",
                                                   what, *number, count - 1);
    return Error{ErrorKind::mismatch, sentence, ""};
  }
  state.isolate = {*on, *number};
  if (shows_layout(state.view)) state.view = ViewName::layout;  // where it is seen
  return fmt::format("Only {} {} is shown in colour.", what, *number);
}

Answer run_label(Session& session, Backend&, std::string_view arguments) {
  if (arguments != "coordinates" && arguments != "contents") {
    return usage_error("`label` takes coordinates or contents.");
  }
  session.state.coordinates = arguments == "coordinates";
  return fmt::format("Cells show their {}.", arguments);
}

std::vector<Suggestion> suggest_colour(const Session& session, const Backend&) {
  std::vector<Suggestion> out;
  if (!session.state.layout) return out;
  for (ColourBy by : session.state.layout->colours()) {
    out.push_back({std::string(name_of(by)), "says what a cell's colour means"});
  }
  return out;
}

constexpr std::array kLayoutCommands = {
    WindowCommand{
        "colour",
        "tile | thread | warp | value | offset | bank | axis | axis2 | axis3 | axis4 | none",
        "says what a cell's colour means", "colour offset", "", run_colour, suggest_colour, true},
    WindowCommand{
        "isolate",
        "thread N | warp N | tile N | value N | offset N [GRID] | bank N | phase N | nothing",
        "leaves only the cells of one in colour", "isolate tile 2", "", run_isolate, nullptr, true},
    WindowCommand{"label", "contents | coordinates", "says what is written in a cell",
                  "label coordinates", "", run_label, nullptr, true},
};

}  // namespace

std::span<const WindowCommand> layout_commands() {
  return kLayoutCommands;
}

}  // namespace tilescope
