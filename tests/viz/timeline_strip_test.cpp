// A timeline's strip of all of the run, what its arrows carry, the plate of a range, and what looks
// selected or pointed at.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "tests/viz/timeline_fixture.h"
#include "viz/scene/palette.h"
#include "viz/scene/stage_items.h"
#include "viz/timeline/timeline_paint.h"
#include "viz/timeline/timeline_words.h"

namespace tilescope {
namespace {

using sim::EventKind;
using sim::Unit;

std::shared_ptr<const TimelineView> view_of_all() {
  static const auto view = test::small_timeline();
  return view;
}

bool says(const std::vector<std::string>& texts, std::string_view part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(part) != text.npos; });
}

// Law: a lane is busy just where its unit's operations lie, and somewhere at its most.
TEST(TimelineStrip, LanesAreBusyWhereOperationsLie) {
  const auto view = view_of_all();
  ASSERT_FALSE(view->overview().empty());
  std::vector<Unit> units;
  for (const OverviewLane& lane : view->overview()) {
    units.push_back(lane.doing.unit);
    EXPECT_FALSE(lane.doing.waits());
    EXPECT_FLOAT_EQ(*std::max_element(lane.share.begin(), lane.share.end()), 1);
    if (lane.doing.unit == Unit::warp) continue;
    std::array<bool, OverviewLane::pieces> busy{};
    const double piece = view->end() / static_cast<double>(OverviewLane::pieces);
    for (const sim::Event& event : view->record().events) {
      if (event.kind != EventKind::operation) continue;
      if (view->record().tracks[event.track].unit != lane.doing.unit) continue;
      for (std::size_t p = 0; p < busy.size(); ++p) {
        const double from = piece * static_cast<double>(p);
        const double to = from + piece;
        if (static_cast<double>(event.begin) < to && view->end_of(event) > from) busy[p] = true;
      }
    }
    // Sums are kept in pieces of their own, so that an edge may be one beside.
    for (std::size_t p = 1; p + 1 < busy.size(); ++p) {
      if (lane.share[p] > 0.01f) {
        EXPECT_TRUE(busy[p - 1] || busy[p] || busy[p + 1]) << name_of(lane.doing.unit) << " " << p;
      }
      if (busy[p - 1] && busy[p] && busy[p + 1]) {
        EXPECT_GT(lane.share[p], 0) << name_of(lane.doing.unit) << " " << p;
      }
    }
  }
  EXPECT_TRUE(std::is_sorted(units.begin(), units.end(), [](Unit a, Unit b) {
    const auto place = [](Unit unit) {
      return unit == Unit::warp          ? 0
             : unit == Unit::copy_in     ? 1
             : unit == Unit::tensor      ? 2
             : unit == Unit::tensor_load ? 3
                                         : 4;
    };
    return place(a) < place(b);
  }));
}

TEST(TimelineStrip, APointOfItIsATimeOfTheRun) {
  const auto view = view_of_all();
  TimelineViewport lens = test::lens_of();
  lens.range = {100, 400};
  const TimelineFrame frame = arrange(*view, {}, lens);
  ASSERT_FALSE(frame.minimap.empty());
  EXPECT_LE(frame.minimap.bottom(), frame.axis.y);
  EXPECT_FALSE(frame.shows_all());
  for (const double cycle : {0.0, 250.0, view->end()}) {
    EXPECT_NEAR(frame.minimap_cycle_of(frame.minimap_x_of(cycle)), cycle, 1e-6);
  }
  const Point at{frame.minimap_x_of(700), frame.minimap.centre().y};
  const TimelineHit found = hit(*view, {}, frame, at);
  EXPECT_EQ(found.on, TimelineHit::On::minimap);
  EXPECT_NEAR(found.cycle, 700, 1e-6);
  const CycleRange there = centred(*view, frame, 700).range;
  EXPECT_NEAR(there.length(), 300, 1e-6) << "as much is seen as before";
  EXPECT_NEAR((there.from + there.to) / 2, 700, 1e-6);
  EXPECT_EQ(centred(*view, frame, 0).range.from, 0) << "what is seen stays in the run";
  EXPECT_NEAR(centred(*view, frame, 1e12).range.to, view->end(), 1e-6);
  lens.range = {};
  EXPECT_TRUE(arrange(*view, {}, lens).shows_all());
  lens.size.height = 300;
  EXPECT_TRUE(arrange(*view, {}, lens).minimap.empty()) << "rows need the room";
}

