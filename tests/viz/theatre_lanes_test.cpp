// What lanes access at one time, of a record that was made by hand: two warps of a CTA that read a
// row of A and a column of shared memory, and sum up by shuffles.
#include "viz/theatre/theatre_lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/layout/banks.h"
#include "core/profile/statistics.h"
#include "viz/theatre/theatre_scene.h"

namespace tilescope {
namespace {

using sim::WarpAccess;

sim::Event run(sim::TrackId track, sim::Cycle begin, sim::Cycle end) {
  sim::Event e;
  e.kind = sim::EventKind::run;
  e.track = track;
  e.issue = e.begin = begin;
  e.end = end;
  e.amount = 10;
  return e;
}

template <class Lane>
void add(sim::Record& record, sim::TrackId track, WarpAccess::Kind kind, WarpAccess::Of of,
         sim::Cycle begin, sim::Cycle end, std::uint8_t bytes, Lane lane) {
  WarpAccess access;
  access.track = track;
  access.kind = kind;
  access.of = of;
  access.begin = begin;
  access.end = end;
  access.bytes = bytes;
  access.mask = ~0u;
  access.buffer = of == WarpAccess::Of::global ? 0 : WarpAccess::none;
  std::uint64_t at[32];
  for (std::uint64_t l = 0; l < 32; ++l) at[l] = lane(l);
  if (of == WarpAccess::Of::shared) {
    access.passes = wavefronts(at, access.mask, bytes);
    access.ideal = bytes <= 4 ? 1 : bytes / 4;
  }
  set_lanes(access, at, record.lane_offsets);
  record.accesses.push_back(access);
}

constexpr auto load = WarpAccess::Kind::load;
constexpr auto global = WarpAccess::Of::global, shared = WarpAccess::Of::shared;

sim::Record by_threads() {
  sim::Record record;
  record.kernel = "sums";
  record.timed = true;
  record.launch.grid = {1, 1, 1};
  record.launch.block = {64, 1, 1};
  record.buffers = {{"A", DType::f32, {64, 64}}};
  sim::RecordedLine line;
  line.text = "ld.global.f32 %f1, [%rd4];";
  line.ptx_line = 12;
  record.lines = {line};
  record.counters.resize(1);
  record.tracks = {{0, sim::Unit::warp, 0, 0}, {0, sim::Unit::warp, 1, 0}};
  for (const sim::TrackId warp : {0u, 1u}) record.events.push_back(run(warp, 0, 1000));
  record.end = 1000;
  // Both read row 0, elements 0 to 31 and 16 to 47; then a column of 128 bytes a row.
  add(record, 0, load, global, 10, 400, 4, [](auto l) { return 4 * l; });
  add(record, 1, load, global, 12, 420, 4, [](auto l) { return 64 + 4 * l; });
  add(record, 0, load, shared, 500, 530, 4, [](auto l) { return 128 * l; });
  add(record, 1, load, shared, 600, 630, 16, [](auto l) { return 16 * l; });
  add(record, 0, WarpAccess::Kind::shuffle, WarpAccess::Of::lanes, 700, 724, 4,
      [](auto l) { return l ^ 16; });
  return record;
}

TEST(TheatreLanes, SectorsKnowWhoAsksForThem) {
  const sim::Record record = by_threads();
  const LaneAccesses accesses(record, {0});
  const LanesNow now = lanes_at(record, accesses, 0, 0, 100);
  EXPECT_EQ(now.loads, 2u);
  ASSERT_EQ(now.sectors.size(), 6u);  // bytes 0 to 191
  const std::vector<std::uint32_t> one = {0}, both = {0, 1}, other = {1};
  for (std::uint64_t s = 0; s < 6; ++s) {
    EXPECT_EQ(now.sectors[s].sector, s);
    EXPECT_EQ(now.sectors[s].warps, s < 2 ? one : s < 4 ? both : other) << s;
  }
  EXPECT_EQ(
      now.sentence,
      "2 loads of 4 bytes a lane are under way: 6 sectors of A, 2 of them for several warps.");
  EXPECT_TRUE(lanes_at(record, accesses, 0, 0, 9).sectors.empty());
  EXPECT_EQ(lanes_at(record, accesses, 0, 0, 410).sectors.size(), 4u);  // warp 1's alone
}

TEST(TheatreLanes, BanksThatLanesMeetInTakeWavefronts) {
  const sim::Record record = by_threads();
  const LaneAccesses accesses(record, {0});
  const LanesNow column = lanes_at(record, accesses, 0, 0, 510);
  ASSERT_EQ(column.all_shared.size(), 1u);
  EXPECT_TRUE(column.all_shared[0].now);
  ASSERT_EQ(column.all_shared[0].words.size(), 32u);
  for (std::uint32_t i = 0; i < 32; ++i) {  // one bank, lane after lane
    EXPECT_EQ(column.all_shared[0].words[i].bank, 0u);
    EXPECT_EQ(column.all_shared[0].words[i].wavefront, i);
    EXPECT_EQ(column.all_shared[0].words[i].lanes, std::vector<std::uint32_t>{i});
  }
  EXPECT_EQ(column.sentence, "Warp 0 goes through the banks 32 times, where 1 would do.");
  const LanesNow rows = lanes_at(record, accesses, 0, 1, 610);
  ASSERT_EQ(rows.all_shared[0].words.size(),
            128u);  // 16 bytes of each lane, eight lanes a wavefront
  for (const BankWord& w : rows.all_shared[0].words) {
    ASSERT_EQ(w.lanes.size(), 1u);
    EXPECT_EQ(w.wavefront, w.lanes[0] / 8);
    EXPECT_EQ(w.bank / 4, w.lanes[0] % 8);
  }
}

TEST(TheatreLanes, TheWarpThatIsLookedAtComesFirst) {
  const sim::Record record = by_threads();
  const LaneAccesses accesses(record, {0});
  const auto warp_of = [&](std::uint32_t warp) {
    const LanesNow now = lanes_at(record, accesses, 0, warp, 620);
    return record.tracks[record.accesses[now.all_shared.at(0).access].track].index;
  };
  EXPECT_EQ(warp_of(0), 0u);  // a while ago
  EXPECT_EQ(warp_of(1), 1u);
  const LanesNow both = lanes_at(record, accesses, 0, 0, 620);
  ASSERT_EQ(both.all_shared.size(), 2u);  // and the other's, which is under way
  EXPECT_FALSE(both.all_shared[0].now);
  EXPECT_TRUE(both.all_shared[1].now);
}

TEST(TheatreLanes, ABufferIsTouchedFromTheFirstAccessOn) {
  const sim::Record record = by_threads();
  const LaneAccesses accesses(record, {0});
  ASSERT_EQ(accesses.touched().size(), 1u);
  const LaneAccesses::Touched& a = accesses.touched()[0];
  EXPECT_TRUE(a.reads);
  EXPECT_FALSE(a.writes);
  EXPECT_EQ(a.bytes, 64u * 64 * 4);
  EXPECT_EQ(a.first[0], 10u);  // 64 bytes each
  EXPECT_EQ(a.first[2], 12u);
  EXPECT_EQ(a.first[3], sim::never_ends);
}

// Of the theatre: it is shown, steps from load to load, and says what there is.
TEST(TheatreLanes, TheTheatreShowsThem) {
  sim::Record made = by_threads();
  const auto roles = sim::statistics_of(made).roles;
  const auto record = std::make_shared<const sim::Record>(std::move(made));
  const auto timeline = std::make_shared<const sim::Timeline>(*record);
  const TheatreView view(record, timeline, roles, 0);
  ASSERT_TRUE(view.moves_by_threads());
  EXPECT_EQ(view.next(TheatreStep::load, 10), 12.0);
  EXPECT_EQ(view.next(TheatreStep::any, 12), 500.0);
  const TheatreNow now = theatre_at(view, 100);
  EXPECT_EQ(
      now.sentence,
      "2 loads of 4 bytes a lane are under way: 6 sectors of A, 2 of them for several warps.");
  for (const double at : {100.0, 510.0, 710.0, 990.0}) {
    const TheatreNow then = theatre_at(view, at);
    const TheatreShown shown{view, then, light_theme()};
    Scene scene;
    draw_theatre(scene, shown, {1000, 600});
    std::size_t arrows = 0;
    for (const Item& item : scene.items) {
      const auto* box = std::get_if<Rectangle>(&item);
      EXPECT_LE(box ? box->box.right() : 0, 1001);
      const auto* line = std::get_if<Line>(&item);
      arrows += line && line->arrow;
    }
    EXPECT_EQ(arrows, at >= 700 ? 32u : 0u) << at;  // who reads whom
  }
  const TheatreShown shown{view, now, light_theme()};
  const Json told = describe_theatre(shown);
  EXPECT_EQ(told["lanes"]["sectors"].size(), 6u);
  EXPECT_EQ(told["lanes"]["sectors"][2]["warps"], Json({0, 1}));
}

}  // namespace
}  // namespace tilescope
