// From a timeline to a scene: the raster of its lanes, and what lies over it. What stands around
// them is in timeline_margins.cpp.
#include "viz/timeline/timeline_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/record/text.h"
#include "viz/scene/number_words.h"
#include "viz/scene/stage_items.h"
#include "viz/timeline/timeline_paint.h"
#include "viz/timeline/timeline_search.h"
#include "viz/timeline/timeline_words.h"

namespace tilescope {
namespace {

using sim::Event;
using sim::EventId;
using sim::EventKind;
using sim::Unit;

constexpr double least_label = 14;  // pixels that a box needs to be lettered
constexpr std::size_t most_marks = 400;

// ---- Words in boxes -----------------------------------------------------------------------------

std::string line_text(const TimelineView& view, std::uint32_t pc) {
  const sim::Record& record = view.record();
  if (pc >= record.lines.size()) return "";
  const sim::RecordedLine& line = record.lines[pc];
  const std::uint32_t number = line.caller_line ? line.caller_line : line.line;
  return number ? fmt::format("line {}", number) : "";
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes % (1 << 20) == 0 && bytes > 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes % (1 << 10) == 0 && bytes > 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} bytes", bytes);
}

std::string barrier_text(const TimelineView& view, const Event& event) {
  if (event.stall == sim::Stall::mbarrier) {
    return fmt::format("{} phase {}", barrier_name(view.barriers(), event.object), event.phase);
  }
  if (event.stall == sim::Stall::barrier) {
    return fmt::format("barrier {} phase {}", event.object, event.phase);
  }
  return "";
}

// What a box says, the longest first: what fits is taken.
// `step`: of K, of a copy or product.
std::vector<std::string> sayings(const TimelineView& view, const Event& event,
                                 std::optional<std::uint32_t> step) {
  std::vector<std::string> out;
  switch (event.kind) {
    case EventKind::wait: {
      const std::string letter(1, letter_of(view.doing(event)));
      const std::string what = sim::text(sim::WaitKey{event.stall, view.doing(event).unit});
      const std::string barrier = barrier_text(view, event);
      if (event.stall == sim::Stall::barrier) {
        out.push_back(fmt::format("{}  waits for {}", letter, barrier));
      } else {
        const std::string_view join = barrier.empty() ? "" : ": ";
        out.push_back(fmt::format("{}  waits for {}{}{}", letter, what, join, barrier));
        out.push_back(fmt::format("{}  {}", letter, what));
      }
      if (!barrier.empty()) out.push_back(fmt::format("{}  {}", letter, barrier));
      out.push_back(letter);
      break;
    }
    case EventKind::run: {
      const std::string line = line_text(view, event.pc);
      if (!line.empty()) {
        out.push_back(fmt::format("{}, {} instructions", line, grouped(event.amount)));
        out.push_back(line);
      }
      break;
    }
    case EventKind::operation: {
      const std::string line = line_text(view, event.pc);
      if (event.bytes && event.amount) {
        if (!line.empty()) {
          out.push_back(fmt::format("{}, {}", bytes_text(event.amount), line));
        }
        out.push_back(bytes_text(event.amount));
      }
      if (!line.empty()) out.push_back(line);
      if (step) {
        const std::string k = fmt::format("k{}", *step);
        for (std::string& each : out) each = fmt::format("{}, {}", k, each);
        out.push_back(k);
      }
      break;
    }
    case EventKind::phase:
      out.push_back(fmt::format("phase {}", event.phase));
      out.push_back(fmt::format("{}", event.phase));
      break;
    default:
      break;
  }
  return out;
}

// The colour under a box's words.
Rgba under(const TimelineView& view, const TimelineFrame& frame, const Event& event, EventId id,
           const Theme& theme) {
  if (frame.by_step) {
    const auto step = frame.viewport.step_of(id);
    if (step) return step_colour(*step, theme);
    return event.kind == EventKind::wait || event.kind == EventKind::phase
               ? theme.paper
               : mix(theme.paper, theme.quiet, 0.45);
  }
  if (event.kind == EventKind::phase) return phase_colour(event.phase, theme);
  const Doing doing = view.doing(event);
  return doing.waits() ? ground_of(doing, theme) : colour_of(doing, theme);
}

// `limit`: where the next box of its lane begins and covers it.
void draw_saying(Scene& scene, const TimelineView& view, const TimelineFrame& frame,
                 const TimelineFrame::Place& row, EventId id, double limit) {
  const Event event = view.record().events[id];
  Box box = box_of(view, frame, row, event, id);
  const double left = std::max(box.x, frame.lanes.x);
  box.width = std::min({box.right(), frame.lanes.right(), limit}) - left;
  box.x = left;
  const double room = box.width - 6;
  for (std::string& saying : sayings(view, event, frame.viewport.step_of(id))) {
    const double wide = text_width(saying, small_text, Family::sans);
    if (wide > room) continue;
    const Rgba ground = under(view, frame, event, id, scene.theme);
    if (event.kind == EventKind::wait) {  // a quiet place among the stripes
      Rectangle plate;
      plate.box = {box.x + 1, box.y + 1, wide + 6, box.height - 2};
      plate.fill = Ink(ground);
      scene.add(plate);
    }
    const Ink ink = event.kind == EventKind::wait || event.kind == EventKind::phase
                        ? Ink(scene.theme.text)
                        : Ink(text_on(ground));
    scene.add(words({box.x + 4, box.y + box.height / 2}, std::move(saying), ink));
    return;
  }
}

// Neighbours of one lane that are of one step of K: each too narrow to say so itself.
struct StepRun {
  std::uint32_t step = 0;
  EventId event = sim::no_event;  // the first
  Box box;                        // around all of them
  double widest = 0;
};

void draw_step_run(Scene& scene, const TimelineView& view, const TimelineFrame& frame,
                   const StepRun& run) {
  const std::string name = fmt::format("k{}", run.step);
  const double wide = text_width(name, small_text, Family::sans);
  if (run.widest >= std::max(least_label, wide + 6) || run.box.width < wide + 4) return;
  const Rgba ground = under(view, frame, view.record().events[run.event], run.event, scene.theme);
  Rectangle plate;  // over the gaps between them
  plate.box = {run.box.centre().x - wide / 2 - 2, run.box.y, wide + 4, run.box.height};
  plate.fill = Ink(ground);
  scene.add(plate);
  scene.add(words(run.box.centre(), name, Ink(text_on(ground)), Family::sans, Across::centre));
}

// The steps of products, which are short: said over all that are of one.
void draw_step_runs(Scene& scene, const TimelineView& view, const TimelineFrame& frame,
                    const TimelineFrame::Place& row) {
  const sim::TrackId track = row.row.place.index;
  if (!frame.viewport.steps || view.record().tracks[track].unit != Unit::tensor) return;
  constexpr double finest = 2, apart = 12;  // pixels
  const SeenTime seen = seen_of(view, frame, track, finest);
  std::array<std::optional<StepRun>, 8> runs;  // by lane
  scene.begin(view.name_of(row.row.place));
  for (const sim::Span& span : view.timeline().spans(track, seen.from, seen.to, seen.pixels)) {
    if (span.event == sim::no_event || span.kind != EventKind::operation) continue;
    auto& run = runs[static_cast<std::size_t>(view.lane_of(span.event)) % runs.size()];
    const auto step = frame.viewport.step_of(span.event);
    const Box whole = box_of(view, frame, row, view.record().events[span.event], span.event);
    Box box = whole;
    box.x = std::max(whole.x, frame.lanes.x);
    box.width = std::min(whole.right(), frame.lanes.right()) - box.x;
    if (box.width <= 0) continue;
    if (run && (!step || run->step != *step || box.x - run->box.right() > apart)) {
      draw_step_run(scene, view, frame, *run);
      run.reset();
    }
    if (!step) continue;
    if (!run) run = StepRun{*step, span.event, box, 0};
    run->box.width = std::max(run->box.right(), box.right()) - run->box.x;
    run->widest = std::max(run->widest, box.width);
  }
  for (const auto& run : runs) {
    if (run) draw_step_run(scene, view, frame, *run);
  }
  scene.end();
}

void draw_sayings(Scene& scene, const TimelineView& view, const TimelineFrame& frame, bool pinned) {
  for (const TimelineFrame::Place& row : frame.rows) {
    if (row.row.place.group || row.pinned != pinned) continue;
    const sim::TrackId track = row.row.place.index;
    const SeenTime seen = seen_of(view, frame, track, least_label);
    const std::vector<sim::Span> spans =
        view.timeline().spans(track, seen.from, seen.to, seen.pixels);
    std::array<double, 8> covered{};  // by lane: where the box to the right begins
    covered.fill(frame.lanes.right());
    std::vector<std::pair<EventId, double>> said;
    for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
      if (span->event == sim::no_event) continue;
      const double x = frame.x_of(static_cast<double>(span->begin));
      double& limit = covered[static_cast<std::size_t>(view.lane_of(span->event)) % covered.size()];
      if (frame.x_of(static_cast<double>(span->end)) - x >= least_label) {
        said.emplace_back(span->event, limit);
      }
      if (span->kind != EventKind::arrival && span->kind != EventKind::report) limit = x;
    }
    scene.begin(view.name_of(row.row.place));
    for (auto each = said.rbegin(); each != said.rend(); ++each) {
      draw_saying(scene, view, frame, row, each->first, each->second);
    }
    scene.end();
    draw_step_runs(scene, view, frame, row);
  }
}