TEST(TimelineArrows, SayWhatTheyCarry) {
  const auto view = view_of_all();
  const sim::EventList& events = view->record().events;
  std::size_t waits = 0, phases = 0, issued = 0;
  for (sim::EventId id = 0; id < events.size(); ++id) {
    const sim::Event event = events[id];
    if (event.cause >= events.size()) continue;
    const sim::Event cause = events[event.cause];
    const std::string text = carried_text(*view, event.cause, id);
    if (event.kind == EventKind::wait && event.stall == sim::Stall::mbarrier &&
        cause.kind == EventKind::phase) {
      // Whose phase it waited for.
      EXPECT_EQ(text, barrier_name(view->barriers(), event.object) + " phase " +
                          std::to_string(event.phase));
      ++waits;
    }
    if (event.kind == EventKind::phase && cause.kind == EventKind::operation && cause.bytes) {
      EXPECT_NE(text.find("to " + barrier_name(view->barriers(), event.object)), std::string::npos)
          << text;
      EXPECT_TRUE(text.find("KiB") != text.npos || text.find("bytes") != text.npos) << text;
      ++phases;
    }
    if (event.kind == EventKind::operation && cause.kind == EventKind::run) {
      EXPECT_EQ(text.substr(0, 6), "issues");
      ++issued;
    }
  }
  EXPECT_GT(waits, 0u);
  EXPECT_GT(phases, 0u);
  EXPECT_GT(issued, 0u);
  EXPECT_EQ(carried_text(*view, sim::no_event, 0), "");
}

TEST(TimelineArrows, ThoseOfTheSelectedEventAreLabelled) {
  const auto view = view_of_all();
  sim::EventFilter filter;
  filter.kinds = sim::bit(EventKind::wait);
  filter.block = 0;
  sim::EventId wait = view->timeline().next(filter, 0);
  while (wait != sim::no_event && view->record().events[wait].stall != sim::Stall::mbarrier) {
    wait = view->timeline().next(filter, view->record().events[wait].begin + 1);
  }
  ASSERT_NE(wait, sim::no_event);
  const sim::Event event = view->record().events[wait];
  TimelineViewport lens = test::lens_of(1600, 1000);
  lens.range = {std::max(0.0, static_cast<double>(event.begin) - 200), view->end_of(event) + 200};
  TimelineChoice choice;
  const std::string label =
      barrier_name(view->barriers(), event.object) + " phase " + std::to_string(event.phase);
  const auto arrows_say = [&] {
    const Scene scene = build_scene(*view, choice, light_theme(), arrange(*view, choice, lens));
    bool inside = false, found = false;
    for (const Item& item : scene.items) {
      if (const auto* begin = std::get_if<GroupBegin>(&item))
        inside = inside || begin->name == "arrows";
      if (const auto* text = std::get_if<Text>(&item))
        found = found || (inside && text->text == label);
    }
    return found;
  };
  EXPECT_FALSE(arrows_say());
  choice.selected = wait;
  EXPECT_TRUE(arrows_say()) << label;
}

TEST(TimelineStrip, ARangeSaysItsSumsOnItsPlate) {
  const auto view = view_of_all();
  const TimelineViewport lens = test::lens_of(1600, 1000);
  TimelineChoice choice;
  choice.totals = CycleRange{200, 900};
  const auto texts =
      test::texts_of(build_scene(*view, choice, light_theme(), arrange(*view, choice, lens)));
  EXPECT_TRUE(says(texts, "700 cycles, 350 ns"));
  EXPECT_TRUE(says(texts, "CTA 0: ")) << "what went on in the first CTA";
  EXPECT_FALSE(says(texts, ": nothing went on"));
}

