// Rows, times and colours of a timeline: what is under a point, what a zoom keeps, what a pixel
// that stands for many events shows.
#include "viz/timeline/timeline_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/viz/timeline_fixture.h"
#include "viz/timeline/timeline_paint.h"
#include "viz/timeline/timeline_words.h"

namespace tilescope {
namespace {

using sim::Event;
using sim::EventId;
using sim::EventKind;
using sim::Stall;
using sim::Unit;
using test::first_of;
using test::lens_of;
using test::small_timeline;

std::vector<std::string> labels(const TimelineView& view, const TimelineChoice& choice) {
  std::vector<std::string> out;
  for (const TimelineRow& row : view.rows(choice)) out.push_back(view.label_of(row.place));
  return out;
}

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::count(all.begin(), all.end(), one) > 0;
}

TimelinePlace place(const TimelineView& view, std::string_view name) {
  const auto found = view.find_place(name);
  EXPECT_TRUE(found) << name;
  return found.value_or(TimelinePlace{});
}

TEST(Timeline, OpensTheFirstClusterAndFoldsTheOthers) {
  const auto view = small_timeline();
  const std::vector<std::string> rows = labels(*view, {});
  for (const char* each :
       {"cluster 0", "CTA 0", "CTA 1", "cluster 1", "copies in: warp 0", "MMAs: warp 1",
        "write back: warps 2-5", "warp 2", "copies in", "tensor core", "mbarrier 0"}) {
    EXPECT_TRUE(has(rows, each)) << each;
  }
  EXPECT_FALSE(has(rows, "block 2"));
  EXPECT_EQ(view->detail_of(place(*view, "cluster 1")), "2 CTAs");
}

TEST(Timeline, FoldsAndUnfolds) {
  const auto view = small_timeline();
  TimelineChoice choice;
  const std::size_t all = view->rows(choice).size();
  const TimelinePlace block = place(*view, "block 1");
  const sim::TrackId warp = place(*view, "block 1 warp 0").index;
  choice = view->folded(choice, block.index, true);
  EXPECT_LT(view->rows(choice).size(), all);
  EXPECT_EQ(view->shown_as(choice, warp), block);
  // Of nested folds the outermost is what is seen.
  const TimelineChoice outer = view->folded(choice, place(*view, "cluster 0").index, true);
  EXPECT_EQ(view->shown_as(outer, warp), place(*view, "cluster 0"));
  EXPECT_EQ(view->folded(choice, block.index, true), choice);
  EXPECT_EQ(view->folded(choice, block.index, false), TimelineChoice{});
  EXPECT_EQ(view->shown_as(view->unfolded_to(outer, warp), warp), (TimelinePlace{false, warp}));
}

TEST(Timeline, FindsEveryRowByItsName) {
  const auto view = small_timeline();
  TimelineChoice open;
  for (std::uint32_t g = 0; g < view->groups().size(); ++g) open = view->folded(open, g, false);
  const std::vector<TimelineRow> rows = view->rows(open);
  EXPECT_EQ(rows.size(), view->groups().size() + view->record().tracks.size());
  for (const TimelineRow& row : rows) {
    EXPECT_EQ(place(*view, view->name_of(row.place)), row.place) << view->name_of(row.place);
  }
  EXPECT_EQ(place(*view, "MMAs"), place(*view, "block 0 warp 1"));
  // What a reader sees, and what an older share string says, are names, too.
  EXPECT_EQ(place(*view, "products"), place(*view, "MMAs"));
  EXPECT_EQ(place(*view, "CTA 0 warp 1"), place(*view, "block 0 warp 1"));
  EXPECT_EQ(place(*view, "copies in"), place(*view, "block 0 copies in"));
  EXPECT_FALSE(view->find_place("block 99"));
  EXPECT_FALSE(view->find_place("block 0 warp 99"));
}

TEST(Timeline, LanesKeepOverlappingOperationsApart) {
  const auto view = small_timeline();
  std::map<std::pair<sim::TrackId, int>, std::vector<std::pair<sim::Cycle, sim::Cycle>>> lanes;
  EventId id = 0;
  for (const Event& event : view->record().events) {
    if (event.kind == EventKind::operation) {
      EXPECT_LT(view->lane_of(id), view->lanes_of(event.track));
      if (view->lanes_of(event.track) < 4) {
        lanes[{event.track, view->lane_of(id)}].emplace_back(event.begin, event.end);
      }
    }
    ++id;
  }
  ASSERT_FALSE(lanes.empty());
  for (auto& [lane, spans] : lanes) {
    std::sort(spans.begin(), spans.end());
    for (std::size_t i = 1; i < spans.size(); ++i) EXPECT_GE(spans[i].first, spans[i - 1].second);
  }
}

TEST(Timeline, DensityAddsUpToTheTotals) {
  const auto view = small_timeline();
  for (sim::TrackId track = 0; track < view->record().tracks.size(); ++track) {
    const sim::Totals totals =
        view->timeline().totals(track, 0, static_cast<sim::Cycle>(view->end()) + 1);
    double busy = 0, waited = 0, stalled = 0;
    const Density& density = view->density(track);
    for (std::size_t i = 0; i < density.doings().size(); ++i) {
      (density.doings()[i].waits() ? waited : busy) += density.before(i, view->end() + 1);
    }
    for (const sim::Cycle cycles : totals.stalled) stalled += static_cast<double>(cycles);
    EXPECT_EQ(busy, static_cast<double>(totals.busy)) << view->name_of({false, track});
    EXPECT_EQ(waited, stalled);
    EXPECT_EQ(density.events_before(view->end() + 1),
              static_cast<double>(view->timeline().events_of(track)));
  }
}

// A point in the middle of an event's box, where nothing else lies over it.
Point middle_of(const TimelineView& view, const TimelineFrame& frame, EventId id) {
  const auto box = box_of(view, frame, id);
  EXPECT_TRUE(box);
  if (!box) return {};
  const bool instant = view.record().events[id].kind == EventKind::arrival;
  return {instant ? box->x + 0.5 : box->centre().x, instant ? box->y + 3 : box->bottom() - 3};
}

TEST(Timeline, HitsEventsOfEveryKind) {
  const auto view = small_timeline();
  for (const auto& [kind, unit] :
       {std::pair(EventKind::run, Unit::warp), std::pair(EventKind::wait, Unit::warp),
        std::pair(EventKind::operation, Unit::copy_in),
        std::pair(EventKind::operation, Unit::tensor), std::pair(EventKind::phase, Unit::mbarrier),
        std::pair(EventKind::arrival, Unit::mbarrier)}) {
    const EventId id = first_of(*view, kind, unit);
    ASSERT_NE(id, sim::no_event) << sim::name_of(kind);
    const TimelineFrame whole = arrange(*view, {}, lens_of());
    const Event event = view->record().events[id];
    TimelineViewport viewport = showing(*view, {}, whole, id);
    const double begin = static_cast<double>(event.begin), end = static_cast<double>(event.end);
    viewport.range = {begin - 50, std::max(end, begin) + 50};
    const TimelineFrame frame = arrange(*view, {}, viewport);
    const TimelineHit found = hit(*view, {}, frame, middle_of(*view, frame, id));
    EXPECT_EQ(found.on, TimelineHit::On::lane);
    EXPECT_EQ(found.event, id) << sim::name_of(kind) << " got " << sentence_of(*view, found.event);
    ASSERT_TRUE(found.row);
    EXPECT_EQ(found.row->place, (TimelinePlace{false, event.track}));
  }
}

TEST(Timeline, HitsLabelsAxisAndNothing) {
  const auto view = small_timeline();
  const TimelineFrame frame = arrange(*view, {}, lens_of());
  const TimelineHit label = hit(*view, {}, frame, {20, frame.lanes.y + 4});
  EXPECT_EQ(label.on, TimelineHit::On::label);
  ASSERT_TRUE(label.row);
  EXPECT_EQ(view->name_of(label.row->place), "cluster 0");
  EXPECT_EQ(hit(*view, {}, frame, {frame.axis.centre().x, frame.axis.centre().y}).on,
            TimelineHit::On::axis);
  EXPECT_EQ(hit(*view, {}, frame, {frame.lanes.centre().x, 799}).on, TimelineHit::On::nothing);
}

TEST(Timeline, ManyEventsInAPixelAreHitTogether) {
  sim::SyntheticPipeline pipeline;
  pipeline.blocks = pipeline.processors = 1;
  pipeline.steps = 4000;
  const auto view = test::timeline_of(pipeline);
  const TimelineFrame frame = arrange(*view, {}, lens_of());
  const auto row = std::find_if(frame.rows.begin(), frame.rows.end(), [&](const auto& each) {
    return view->label_of(each.row.place) == "MMAs: warp 1";
  });
  ASSERT_NE(row, frame.rows.end());
  const TimelineHit found = hit(*view, {}, frame, {frame.lanes.centre().x, row->y + 11});
  ASSERT_TRUE(found.span);
  EXPECT_GT(found.span->count, 1u);
  EXPECT_EQ(found.event, sim::no_event);
}

TEST(Timeline, ZoomKeepsWhatIsUnderThePointer) {
  const auto view = small_timeline();
  TimelineFrame frame = arrange(*view, {}, lens_of());
  const Point at{700, 300};
  const double cycle = frame.cycle_of(at.x);
  for (const double factor : {2.0, 1.7, 3.0, 0.8}) {
    frame = arrange(*view, {}, zoomed(*view, frame, at, factor));
    EXPECT_NEAR(frame.cycle_of(at.x), cycle, 1e-6 * view->end());
  }
  // All the way out is the whole run; no further in than a few cycles; nothing leaves the run.
  EXPECT_EQ(zoomed(*view, frame, at, 1e-9).range, (CycleRange{0, view->end()}));
  EXPECT_GE(zoomed(*view, frame, at, 1e12).range.length(), 1);
  for (const double dx : {-1e9, 1e9, -300.0, 300.0}) {
    const TimelineViewport viewport = panned(*view, frame, dx, dx);
    EXPECT_NEAR(viewport.range.length(), frame.viewport.range.length(), 1e-6);
    EXPECT_GE(viewport.range.from, 0);
    EXPECT_LE(viewport.range.to, view->end() + 1e-6);
    EXPECT_GE(viewport.scroll, 0);
  }
}

TEST(Timeline, PinnedRowsStayWhileOthersScroll) {
  const auto view = small_timeline();
  TimelineChoice choice;
  choice.pinned = {place(*view, "tensor core")};
  TimelineViewport viewport = lens_of(1280, 400);
  viewport.scroll = 1e9;
  const TimelineFrame frame = arrange(*view, choice, viewport);
  ASSERT_TRUE(frame.rows.front().pinned);
  EXPECT_EQ(frame.rows.front().row.place, choice.pinned.front());
  EXPECT_EQ(frame.rows.front().y, frame.lanes.y);
  const TimelineHit found = hit(*view, choice, frame, {20, frame.lanes.y + 4});
  ASSERT_TRUE(found.row);
  EXPECT_EQ(found.row->place, choice.pinned.front());
  // The last row ends where the lanes do.
  EXPECT_NEAR(frame.rows.back().y + height_of(*view, frame.rows.back().row), frame.lanes.bottom(),
              1);
}

TEST(Timeline, EveryEventIsBroughtIntoView) {
  const auto view = small_timeline();
  for (const EventId id : {EventId{0}, static_cast<EventId>(view->record().events.size() / 2),
                           static_cast<EventId>(view->record().events.size() - 1)}) {
    TimelineChoice choice = view->unfolded_to({}, view->record().events.track(id));
    TimelineViewport small = lens_of(1000, 300);
    small.range = {0, 40};
    const TimelineFrame before = arrange(*view, choice, small);
    const TimelineFrame after = arrange(*view, choice, showing(*view, choice, before, id));
    EXPECT_TRUE(box_of(*view, after, id)) << id;
  }
}

// ---- The picture --------------------------------------------------------------------------------

TimelineFrame close_to(const TimelineView& view, EventId id, double around) {
  const Event event = view.record().events[id];
  TimelineViewport viewport = showing(view, {}, arrange(view, {}, lens_of()), id);
  viewport.range = {std::max(0.0, static_cast<double>(event.begin) - around),
                    static_cast<double>(event.end) + around};
  return arrange(view, {}, viewport);
}

TEST(TimelineScene, WaitsSayWhatTheyWaitFor) {
  const auto view = small_timeline();
  sim::EventFilter filter;
  filter.kinds = sim::bit(EventKind::wait);
  filter.track = place(*view, "block 0 warp 1").index;
  const EventId id = view->timeline().next(filter, 0);
  ASSERT_NE(id, sim::no_event);
  const TimelineFrame frame = close_to(*view, id, 1);
  const Scene scene = build_scene(*view, {}, light_theme(), frame);
  const std::vector<std::string> texts = test::texts_of(scene);
  EXPECT_TRUE(std::any_of(texts.begin(), texts.end(), [](const std::string& text) {
    return text.rfind("m  waits for copies in (mbarrier): mbarrier 0 phase 0", 0) == 0;
  }));
  // Where that has no room, the letter has; no words are wider than their box.
  const Scene narrow = build_scene(*view, {}, light_theme(),
                                   close_to(*view, id,
                                            static_cast<double>(view->record().events[id].end -
                                                                view->record().events[id].begin) *
                                                12));
  EXPECT_TRUE(has(test::texts_of(narrow), "m"));
}

Rgba pixel_at(const Scene& scene, Point at) {
  for (const Item& item : scene.items) {
    const Raster* raster = std::get_if<Raster>(&item);
    if (!raster || !raster->box.contains(at)) continue;
    const int x =
        static_cast<int>((at.x - raster->box.x) / raster->box.width * raster->image->columns);
    const int y =
        static_cast<int>((at.y - raster->box.y) / raster->box.height * raster->image->rows);
    return raster->image->rgba[static_cast<std::size_t>(y * raster->image->columns + x)];
  }
  return {};
}

TEST(TimelineScene, ColoursSayWhoWorksAndWhatIsWaitedFor) {
  const auto view = small_timeline();
  for (const Theme* theme : {&light_theme(), &dark_theme()}) {
    const EventId run = first_of(*view, EventKind::run, Unit::warp);
    const EventId copy = first_of(*view, EventKind::operation, Unit::copy_in);
    for (const EventId id : {run, copy}) {
      const TimelineFrame frame = close_to(*view, id, 5);
      const Scene scene = build_scene(*view, {}, *theme, frame);
      const Rgba want = colour_of(view->doing(view->record().events[id]), *theme);
      EXPECT_EQ(hex_of(pixel_at(scene, box_of(*view, frame, id)->centre())), hex_of(want));
    }
    sim::EventFilter filter;
    filter.kinds = sim::bit(EventKind::wait);
    filter.track = place(*view, "block 0 warp 1").index;
    const EventId wait = view->timeline().next(filter, 0);
    const Doing doing = view->doing(view->record().events[wait]);
    EXPECT_EQ(doing, (Doing{Unit::copy_in, Stall::mbarrier}));
    EXPECT_EQ(hex_of(colour_of(doing, *theme)),
              hex_of(colour_of(view->doing(view->record().events[copy]), *theme)));
    const TimelineFrame frame = close_to(*view, wait, 5);
    const Scene scene = build_scene(*view, {}, *theme, frame);
    const Box box = *box_of(*view, frame, wait);
    std::set<std::string> seen;
    for (double x = box.x + 2; x < box.right() - 2; ++x) {
      seen.insert(hex_of(pixel_at(scene, {x, box.centre().y})));
    }
    seen.erase(hex_of(theme->text));  // a hazard that stands in it
    EXPECT_EQ(seen, (std::set<std::string>{hex_of(ground_of(doing, *theme)),
                                           hex_of(stripe_of(doing, *theme))}));
  }
}

// Zoomed out until hundreds of events share a pixel, a row has as much of a colour as its time.
TEST(TimelineScene, SharesOfManyEventsAreTrue) {
  sim::SyntheticPipeline pipeline;
  pipeline.blocks = pipeline.processors = 1;
  pipeline.steps = 20000;
  const auto view = test::timeline_of(pipeline);
  const TimelineFrame frame = arrange(*view, {}, lens_of());
  const Scene scene = build_scene(*view, {}, light_theme(), frame);
  for (const char* name : {"warp 0", "warp 1", "tensor core"}) {
    const TimelinePlace row = place(*view, name);
    const auto at = std::find_if(frame.rows.begin(), frame.rows.end(),
                                 [&](const auto& each) { return each.row.place == row; });
    ASSERT_NE(at, frame.rows.end());
    const Box body = body_of(*view, frame, *at);
    const Unit unit = view->record().tracks[row.index].unit;
    const Rgba busy = colour_of({unit, Stall::none}, light_theme());
    double pixels = 0, all = 0;
    for (double y = body.y + 0.5; y < body.bottom(); ++y) {
      for (double x = body.x + 0.5; x < body.right(); ++x) {
        pixels += pixel_at(scene, {x, y}) == busy;
        ++all;
      }
    }
    const sim::Totals totals =
        view->timeline().totals(row.index, 0, static_cast<sim::Cycle>(view->end()));
    // A row has a height of few pixels: a share may be half of one off.
    EXPECT_NEAR(pixels / all, static_cast<double>(totals.busy) / view->end(), 0.04) << name;
  }
}

TEST(TimelineScene, TheLegendHasEverythingThatIsDrawn) {
  const auto view = small_timeline();
  const Scene scene = build_scene(*view, {}, light_theme(), arrange(*view, {}, lens_of()));
  const std::vector<std::string> texts = test::texts_of(scene);
  ASSERT_GT(view->doings().size(), 4u);
  const auto is_begun_by = [&](const std::string& name) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& each) { return each.rfind(name, 0) == 0; });
  };
  for (const Doing doing : view->doings()) EXPECT_TRUE(is_begun_by(text(doing))) << text(doing);
  EXPECT_TRUE(has(texts, "waits for copies in (mbarrier)"));
  EXPECT_TRUE(has(texts, "cycles"));
  EXPECT_TRUE(has(texts, "us") || has(texts, "ns"));
}