// ---- Marks over the lanes -----------------------------------------------------------------------

// A line in the accent under what was searched for.
void draw_found(Scene& scene, const TimelineView& view, const TimelineChoice& choice,
                const TimelineFrame& frame) {
  const auto filter = search_of(view, choice.search);
  if (choice.search.empty() || !filter) return;
  const auto from = static_cast<sim::Cycle>(std::max(0.0, frame.viewport.range.from));
  const auto to = static_cast<sim::Cycle>(std::ceil(frame.viewport.range.to)) + 1;
  Segments marks;
  marks.stroke = {Role::accent, 3, false};
  for (const TimelineFrame::Place& row : frame.rows) {
    if (row.row.place.group) continue;
    sim::EventFilter of_row = *filter;
    if (of_row.track && *of_row.track != row.row.place.index) continue;
    of_row.track = row.row.place.index;
    double last = -1;
    for (const EventId id : view.timeline().find(of_row, from, to, most_marks)) {
      const Box box = box_of(view, frame, row, view.record().events[id], id);
      const double left = std::max({box.x, frame.lanes.x, last});
      const double right = std::min(std::max(box.right() - 1, left + 3), frame.lanes.right());
      if (right <= left) continue;
      last = right;
      marks.lines.push_back({{left, box.bottom()}, {right, box.bottom()}});
    }
  }
  if (!marks.lines.empty()) scene.add(std::move(marks));
}

