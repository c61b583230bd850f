// Whose state is shown: the line at the top of a machine's views.
#include "viz/machine/machine_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/profile/statistics.h"
#include "core/sim/time/wait.h"
#include "viz/scene/items.h"
#include "viz/scene/number_words.h"
#include "viz/scene/palette.h"

namespace tilescope {
namespace {

using sim::Wait;

// A button of text; answers its width.
double button(Scene& scene, double x, double y, const std::string& label, std::string command,
              std::string hint, bool current, bool quiet = false) {
  const double width = std::max(24.0, text_width(label, small_text, Family::sans) + 2 * inside);
  Rectangle box;
  box.box = {x, y - 12, width, 24};
  box.radius = 4;
  if (current) box.fill = Ink(Role::accent, 0.14);
  box.stroke = {current ? Role::accent : Role::line, 1, false};
  scene.add(box);
  scene.add(words({x + width / 2, y}, label, quiet ? Role::quiet : Role::text, FontWeight::regular,
                  Across::centre));
  if (!command.empty()) scene.targets.push_back({box.box, std::move(command), std::move(hint)});
  return width;
}

// Those that can be looked at instead.
void offer_blocks(Scene& scene, const sim::Machine& machine, double x, double y, double right) {
  std::vector<std::uint64_t> resident;
  for (const sim::Block& block : machine.blocks()) {
    if (!block.ended) resident.push_back(block.number);
  }
  if (resident.empty()) return;
  scene.add(words({x, y}, "resident", Role::quiet));
  x += text_width("resident", small_text, Family::sans) + inside;
  std::sort(resident.begin(), resident.end());
  for (const std::uint64_t block : resident) {
    const std::string label = fmt::format("{}", block);
    if (x + text_width(label, small_text, Family::sans) + 3 * inside > right) break;
    x += button(scene, x, y, label, fmt::format("look block {}", block),
                fmt::format("looks at CTA {}", block), false) +
         inside / 2;
  }
}

// The selected event is of another moment: when, and a click goes there.
void offer_event(Scene& scene, const SelectedEvent& event, double x, double y, double right) {
  for (const std::string& label : {"Selected event: " + event.when, event.when}) {
    if (x + text_width(label, small_text, Family::sans) + 2 * inside > right) continue;
    button(scene, x, y, label, event.command,
           fmt::format("{}; {}: goes there", event.sentence, event.when), true);
    return;
  }
}

// A warp to choose, with the letter of what it waits for.
struct Chip {
  std::string label, hint;
  std::uint32_t warp = 0;
  bool gone = false;
  std::optional<sim::Stall> stall;
  double width = 0;  // with the gap behind it
};

std::vector<Chip> chips_of(const std::vector<sim::WarpState>& warps) {
  std::vector<Chip> out;
  for (const sim::WarpState& warp : warps) {
    const sim::SplitState* split = sim::speaking_split(warp.splits);
    const bool waits = split && split->wait != Wait::none;
    Chip chip;
    chip.warp = warp.index;
    chip.gone = warp.live == 0;
    chip.label = fmt::format("{}", warp.index);
    if (waits) chip.stall = sim::stall_of(split->wait);
    if (waits) chip.label += fmt::format(" {}", sim::letter_of(*chip.stall));
    chip.hint = chip.gone ? fmt::format("warp {} has exited", warp.index)
                : waits ? fmt::format("warp {} {} ({}): {}", warp.index, sim::name_of(*chip.stall),
                                      sim::letter_of(*chip.stall), split->why)
                        : fmt::format("warp {} can go on", warp.index);
    chip.width =
        std::max(24.0, text_width(chip.label, small_text, Family::sans) + 2 * inside) + inside / 2;
    out.push_back(std::move(chip));
  }
  return out;
}

// Those that have room, with the current one among them: [first, last). A button stands at each
// end where others are left out.
constexpr double others_width = 84;
std::pair<std::size_t, std::size_t> shown_chips(const std::vector<Chip>& chips, double room,
                                                std::uint32_t current) {
  double all = 0;
  for (const Chip& chip : chips) all += chip.width;
  if (all - inside / 2 <= room) return {0, chips.size()};
  for (std::size_t first = 0;;) {
    double used = first > 0 ? others_width : 0;
    std::size_t last = first;
    while (last < chips.size() &&
           used + chips[last].width + (last + 1 < chips.size() ? others_width : 0) <= room) {
      used += chips[last++].width;
    }
    last = std::min(chips.size(), std::max(last, first + 1));
    if (last == chips.size() || current < chips[last].warp) return {first, last};
    first = last;
  }
}

void draw_chips(Scene& scene, const std::vector<Chip>& chips, double x, double y, double right,
                std::uint32_t current) {
  const auto [first, last] = shown_chips(chips, right - x, current);
  if (first > 0) {
    x +=
        button(scene, x, y, fmt::format("< {} more", first), fmt::format("look warp {}", first - 1),
               fmt::format("{} warps before these", first), false) +
        inside / 2;
  }
  for (std::size_t i = first; i < last; ++i) {
    const Chip& chip = chips[i];
    button(scene, x, y, chip.label, fmt::format("look warp {}", chip.warp), chip.hint,
           chip.warp == current, chip.gone);
    x += chip.width;
  }
  if (const std::size_t after = chips.size() - last; after > 0) {
    button(scene, x, y, fmt::format("{} more >", after), fmt::format("look warp {}", last),
           fmt::format("{} more warps", after), false);
  }
}

}  // namespace

std::string letters_text(const std::set<sim::Stall>& stalls) {
  std::string out;
  for (const sim::Stall stall : stalls) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", sim::letter_of(stall),
                       sim::text(sim::WaitKey{stall, sim::Unit::count_}));
  }
  return out;
}