std::vector<Line> arrows_in(const Scene& scene) {
  std::vector<Line> out;
  for (const Item& item : scene.items) {
    const Line* line = std::get_if<Line>(&item);
    if (line && line->arrow) out.push_back(*line);
  }
  return out;
}

TEST(TimelineScene, ArrowsLeadFromCausesToTheSelectedWait) {
  const auto view = small_timeline();
  sim::EventFilter filter;
  filter.kinds = sim::bit(EventKind::wait);
  filter.track = place(*view, "block 0 warp 1").index;
  TimelineChoice choice;
  choice.selected = view->timeline().next(filter, 0);
  const std::vector<EventId> causes = causes_of(*view, choice.selected);
  // The phase, what completed it, and who issued that.
  ASSERT_GE(causes.size(), 3u);
  EXPECT_EQ(view->record().events[causes[0]].kind, EventKind::phase);
  const TimelineFrame frame = arrange(*view, choice, lens_of(1280, 1200));
  const Scene scene = build_scene(*view, choice, light_theme(), frame);
  const std::vector<Line> arrows = arrows_in(scene);
  ASSERT_GE(arrows.size(), causes.size());
  const Box wait = *box_of(*view, frame, choice.selected);
  const auto end = frame.x_of(static_cast<double>(view->record().events[choice.selected].end));
  EXPECT_TRUE(std::any_of(arrows.begin(), arrows.end(), [&](const Line& arrow) {
    const Point tip = arrow.points.back();
    return std::fabs(tip.x - end) < 0.01 && std::fabs(tip.y - wait.centre().y) < 0.01;
  }));
  EXPECT_TRUE(arrows_in(build_scene(*view, {}, light_theme(), frame)).empty());
  // All of them, where they are few; where they are many a sentence.
  choice.arrows = true;
  const Scene many = build_scene(*view, choice, light_theme(), frame);
  EXPECT_TRUE(has(test::texts_of(many), "too many arrows: zoom in to see them"));
  TimelineViewport viewport = lens_of(1280, 1200);
  const double at = static_cast<double>(view->record().events[choice.selected].end);
  viewport.range = {at - 100, at + 100};
  EXPECT_GT(
      arrows_in(build_scene(*view, choice, light_theme(), arrange(*view, choice, viewport))).size(),
      causes.size());
}

