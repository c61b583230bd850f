// Words that find events, and going from one to the next.
#include "viz/timeline/timeline_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/profile/statistics.h"
#include "tests/viz/timeline_fixture.h"

namespace tilescope {
namespace {

using sim::EventId;
using sim::EventKind;
using sim::Unit;

std::vector<sim::Event> all_of(const TimelineView& view, std::string_view words) {
  const auto filter = search_of(view, words);
  EXPECT_TRUE(filter) << words << ": " << (filter ? "" : filter.error().sentence);
  std::vector<sim::Event> out;
  if (!filter) return out;
  const auto end = static_cast<sim::Cycle>(view.end()) + 1;
  for (const EventId id : view.timeline().find(*filter, 0, end, 100000)) {
    out.push_back(view.record().events[id]);
  }
  EXPECT_FALSE(out.empty()) << words;
  return out;
}

TEST(TimelineSearch, FindsKindsUnitsBarriersBlocksAndInstructions) {
  const auto view = test::small_timeline();
  const sim::Record& record = view->record();
  const auto unit = [&](const sim::Event& event) { return record.tracks[event.track].unit; };
  for (const sim::Event& event : all_of(*view, "wait")) EXPECT_EQ(event.kind, EventKind::wait);
  for (const sim::Event& event : all_of(*view, "TMA")) EXPECT_EQ(unit(event), Unit::copy_in);
  for (const sim::Event& event : all_of(*view, "copies out")) {
    EXPECT_EQ(unit(event), Unit::copy_out);
  }
  for (const sim::Event& event : all_of(*view, "wait mbarrier 0 block 1")) {
    EXPECT_EQ(event.kind, EventKind::wait);
    EXPECT_EQ(event.object, 0u);
    EXPECT_EQ(record.tracks[event.track].block, 1u);
  }
  for (const sim::Event& event : all_of(*view, "operation tcgen05.mma")) {
    EXPECT_EQ(event.kind, EventKind::operation);
    EXPECT_NE(sim::text(record.lines[event.pc]).find("tcgen05.mma"), std::string::npos);
  }
  const std::uint32_t line = record.lines[5].line;
  for (const sim::Event& event : all_of(*view, "operation line " + std::to_string(line))) {
    EXPECT_EQ(record.lines[event.pc].line, line);
  }
}

// A run that jumps over a line has executed fewer instructions than lie between its ends.
TEST(TimelineSearch, ARunIsFoundAtLinesThatItWentThrough) {
  sim::Record record;
  record.timed = true;
  record.lines.resize(12);
  record.counters.resize(12);
  for (sim::LineCounters& each : record.counters) each.issued = 2;
  record.counters[3].issued = 0;  // needs no issue slot, and is not among a run's
  record.tracks = {{0, Unit::warp, 0, 0}};
  const auto add = [&](sim::Cycle begin, std::uint32_t until, std::uint64_t amount) {
    sim::Event run;
    run.issue = run.begin = begin;
    run.end = begin + 10;
    run.until = until;
    run.amount = amount;
    record.events.push_back(run);
  };
  add(0, 10, 3);    // jumps
  add(10, 10, 10);  // goes through
  add(20, 5, 2);    // jumps, and ends there
  record.end = 30;
  const sim::Timeline timeline(record);
  sim::EventFilter filter;
  filter.pcs = {5};
  EXPECT_EQ(timeline.find(filter, 0, 30, 9), (std::vector<EventId>{1, 2}));
  filter.pcs = {0};
  EXPECT_EQ(timeline.find(filter, 0, 30, 9).size(), 3u);
}

TEST(TimelineSearch, FindsCopiesWarpsAndBarriersByTheWordsThatAreSaid) {
  const auto view = test::small_timeline();
  const sim::Record& record = view->record();
  const auto track = [&](const sim::Event& event) { return record.tracks[event.track]; };
  for (const sim::Event& event : all_of(*view, "copy")) {
    const Unit unit = track(event).unit;
    EXPECT_TRUE(unit == Unit::copy_in || unit == Unit::copy_out || unit == Unit::async_copy);
  }
  EXPECT_GT(all_of(*view, "copies").size(), all_of(*view, "copies in").size());
  const std::uint32_t warp = view->statistics().warps - 1;
  for (const sim::Event& event : all_of(*view, "warp " + std::to_string(warp))) {
    EXPECT_EQ(track(event).unit, Unit::warp);
    EXPECT_EQ(track(event).index, warp);
  }
  for (const sim::Event& event : all_of(*view, "wait warp 1 block 1")) {
    EXPECT_EQ(event.kind, EventKind::wait);
    EXPECT_EQ(track(event).index, 1u);
    EXPECT_EQ(track(event).block, 1u);
  }
  for (const sim::Event& event : all_of(*view, "barrier")) {
    const Unit unit = track(event).unit;
    EXPECT_TRUE(unit == Unit::barrier || unit == Unit::mbarrier || unit == Unit::cluster);
  }
  for (const sim::Event& event : all_of(*view, "wait barrier")) {
    EXPECT_EQ(event.kind, EventKind::wait);
    EXPECT_TRUE(event.stall == sim::Stall::barrier || event.stall == sim::Stall::mbarrier);
  }
  for (const sim::Role& role : view->roles()) {
    for (const sim::Event& event : all_of(*view, "run " + role.name)) {
      EXPECT_EQ(track(event).unit, Unit::warp) << role.name;
      EXPECT_EQ(std::count(role.warps.begin(), role.warps.end(), track(event).index), 1);
    }
  }
}

TEST(TimelineSearch, NamesOfBarriersAreWords) {
  const auto small = test::small_timeline();
  auto record = std::make_shared<sim::Record>(small->record());
  record->barriers = {{0, "full[0]"}, {8, "full[1]"}};
  const TimelineView view(record, std::make_shared<const sim::Timeline>(*record));
  const auto row = view.find_place("full[1]");
  ASSERT_TRUE(row);
  EXPECT_EQ(view.name_of(*row), "block 0 full[1]");
  EXPECT_EQ(view.detail_of(*row), "by copies in, byte 8");
  for (const char* words : {"mbarrier 8", "mbarrier full[1]", "full[1] (byte 8)", "Full[1]"}) {
    EXPECT_EQ(view.find_place(words), row) << words;
    for (const sim::Event& event : all_of(view, std::string("wait ") + words)) {
      EXPECT_EQ(event.object, 8u) << words;
    }
  }
  EXPECT_FALSE(view.find_place("mbarrier 12"));
}

TEST(TimelineSearch, RefusesWordsThatMeanNothingHere) {
  const auto view = test::small_timeline();
  for (const auto& [words, why] :
       {std::pair("", "nothing to look for"), std::pair("frobnicate", "no instruction has it"),
        std::pair("block 99", "names no CTA"), std::pair("line 9999", "names a line"),
        std::pair("block", "without a number"), std::pair("warp 99", "names no warp"),
        std::pair("mbarrier 77777", "names a barrier"), std::pair("wait tma", "a warp's"),
        std::pair("nosuch.cu:5", "names a line")}) {
    const auto filter = search_of(*view, words);
    ASSERT_FALSE(filter) << words;
    EXPECT_NE(filter.error().sentence.find(why), std::string::npos) << filter.error().sentence;
  }
}

// From the first to the last and back, each once, those that begin together included.
TEST(TimelineSearch, NextAndPreviousGoThroughAllHits) {
  const auto view = test::small_timeline();
  for (const char* words : {"wait", "tensor core", "arrival", "tma block 0"}) {
    const auto filter = search_of(*view, words);
    ASSERT_TRUE(filter);
    std::vector<EventId> there, back;
    for (EventId id = next_hit(*view, *filter, sim::no_event, 0); id != sim::no_event;
         id = next_hit(*view, *filter, id, 0)) {
      ASSERT_LT(there.size(), view->record().events.size());
      there.push_back(id);
    }
    EXPECT_EQ(there.size(), all_of(*view, words).size()) << words;
    EXPECT_EQ(std::set<EventId>(there.begin(), there.end()).size(), there.size());
    for (EventId id = previous_hit(*view, *filter, sim::no_event, view->end() + 1);
         id != sim::no_event; id = previous_hit(*view, *filter, id, 0)) {
      ASSERT_LT(back.size(), view->record().events.size());
      back.push_back(id);
    }
    // The search backwards begins with the last begin; among those of one begin, with the first
    // that it meets.
    EXPECT_EQ(std::set<EventId>(back.begin(), back.end()).size(), back.size());
    EXPECT_LE(there.size() - back.size(), 8u) << words;
    EXPECT_EQ(hits_in(*view, *filter, {0, view->end()}), std::min(there.size(), most_hits));
  }
}

}  // namespace
}  // namespace tilescope
