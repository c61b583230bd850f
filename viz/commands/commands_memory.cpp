// How shared memory, TMEM and sums in registers are looked at: their order and colours.
#include "viz/commands/command_table.h"

#include <fmt/format.h>

#include <array>

#include "viz/scene/command_text.h"

namespace tilescope {
namespace {

using Colour = MemoryChoice::Colour;

Answer run_memory(Session& session, Backend&, std::string_view arguments) {
  MemoryChoice& choice = session.state.memory;
  const auto [what, how] = first_word(arguments);
  if (what == "order" && (how == "logical" || how == "physical" || how == "both")) {
    choice.physical = how == "physical";
    choice.both = how == "both";
    if (choice.both) {
      return std::string(
          "Tiles are shown in the order of their rows and as they are in the banks.");
    }
    return std::string(choice.physical ? "Tiles are shown as they are in the banks of memory."
                                       : "Tiles are shown in the order of their rows.");
  }
  for (const Colour by : {Colour::tile, Colour::writer, Colour::value}) {
    if (what != "colour" || how != name_of(by)) continue;
    choice.colour = by;
    return fmt::format("Shared memory is coloured by {}.", how);
  }
  return usage_error(
      "`memory` takes order logical, physical or both, or colour tile, writer or value: `memory "
      "order physical`.");
}

Answer run_tmem(Session& session, Backend&, std::string_view arguments) {
  const auto [what, how] = first_word(arguments);
  using Tensor = MemoryChoice::Tensor;
  for (const Tensor by : {Tensor::step, Tensor::writer, Tensor::value}) {
    if (what != "colour" || how != name_of(by)) continue;
    session.state.memory.tensor = by;
    return by == Tensor::step
               ? std::string("TMEM is coloured by the step of K, where the run's record tells it.")
               : fmt::format("TMEM is coloured by {}.", how);
  }
  return usage_error("`tmem` takes colour step, colour writer or colour value.");
}

Answer run_matrices(Session& session, Backend&, std::string_view arguments) {
  const auto [what, how] = first_word(arguments);
  if (what != "sums" || (how != "value" && how != "thread")) {
    return usage_error("`matrices` takes sums value or sums thread.");
  }
  session.state.memory.sums_by_thread = how == "thread";
  return fmt::format("Sums in registers are coloured by {}.", how);
}

constexpr std::array kMemoryCommands = {
    WindowCommand{
        "memory",
        "order logical | order physical | order both | colour tile | colour writer | colour value",
        "how shared memory is drawn: in the tiles' order or the banks', and its colours",
        "memory order physical", "", run_memory, nullptr, true},
    WindowCommand{"tmem", "colour step | colour writer | colour value", "what colours mean in TMEM",
                  "tmem colour value", "", run_tmem, nullptr, true},
    WindowCommand{"matrices", "sums value | sums thread",
                  "what colours mean of sums that registers hold, on the matrix that they go to",
                  "matrices sums thread", "", run_matrices, nullptr, true},
};

}  // namespace

std::span<const WindowCommand> memory_commands() {
  return kMemoryCommands;
}

}  // namespace tilescope
