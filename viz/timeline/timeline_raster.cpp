// The lanes of a timeline as pixels.
#include <algorithm>
#include <array>
#include <cmath>

#include "viz/scene/stage_items.h"
#include "viz/timeline/timeline_paint.h"

namespace tilescope {
namespace {

using sim::Event;
using sim::EventKind;
using sim::Stall;
using sim::TrackId;
using sim::Unit;

constexpr int hatch_period = 6, hatch_stripe = 2;  // pixels at 100%

// Colours are found once a picture.
struct Ink3 {
  Rgba solid, ground, stripe;
  Hatch hatch = Hatch::rising;
};
constexpr std::size_t doings = static_cast<std::size_t>(Stall::count_) * 16;
static_assert(static_cast<std::size_t>(Unit::count_) < 16);

// Pixels, and boxes on them that are at least a pixel wide.
class Canvas {
 public:
  Canvas(Image& image, double scale, Rgba paper) : image_(image), scale_(scale) {
    image.rgba.assign(
        static_cast<std::size_t>(image.columns) * static_cast<std::size_t>(image.rows), paper);
  }

  void fill(const Box& box, Rgba colour) {
    each(box, [&](int, int) { return colour; });
  }
  void hatch(const Box& box, const Ink3& ink) {
    const int period = std::max(2, static_cast<int>(std::lround(hatch_period * scale_)));
    const int wide = std::max(1, static_cast<int>(std::lround(hatch_stripe * scale_)));
    const int rows = (image_.rows / period + 1) * period;  // keeps what falls above zero
    each(box, [&](int x, int y) {
      const int across = ink.hatch == Hatch::rising    ? x + y
                         : ink.hatch == Hatch::falling ? x - y + rows
                                                       : x;
      return across % period < wide ? ink.stripe : ink.ground;
    });
  }

 private:
  template <class Colour>
  void each(const Box& box, Colour colour) {
    const auto edge = [&](double at, int most) {
      return static_cast<int>(std::lround(std::clamp(at * scale_, 0.0, double(most))));
    };
    const int left = edge(box.x, image_.columns);
    int right = edge(box.right(), image_.columns);
    if (box.right() <= 0 || left >= image_.columns) return;
    right = std::max(right, left + 1);
    const int top = edge(box.y, image_.rows), bottom = edge(box.bottom(), image_.rows);
    for (int y = top; y < bottom; ++y) {
      Rgba* row = image_.rgba.data() + static_cast<std::ptrdiff_t>(y) * image_.columns;
      for (int x = left; x < right; ++x) row[x] = colour(x, y);
    }
  }

  Image& image_;
  double scale_;
};

class Lanes {
 public:
  Lanes(const TimelineView& view, const TimelineFrame& frame, const Theme& theme, Image& image)
      : view_(view),
        frame_(frame),
        theme_(theme),
        pixel_(1 / frame.viewport.pixel_scale),
        canvas_(image, frame.viewport.pixel_scale, theme.paper) {}

  void draw() {
    // Those that scroll first: pinned rows cover what slides under them.
    for (const TimelineFrame::Place& row : frame_.rows) {
      if (!row.pinned) draw(row);
    }
    if (frame_.scrolled_from > frame_.lanes.y) {
      canvas_.fill({0, 0, frame_.lanes.width, frame_.scrolled_from - frame_.lanes.y}, theme_.paper);
    }
    for (const TimelineFrame::Place& row : frame_.rows) {
      if (row.pinned) draw(row);
    }
  }

 private:
  void draw(const TimelineFrame::Place& row) {
    const TimelinePlace place = row.row.place;
    if (!place.group) {
      draw_track(row);
    } else if (row.row.open) {
      draw_life(row);
    } else {
      draw_folded(row);
    }
  }

