// What every record keeps, whatever ran.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/record/record.h"

namespace tilescope::test {

// What copies asked of L2 and what it did not have, copy by copy, is what their instructions count.
// Of copies from what is no buffer there is no use, and nothing is said.
inline void expect_what_l2_was_asked(const sim::Record& record) {
  struct Asked {
    std::uint64_t bytes = 0, missed = 0;
    bool all = true;
  };
  std::map<std::uint32_t, Asked> by_line;
  for (sim::EventId id = 0; id < record.events.size(); ++id) {
    const sim::Event e = record.events[id];
    const sim::Unit unit = record.tracks[e.track].unit;
    if (e.kind != sim::EventKind::operation) continue;
    if (unit != sim::Unit::copy_in && unit != sim::Unit::copy_out) continue;
    Asked& asked = by_line[e.pc];
    bool any = false;
    for (const sim::MemoryUse& use : sim::uses_of(record.uses, id)) {
      if (use.of != sim::MemoryUse::Of::global) continue;
      any = true;
      EXPECT_LE(use.missed, use.asked);
      asked.bytes += use.asked;
      asked.missed += use.missed;
    }
    asked.all = asked.all && any;
  }
  for (const auto& [pc, asked] : by_line) {
    if (!asked.all) continue;
    EXPECT_EQ(asked.bytes, record.counters[pc].global_bytes) << record.lines[pc].text;
    // Memory is read by two sectors: beside what was asked for there may be more.
    EXPECT_LE(asked.missed, record.counters[pc].memory_bytes) << record.lines[pc].text;
    EXPECT_EQ(asked.missed > 0, record.counters[pc].memory_bytes > 0) << record.lines[pc].text;
  }
}

// A warp runs or waits, one after the other; phases of a barrier follow each other and are counted;
// what comes to a phase of an mbarrier comes while it lasts, and something comes to each;
// everything has ended, and nothing before what brought it about, or after a run that no
// fault ended.
inline void expect_sound(const sim::Record& record) {
  std::map<sim::TrackId, std::vector<sim::Event>> of_track;
  const bool faulted = std::any_of(record.reports.begin(), record.reports.end(),
                                   [](const Report& r) { return r.weight == Weight::fault; });
  for (const sim::Event& e : record.events) {
    ASSERT_LT(e.track, record.tracks.size());
    EXPECT_LE(e.issue, e.begin);
    EXPECT_LE(e.begin, e.end);
    EXPECT_NE(e.end, sim::never_ends);
    if (record.timed && !faulted) {
      EXPECT_LE(e.end, record.end) << sim::name_of(record.tracks[e.track].unit);
    }
    if (e.kind != sim::EventKind::report) of_track[e.track].push_back(e);
    if (e.cause == sim::no_event) continue;
    ASSERT_LT(e.cause, record.events.size());
    const sim::Event cause = record.events[e.cause];
    EXPECT_LE(cause.issue, e.end);
  }
  for (auto& [track, events] : of_track) {
    const sim::Unit unit = record.tracks[track].unit;
    const bool phases =
        unit == sim::Unit::mbarrier || unit == sim::Unit::barrier || unit == sim::Unit::cluster;
    if (unit != sim::Unit::warp && !phases) continue;
    std::stable_sort(events.begin(), events.end(),
                     [](const sim::Event& a, const sim::Event& b) { return a.begin < b.begin; });
    sim::Cycle end = 0;
    std::vector<sim::Event> complete;
    for (const sim::Event& e : events) {
      if (phases && e.kind != sim::EventKind::phase) continue;
      EXPECT_GE(e.begin, end) << "track " << track << ", " << sim::name_of(unit);
      end = e.end;
      if (phases) {
        EXPECT_EQ(e.phase, complete.size());
      }
      complete.push_back(e);
    }
    if (unit != sim::Unit::mbarrier) continue;
    std::vector<std::uint64_t> came(complete.size());
    for (const sim::Event& e : events) {
      if (e.kind != sim::EventKind::arrival) continue;
      ASSERT_LE(e.phase, complete.size());
      if (e.phase > 0) {
        EXPECT_GE(e.begin, complete[e.phase - 1].end);
      }
      if (e.phase == complete.size()) continue;
      EXPECT_LE(e.begin, complete[e.phase].end);
      ++came[e.phase];
    }
    for (const std::uint64_t count : came) EXPECT_GT(count, 0u);
  }
  expect_what_l2_was_asked(record);
}

}  // namespace tilescope::test
