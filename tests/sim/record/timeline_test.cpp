// A timeline's answers against those of whoever looks at every event.
#include "core/record/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/sim/record/random_record.h"
#include "tests/sim/record/synthetic_record.h"

namespace tilescope::sim {
namespace {

struct Plain {
  const Record& record;
  Cycle end = 0;

  explicit Plain(const Record& of) : record(of), end(of.end) {
    for (const Event& e : of.events) end = std::max(end, e.end == never_ends ? e.begin : e.end);
  }
  Cycle end_of(const Event& e) const { return e.end == never_ends ? end : e.end; }
  bool touches(const Event& e, Cycle from, Cycle to) const {
    for (Cycle t = e.begin; t < std::max(end_of(e), e.begin + 1); ++t) {
      if (t >= from && t < to) return true;
    }
    return false;
  }
  std::vector<EventId> in(TrackId track, Cycle from, Cycle to) const {
    std::vector<std::pair<Cycle, EventId>> out;
    for (EventId id = 0; id < record.events.size(); ++id) {
      const Event e = record.events[id];
      if (e.track == track && touches(e, from, to)) out.emplace_back(e.begin, id);
    }
    std::sort(out.begin(), out.end());
    std::vector<EventId> ids;
    for (const auto& entry : out) ids.push_back(entry.second);
    return ids;
  }
};

class Random : public ::testing::TestWithParam<int> {};

TEST_P(Random, SpansAreTheEventsOrRunsOfShortOnes) {
  const Record record = random_record(GetParam());
  const Timeline timeline(record);
  const Plain plain(record);
  std::mt19937_64 random(GetParam());
  for (int n = 0; n < 40; ++n) {
    const auto track = static_cast<TrackId>(random() % 10);
    const Cycle from = random() % 20'000, to = from + 1 + random() % (n % 2 ? 30'000 : 500);
    const auto pixels = static_cast<std::uint32_t>(1 + random() % 400);
    const Cycle pixel = (to - from + pixels - 1) / pixels;
    const std::vector<Span> spans = timeline.spans(track, from, to, pixels);
    const std::vector<EventId> ids = plain.in(track, from, to);
    // Each span has the next events, as many as it says.
    std::size_t at = 0;
    const Span* before = nullptr;
    for (const Span& span : spans) {
      std::uint64_t count = 0;
      Cycle end = 0, time = 0;
      bool report = false;
      std::map<std::pair<EventKind, Stall>, Cycle> times;
      const std::size_t begin = at;
      while (count < span.count) {
        ASSERT_LT(at, ids.size());
        const Event e = record.events[ids[at++]];
        const Cycle length = plain.end_of(e) - e.begin;
        count += e.kind == EventKind::folded ? e.amount : 1;
        if (at - 1 == begin) {
          EXPECT_EQ(span.begin, e.begin);
        }
        EXPECT_LT(e.begin - span.begin, 2 * pixel);
        EXPECT_TRUE(span.event != no_event || length < pixel);
        end = std::max(end, plain.end_of(e));
        report |= e.kind == EventKind::report;
        times[{e.kind, e.stall}] += length;
        time += length;
      }
      EXPECT_EQ(span.count, count);
      EXPECT_EQ(span.end, end);
      EXPECT_EQ(span.event, at == begin + 1 ? ids[begin] : no_event);
      EXPECT_EQ(span.report, report);
      for (const auto& [what, spent] : times) {
        if (2 * spent <= time) continue;
        EXPECT_EQ(span.kind, what.first);
        EXPECT_EQ(span.stall, what.second);
      }
      // Two short neighbours that begin within a pixel would have been taken together.
      const auto is_short = [&](const Span& s) {
        return s.event == no_event ||
               plain.end_of(record.events[s.event]) - record.events[s.event].begin < pixel;
      };
      if (before && is_short(*before) && is_short(span)) {
        EXPECT_GE(span.begin - before->begin, pixel);
      }
      before = &span;
    }
    EXPECT_EQ(at, ids.size());
  }
}

TEST_P(Random, TotalsAreCountedCycleByCycle) {
  const Record record = random_record(GetParam());
  const Timeline timeline(record);
  const Plain plain(record);
  std::mt19937_64 random(GetParam());
  for (int n = 0; n < 10; ++n) {
    const auto track = static_cast<TrackId>(random() % 10);
    const Cycle from = random() % 20'000, to = from + random() % 3000;
    Totals totals;
    std::set<Cycle> busy, folded;
    for (const Event& e : record.events) {
      if (e.track != track) continue;
      const Cycle end = std::min(plain.end_of(e), to);
      for (Cycle t = std::max(e.begin, from); t < end; ++t) {
        if (e.kind == EventKind::run || e.kind == EventKind::operation) busy.insert(t);
        if (e.kind == EventKind::wait) ++totals.stalled[static_cast<std::size_t>(e.stall)];
        if (e.kind == EventKind::folded) folded.insert(t);
      }
      if (e.kind == EventKind::folded && e.begin >= from && e.begin < to) {
        totals.folded_busy += 3;
        totals.folded_stalled += 2;
      }
    }
    totals.busy = busy.size();
    totals.folded = folded.size();
    EXPECT_EQ(timeline.totals(track, from, to), totals);
  }
}

TEST_P(Random, SearchFindsWhatIsThere) {
  const Record record = random_record(GetParam());
  const Timeline timeline(record);
  const Plain plain(record);
  std::mt19937_64 random(GetParam());
  for (int n = 0; n < 60; ++n) {
    EventFilter filter;
    if (random() % 2) filter.kinds = bit(static_cast<EventKind>(random() % 7));
    if (random() % 3 == 0) filter.pcs = timeline.pcs_of_line(0, 1 + random() % 16);
    const bool nothing_there = filter.pcs.empty() && random() % 8 == 0;
    if (random() % 3 == 0) filter.barrier = static_cast<std::uint32_t>(8 * (random() % 40));
    if (random() % 4 == 0) filter.block = random() % 8;
    if (random() % 4 == 0) filter.unit = Unit::warp;
    if (random() % 4 == 0) filter.track = static_cast<TrackId>(random() % 10);
    if (nothing_there) filter.pcs = {1000};
    const auto asked = [&](const Event& e) {
      const Track& track = record.tracks[e.track];
      if (filter.track && e.track != *filter.track) return false;
      if (filter.block && track.block != *filter.block) return false;
      if (filter.unit && track.unit != *filter.unit) return false;
      if (!(filter.kinds >> static_cast<int>(e.kind) & 1)) return false;
      if (filter.barrier && (e.object != *filter.barrier ||
                             (e.kind != EventKind::wait && e.kind != EventKind::phase &&
                              e.kind != EventKind::arrival))) {
        return false;
      }
      if (filter.pcs.empty()) return true;
      if (e.kind == EventKind::folded) return false;
      return std::any_of(filter.pcs.begin(), filter.pcs.end(), [&](std::uint32_t pc) {
        if (pc == e.pc || e.kind != EventKind::run) return pc == e.pc;
        // One that executed fewer has jumped; it has no clock.
        return pc > e.pc && pc < e.until && e.amount >= e.until - e.pc;
      });
    };
    const Cycle at = random() % 22'000, to = at + random() % 4000;
    std::vector<std::pair<Cycle, EventId>> all;
    for (EventId id = 0; id < record.events.size(); ++id) {
      if (asked(record.events[id])) all.emplace_back(record.events[id].begin, id);
    }
    std::sort(all.begin(), all.end());
    const auto after = std::find_if(all.begin(), all.end(), [&](auto& e) { return e.first >= at; });
    EXPECT_EQ(timeline.next(filter, at), after == all.end() ? no_event : after->second);
    EXPECT_EQ(timeline.previous(filter, at),
              after == all.begin() ? no_event : std::prev(after)->second);
    std::vector<EventId> found;
    for (const auto& entry : all) {
      if (plain.touches(record.events[entry.second], at, to)) found.push_back(entry.second);
    }
    EXPECT_EQ(timeline.find(filter, at, to, 10'000), found);
    if (found.size() > 7) found.resize(7);
    EXPECT_EQ(timeline.find(filter, at, to, 7), found);
  }
}

TEST_P(Random, ArrowsHaveAnEndInTheRange) {
  const Record record = random_record(GetParam());
  const Timeline timeline(record);
  const Plain plain(record);
  std::mt19937_64 random(GetParam());
  for (int n = 0; n < 10; ++n) {
    const std::vector<TrackId> tracks = {static_cast<TrackId>(random() % 5),
                                         static_cast<TrackId>(5 + random() % 5)};
    const Cycle from = random() % 20'000, to = from + random() % 2000;
    std::set<std::pair<EventId, EventId>> arrows, told;
    const auto there = [&](EventId id) {
      const Event e = record.events[id];
      return (e.track == tracks[0] || e.track == tracks[1]) && plain.touches(e, from, to);
    };
    for (EventId id = 0; id < record.events.size(); ++id) {
      const EventId cause = record.events[id].cause;
      if (cause != no_event && (there(id) || there(cause))) arrows.emplace(cause, id);
    }
    const Arrows all = timeline.arrows(tracks, from, to, 100'000);
    for (const Arrow& arrow : all.arrows) {
      EXPECT_TRUE(told.emplace(arrow.cause, arrow.effect).second) << "told twice";
    }
    EXPECT_EQ(told, arrows);
    EXPECT_FALSE(all.more);
    if (arrows.size() < 4) continue;
    const Arrows some = timeline.arrows(tracks, from, to, 3);
    EXPECT_EQ(some.arrows.size(), 3u);
    EXPECT_TRUE(some.more);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Random, ::testing::Range(1, 25));

TEST(Timeline, GroupsTracksByClusterAndBlock) {
  const Record record =
      synthetic_record({.processors = 4, .blocks = 8, .cluster = 2, .steps = 8, .writers = 2});
  const Timeline timeline(record);
  ASSERT_EQ(timeline.groups().size(), 8u);
  for (std::uint64_t b = 0; b < 8; ++b) {
    const TrackGroup& group = timeline.groups()[b];
    EXPECT_EQ(group.block, b);
    EXPECT_EQ(group.cluster, b / 2);
    EXPECT_EQ(group.processor, b % 4);
    EXPECT_LT(group.begin, group.end);
    std::string units;
    for (const TrackId t : group.tracks) {
      EXPECT_EQ(record.tracks[t].block, b);
      units += std::string(name_of(record.tracks[t].unit)) + std::to_string(record.tracks[t].index);
      units += " ";
    }
    EXPECT_EQ(units,
              "warp0 warp1 warp2 warp3 copies in0 tensor core0 commits0 TMEM loads0 copies out0 "
              "mbarrier0 mbarrier8 mbarrier16 mbarrier24 mbarrier32 mbarrier40 mbarrier48 "
              "mbarrier56 mbarrier64 barrier1 ");
  }
}

TEST(Timeline, OfNothing) {
  const Record record;
  const Timeline timeline(record);
  EXPECT_TRUE(timeline.groups().empty());
  EXPECT_TRUE(timeline.spans(0, 0, 100, 10).empty());
  EXPECT_EQ(timeline.next({}, 0), no_event);
  EXPECT_EQ(timeline.totals(3, 0, 100), Totals{});
  EXPECT_TRUE(timeline.arrows({0, 1}, 0, 100, 10).arrows.empty());
}

}  // namespace
}  // namespace tilescope::sim