  // From the whole picture's coordinates into the lanes'.
  Box local(Box box) const {
    box.x -= frame_.lanes.x;
    box.y -= frame_.lanes.y;
    return box;
  }
  Box over(const TimelineFrame::Place& row, double begin, double end) const {
    Box box = body_of(view_, frame_, row);
    box.x = frame_.x_of(begin);
    box.width = frame_.x_of(end) - box.x;
    return local(box);
  }

  const Ink3& ink(Doing doing) {
    const std::size_t at =
        static_cast<std::size_t>(doing.stall) * 16 + static_cast<std::size_t>(doing.unit);
    if (!known_[at]) {
      known_[at] = true;
      inks_[at] = {colour_of(doing, theme_), ground_of(doing, theme_), stripe_of(doing, theme_),
                   hatch_of(doing)};
      // Where hues are steps, what has none is grey.
      if (frame_.by_step) {
        inks_[at].solid = mix(theme_.paper, theme_.quiet, 0.45);
        inks_[at].ground = theme_.paper;
        inks_[at].stripe = mix(theme_.paper, theme_.quiet, 0.25);
      }
    }
    return inks_[at];
  }
  void paint(const Box& box, Doing doing) {
    const Ink3& with = ink(doing);
    if (doing.waits()) {
      canvas_.hatch(box, with);
    } else {
      canvas_.fill(box, with.solid);
    }
  }

  // An open group: a line as long as it lived.
  void draw_life(const TimelineFrame::Place& row) {
    const TimelineView::Group& group = view_.groups()[row.row.place.index];
    Box box = over(row, static_cast<double>(group.begin), static_cast<double>(group.end));
    box.y += box.height / 2 - 1;
    box.height = 2;
    canvas_.fill(box, theme_.line);
  }

  void draw_track(const TimelineFrame::Place& row) {
    const TrackId track = row.row.place.index;
    const SeenTime seen = seen_of(view_, frame_, track, pixel_);
    const std::vector<sim::Span> spans =
        view_.timeline().spans(track, seen.from, seen.to, seen.pixels);
    const Unit unit = view_.record().tracks[track].unit;
    for (const sim::Span& span : spans) {  // behind: what is issued, and waits for its unit
      if (span.event == sim::no_event || span.kind != EventKind::operation) continue;
      const Event event = view_.record().events[span.event];
      if (event.issue >= event.begin) continue;
      Box box = box_of(view_, frame_, row, event, span.event);
      box.x = frame_.x_of(static_cast<double>(event.issue));
      box.width = frame_.x_of(static_cast<double>(event.begin)) - box.x;
      box.y += box.height / 3;
      box.height /= 3;
      canvas_.fill(local(box), mix(theme_.paper, ink({unit, Stall::none}).solid, 0.5));
    }
    const auto draw = [&](const sim::Span& span) {
      if (span.event == sim::no_event) {
        draw_together(row, track, span);
      } else {
        draw_event(row, span.event);
      }
    };
    // Instants stand before what lasts.
    const auto instant = [](const sim::Span& span) { return span.begin == span.end; };
    for (const sim::Span& span : spans) {
      if (!instant(span)) draw(span);
    }
    for (const sim::Span& span : spans) {
      if (instant(span)) draw(span);
    }
  }

  void draw_event(const TimelineFrame::Place& row, sim::EventId id) {
    const Event event = view_.record().events[id];
    Box box = local(box_of(view_, frame_, row, event, id));
    if (box.width >= 4) box.width -= 1;  // a gap to the next
    switch (event.kind) {
      case EventKind::run:
      case EventKind::wait:
        paint(box, view_.doing(event));
        break;
      case EventKind::operation:
        box.height -= view_.lanes_of(event.track) > 1 ? 1 : 0;
        // More may fly than there are lanes: an edge to the one that it stands over.
        if (box.width >= 4) canvas_.fill({box.x - 1, box.y, 1, box.height}, theme_.paper);
        if (const auto step = frame_.viewport.step_of(id); step && frame_.by_step) {
          canvas_.fill(box, step_colour(*step, theme_));
        } else {
          paint(box, view_.doing(event));
        }
        break;
      case EventKind::phase:
        canvas_.fill(box, frame_.by_step
                              ? mix(theme_.paper, theme_.quiet, event.phase % 2 ? 0.1 : 0.2)
                              : phase_colour(event.phase, theme_));
        break;
      case EventKind::arrival:
        box.height /= 2;
        box.width = std::max(pixel_, 1.0);
        canvas_.fill(box, theme_.text);
        break;
      case EventKind::report:
        box.width = 2;
        canvas_.fill(box, is_fault(view_.record(), event) ? theme_.wrong : theme_.text);
        break;
      case EventKind::folded:
        draw_shares(row, event.track, static_cast<double>(event.begin),
                    static_cast<double>(event.end));
        break;
    }
  }