// When the last event ends.
double last_event(const TimelineView& view) {
  sim::Cycle low = 0, high = view.record().end;
  while (low < high) {
    const sim::Cycle middle = low + (high - low) / 2;
    if (view.timeline().find({}, middle, high + 1, 1).empty()) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return static_cast<double>(low);
}

// At the end of a run nobody works any more, and what was stored is still on its way: that is no
// time in which the chip idles.
void draw_tail(Scene& scene, const TimelineView& view, const TimelineFrame& frame) {
  const sim::Record& record = view.record();
  const bool whole = record.timed && record.blocks_simulated == record.launch.grid.count();
  const bool faulted = !record.reports.empty() && record.reports.back().weight == Weight::fault;
  const auto end = static_cast<double>(record.end);
  if (!whole || faulted || frame.viewport.range.to < 0.8 * end) return;
  const double last = last_event(view);
  const double left = std::max(frame.x_of(last), frame.lanes.x);
  const double right = std::min(frame.x_of(end), frame.lanes.right());
  if (right - left < 4) return;
  const Box box{left, frame.lanes.y, right - left, frame.lanes.height};
  scene.add(Rectangle{box, Ink(Role::line, 0.35), {}, 0});
  scene.hints.push_back(
      {box, fmt::format("stores are on their way to memory for {} after the last event",
                        cycles_text(view, end - last))});
  double y = frame.lanes.y + 10;
  for (const std::string_view word : {"stores", "on their", "way"}) {
    if (text_width(std::string(word), small_text, Family::sans) > box.width - 4) break;
    scene.add(words({box.centre().x, y}, std::string(word), Role::quiet, FontWeight::regular,
                    Across::centre));
    y += 16;
  }
}

// A fault is a flag that no zoom hides.
void draw_reports(Scene& scene, const TimelineView& view, const TimelineFrame& frame) {
  sim::EventFilter filter;
  filter.kinds = sim::bit(EventKind::report);
  const auto from = static_cast<sim::Cycle>(std::max(0.0, frame.viewport.range.from));
  const auto to = static_cast<sim::Cycle>(std::ceil(frame.viewport.range.to)) + 1;
  for (const TimelineFrame::Place& row : frame.rows) {
    if (row.row.place.group) continue;
    filter.track = row.row.place.index;
    for (const EventId id : view.timeline().find(filter, from, to, 16)) {
      const Event event = view.record().events[id];
      const Box body = body_of(view, frame, row);
      const double x = std::clamp(frame.x_of(static_cast<double>(event.begin)), frame.lanes.x + 8,
                                  frame.lanes.right() - 8);
      Rectangle flag;
      flag.box = {x - 7, body.centre().y - 8, 14, 16};
      const bool fault = is_fault(view.record(), event);
      const Rgba under = fault ? scene.theme.wrong : scene.theme.text;
      flag.fill = Ink(under);
      flag.radius = 3;
      Text mark = words(flag.box.centre(), "!", Ink(text_on(under)), Family::sans, Across::centre);
      mark.weight = FontWeight::bold;
      scene.add(flag);
      scene.add(std::move(mark));
      scene.targets.push_back(
          {flag.box, fmt::format("pick event {}{}", frame.whose, id), "select it"});
      scene.hints.push_back({flag.box, sentence_of(view, id)});
    }
  }
}

// "runs 1.4%, copies in 100.0%": what did nothing is not told.
std::string without_zeros(const std::string& shares) {
  std::string out;
  for (std::size_t at = 0; at < shares.size();) {
    const std::size_t end = std::min(shares.find(", ", at), shares.size());
    const std::string_view one = std::string_view(shares).substr(at, end - at);
    constexpr std::string_view zero = " 0.0%";
    if (one.size() < zero.size() || one.substr(one.size() - zero.size()) != zero) {
      out += fmt::format("{}{}", out.empty() ? "" : ", ", one);
    }
    at = end + 2;
  }
  return out.empty() ? "nothing went on" : out;
}

// Whose time is told on the plate of a range: the CTA's that is looked at, else the first one's.
std::optional<TimelinePlace> summed_place(const TimelineView& view, const TimelineChoice& choice) {
  const auto& groups = view.groups();
  const auto is_block = [&](std::uint32_t g) {
    return groups[g].kind == TimelineView::Group::Kind::block ||
           groups[g].kind == TimelineView::Group::Kind::processor;
  };
  for (std::uint32_t g = 0; choice.warp && g < groups.size(); ++g) {
    if (!is_block(g)) continue;
    const auto tracks = view.tracks_of({true, g});
    if (std::count(tracks.begin(), tracks.end(), *choice.warp)) return TimelinePlace{true, g};
  }
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    if (is_block(g)) return TimelinePlace{true, g};
  }
  return {};
}