// Pointer and selection differ in more than a shade: one is dashed, the other is not.
TEST(TimelineStrip, PointerAndSelectionAreToldApart) {
  const auto view = view_of_all();
  const TimelineViewport lens = test::lens_of(1600, 1000);
  TimelineChoice choice;
  const sim::EventId event = test::first_of(*view, EventKind::operation, Unit::copy_in);
  const auto strokes = [&] {
    std::vector<Stroke> out;
    const Scene scene = build_scene(*view, choice, light_theme(), arrange(*view, choice, lens));
    const Box box = box_of(*view, arrange(*view, choice, lens), event)->grown(1);
    for (const Item& item : scene.items) {
      const auto* rectangle = std::get_if<Rectangle>(&item);
      if (rectangle && rectangle->stroke.width > 0 && rectangle->box == box) {
        out.push_back(rectangle->stroke);
      }
    }
    return out;
  };
  choice.hovered = event;
  const auto pointed = strokes();
  ASSERT_EQ(pointed.size(), 2u);
  EXPECT_TRUE(pointed.back().dashed);
  choice.selected = event;
  const auto selected = strokes();
  ASSERT_EQ(selected.size(), 2u) << "where both are, the selection is seen";
  EXPECT_FALSE(selected.back().dashed);
  EXPECT_EQ(selected.back().ink.role, Role::accent);
}

// By step of K a copy has its step's hue and says its number; what has none is grey.
TEST(TimelineStrip, CopiesHaveTheHueOfTheirStep) {
  const auto view = view_of_all();
  const sim::EventId copy = test::first_of(*view, EventKind::operation, Unit::copy_in);
  const sim::Event event = view->record().events[copy];
  TimelineViewport lens = test::lens_of(1600, 1000);
  lens.range = {static_cast<double>(event.begin) - 20, view->end_of(event) + 20};
  TimelineChoice choice;
  choice.steps = true;
  EXPECT_FALSE(arrange(*view, choice, lens).by_step) << "nothing is known of steps";
  lens.steps = std::make_shared<const TimelineSteps>(TimelineSteps{{copy, 5}});
  const TimelineFrame frame = arrange(*view, choice, lens);
  ASSERT_TRUE(frame.by_step);
  const auto colours = [&](const TimelineFrame& shown) {
    const auto image = lanes_image(*view, shown, light_theme(), nullptr);
    return std::set<std::uint32_t>([&] {
      std::set<std::uint32_t> out;
      for (const Rgba& pixel : image->rgba) out.insert(pixel.r << 16 | pixel.g << 8 | pixel.b);
      return out;
    }());
  };
  const auto key = [](Rgba c) { return static_cast<std::uint32_t>(c.r << 16 | c.g << 8 | c.b); };
  const Rgba hue = step_colour(5, light_theme());
  EXPECT_EQ(colours(frame).count(key(hue)), 1u);
  // The others' colours are gone: no orange of copies that have no step.
  EXPECT_EQ(colours(frame).count(key(colour_of({Unit::copy_in, sim::Stall::none}, light_theme()))),
            0u);
  const Scene scene = build_scene(*view, choice, light_theme(), frame);
  EXPECT_TRUE(says(test::texts_of(scene), "k5"));
  choice.steps = false;
  const TimelineFrame by_unit = arrange(*view, choice, lens);
  EXPECT_EQ(
      colours(by_unit).count(key(colour_of({Unit::copy_in, sim::Stall::none}, light_theme()))), 1u);
  EXPECT_TRUE(says(test::texts_of(build_scene(*view, choice, light_theme(), by_unit)), "k5"))
      << "its number is told all the same";
}