  // Several events too short to draw: shares of their time where these are known so finely, else
  // what most of it went to.
  void draw_together(const TimelineFrame::Place& row, TrackId track, const sim::Span& span) {
    const double begin = static_cast<double>(span.begin), end = static_cast<double>(span.end);
    Box box = over(row, begin, end);
    const Unit unit = view_.record().tracks[track].unit;
    switch (span.kind) {
      case EventKind::phase:
        canvas_.fill(box, mix(phase_colour(0, theme_), phase_colour(1, theme_), 0.5));
        break;
      case EventKind::arrival:
        box.height /= 2;
        canvas_.fill(box, theme_.text);
        break;
      default:
        if (view_.density(track).piece() <=
            std::max(end - begin, 2 * frame_.cycles_of_pixel() * pixel_)) {
          draw_shares(row, track, begin, std::max(end, begin + frame_.cycles_of_pixel() * pixel_));
        } else if (span.kind == EventKind::wait) {
          paint(box, {span.stall == Stall::mbarrier ? view_.usual_of(track)
                      : span.stall == Stall::group  ? view_.unit_of_groups()
                                                    : Unit::count_,
                      span.stall});
        } else {
          paint(box, {unit, Stall::none});
        }
    }
    if (span.report) {
      const auto& reports = view_.record().reports;
      const bool fault = std::any_of(reports.begin(), reports.end(), [](const Report& each) {
        return each.weight == Weight::fault;
      });
      box.width = 2;
      canvas_.fill(box, fault ? theme_.wrong : theme_.text);
    }
  }

  // The shares that a row's doings have, from the bottom up.
  void stack(Box box, const std::vector<std::pair<Doing, double>>& parts, double whole) {
    double sum = 0;
    for (const auto& [doing, cycles] : parts) sum += cycles;
    whole = std::max(whole, sum);
    if (!(whole > 0)) return;
    double y = box.bottom();
    for (const auto& [doing, cycles] : parts) {
      const double height = box.height * cycles / whole;
      paint({box.x, y - height, box.width, height}, doing);
      y -= height;
    }
  }

  void draw_shares(const TimelineFrame::Place& row, TrackId track, double begin, double end) {
    const Density& density = view_.density(track);
    begin = std::max(begin, frame_.viewport.range.from);
    end = std::min(end, frame_.viewport.range.to);
    const double step = frame_.cycles_of_pixel() * pixel_ * 2;
    for (double at = begin; at < end; at += step) {
      const double to = std::min(at + step, end);
      parts_.clear();
      for (std::size_t i = 0; i < density.doings().size(); ++i) {
        const double cycles = density.before(i, to) - density.before(i, at);
        if (cycles > 0) parts_.emplace_back(density.doings()[i], cycles);
      }
      stack(over(row, at, to), parts_, to - at);
    }
  }

