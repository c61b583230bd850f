// How warps are taken to meet the open layout's memory.
#include "viz/scene/command_table.h"

#include <fmt/format.h>

#include <array>

#include "viz/scene/command_text.h"

namespace tilescope {
namespace {

Answer run_access(Session& session, Workshop&, std::string_view arguments) {
  if (!session.choices.layout) return usage_error("There is no layout: open one first.");
  LayoutStudy& study = session.choices.study;
  const std::vector<std::string> all = split_words(arguments);
  const auto wrong = [] {
    return usage_error(
        "`access` takes rows or columns, 4, 8 or 16 (bytes a lane), or instruction N: "
        "`access rows 16`.");
  };
  if (all.empty()) return wrong();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto number = number_in(all[i]);
    if (all[i] == "rows" || all[i] == "columns") {
      study.walk = all[i] == "rows" ? Walk::along_rows : Walk::down_columns;
      study.instruction.reset();
    } else if (number == 4 || number == 8 || number == 16) {
      study.access_bytes = static_cast<int>(*number);
      study.instruction.reset();
    } else if (all[i] == "instruction" && i + 1 < all.size() && number_in(all[i + 1])) {
      study.instruction = *number_in(all[++i]);
    } else {
      return wrong();
    }
  }
  // What the layout cannot be read by is said in the view; an instruction that is none is refused.
  const auto view = access_of(session);
  if (view && study.instruction &&
      (*study.instruction < 0 || *study.instruction >= (*view)->instructions())) {
    return usage_error(fmt::format("There is no instruction {}: there are 0 to {}.",
                                   *study.instruction, (*view)->instructions() - 1));
  }
  return fmt::format("Lanes walk along {}, {} bytes each.", name_of(study.walk),
                     study.access_bytes);
}

Answer run_element(Session& session, Workshop&, std::string_view arguments) {
  LayoutStudy& study = session.choices.study;
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

constexpr std::array kTable = {
    WindowCommand{"access", "[rows | columns] [4 | 8 | 16] [instruction N]",
                  "says how a warp's lanes walk over the layout and what each moves",
                  "access rows 4", "", run_access, nullptr, true},
    WindowCommand{"element", "1 | 2 | 4 | 8 | 16 | auto",
                  "says how many bytes an element has: for banks, sectors, byte addresses",
                  "element 2", "", run_element, nullptr, true},
};

}  // namespace

std::span<const WindowCommand> access_commands() {
  return kTable;
}

}  // namespace tilescope
