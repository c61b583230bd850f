// How the open layout is looked at: colours, isolation, labels.
#include "viz/scene/command_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "viz/scene/command_text.h"

namespace tilescope {
namespace {

Answer run_colour(Session& session, Workshop&, std::string_view arguments) {
  const auto& layout = session.choices.layout;
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
  session.choices.colour = *by;
  return fmt::format("Coloured by {}.", name_of(*by));
}

Answer run_isolate(Session& session, Workshop&, std::string_view arguments) {
  Choices& choices = session.choices;
  if (!choices.layout)
    return usage_error("Only cells of a layout can be isolated: open one first.");
  const auto [what, which] = first_word(arguments);
  const auto on = focus_name(what);
  if (!on) return on.error();
  if (*on == Focus::On::nothing) {
    choices.isolate = {};
    return std::string("All cells are shown.");
  }
  const auto number = number_in(which);
  if (!number || *number < 0) {
    return usage_error(
        fmt::format("`isolate {}` needs a number, for example `isolate {} 3`.", what, what));
  }
  std::int64_t count = choices.layout->categories(colour_telling(*on));
  if (*on == Focus::On::phase) {
    const auto access = access_of(session);
    if (!access) return access.error();
    count = static_cast<std::int64_t>((*access)->phases().size());
  }
  if (*on != Focus::On::offset && *number >= count) {
    const std::string sentence = count == 0
                                     ? fmt::format("This layout has no {}s.", what)
                                     : fmt::format("There is no {} {}: this layout's are 0 to {}.",
                                                   what, *number, count - 1);
    return Error{ErrorKind::mismatch, sentence, ""};
  }
  choices.isolate = {*on, *number};
  if (shows_layout(choices.view)) choices.view = ViewName::layout;  // where it is seen
  return fmt::format("Only {} {} is shown in colour.", what, *number);
}

Answer run_label(Session& session, Workshop&, std::string_view arguments) {
  if (arguments != "coordinates" && arguments != "contents") {
    return usage_error("`label` takes coordinates or contents.");
  }
  session.choices.coordinates = arguments == "coordinates";
  return fmt::format("Cells show their {}.", arguments);
}

std::vector<Suggestion> suggest_colour(const Session& session, const Workshop&) {
  std::vector<Suggestion> out;
  if (!session.choices.layout) return out;
  for (ColourBy by : session.choices.layout->colours()) {
    out.push_back({std::string(name_of(by)), "says what a cell's colour means"});
  }
  return out;
}

constexpr std::array kTable = {
    WindowCommand{
        "colour",
        "tile | thread | warp | value | offset | bank | axis | axis2 | axis3 | axis4 | none",
        "says what a cell's colour means", "colour offset", "", run_colour, suggest_colour, true},
    WindowCommand{
        "isolate", "thread N | warp N | tile N | value N | offset N | bank N | phase N | nothing",
        "leaves only the cells of one in colour", "isolate tile 2", "", run_isolate, nullptr, true},
    WindowCommand{"label", "contents | coordinates", "says what is written in a cell",
                  "label coordinates", "", run_label, nullptr, true},
};

}  // namespace

std::span<const WindowCommand> layout_commands() {
  return kTable;
}

}  // namespace tilescope
