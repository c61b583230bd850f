// Whose state is shown: the line at the top of a machine's views.
#include "viz/scene/machine_scene.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/sim/record/wait.h"
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

const sim::SplitState* first_split(const sim::WarpState& warp) {
  return warp.splits.empty() ? nullptr : &warp.splits.front();
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
                fmt::format("looks at block {}", block), false) +
         inside / 2;
  }
}

}  // namespace

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

void draw_whose(Scene& scene, const MachineShown& shown, double width) {
  const RunSpot& spot = shown.spot;
  const sim::Machine& machine = shown.machine();
  const std::uint64_t blocks = machine.launch().grid.count();
  scene.begin("whose");
  double x = between, y = 22;
  const std::string state = state_of_block(machine, spot.block);
  const std::string block =
      fmt::format("block {} of {}, {}", grouped(spot.block), grouped(blocks), state);
  if (spot.block > 0) {
    x += button(scene, x, y, "<", fmt::format("look block {}", spot.block - 1), "the block before",
                false) +
         inside;
  }
  scene.add(words({x, y}, block, Role::text, FontWeight::bold));
  x += text_width(block, small_text, Family::sans, FontWeight::bold) + inside;
  if (spot.block + 1 < blocks) {
    x += button(scene, x, y, ">", fmt::format("look block {}", spot.block + 1), "the next block",
                false) +
         between;
  }
  const std::string when = moment_text(machine);
  const double right = width - between;
  if (x + text_width(when, small_text, Family::sans) < right) {
    scene.add(words({right, y}, when, Role::quiet, FontWeight::regular, Across::right));
  }
  // Its warps: a chip each, with what they wait for.
  x = between;
  y = 52;
  scene.add(words({x, y}, "warp", Role::quiet));
  x += text_width("warp", small_text, Family::sans) + inside;
  const auto warps = sim::warps_of(machine, spot.block);
  for (const sim::WarpState& warp : warps) {
    const sim::SplitState* split = first_split(warp);
    const bool waits = split && split->wait != Wait::none;
    const bool gone = warp.live == 0;
    std::string label = fmt::format("{}", warp.index);
    if (waits) label += fmt::format(" {}", sim::letter_of(sim::stall_of(split->wait)));
    const std::string hint = gone    ? fmt::format("warp {} has exited", warp.index)
                             : waits ? fmt::format("warp {} waits: {}", warp.index, split->why)
                                     : fmt::format("warp {} can go on", warp.index);
    const double wide = text_width(label, small_text, Family::sans) + 2 * inside + inside;
    if (x + wide > width - between) break;  // the inspector lists all
    x += button(scene, x, y, label, fmt::format("look warp {}", warp.index), hint,
                warp.index == spot.warp, gone) +
         inside / 2;
  }
  if (warps.empty()) {
    const std::string none = "none: the block " + state;
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
