// The warps, and the strip of time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viz/scene/items.h"
#include "viz/scene/number_words.h"
#include "viz/theatre/theatre_painter.h"

namespace tilescope {

using sim::MemoryUse;

std::vector<TheatrePainter::RoleShown> TheatrePainter::roles_shown() const {
  std::vector<RoleShown> out;
  for (std::size_t role = 0; role < std::max<std::size_t>(1, p_.roles.size()); ++role) {
    RoleShown shown{role < p_.roles.size() ? p_.roles[role] : "all warps", {}};
    for (std::size_t i = 0; i < p_.warps.size(); ++i) {
      if (p_.warps[i].role == role && is_shown(p_.warps[i].rank)) shown.warps.push_back(i);
    }
    if (!shown.warps.empty()) out.push_back(std::move(shown));
  }
  return out;
}

void TheatrePainter::place_warps(const Box& room) {
  warps_ = room;
  double y = room.y + 26;
  const double label = std::min(150.0, room.width * 0.16);
  for (const RoleShown& role : roles_) {
    double x = room.x + label;
    const std::size_t fits = std::min<std::size_t>(role.warps.size(), 32);
    const double each = std::min(24.0, (room.width * 0.36) / static_cast<double>(fits));
    for (std::size_t i = 0; i < fits; ++i) {
      // Those of the other CTA of a pair stand apart: their numbers begin anew.
      if (i > 0 && p_.warps[role.warps[i]].rank != p_.warps[role.warps[i - 1]].rank) x += 10;
      chips_[role.warps[i]] = {x, y, each - 4, warp_row - 6};
      x += each;
    }
    y += warp_row;
  }
}

void TheatrePainter::draw_ties() {
  for (std::size_t i = 0; i < p_.warps.size(); ++i) {
    const sim::PipelineWarp& warp = p_.warps[i];
    const TheatreWarp& now = s_.now.warps[i];
    const auto chip = chips_.find(i);
    if (warp.rank != s_.rank || warp.index != s_.warp || chip == chips_.end()) continue;
    if (!now.barrier || !dials_.count(*now.barrier)) continue;
    const Point from{chip->second.x, chip->second.centre().y}, to = dials_[*now.barrier];
    const double beside = from.x - 7;  // of the chips, past those of other roles
    Line tie;
    tie.stroke = {Role::accent, 1, true};
    tie.points = {
        from, {beside, from.y}, {beside, warps_.y + 2}, {to.x, warps_.y + 2}, {to.x, to.y + dial_}};
    scene_.add(std::move(tie));
  }
}

void TheatrePainter::draw_warps() {
  scene_.begin("warps");
  if (brief_) {
    count_warps();
    scene_.end();
    return;
  }
  draw_ties();
  scene_.add(words({warps_.x, warps_.y + 12}, "Warps", FontWeight::bold));
  double y = warps_.y + 26;
  for (const RoleShown& role : roles_) {
    const double label = std::min(150.0, warps_.width * 0.16);
    scene_.add(words({warps_.x, y + warp_row / 2 - 3},
                     fitted(role.name, label - 8, small_text, Family::sans), Role::quiet));
    double right = warps_.x + label;
    for (const std::size_t warp : role.warps) {
      const auto chip = chips_.find(warp);
      if (chip == chips_.end()) continue;
      draw_chip(warp, chip->second);
      right = chip->second.right();
    }
    const double from = right + 12;
    scene_.add(words({from, y + warp_row / 2 - 3},
                     begin_of(role_text(role), warps_.right() - from, Family::sans)));
    y += warp_row;
  }
  scene_.end();
}

// In one line, where they have no room for a row each.
void TheatrePainter::count_warps() {
  std::size_t all = 0, run = 0, wait = 0;
  for (std::size_t i = 0; i < p_.warps.size(); ++i) {
    if (!is_shown(p_.warps[i].rank)) continue;
    ++all;
    run += s_.now.warps[i].state == TheatreWarp::State::runs;
    wait += s_.now.warps[i].state == TheatreWarp::State::waits;
  }
  const std::string counts = fmt::format("Of {} warps {} run, {} wait", all, run, wait);
  const std::string more = counts + "; a larger window shows each";
  const bool fits = text_width(more, small_text, Family::sans) <= warps_.width;
  scene_.add(words({warps_.x, warps_.y + 10}, fits ? more : counts, Role::quiet));
}

void TheatrePainter::draw_chip(std::size_t warp, const Box& box) {
  const TheatreWarp& now = s_.now.warps[warp];
  using State = TheatreWarp::State;
  const sim::PipelineWarp& of = p_.warps[warp];
  const bool looked_at = of.rank == s_.rank && of.index == s_.warp;
  if (now.state == State::runs) {
    scene_.add(Rectangle{box, Ink(Role::text), {}, 3});
  } else {
    scene_.add(Rectangle{box, Ink(Role::panel), {Role::line, 1, false}, 3});
    if (now.state == State::waits) hatch(scene_, box.grown(-1), Ink(Role::line), 5);
  }
  if (s_.view.moves_by_threads()) {
    scene_.add(
        Rectangle{{box.x, box.bottom() - 3, box.width, 3}, Ink(colour_of_warp(of.index)), {}, 0});
  }
  if (looked_at) scene_.add(Rectangle{box.grown(1), {}, {Role::accent, 2, false}, 3});
  if (box.width >= 14) {
    scene_.add(words(box.centre(), fmt::format("{}", of.index), Across::centre, Family::mono,
                     small_text,
                     now.state == State::runs    ? Ink(Role::paper)
                     : now.state == State::waits ? Ink(Role::text)
                                                 : Ink(Role::quiet)));
  }
  scene_.hints.push_back({box, fmt::format("{} warp {} {}", cta(of.rank), of.index, now.doing)});
  scene_.targets.push_back({box, fmt::format("look block {} warp {}", p_.blocks[of.rank], of.index),
                            "looks at this warp"});
}

std::string TheatrePainter::role_text(const RoleShown& role) const {
  std::size_t chosen = role.warps.front();
  bool found = false;
  for (const std::size_t warp : role.warps) {
    if (p_.warps[warp].rank == s_.rank && p_.warps[warp].index == s_.warp) {
      chosen = warp;
      found = true;
    }
  }
  for (const std::size_t warp : role.warps) {
    if (found || !s_.now.warps[warp].barrier) continue;
    chosen = warp;
    found = true;
  }
  const TheatreWarp& now = s_.now.warps[chosen];
  std::string out = fmt::format("warp {} {}", p_.warps[chosen].index, now.doing);
  if (now.state != TheatreWarp::State::runs && now.state != TheatreWarp::State::waits) return out;
  const sim::Event& e = now.event;
  if (e.pc >= record_.lines.size()) return out;
  const sim::RecordedLine& line = record_.lines[e.pc];
  const bool called = line.caller_line != 0;
  const std::uint32_t number = called ? line.caller_line : line.line;
  const std::uint32_t file = called ? line.caller_file : line.file;
  if (number && file < record_.sources.size()) {
    const std::string& path = record_.sources[file];
    out += fmt::format(", {}:{}", path.substr(path.rfind('/') + 1), number);
    if (s_.source) {
      std::string text = s_.source(path, number);
      text.erase(0, std::min(text.find_first_not_of(" \t"), text.size()));
      if (!text.empty()) out += "   " + text;
    }
  } else {
    out += fmt::format(", PTX line {}", line.ptx_line);
  }
  return out;
}

TheatreFrame TheatrePainter::draw_strip(const Box& room) {
  scene_.begin("time");
  const bool named = lane_ > 10;
  const double label = named ? std::min(92.0, room.width * 0.16) : 0;
  const Box strip{room.x + label, room.y, room.width - label, room.height - 20};
  TheatreFrame frame{strip, 0, std::max(s_.view.end(), 1.0)};
  double y = strip.y + 4;
  scene_.add(Rectangle{
      {strip.x, y - 2, strip.width, lane_ * static_cast<double>(s_.view.activity().size()) + 4},
      Ink(Role::panel),
      {},
      0});
  for (const TheatreActivity& one : s_.view.activity()) {
    if (named) {
      scene_.add(words({strip.x - 6, y + lane_ / 2 - 1}, one.name, Across::right, small_text,
                       Role::quiet));
    } else {
      scene_.hints.push_back({{strip.x, y, strip.width, lane_}, one.name});
    }
    std::vector<Rgba> colours;
    for (const float share : one.share) {
      colours.push_back(
          mix(s_.theme.panel, s_.theme.text, std::min(1.0, 0.75 * static_cast<double>(share))));
    }
    scene_.add(
        Raster{{strip.x, y, strip.width, lane_ - (named ? 2 : 1)}, ramp_image(std::move(colours))});
    y += lane_;
  }
  if (const sim::Filling* f = followed_filling()) draw_life(*f, frame, y);
  const double x =
      strip.x +
      strip.width * std::clamp((s_.now.at - frame.begin) / (frame.end - frame.begin), 0.0, 1.0);
  Line now;
  now.stroke = {Role::accent, 2, false};
  now.points = {{x, strip.y - 2}, {x, y + 6}};
  scene_.add(std::move(now));
  scene_.add(Rectangle{{x - 5, y + 4, 10, 8}, Ink(Role::accent), {}, 2});
  scene_.add(words({strip.x, y + 14}, grouped(static_cast<std::uint64_t>(frame.begin)),
                   Family::mono, Role::quiet, small_text));
  scene_.add(words({strip.right(), y + 14}, grouped(static_cast<std::uint64_t>(frame.end)),
                   Across::right, Family::mono, Role::quiet, small_text));
  frame.strip.height = y + 12 - strip.y;
  scene_.hints.push_back({frame.strip, "drag to another time"});
  scene_.end();
  return frame;
}

void TheatrePainter::draw_life(const sim::Filling& f, const TheatreFrame& frame, double y) {
  const auto x_of = [&](sim::Cycle at) {
    const double time = at == sim::never_ends ? frame.end : static_cast<double>(at);
    return frame.strip.x + frame.strip.width * (time - frame.begin) / (frame.end - frame.begin);
  };
  const double from = x_of(f.issued), to = x_of(f.freed);
  scene_.add(
      Rectangle{{from, y, std::max(2.0, to - from), 3}, Ink(step_colour(f.step, s_.theme)), {}, 0});
}

}  // namespace tilescope