void draw_letters(Scene& scene, const std::string& text, const Box& room) {
  const double width = room.width - 2 * between;
  const std::string shown = fitted(text, width, small_text, Family::sans);
  scene.begin("letters");
  scene.add(words({room.x + between, room.centre().y}, shown, Role::quiet));
  if (shown != text) scene.hints.push_back({room, text});
  scene.end();
}

std::string instruction_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (!out.empty() && (out.back() == ' ' || out.back() == ';')) out.pop_back();
  return out;
}

std::string state_of_block(const sim::Machine& machine, std::uint64_t block) {
  for (const sim::Block& each : machine.blocks()) {
    if (each.number == block) return each.ended ? "has exited" : "resident";
  }
  return machine.has_exited(machine.cluster_number(block)) ? "has exited" : "has not begun";
}

std::string nothing_of_block(const sim::Machine& machine, std::uint64_t block,
                             std::string_view what) {
  const std::string state = state_of_block(machine, block);
  const bool others = std::any_of(machine.blocks().begin(), machine.blocks().end(),
                                  [](const sim::Block& each) { return !each.ended; });
  const char* way = others                  ? "Choose a resident one above."
                    : state == "has exited" ? "Step back to where it was resident."
                                            : "Step executes its first instruction.";
  return fmt::format("CTA {} {}: it has no {} now. {}", grouped(block), state, what, way);
}

void draw_sentence(Scene& scene, Point at, double width, std::string_view sentence) {
  for (std::string& line : wrapped(sentence, width)) {
    scene.add(words(at, std::move(line), Role::quiet));
    at.y += 20;
  }
}

void draw_whose(Scene& scene, const MachineShown& shown, double width) {
  const RunCursor& spot = shown.spot;
  const sim::Machine& machine = shown.machine();
  const std::uint64_t blocks = machine.launch().grid.count();
  scene.begin("whose");
  double x = between, y = 22;
  const std::string state = state_of_block(machine, spot.block);
  const std::string block =
      fmt::format("CTA {} of {}, {}", grouped(spot.block), grouped(blocks), state);
  if (spot.block > 0) {
    x += button(scene, x, y, "<", fmt::format("look block {}", spot.block - 1), "the CTA before",
                false) +
         inside;
  }
  scene.add(words({x, y}, block, Role::text, FontWeight::bold));
  x += text_width(block, small_text, Family::sans, FontWeight::bold) + inside;
  if (spot.block + 1 < blocks) {
    x += button(scene, x, y, ">", fmt::format("look block {}", spot.block + 1), "the next CTA",
                false) +
         between;
  }
  const std::string when = moment_text(shown.run);
  double right = width - between;
  if (const double wide = text_width(when, small_text, Family::sans); x + wide < right) {
    scene.add(words({right, y}, when, Role::quiet, FontWeight::regular, Across::right));
    right -= wide + between;
  }
  if (shown.event && !shown.event->command.empty()) offer_event(scene, *shown.event, x, y, right);
  // Its warps: a chip each, with what they wait for.
  x = between;
  y = 52;
  scene.add(words({x, y}, "warp", Role::quiet));
  x += text_width("warp", small_text, Family::sans) + inside;
  const auto warps = sim::warps_of(machine, spot.block);
  const std::vector<Chip> chips = chips_of(warps);
  draw_chips(scene, chips, x, y, width - between, spot.warp);
  std::set<sim::Stall> stalls;
  double end = x;
  for (const Chip& chip : chips) {
    end += chip.width;
    if (chip.stall) stalls.insert(*chip.stall);
  }
  // Where it has no room, each chip says its own under the pointer.
  const std::string legend = letters_text(stalls);
  if (!legend.empty() && end + text_width(legend, small_text, Family::sans) < width - 2 * between) {
    scene.add(words({width - between, y}, legend, Role::quiet, FontWeight::regular, Across::right));
  }
  if (warps.empty()) {
    const std::string none = "none: the CTA " + state;
    scene.add(words({x, y}, none, Role::quiet));
    x += text_width(none, small_text, Family::sans) + between;
    offer_blocks(scene, machine, x, y, width - between);
  }
  Line under;
  under.points = {{0, whose_height - 0.5}, {width, whose_height - 0.5}};
  under.stroke = {Role::line, 1, false};
  scene.add(under);
  scene.end();
}

}  // namespace tilescope
