// The longest chain of a record whose times were made by hand (pipeline_record.h).
#include "core/profile/critical_path.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/sim/pipeline_record.h"

namespace tilescope::sim {
namespace {

// A commit is caused by the product that it waited for, as a machine records it.
Record with_commits() {
  Record record = test::pipeline_record();
  for (EventId id = 0; id < record.events.size(); ++id) {
    Event commit = record.events[id];
    if (commit.kind != EventKind::operation || record.tracks[commit.track].unit != Unit::commit) {
      continue;
    }
    for (EventId other = 0; other < id; ++other) {
      const Event product = record.events[other];
      if (product.kind == EventKind::operation &&
          record.tracks[product.track].unit == Unit::tensor && product.end == commit.begin) {
        commit.cause = other;
      }
    }
    record.events.set(id, commit);
  }
  return record;
}

Cycle total(const std::vector<PathStep>& path, PathKind kind) {
  return totals_of(path)[static_cast<std::size_t>(kind)];
}

// The second block, 100 cycles after the first: copy, product, free, copy, product, write back.
TEST(CriticalPath, GoesFromTheEndToTheStart) {
  const Record record = with_commits();
  const Timeline timeline(record);
  const std::vector<PathStep> path = critical_path(timeline);
  ASSERT_FALSE(path.empty());
  EXPECT_EQ(path.front().from, 0u);
  EXPECT_EQ(path.back().to, 300u);
  for (std::size_t i = 1; i < path.size(); ++i) EXPECT_EQ(path[i].from, path[i - 1].to) << i;
  EXPECT_EQ(total(path, PathKind::start), 100u);
  EXPECT_EQ(total(path, PathKind::copies_in), 80u);  // the first tile's and the third's
  EXPECT_EQ(total(path, PathKind::products), 40u);
  EXPECT_EQ(total(path, PathKind::commit), 4u);
  EXPECT_EQ(total(path, PathKind::wakes), 8u);
  EXPECT_EQ(total(path, PathKind::queued), 5u);
  EXPECT_EQ(total(path, PathKind::memory), 16u);  // tcgen05.ld
  EXPECT_EQ(total(path, PathKind::runs), 47u);
}

TEST(CriticalPath, WhatAUnitWasBusyWithIsOnIt) {
  // The second product is issued while the first is under way, and the third does not wait for a
  // copy: products follow each other.
  Record record = with_commits();
  const Timeline before(record);
  std::vector<EventId> products;
  for (EventId id = 0; id < record.events.size(); ++id) {
    const Event e = record.events[id];
    const Track& track = record.tracks[e.track];
    if (e.kind == EventKind::operation && track.unit == Unit::tensor && track.block == 1) {
      products.push_back(id);
    }
  }
  ASSERT_EQ(products.size(), 3u);
  Event third = record.events[products[2]];
  third.issue = 180;  // while the second one is multiplied, until 190
  third.begin = 190;
  third.end = 245;
  record.events.set(products[2], third);
  const Timeline timeline(record);
  const std::vector<PathStep> path = critical_path(timeline);
  EXPECT_EQ(total(path, PathKind::products), 55u + 20u + 20u);
  EXPECT_EQ(path.front().from, 0u);
  EXPECT_EQ(path.back().to, 300u);
}

TEST(CriticalPath, TheTextHasTotalsAndTheWay) {
  const Record record = with_commits();
  const Timeline timeline(record);
  const std::string text = path_text(record, critical_path(timeline));
  for (const char* part : {"The longest chain takes 300 cycles", "80  26.7%  copies in",
                           "40  13.3%  products", "CTA 1 warp 1", "pipeline.cu:8"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(CriticalPath, OfNothingIsEmpty) {
  const Record record;
  const Timeline timeline(record);
  EXPECT_TRUE(critical_path(timeline).empty());
  EXPECT_FALSE(path_text(record, {}).empty());
}

}  // namespace
}  // namespace tilescope::sim
