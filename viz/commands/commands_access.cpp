// How warps are taken to meet the open layout's memory.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <array>

#include "core/layout/text.h"

#include "viz/scene/command_text.h"

namespace tilescope {
namespace {

Error wrong_access() {
  return usage_error(
      "`access` takes rows or columns, 4, 8 or 16 (bytes a lane), instruction N, grid N (of a "
      "picture with several operands), or through LAYOUT (from coordinates to offsets in memory; "
      "through nothing: none): `access rows 16`.");
}

// The rest of the line: the memory that the open layout's coordinates go through.
Answer go_through(Session& session, std::string_view rest) {
  LayoutStudy& study = session.state.study;
  const std::string memory(unquoted(trimmed(rest)));
  if (memory.empty()) return wrong_access();
  if (memory == "nothing") {
    study.instruction.reset();
    study.access_through.clear();
    return std::string("No memory is given.");
  }
  const Outcome<Layout> layout = layout_given(memory);
  if (!layout) return layout.error();
  study.instruction.reset();
  study.access_through = memory;
  std::string answer = fmt::format("Coordinates go through the memory {}.", text(*layout));
  // What does not fit is said at once, with what would, and by the views. It is taken all the same:
  // another grid or another width may make it fit.
  if (const auto view = access_of(session); !view) answer += " " + view.error().sentence;
  return answer;
}

Answer run_access(Session& session, Backend&, std::string_view arguments) {
  if (!session.state.layout) return usage_error("There is no layout: open one first.");
  LayoutStudy& study = session.state.study;
  std::string_view rest = trimmed(arguments);
  if (rest.empty()) return wrong_access();
  while (!rest.empty()) {
    const auto [word, after] = first_word(rest);
    const auto [next, behind] = first_word(after);
    const auto number = number_in(word), argument = number_in(next);
    rest = after;
    if (word == "through") {
      return go_through(session, after);
    } else if (word == "rows" || word == "columns") {
      study.walk = word == "rows" ? Walk::along_rows : Walk::down_columns;
      study.instruction.reset();
    } else if (number == 4 || number == 8 || number == 16) {
      study.access_bytes = static_cast<int>(*number);
      study.instruction.reset();
    } else if (word == "instruction" && argument) {
      study.instruction = *argument;
      rest = behind;
    } else if (word == "grid" && argument) {
      const auto grids = static_cast<std::int64_t>(session.state.layout->panels().size());
      if (*argument < 0 || *argument >= grids) {
        return usage_error(
            fmt::format("There is no grid {}: there are 0 to {}.", *argument, grids - 1));
      }
      study.access_grid = static_cast<int>(*argument);
      study.instruction.reset();
      rest = behind;
    } else {
      return wrong_access();
    }
  }
  // What the layout cannot be read by is said in the view; an instruction that is none is refused.
  const auto view = access_of(session);
  if (view && study.instruction &&
      (*study.instruction < 0 || *study.instruction >= (*view)->instructions())) {
    return usage_error(fmt::format("There is no instruction {}: there are 0 to {}.",
                                   *study.instruction, (*view)->instructions() - 1));
  }
  if (view && (*view)->owned() != nullptr) {
    return fmt::format("Threads move what they own, {} bytes at a time.", (*view)->width());
  }
  return fmt::format("Lanes walk along {}, {} bytes each.", name_of(study.walk),
                     study.access_bytes);
}

Answer run_element(Session& session, Backend&, std::string_view arguments) {
  LayoutStudy& study = session.state.study;
  if (arguments == "auto") {
    study.element_bytes = 0;
    return std::string("Elements are as wide as the layout's type says, else 4 bytes.");
  }
  const auto number = number_in(arguments);
  if (number != 1 && number != 2 && number != 4 && number != 8 && number != 16) {
    return usage_error("`element` takes 1, 2, 4, 8 or 16 bytes, or auto.");
  }
  study.element_bytes = static_cast<int>(*number);
  study.instruction.reset();
  return fmt::format("An element is {} byte{}.", *number, *number == 1 ? "" : "s");
}

constexpr std::array kAccessCommands = {
    WindowCommand{"access",
                  "[rows | columns] [4 | 8 | 16] [instruction N] [grid N] [through LAYOUT]",
                  "says how a warp meets the layout: what a lane moves, through which memory",
                  "access rows 4", "", run_access, nullptr, true},
    WindowCommand{"element", "1 | 2 | 4 | 8 | 16 | auto",
                  "says how many bytes an element has: for banks, sectors, byte addresses",
                  "element 2", "", run_element, nullptr, true},
};

}  // namespace

std::span<const WindowCommand> access_commands() {
  return kAccessCommands;
}

}  // namespace tilescope
