// The longest chain of a record whose times were made by hand (pipeline_record.h).
#include "core/profile/critical_path.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/profile/run_graph.h"

#include "tests/sim/pipeline_record.h"

namespace tilescope::sim {
namespace {

std::vector<PathStep> critical_path(const Timeline& timeline) {
  const RunGraph graph(timeline);
  return graph.path({}, graph.times({}));
}

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
  EXPECT_EQ(path.back().to, 340u);
  for (std::size_t i = 1; i < path.size(); ++i) EXPECT_EQ(path[i].from, path[i - 1].to) << i;
  EXPECT_EQ(total(path, PathKind::start), 100u);
  EXPECT_EQ(total(path, PathKind::copies_in), 80u);  // the first tile's and the third's
  EXPECT_EQ(total(path, PathKind::products), 40u);
  EXPECT_EQ(total(path, PathKind::commit), 4u);
  EXPECT_EQ(total(path, PathKind::wakes), 8u);
  EXPECT_EQ(total(path, PathKind::queued), 5u);
  EXPECT_EQ(total(path, PathKind::memory), 16u);  // tcgen05.ld
  EXPECT_EQ(total(path, PathKind::runs), 47u);
  EXPECT_EQ(total(path, PathKind::drains), 40u);  // the record ends 40 cycles behind the last warp
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
  EXPECT_EQ(path.back().to, 340u);
}

// The second block takes 200 cycles from 100 on, and 40 pass until the end: copy 40, product 20,
// copy 40, product 20, and what lies between. Which of these the chain loses was added up by hand.
TEST(RunGraph, AnswersWhatIf) {
  Record record = with_commits();
  test::add_uses(record);
  const Timeline timeline(record);
  const RunGraph graph(timeline);
  const auto end = [&](const WhatIf& what) { return graph.end_of(graph.times(what)); };
  EXPECT_EQ(end({}), 340);
  EXPECT_EQ(end({.copies = 0.5}), 300);  // two copies on the way
  EXPECT_EQ(end({.products = 0}), 301);  // of the last product's issue, 19 cycles are left
  EXPECT_EQ(end({.barriers = 0}), 328);  // six times 2
  // All of these, but for 2: the first run of the warp that copies is not over before.
  EXPECT_EQ(end({.copies = 0, .products = 0, .barriers = 0}), 340 - 80 - 39 - 12 + 2);
  // The chain of the answer leads to it without gaps.
  const WhatIf what{.copies = 0.5};
  const std::vector<PathStep> path = graph.path(what, graph.times(what));
  ASSERT_FALSE(path.empty());
  EXPECT_EQ(path.front().from, 0u);
  EXPECT_EQ(path.back().to, 300u);
  for (std::size_t i = 1; i < path.size(); ++i) EXPECT_EQ(path[i].from, path[i - 1].to) << i;
  EXPECT_EQ(total(path, PathKind::copies_in), 40u);
}

TEST(RunGraph, ACycleOfCausesIsNoEndlessWay) {
  // As a damaged file may have it: two phases that each end with the other.
  Record record = test::pipeline_record();
  std::vector<EventId> phases;
  for (EventId id = 0; id < record.events.size(); ++id) {
    if (record.events[id].kind == EventKind::phase) phases.push_back(id);
  }
  ASSERT_GE(phases.size(), 2u);
  for (const std::size_t i : {0u, 1u}) {
    Event e = record.events[phases[i]];
    e.end = 45;
    e.cause = phases[1 - i];
    record.events.set(phases[i], e);
  }
  const Timeline timeline(record);
  const RunGraph graph(timeline);
  EXPECT_EQ(graph.end_of(graph.times({})), 340);
  EXPECT_FALSE(graph.path({}, graph.times({})).empty());
}

TEST(RunGraph, TheTextAnswersWhatWasAskedOrTheUsual) {
  const Record record = with_commits();
  const Timeline timeline(record);
  const RunGraph graph(timeline);
  const std::string usual = what_if_text(graph);
  for (const Question& q : usual_questions()) {
    EXPECT_NE(usual.find(q.text), std::string::npos) << usual;
  }
  const std::string asked = what_if_text(graph, {.products = 0.25, .barriers = 0});
  EXPECT_NE(asked.find("tensor cores at 25%, barriers free"), std::string::npos) << asked;
  EXPECT_EQ(asked.find("copies twice as fast"), std::string::npos) << asked;
  EXPECT_NE(asked.find(left_out()), std::string::npos);
}

TEST(CriticalPath, TheTextHasTotalsAndTheWay) {
  const Record record = with_commits();
  const Timeline timeline(record);
  const std::string text = path_text(record, critical_path(timeline));
  for (const char* part : {"The longest chain takes 340 cycles", "80  23.5%  copies in",
                           "40  11.8%  products", "CTA 1 warp 1", "pipeline.cu:8"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

// Three turns of a loop of two steps, 10 and 4 cycles, the last 13 and 4; then something else.
TEST(CriticalPath, LinesThatRepeatAreToldOnce) {
  const Record record = test::pipeline_record();
  std::vector<PathStep> path{{PathKind::start, 0, 5, no_event}};
  for (const Cycle copy : {10, 10, 13}) {
    const Cycle from = path.back().to;
    path.push_back({PathKind::copies_in, from, from + copy, no_event});
    path.push_back({PathKind::products, from + copy, from + copy + 4, no_event});
  }
  path.push_back({PathKind::copies_out, path.back().to, path.back().to + 7, no_event});
  const std::vector<PathLine> lines = lines_of(record, path);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1].kind, PathKind::copies_in);
  EXPECT_EQ(lines[1].period, 2u);
  EXPECT_EQ(lines[1].times, 3u);
  EXPECT_EQ(lines[1].from, 5u);
  EXPECT_EQ(lines[1].takes, 11u);  // (10 + 10 + 13) / 3
  EXPECT_EQ(lines[2].kind, PathKind::products);
  EXPECT_EQ(lines[2].period, 0u);
  EXPECT_EQ(lines[2].takes, 4u);
  EXPECT_EQ(lines[3].times, 1u);
  EXPECT_NE(path_text(record, path).find("3 times these 2 lines, on average:"), std::string::npos);
}

TEST(CriticalPath, OfNothingIsEmpty) {
  const Record record;
  const Timeline timeline(record);
  EXPECT_TRUE(critical_path(timeline).empty());
  EXPECT_FALSE(path_text(record, {}).empty());
}

}  // namespace
}  // namespace tilescope::sim
