#include "viz/matrix/diff_histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "viz/matrix/diff_marks.h"
#include "viz/scene/items.h"
#include "viz/scene/number_words.h"

namespace tilescope {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double left = 24, right = 24, head = 32, foot = 24, widest = 56;

// The lower end of what is counted at an index: Histogram.
double low_of(std::size_t index) {
  if (index <= Histogram::smallest) return 0x1p-149;
  return std::ldexp(1.0, static_cast<int>(index) - 127);
}

Box column_of(const HistogramFrame& frame, std::size_t bar) {
  const double width = frame.plot.width / static_cast<double>(frame.bars.size());
  return {frame.plot.x + width * static_cast<double>(bar), frame.plot.y, width, frame.plot.height};
}

// A single element is as high as it takes to be seen.
double height_of(std::uint64_t count, const HistogramFrame& frame) {
  if (count == 0) return 0;
  const double share =
      std::log(1 + static_cast<double>(count)) / std::log(1 + static_cast<double>(frame.most));
  return std::max(3.0, std::round(share * frame.plot.height));
}

void draw_bars(Scene& scene, const HistogramFrame& frame, const DiffChoice& choice,
               std::optional<std::size_t> hover) {
  for (std::size_t i = 0; i < frame.bars.size(); ++i) {
    const HistogramBar& bar = frame.bars[i];
    const Box column = column_of(frame, i);
    const bool marked = choice.marks && choice.marks->range() == bar.range;
    if (hover == i || marked) {
      Rectangle light;
      light.box = column;
      light.fill = Ink(Role::accent, marked ? 0.18 : 0.08);
      scene.add(light);
    }
    const double gap = column.width > 12 ? 2 : 1, half = std::max(1.0, column.width / 2 - gap);
    const auto add = [&](std::uint64_t count, double x, Ink ink) {
      if (count == 0) return;
      Rectangle rectangle;
      const double high = height_of(count, frame);
      rectangle.box = {x, frame.plot.bottom() - high, half, high};
      rectangle.fill = ink;
      scene.add(rectangle);
    };
    add(bar.right, column.x + gap,
        choice.marks && !marked ? Ink(Role::quiet, 0.35) : Ink(Role::quiet, 0.7));
    add(bar.wrong, column.x + column.width / 2, Role::wrong);
    if (bar.right + bar.wrong == 0) continue;
    scene.targets.push_back({column, marked ? "mark nothing" : mark_command(bar.range),
                             fmt::format("{}: {}", marked ? "unmarks" : "marks", bar_words(bar))});
  }
}

// Lower ends below the bars, as many as have room.
void draw_numbers(Scene& scene, const HistogramFrame& frame) {
  double free_from = frame.room.x;
  const double y = frame.plot.bottom() + 12;
  for (std::size_t i = 0; i < frame.bars.size(); ++i) {
    const MarkedRange& range = frame.bars[i].range;
    const bool zero = range.high == 0, last = std::isinf(range.low);
    const std::string text = zero ? "0" : last ? "inf" : fmt::format("{:.2g}", range.low);
    const double width = text_width(text, small_text, Family::mono);
    const Box column = column_of(frame, i);
    const double x = zero || last ? column.centre().x - width / 2 : column.x;
    if (x < free_from || x + width > frame.room.right()) continue;
    scene.add(words({x, y}, text, Role::quiet, Family::mono, Across::left));
    free_from = x + width + 16;
  }
}

}  // namespace

std::vector<HistogramBar> bars_of(const Histogram& histogram, std::size_t most) {
  const auto count = [&](std::size_t i) { return histogram.right[i] + histogram.wrong[i]; };
  std::vector<HistogramBar> out;
  const auto end = [&](std::size_t i, MarkedRange range) {
    if (count(i)) out.push_back({range, histogram.right[i], histogram.wrong[i]});
  };
  end(Histogram::zero, {0, 0});
  std::size_t first = Histogram::smallest, last = Histogram::not_finite;
  while (first < last && count(first) == 0) ++first;
  while (last > first && count(last - 1) == 0) --last;
  const std::size_t step =
      std::max<std::size_t>(1, (last - first + most - 1) / std::max<std::size_t>(1, most));
  for (std::size_t i = first; i < last; i += step) {
    const std::size_t stop = std::min(i + step, last);
    HistogramBar bar{{low_of(i), low_of(stop)}, 0, 0};
    for (std::size_t k = i; k < stop; ++k) {
      bar.right += histogram.right[k];
      bar.wrong += histogram.wrong[k];
    }
    out.push_back(bar);
  }
  end(Histogram::not_finite, {infinity, infinity});
  return out;
}

