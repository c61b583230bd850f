// L2 on the stage: what it holds of each matrix now, and the way of a tile through it or from it.
#include <fmt/format.h>

#include <algorithm>

#include "viz/scene/items.h"
#include "viz/scene/number_words.h"
#include "viz/theatre/theatre_painter.h"

namespace tilescope {
namespace {

using u32 = std::uint32_t;

bool holds(const sim::CachedBuffer& cached, std::size_t cell, double at) {
  return cached.since[cell] != sim::never_ends && static_cast<double>(cached.since[cell]) <= at;
}

}  // namespace

double share_in_l2(const sim::CachedBuffer& cached, double at) {
  if (cached.since.empty()) return 0;
  std::size_t held = 0;
  for (std::size_t i = 0; i < cached.since.size(); ++i) held += holds(cached, i, at) ? 1 : 0;
  return static_cast<double>(held) / static_cast<double>(cached.since.size());
}

double share_in_l2(const sim::CachedBuffer& cached, double at, std::size_t row) {
  if (cached.rows <= 1) return holds(cached, row, at) ? 1 : 0;
  std::size_t held = 0;
  for (std::size_t c = 0; c < cached.columns; ++c) {
    held += holds(cached, row * cached.columns + c, at) ? 1 : 0;
  }
  return static_cast<double>(held) / cached.columns;
}

// Cells that L2 holds; those beside each other in a row, and equal rows below each other, as one.
void TheatrePainter::draw_held(const sim::CachedBuffer& cached, const Box& box) {
  const double wide = box.width / cached.columns, high = box.height / cached.rows;
  const auto row_of = [&](u32 row) {
    std::vector<bool> out(cached.columns);
    for (u32 c = 0; c < cached.columns; ++c) {
      out[c] = holds(cached, std::size_t{row} * cached.columns + c, s_.now.at);
    }
    return out;
  };
  for (u32 row = 0; row < cached.rows;) {
    const std::vector<bool> cells = row_of(row);
    u32 until = row + 1;
    while (until < cached.rows && row_of(until) == cells) ++until;
    for (u32 c = 0; c < cached.columns;) {
      const u32 from = c;
      while (c < cached.columns && cells[c]) ++c;
      if (c > from) {
        scene_.add(Rectangle{
            {box.x + from * wide, box.y + row * high, (c - from) * wide, (until - row) * high},
            Ink(Role::quiet, 0.35),
            {},
            0});
      } else {
        ++c;
      }
    }
    row = until;
  }
}

// Of all that copies in asked for, in the whole run, what L2 had.
void TheatrePainter::draw_share(const Box& room, const std::string& of) {
  const double had =
      1 - static_cast<double>(s_.view.missed()) / static_cast<double>(s_.view.asked());
  const Box bar{room.x, room.bottom() - 12, room.width, 8};
  std::string said = fmt::format("{}{:.0f}% hits", of, 100 * had);
  if (text_width(said, small_text, Family::sans) > room.width) {
    said = fmt::format("{:.0f}%", 100 * had);
  }
  scene_.add(words({room.x, room.y + 8}, said));
  scene_.add(Rectangle{bar, Ink(Role::panel), {Role::line, 1, false}, 2});
  scene_.add(Rectangle{{bar.x, bar.y, bar.width * had, bar.height}, Ink(Role::quiet), {}, 2});
  scene_.hints.push_back(
      {room, fmt::format("in the whole run, copies asked L2 for {} bytes; {} came from memory",
                         grouped(s_.view.asked()), grouped(s_.view.missed()))});
}

void TheatrePainter::draw_l2() {
  if (l2_.empty()) return;
  scene_.begin("L2");
  draw_heading(l2_, "L2");
  for (const u32 buffer : s_.view.inputs()) {
    const auto tensor = tensors_.find(buffer);
    const sim::CachedBuffer* const cached = s_.view.cached(buffer);
    if (tensor == tensors_.end() || !cached) continue;
    const sim::RecordedBuffer& shape = record_.buffers[buffer];
    const Box box{l2_.x, tensor->second.y, std::min(l2_.width, tensor->second.width),
                  tensor->second.height};
    const double share = share_in_l2(*cached, s_.now.at);
    std::string label = fmt::format("{:.0f}% of {}", 100 * share, shape.name);
    if (text_width(label, small_text, Family::sans) > l2_.width) {
      label = fmt::format("{:.0f}%", 100 * share);
    }
    scene_.add(words({l2_.x, box.y - 12}, label));
    scene_.add(Rectangle{box, Ink(Role::panel), {Role::line, 1, false}, 0});
    draw_held(*cached, box);
    cached_[buffer] = box;
    for (const TheatreCopy& copy : s_.now.copies) {
      if (copy.out || !copy.part || copy.part->buffer != buffer || !is_shown(copy.rank)) continue;
      scene_.add(Rectangle{part_box(box, shape, *copy.part),
                           {},
                           {Ink(step_colour(copy.step, s_.theme)), 1.5, false},
                           0});
    }
    std::string hint = fmt::format(
        "L2 has {:.0f}% of {} now: what the copies of all CTAs have "
        "brought from memory until here, or was there before the run",
        100 * share, shape.name);
    if (record_.cache_overflowed) {
      hint += "; more has come than it holds, and what came first may be gone or have come twice";
    }
    scene_.hints.push_back({box, std::move(hint)});
  }
  if (s_.view.asked() && l2_.height > 240) {
    draw_share({l2_.x, l2_.bottom() - 38, l2_.width, 36}, "");
  }
  scene_.end();
}

// From global memory through L2, where L2 had it not; else from L2.
std::vector<Point> TheatrePainter::way_in(const TheatreCopy& copy, Point target) const {
  std::vector<Point> way;
  const Point nowhere{inputs_.right(), inputs_.centre().y};
  if (!copy.part) return {nowhere, target};
  const sim::RecordedBuffer& shape = record_.buffers[copy.part->buffer];
  const auto tensor = tensors_.find(copy.part->buffer);
  const auto cached = cached_.find(copy.part->buffer);
  if (tensor == tensors_.end()) return {nowhere, target};
  if (cached == cached_.end() || copy.from_memory()) {
    way.push_back(part_box(tensor->second, shape, *copy.part).centre());
  }
  if (cached != cached_.end()) way.push_back(part_box(cached->second, shape, *copy.part).centre());
  way.push_back(target);
  return way;
}

Point along(const std::vector<Point>& way, double share) {
  const double each = 1.0 / static_cast<double>(std::max<std::size_t>(1, way.size() - 1));
  const auto leg = std::min(way.size() - 2, static_cast<std::size_t>(share / each));
  const double rest = std::clamp(share / each - static_cast<double>(leg), 0.0, 1.0);
  const Point a = way[leg], b = way[leg + 1];
  return {a.x + (b.x - a.x) * rest, a.y + (b.y - a.y) * rest};
}

}  // namespace tilescope