TEST(TimelineScene, TheRasterIsMadeOnceAndAnewWhenWhatIsSeenChanges) {
  const auto view = small_timeline();
  RasterStore store;
  const auto image = [&](const TimelineChoice& choice, const TimelineViewport& viewport) {
    const Scene scene =
        build_scene(*view, choice, light_theme(), arrange(*view, choice, viewport), &store);
    for (const Item& item : scene.items) {
      if (const Raster* raster = std::get_if<Raster>(&item)) return raster->image;
    }
    return std::shared_ptr<const Image>();
  };
  const auto first = image({}, lens_of());
  TimelineChoice hovered;
  hovered.hovered = 3;
  EXPECT_EQ(image(hovered, lens_of()), first);
  TimelineViewport other = lens_of();
  other.range = {10, 500};
  EXPECT_NE(image({}, other), first);
  EXPECT_NE(image(view->folded({}, place(*view, "block 0").index, true), lens_of()), first);
}

// ---- Words --------------------------------------------------------------------------------------

std::string value_of(const Lines& lines, std::string_view name) {
  for (const auto& [key, value] : lines) {
    if (key == name) return value;
  }
  return "";
}

TEST(TimelineWords, AnEventIsToldWithAllItsNumbers) {
  const auto view = small_timeline();
  const EventId id = first_of(*view, EventKind::operation, Unit::copy_in);
  const Event event = view->record().events[id];
  const Lines lines = inspect(*view, id);
  EXPECT_EQ(value_of(lines, "row"), "CTA 0 copies in");
  EXPECT_EQ(value_of(lines, "bytes"), "16,384");
  EXPECT_NE(value_of(lines, "instruction").find("cp.async.bulk.tensor"), std::string::npos);
  EXPECT_FALSE(value_of(lines, "source").empty());
  EXPECT_NE(value_of(lines, "began at cycle").find("ns)"), std::string::npos);
  EXPECT_NE(value_of(lines, "because").find("CTA 0 warp 0 (copies in)"), std::string::npos);
  EXPECT_FALSE(value_of(lines, "took").empty());
  ASSERT_LT(event.cause, view->record().events.size());
  const std::vector<TimelineLink> links = links_of(*view, id);
  ASSERT_FALSE(links.empty());
  EXPECT_EQ(links.front().command, "pick event " + std::to_string(event.cause));
  // What it brought about leads back to it.
  const std::vector<EventId> effects = effects_of(*view, id);
  ASSERT_FALSE(effects.empty());
  for (const EventId effect : effects) EXPECT_EQ(view->record().events[effect].cause, id);
}