std::string range_words(const MarkedRange& range) {
  if (std::isinf(range.low)) return "infinite or not a number";
  if (range.high == 0) return "0";
  return fmt::format("{:.3g} to under {:.3g}", range.low, range.high);
}

std::string bar_words(const HistogramBar& bar) {
  return fmt::format("{}: {} right, {} wrong", range_words(bar.range), grouped(bar.right),
                     grouped(bar.wrong));
}

std::string mark_command(const MarkedRange& range) {
  if (std::isinf(range.low)) return "mark infinite";
  if (range.high == 0) return "mark zero";
  return fmt::format("mark {} {}", range.low, range.high);
}

HistogramFrame arrange_histogram(const DiffView& view, const Box& room) {
  HistogramFrame out;
  out.room = room;
  out.plot = {room.x + left, room.y + head, std::max(1.0, room.width - left - right),
              std::max(1.0, room.height - head - foot)};
  out.bars =
      bars_of(view.histogram(), static_cast<std::size_t>(std::max(4.0, out.plot.width / 16)));
  const double wide = widest * static_cast<double>(out.bars.size());
  out.plot.width = std::min(out.plot.width, wide);
  for (const HistogramBar& bar : out.bars) out.most = std::max({out.most, bar.right, bar.wrong});
  return out;
}

std::optional<std::size_t> bar_at(const HistogramFrame& frame, Point at) {
  if (frame.bars.empty() || !frame.plot.contains(at)) return {};
  const double width = frame.plot.width / static_cast<double>(frame.bars.size());
  const auto bar = static_cast<std::size_t>(std::max(0.0, (at.x - frame.plot.x) / width));
  return std::min(bar, frame.bars.size() - 1);
}

void draw_histogram(Scene& scene, const DiffView& view, const HistogramFrame& frame,
                    const DiffChoice& choice, std::optional<std::size_t> hover) {
  scene.begin("histogram", frame.room);
  Line above;
  above.points = {{frame.room.x, frame.room.y + 0.5}, {frame.room.right(), frame.room.y + 0.5}};
  above.stroke = {Role::line, 1, false};
  scene.add(above);
  const double y = frame.room.y + 16;
  const std::string_view size = is_error(view.measured()) && view.measured() != Measured::difference
                                    ? words_of(view.measured())
                                : view.measured() == Measured::got  ? "|got|"
                                : view.measured() == Measured::want ? "|want|"
                                                                    : "|got - want|";
  double x = frame.room.x + left;
  const auto say = [&](std::string text, Ink ink, FontWeight weight, double gap) {
    const double width = text_width(text, small_text, Family::sans, weight);
    scene.add(words({x, y}, std::move(text), ink, Family::sans, Across::left, weight));
    x += width + gap;
  };
  say(fmt::format("How many have which {}", size), Role::text, FontWeight::bold, between);
  const std::optional<std::size_t> told =
      hover && *hover < frame.bars.size() ? hover : std::nullopt;
  if (told) {
    say(bar_words(frame.bars[*told]), Role::text, FontWeight::regular, 0);
  } else if (frame.most > 0) {
    // The keys are always there; of the scale what there is room for in front of them.
    double keys = 0;
    for (const char* name : {"right", "wrong"}) {
      keys += 16 + text_width(name, small_text, Family::sans) + between;
    }
    for (const char* how : {"highest bar {}, heights logarithmic", "highest {}, logarithmic"}) {
      const std::string scale = fmt::format(fmt::runtime(how), grouped(frame.most));
      const double wide = text_width(scale, small_text, Family::sans) + between;
      if (x + wide + keys > frame.room.right()) continue;
      say(scale, Role::quiet, FontWeight::regular, between);
      break;
    }
    const auto key = [&](std::string text, Ink ink) {
      Rectangle swatch;
      swatch.box = {x, y - 5, 10, 10};
      swatch.fill = ink;
      scene.add(swatch);
      x += 16;
      say(std::move(text), Role::quiet, FontWeight::regular, between);
    };
    key("right", Ink(Role::quiet, 0.7));
    key("wrong", Role::wrong);
  }
  scene.begin("bars", frame.plot);
  draw_bars(scene, frame, choice, told);
  scene.end();
  Line base;
  base.points = {{frame.plot.x, frame.plot.bottom()}, {frame.plot.right(), frame.plot.bottom()}};
  base.stroke = {Role::line, 1, false};
  scene.add(base);
  draw_numbers(scene, frame);
  scene.end();
}

}  // namespace tilescope