  // A folded group: a stripe for what its warps do, and one for each unit.
  void draw_folded(const TimelineFrame::Place& row) {
    const std::vector<FoldedStripe> stripes = view_.stripes_of(row.row.place.index);
    if (stripes.empty()) return draw_life(row);
    const Box body = body_of(view_, frame_, row);
    double parts = 0;
    for (const FoldedStripe& stripe : stripes) parts += stripe.height;
    double y = body.y;
    for (const FoldedStripe& stripe : stripes) {
      const double height = body.height * stripe.height / parts;
      draw_stripe(stripe, {body.x, y, body.width, height - (stripes.size() > 1 ? 1 : 0)});
      y += height;
    }
  }

  void draw_stripe(const FoldedStripe& stripe, const Box& box) {
    constexpr double column = 2;  // pixels
    const double step = frame_.cycles_of_pixel() * column;
    const double from = std::max(frame_.viewport.range.from, static_cast<double>(stripe.begin));
    const double to = std::min(frame_.viewport.range.to, static_cast<double>(stripe.end));
    if (!(from < to)) return;
    // What stood before the left edge of a column, by density and doing.
    std::vector<double> before;
    for (const Density* density : stripe.densities) {
      for (std::size_t i = 0; i < density->doings().size(); ++i) {
        before.push_back(density->before(i, from));
      }
    }
    for (double at = from; at < to; at += step) {
      const double end = std::min(at + step, to);
      parts_.clear();
      std::size_t n = 0;
      for (const Density* density : stripe.densities) {
        for (std::size_t i = 0; i < density->doings().size(); ++i, ++n) {
          const double sum = density->before(i, end);
          if (sum > before[n]) add_part(density->doings()[i], sum - before[n]);
          before[n] = sum;
        }
      }
      std::sort(parts_.begin(), parts_.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
      Box here = box;
      here.x = frame_.x_of(at);
      here.width = frame_.x_of(end) - here.x;
      stack(local(here), parts_, (end - at) * stripe.of);
    }
  }

  void add_part(Doing doing, double cycles) {
    for (auto& [known, sum] : parts_) {
      if (known == doing) {
        sum += cycles;
        return;
      }
    }
    parts_.emplace_back(doing, cycles);
  }

  const TimelineView& view_;
  const TimelineFrame& frame_;
  const Theme& theme_;
  double pixel_;
  Canvas canvas_;
  std::array<Ink3, doings> inks_{};
  std::array<bool, doings> known_{};
  std::vector<std::pair<Doing, double>> parts_;
};

}  // namespace

std::shared_ptr<const Image> lanes_image(const TimelineView& view, const TimelineFrame& frame,
                                         const Theme& theme, RasterStore* store) {
  std::vector<double> key{
      frame.viewport.range.from,
      frame.viewport.range.to,
      frame.lanes.width,
      frame.lanes.height,
      frame.viewport.pixel_scale,
      theme.dark ? 1.0 : 0.0,
      static_cast<double>(reinterpret_cast<std::uintptr_t>(&view.record())),
      frame.by_step
          ? static_cast<double>(reinterpret_cast<std::uintptr_t>(frame.viewport.steps.get()))
          : 0.0};
  for (const TimelineFrame::Place& row : frame.rows) {
    key.push_back(row.y);
    key.push_back(static_cast<double>(row.row.place.index) * 4 + (row.row.place.group ? 2 : 0) +
                  (row.row.open ? 1 : 0));
  }
  if (store != nullptr) {
    for (const RasterStore::Entry& entry : store->entries) {
      if (entry.key == key) return entry.image;
    }
  }
  auto out = std::make_shared<Image>();
  out->columns =
      std::max(1, static_cast<int>(std::lround(frame.lanes.width * frame.viewport.pixel_scale)));
  out->rows =
      std::max(1, static_cast<int>(std::lround(frame.lanes.height * frame.viewport.pixel_scale)));
  out->version = new_image_version();
  Lanes(view, frame, theme, *out).draw();
  if (store != nullptr) {
    // Two, and that of all of the run.
    if (store->entries.size() >= 3) store->entries.erase(store->entries.begin());
    store->entries.push_back({std::move(key), out});
  }
  return out;
}

}  // namespace tilescope