TEST(TimelineWords, TotalsOfARangeAreThoseOfTheTimeline) {
  const auto view = small_timeline();
  TimelineChoice choice;
  choice.totals = CycleRange{500, 2500};
  const sim::TrackId warp = place(*view, "block 0 warp 1").index;
  const sim::Totals totals = view->timeline().totals(warp, 500, 2500);
  const std::string line = value_of(totals_of(*view, choice), "CTA 0 warp 1");
  char busy[32], stalled[32];
  std::snprintf(busy, sizeof busy, "runs %.1f%%", static_cast<double>(totals.busy) / 20);
  std::snprintf(
      stalled, sizeof stalled, "m copies in (mbarrier) %.1f%%",
      static_cast<double>(totals.stalled[static_cast<std::size_t>(Stall::mbarrier)]) / 20);
  EXPECT_NE(line.find(busy), std::string::npos) << line << " has not " << busy;
  EXPECT_NE(line.find(stalled), std::string::npos) << line << " has not " << stalled;
  EXPECT_EQ(value_of(totals_of(*view, choice), "length"), "2,000 (1.00 us)");
}

TEST(TimelineWords, TimesAreReadInCyclesAndSeconds) {
  const auto view = small_timeline();
  EXPECT_EQ(*cycles_in(*view, "1200"), 1200);
  EXPECT_EQ(*cycles_in(*view, "1,200"), 1200);
  EXPECT_NEAR(*cycles_in(*view, "1.5us"), 3000, 1e-9);
  EXPECT_NEAR(*cycles_in(*view, "300ns"), 600, 1e-9);
  EXPECT_NEAR(*cycles_in(*view, "0.001ms"), 2000, 1e-9);
  for (const char* bad : {"", "us", "1.2.3", "12 parsecs", "-3", "1e5"}) {
    EXPECT_FALSE(cycles_in(*view, bad)) << bad;
  }
}

