// The theatre: where everything is, and what is said above it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/profile/run_time.h"
#include "viz/scene/items.h"
#include "viz/scene/number_words.h"
#include "viz/scene/time_words.h"
#include "viz/theatre/theatre_painter.h"

namespace tilescope {

using sim::MemoryUse;

TheatreFrame TheatrePainter::paint() {
  roles_ = roles_shown();
  // The stage comes first: where it would be low, warps are a line, and then the strip is thin.
  const double least = 120 * static_cast<double>(ranks_.size());
  double strip = lane_ * static_cast<double>(s_.view.activity().size()) + 34;
  double warps = warp_row * static_cast<double>(roles_.size()) + 30;
  const auto left = [&] { return size_.height - head - strip - warps - 8; };
  brief_ = left() < least;
  if (brief_) warps = 22;
  if (left() < least) {
    lane_ = 4;
    strip = lane_ * static_cast<double>(s_.view.activity().size()) + 30;
  }
  const double top = head, bottom = std::max(top + 80, size_.height - strip - warps - 8);
  place_columns({edge, top, size_.width - 2 * edge, bottom - top});
  draw_head();
  scene_.begin("stage");
  warps_ = {edge, bottom, size_.width - 2 * edge, warps};
  if (!brief_) place_warps({edge, bottom, size_.width - 2 * edge, warps});
  if (s_.view.moves_by_threads()) {
    draw_memory({edge, top, size_.width - 2 * edge, bottom - top});
  } else if (p_.stages.empty() && p_.accumulators.empty()) {
    draw_nothing();
  } else {
    draw_stages();
    draw_sums();
    draw_tensors();
    draw_l2();
    draw_core();
    draw_tokens();
  }
  scene_.end();
  draw_warps();
  return draw_strip({edge, size_.height - strip, size_.width - 2 * edge, strip - 4});
}

void TheatrePainter::place_columns(const Box& all) {
  wide_ = all.width > 880;
  const double unit = all.width / (wide_ ? 1040 : 910);
  // No higher than what is in it needs, a little above the middle.
  std::size_t rows = 2;
  for (const std::uint8_t rank : ranks_) {
    std::size_t own = 0;
    for (const sim::Ring& ring : p_.rings) own += ring.rank == rank ? ring.stages.size() : 0;
    rows = std::max(rows, own);
  }
  // Where there is room, tiles and dials are larger.
  const auto parts = static_cast<double>(ranks_.size()), own = static_cast<double>(rows);
  const double each = std::clamp((all.height / parts - 90) / own, row, tall_row);
  const double height = std::min(all.height, std::max(250.0, (90 + each * own) * parts));
  dial_ = std::clamp(10 * each / row, 10.0, 14.0);
  const Box room{all.x, all.y + (all.height - height) * 0.4, all.width, height};
  double x = room.x;
  const auto column = [&](double width) {
    const Box out{x, room.y, width * unit, room.height};
    x += width * unit;
    return out;
  };
  const auto widths = wide_ ? std::array<double, 9>{136, 60, 348, 34, 112, 34, 150, 36, 130}
                            : std::array<double, 9>{120, 24, 330, 20, 120, 20, 150, 16, 110};
  if (has_l2_) {  // which takes from its neighbours
    inputs_ = column(wide_ ? 110 : 100);
    column(wide_ ? 16 : 10);
    l2_ = column(wide_ ? 84 : 64);
    column(wide_ ? 46 : 16);
    shared_ = column(wide_ ? 288 : 284);
  } else {
    inputs_ = column(widths[0]);
    column(widths[1]);
    shared_ = column(widths[2]);
  }
  column(widths[3]);
  core_ = column(widths[4]);
  column(widths[5]);
  sums_ = column(widths[6]);
  column(widths[7]);
  outputs_ = column(widths[8]);
}

void TheatrePainter::draw_heading(const Box& column, const std::string& text) {
  scene_.add(words({column.x, column.y + 8},
                   fitted(text, column.width, small_text, Family::sans, FontWeight::bold),
                   FontWeight::bold));
}

Box TheatrePainter::part_of(const Box& column, std::size_t rank_index) const {
  const double height = column.height / static_cast<double>(ranks_.size());
  return {column.x, column.y + height * static_cast<double>(rank_index), column.width,
          height - (ranks_.size() > 1 ? 8 : 0)};
}

void TheatrePainter::draw_head() {
  scene_.begin("now");
  const double width = size_.width - 2 * edge;
  // Where it is too long for its line, in smaller letters, and then in two lines.
  const std::string& said = s_.now.sentence;
  const double room = width - 24;
  if (text_width(said, heading_text, Family::sans, FontWeight::bold) <= room) {
    scene_.add(words({edge, 18}, said, heading_text, FontWeight::bold));
  } else {
    double y = text_width(said, small_text, Family::sans, FontWeight::bold) <= room ? 18 : 10;
    for (const std::string& line : wrapped(said, room, 2, FontWeight::bold)) {
      scene_.add(words({edge, y}, line, FontWeight::bold));
      y += 16;
    }
  }
  const double clock = sim::run_time_of(record_).clock;
  const auto at = static_cast<std::uint64_t>(std::max(0.0, s_.now.at));
  std::string when = fmt::format("{} {}", record_.timed ? "cycle" : "instruction", grouped(at));
  if (record_.timed) {
    const std::string seconds = seconds_text(s_.now.at, clock);
    if (!seconds.empty()) when += fmt::format(" ({})", seconds);
  }
  const auto last = static_cast<std::uint64_t>(s_.view.end());
  const std::uint64_t run = record_.end ? record_.end : last;
  when += fmt::format(" of {}", grouped(run));
  std::string of = ranks_.size() == 1
                       ? cta(s_.rank)
                       : fmt::format("{} and {}, a pair", cta(ranks_[0]), p_.blocks[ranks_[1]]);
  if (p_.blocks.size() > ranks_.size()) of += fmt::format(" of a cluster of {}", p_.blocks.size());
  when += ", " + of;
  // The run goes on after these CTAs; or what they wrote is on its way when all have exited.
  if (last < run) when += fmt::format(", until {}", grouped(last));
  if (last > run) when += fmt::format(", with what is in flight until {}", grouped(last));
  const std::string follows = follow_text();
  if (!follows.empty()) when += ". " + follows;
  scene_.add(words({edge, 42}, fitted(when, width, small_text, Family::sans), Role::quiet));
  scene_.end();
}

std::string TheatrePainter::follow_text() const {
  const TheatreFollow& f = s_.follow;
  if (f.what == TheatreFollow::What::stage) {
    return "Followed: " + stage_text(s_.view, f.number);
  }
  if (const sim::Filling* filling = followed_filling()) {
    return fmt::format("Followed: {}, {}", parts_text(record_, filling->parts), life_of(*filling));
  }
  return "";
}

const sim::Filling* TheatrePainter::followed_filling() const {
  const TheatreFollow& f = s_.follow;
  if (f.what != TheatreFollow::What::tile || f.number >= p_.stages.size()) return nullptr;
  const auto& fillings = p_.stages[f.number].fillings;
  return f.filling < fillings.size() ? &fillings[f.filling] : nullptr;
}

bool TheatrePainter::follows(std::size_t stage, const sim::Filling* filling) const {
  const TheatreFollow& f = s_.follow;
  if (f.what == TheatreFollow::What::stage) return f.number == stage;
  return f.what == TheatreFollow::What::tile && filling && filling == followed_filling();
}

void TheatrePainter::draw_nothing() {
  const std::string what =
      "No copy of this CTA completes on an mbarrier, and no tensor core works for it "
      "asynchronously: its warps and barriers are below, and the timeline has the rest.";
  double y = shared_.y + 24;
  for (const std::string& line : wrapped(what, size_.width - 2 * edge - 32)) {
    scene_.add(words({edge + 16, y}, line, Role::quiet));
    y += 20;
  }
}

double TheatreFrame::time_at(double x) const {
  const double share = std::clamp((x - strip.x) / std::max(1.0, strip.width), 0.0, 1.0);
  return begin + share * (end - begin);
}

TheatreFrame draw_theatre(Scene& scene, const TheatreShown& shown, Size size) {
  scene.size = size;
  scene.theme = shown.theme;
  return TheatrePainter(scene, shown, size).paint();
}

}  // namespace tilescope
