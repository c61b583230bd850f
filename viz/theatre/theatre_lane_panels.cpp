// Registers of the warp that is looked at, lane by lane, and the rows of shared memory that are
// read now, with who wrote them.
#include <fmt/format.h>

#include <algorithm>

#include "viz/scene/items.h"
#include "viz/scene/palette.h"
#include "viz/theatre/theatre_painter.h"

namespace tilescope {
namespace {

using sim::WarpAccess;
using u32 = std::uint32_t;

constexpr double row_high = 20, word_high = 15;

}  // namespace

void TheatrePainter::draw_lane_registers(const Box& box,
                                         const std::vector<LaneRegister>& registers) {
  if (box.height < 46 + row_high) return;
  scene_.begin("registers", box);
  draw_heading({box.x, box.y + 8, box.width, box.height},
               fmt::format("Registers of warp {}, lane by lane", s_.warp));
  if (registers.empty()) {
    scene_.add(
        words({box.x, box.y + 36}, "It has loaded nothing into registers yet.", Role::quiet));
    scene_.end();
    return;
  }
  const double label = std::clamp(box.width * 0.16, 64.0, 150.0);
  const double cell = std::clamp(std::floor((box.width - label) * 0.5 / 32), 4.0, 18.0);
  const Rgba hue = colour_of_warp(s_.warp);
  double y = box.y + 28;
  for (const LaneRegister& of : registers) {
    if (y + row_high > box.bottom()) break;
    const WarpAccess& access = record_.accesses[of.access];
    std::string name = of.name;
    if (s_.variable) {
      const std::string variable = s_.variable(access.pc, of.name);
      if (!variable.empty()) name = variable + " " + name;
    }
    scene_.add(words({box.x, y + row_high / 2}, fitted(name, label - 8, small_text, Family::mono),
                     Family::mono));
    for (u32 lane = 0; lane < 32; ++lane) {
      const Box at{box.x + label + lane * cell, y + 2, cell - 1, row_high - 4};
      const std::string content = content_text(record_, of, lane);
      if (content.empty()) {
        scene_.add(Rectangle{at, Ink(Role::panel), {}, 0});
        continue;
      }
      const Rgba colour = mix(s_.theme.paper, hue, 0.35 + 0.65 * lane / 31);
      if (of.loads && of.on_its_way) {
        scene_.add(Rectangle{at, Ink(Role::panel), {Ink(colour), 1, false}, 0});
      } else {
        scene_.add(Rectangle{at, Ink(colour), {}, 0});
      }
      std::string hint =
          fmt::format("lane {}: {} {} {}", lane, of.name, of.loads ? "=" : "to", content);
      if (s_.value) {
        const std::string value = s_.value(s_.warp, of.name, lane);
        if (!value.empty()) hint += fmt::format(", {} now", value);
      }
      scene_.hints.push_back({at, std::move(hint)});
    }
    std::string said = way_text(record_, of);
    if (!of.instruction.empty()) {
      said += fmt::format("; {} {}", of.loads ? "next" : "by", of.instruction);
    }
    const double x = box.x + label + 32 * cell + 10;
    scene_.add(words({x, y + row_high / 2},
                     begin_of(said, std::max(0.0, box.right() - x), Family::sans), Role::quiet));
    y += row_high;
  }
  scene_.end();
}

void TheatrePainter::draw_shared_rows(const Box& box, const LanesNow::Shared& read) {
  if (box.height < 46 + 2 * word_high) return;
  const WarpAccess& access = record_.accesses[read.access];
  const SharedRows all =
      shared_rows(record_, s_.view.lanes(), record_.tracks[access.track].block, read.access);
  if (all.rows.empty()) return;
  scene_.begin("who wrote it", box);
  const bool reads = access.kind == WarpAccess::Kind::load;
  const u32 warp = record_.tracks[access.track].index;
  std::string said = fmt::format("{} by warp {}",
                                 !reads     ? "Written last"
                                 : read.now ? "Read now"
                                            : "Read last",
                                 warp);
  if (reads) {
    said += all.writers.empty() ? "" : fmt::format(", written by {}", warps_in_words(all.writers));
    if (all.unknown) {
      said += fmt::format("; who wrote {} of the words is not kept", all.unknown);
    }
  }
  draw_heading({box.x, box.y + 8, box.width, box.height}, said);
  // The rows that are read first, and as many around them as there is room for.
  const auto fits = static_cast<std::size_t>((box.height - 46) / word_high);
  const auto first_read = std::find_if(all.rows.begin(), all.rows.end(),
                                       [](const SharedRows::Row& row) { return row.read; });
  std::size_t first =
      first_read == all.rows.end() ? 0 : static_cast<std::size_t>(first_read - all.rows.begin());
  const std::size_t count = std::min(fits, all.rows.size());
  first = std::min(first - std::min<std::size_t>(first, 1), all.rows.size() - count);
  const double label = 56, cell = std::floor(std::min(20.0, (box.width - label) / 32));
  double y = box.y + 28;
  for (std::size_t r = first; r < first + count; ++r) {
    const SharedRows::Row& row = all.rows[r];
    scene_.add(words({box.x, y + word_high / 2}, fmt::format("{}", row.number * 128), Family::mono,
                     Role::quiet));
    for (u32 bank = 0; bank < 32; ++bank) {
      const SharedRows::Word& word = row.words[bank];
      const Box at{box.x + label + bank * cell, y, cell - 1, word_high - 1};
      std::string hint;
      if (word.writer == WarpAccess::none) {
        scene_.add(Rectangle{at, Ink(Role::panel), {}, 0});
      } else {
        const WarpAccess& by = record_.accesses[word.writer];
        const u32 writer = record_.tracks[by.track].index;
        scene_.add(
            Rectangle{at,
                      Ink(mix(s_.theme.paper, colour_of_warp(writer), 0.3 + 0.5 * word.lane / 31)),
                      {},
                      0});
        hint =
            fmt::format("written by lane {} of {}", word.lane, access_text(record_, word.writer));
      }
      if (word.read) {
        scene_.add(Rectangle{at, {}, {Role::text, 1.5, false}, 0});
        hint += fmt::format("{}read by warp {}", hint.empty() ? "" : "; ", warp);
      }
      if (!hint.empty()) {
        scene_.hints.push_back(
            {at, fmt::format("byte {}, bank {}: {}", row.number * 128 + bank * 4, bank, hint)});
      }
    }
    y += word_high;
  }
  if (count < all.rows.size()) {
    scene_.add(words({box.x + label, y + 8},
                     fmt::format("and {} rows more of 128 bytes", all.rows.size() - count),
                     Role::quiet));
  }
  scene_.end();
}

}  // namespace tilescope
