// What every record keeps, whatever ran.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/record/record.h"

namespace tilescope::test {

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
}

}  // namespace tilescope::test