void draw_range(Scene& scene, const TimelineView& view, const TimelineChoice& choice,
                const TimelineFrame& frame, const CycleRange& range) {
  const double left = std::clamp(frame.x_of(range.from), frame.lanes.x, frame.lanes.right());
  const double right = std::clamp(frame.x_of(range.to), frame.lanes.x, frame.lanes.right());
  Rectangle shade;
  shade.box = {left, frame.lanes.y, right - left, frame.lanes.height};
  shade.fill = Ink(Role::accent, 0.12);
  scene.add(shade);
  for (const double x : {left, right}) {
    scene.add(straight({x, frame.lines_top()}, {x, frame.lanes.bottom()}, Role::accent, 1));
  }
  std::string text = cycles_text(view, range.length());
  if (view.known_time()) text += ", " + seconds_text(view, range.length());
  // What went on in it, at the top, where it is dragged.
  std::string did;
  if (const auto place = summed_place(view, choice)) {
    did =
        fmt::format("{}: {}", view.title_of(*place), without_zeros(shares_of(view, *place, range)));
  }
  did = begin_of(did, frame.lanes.width - 2 * inside, Family::sans);
  const double wide = std::max(text_width(text, small_text, Family::sans),
                               text_width(did, small_text, Family::sans)) +
                      2 * inside;
  const double high = did.empty() ? 20 : 40;
  Rectangle plate;
  plate.box = {std::clamp((left + right - wide) / 2, frame.lanes.x,
                          std::max(frame.lanes.x, frame.lanes.right() - wide)),
               frame.lanes.y + 4, wide, high};
  plate.fill = Ink(Role::panel);
  plate.stroke = {Role::accent, 1, false};
  plate.radius = 4;
  scene.add(plate);
  const double x = plate.box.centre().x;
  scene.begin("range");
  scene.add(
      words({x, plate.box.y + 10}, std::move(text), Role::text, Across::centre, FontWeight::bold));
  if (!did.empty()) scene.add(words({x, plate.box.y + 30}, std::move(did), Across::centre));
  scene.end();
}

}  // namespace