TEST(TimelineWords, DescribesRowsSelectionAndRange) {
  const auto view = small_timeline();
  TimelineChoice choice;
  choice.selected = first_of(*view, EventKind::wait, Unit::warp);
  choice.totals = CycleRange{100, 200};
  choice.search = "wait";
  choice.moment = 1234;
  const TimelineFrame frame = arrange(*view, choice, lens_of());
  const Json json =
      describe(*view, choice, frame, build_scene(*view, choice, light_theme(), frame));
  EXPECT_EQ(json["view"], "timeline");
  EXPECT_EQ(json["moment"], 1234);
  EXPECT_EQ(json["rows"][0]["name"], "cluster 0");
  EXPECT_EQ(json["rows"][0]["open"], true);
  EXPECT_NE(json["selected"]["what"].get<std::string>().find("waits"), std::string::npos);
  EXPECT_EQ(json["totals"]["length"], "100 (50 ns)");
  EXPECT_GT(json["hits in view"].get<int>(), 0);
  EXPECT_NE(json.dump().find("1,234"), std::string::npos);
}

TEST(TimelineScene, OddSizesAndEmptyRecordsGiveASanePicture) {
  auto record = std::make_shared<sim::Record>();
  auto timeline = std::make_shared<const sim::Timeline>(*record);
  const TimelineView empty(record, timeline);
  const auto view = small_timeline();
  for (const TimelineView* each : {&empty, view.get()}) {
    for (TimelineViewport viewport :
         {lens_of(), lens_of(1, 1), lens_of(120, 90), lens_of(4000, 3000)}) {
      for (const CycleRange& range :
           {CycleRange{}, CycleRange{std::nan(""), 5}, CycleRange{1e18, 1e19},
            CycleRange{-100, -50}, CycleRange{5, 5}}) {
        viewport.range = range;
        viewport.scroll = std::nan("");
        TimelineChoice choice;
        choice.selected = 5;
        choice.moment = -3;
        choice.totals = CycleRange{-5, 1e12};
        choice.search = "no such thing";
        const TimelineFrame frame = arrange(*each, choice, viewport);
        EXPECT_GT(build_scene(*each, choice, dark_theme(), frame).items.size(), 1u);
        hit(*each, choice, frame, {viewport.size.width / 2, viewport.size.height / 2});
      }
    }
  }
}

// What a wait is for can be seen where its box has no room for a letter.
TEST(TimelineColours, CausesThatShareAColourDifferInTheirStripes) {
  for (const Theme* theme : {&light_theme(), &dark_theme()}) {
    std::set<std::pair<std::string, Hatch>> seen;
    for (auto i = static_cast<std::size_t>(sim::Stall::shared);
         i < static_cast<std::size_t>(sim::Stall::count_); ++i) {
      const Doing wait{sim::Unit::count_, static_cast<sim::Stall>(i)};
      EXPECT_TRUE(seen.emplace(hex_of(stripe_of(wait, *theme)), hatch_of(wait)).second)
          << text(wait);
    }
  }
}

}  // namespace
}  // namespace tilescope