// Products of one step that are too narrow to say so are told together, and wide ones by
// themselves; nothing but steps of K has a k.
TEST(TimelineStrip, ProductsSayTheirStep) {
  const auto view = view_of_all();
  TimelineSteps steps;
  const sim::EventId first = test::first_of(*view, EventKind::operation, Unit::tensor);
  sim::EventFilter of_row;
  of_row.kinds = sim::bit(EventKind::operation);
  of_row.track = view->record().events[first].track;
  const auto all = view->timeline().find(of_row, 0, view->timeline().end() + 1, 64);
  ASSERT_GE(all.size(), 4u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    steps[all[i]] = static_cast<std::uint32_t>(40 + i / 4);
  }
  const auto told = [&](double pixels_of_a_product) {
    TimelineViewport lens = test::lens_of(1600, 1000);
    lens.steps = std::make_shared<const TimelineSteps>(steps);
    const sim::Event event = view->record().events[first];
    const double begin = static_cast<double>(event.begin), end = view->end_of(event);
    const double length = (end - begin) / pixels_of_a_product * 1600;
    lens.range = {begin - 20, begin - 20 + length};
    const TimelineFrame frame = arrange(*view, {}, lens);
    const auto texts = test::texts_of(build_scene(*view, {}, light_theme(), frame));
    return std::count_if(texts.begin(), texts.end(),
                         [](const std::string& text) { return text.rfind("k40", 0) == 0; });
  };
  EXPECT_GE(told(120), 4) << "each by itself";
  EXPECT_GE(told(12), 1) << "four of 12 pixels have room for one";
  EXPECT_LT(told(12), 4);
  for (int stall = 0; stall < static_cast<int>(sim::Stall::count_); ++stall) {
    EXPECT_NE(sim::letter_of(static_cast<sim::Stall>(stall)), 'k');
  }
}

// Only products, and waits for them, are blue.
TEST(TimelineStrip, BlueIsForProductsAlone) {
  for (const Theme* theme : {&light_theme(), &dark_theme()}) {
    for (int unit = 0; unit < static_cast<int>(Unit::count_); ++unit) {
      const Doing doing{static_cast<Unit>(unit), sim::Stall::none};
      const bool product = doing.unit == Unit::tensor || doing.unit == Unit::tensor_copy;
      const Rgba blue = category(4, theme->dark), colour = colour_of(doing, *theme);
      EXPECT_EQ(hex_of(colour) == hex_of(blue), product) << text(doing);
      if (doing.unit != Unit::remote) EXPECT_NE(hex_of(colour), hex_of(category(1, theme->dark)));
    }
  }
}

// Red is for faults: a hazard's flag has the colour of text.
TEST(TimelineStrip, RedIsForFaultsAlone) {
  sim::Record record = sim::synthetic_record({});
  record.timed = true;
  const auto shown = [&](Weight weight) {
    sim::Record made = record;
    Report report;
    report.weight = weight;
    made.reports = {report};
    sim::Event event;
    event.kind = EventKind::report;
    event.begin = event.end = event.issue = 300;
    event.object = 0;
    event.track = 0;
    made.events.push_back(event);
    auto kept = std::make_shared<const sim::Record>(std::move(made));
    auto timeline = std::make_shared<const sim::Timeline>(*kept);
    const TimelineView view(kept, timeline);
    EXPECT_EQ(is_fault(*kept, event), weight == Weight::fault);
    const Scene scene =
        build_scene(view, {}, light_theme(), arrange(view, {}, test::lens_of(1600, 1000)));
    const auto texts = test::texts_of(scene);
    EXPECT_EQ(says(texts, "fault"), weight == Weight::fault);
    EXPECT_EQ(says(texts, "hazard"), weight == Weight::hazard);
    std::size_t red = 0;
    for (const Item& item : scene.items) {
      const auto* box = std::get_if<Rectangle>(&item);
      if (box && box->fill && resolve(*box->fill, light_theme()) == light_theme().wrong) ++red;
    }
    return red;
  };
  EXPECT_GT(shown(Weight::fault), 0u);
  EXPECT_EQ(shown(Weight::hazard), 0u);
}

}  // namespace
}  // namespace tilescope