void draw_lanes(Scene& scene, const TimelineView& view, const TimelineChoice& choice,
                const TimelineFrame& frame, RasterStore* store) {
  scene.begin("lanes", frame.lanes);
  scene.add(Raster{frame.lanes, lanes_image(view, frame, scene.theme, store)});
  for (const bool pinned : {false, true}) {
    const double from = pinned ? frame.lanes.y : frame.scrolled_from;
    const double to = pinned ? frame.scrolled_from : frame.lanes.bottom();
    scene.begin(pinned ? "pinned" : "boxes",
                Box{frame.lanes.x, from, frame.lanes.width, to - from});
    draw_sayings(scene, view, frame, pinned);
    scene.end();
  }
  scene.end();
  draw_rules(scene, view, frame);
  draw_labels(scene, view, choice, frame);
}

void draw_marks(Scene& scene, const TimelineView& view, const TimelineChoice& choice,
                const TimelineFrame& frame) {
  scene.begin("marks", frame.lanes.grown(1));
  draw_tail(scene, view, frame);
  draw_found(scene, view, choice, frame);
  draw_reports(scene, view, frame);
  draw_arrows(scene, view, choice, frame);
  // The pointer's is a dashed line of text, the selection's a solid one of the accent.
  if (choice.hovered != choice.selected) {
    if (const auto box = box_of(view, frame, choice.hovered)) draw_pointed(scene, box->grown(1));
  }
  if (const auto box = box_of(view, frame, choice.selected)) draw_selection(scene, box->grown(1));
  scene.end();
  if (choice.totals) draw_range(scene, view, choice, frame, *choice.totals);
  if (choice.moment) draw_moment(scene, frame, choice);
}

Scene build_scene(const TimelineView& view, const TimelineChoice& choice, const Theme& theme,
                  const TimelineFrame& frame, RasterStore* store) {
  Scene scene;
  scene.theme = theme;
  scene.title = view.title();
  draw_paper(scene, frame);
  draw_head(scene, view, frame);
  if (view.record().events.empty()) {
    scene.add(words({frame.lanes.x, frame.lanes.y + between},
                    "The record of this run has no events.", Role::quiet));
    return scene;
  }
  draw_lanes(scene, view, choice, frame, store);
  draw_axis(scene, view, frame, choice.moment, true);
  draw_minimap(scene, view, frame, choice, store);
  draw_marks(scene, view, choice, frame);
  if (frame.viewport.legend) draw_legend(scene, {&view}, frame);
  return scene;
}

}  // namespace tilescope
