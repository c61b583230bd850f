// Registers of a warp and rows of shared memory at one time, of a record that was made by hand: two
// warps load a row of A each, store it to shared memory, read each other's, and store the sum.
#include "viz/theatre/theatre_registers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/profile/statistics.h"
#include "viz/theatre/theatre_scene.h"

namespace tilescope {
namespace {

using sim::WarpAccess;

constexpr std::string_view code[] = {
    "ld.global.v2.f32 {%f1, %f2}, [%rd4];",  // 0
    "st.shared.v2.f32 [%r1], {%f1, %f2};",   // 1
    "bar.sync 0;",                           // 2
    "ld.shared.f32 %f3, [%r2];",             // 3
    "@%p1 add.f32 \t%f4, %f3, %f1;",         // 4
    "st.global.f32 [%rd5], %f4;",            // 5
    "ret;",                                  // 6
};

class TheatreRegisters : public testing::Test {
 protected:
  TheatreRegisters() {
    record_.kernel = "sums";
    record_.timed = true;
    record_.launch.block = {64, 1, 1};
    record_.buffers = {{"A", DType::f32, {2, 64}}, {"C", DType::f32, {64}}};
    for (const std::string_view text : code) {
      record_.lines.emplace_back();
      record_.lines.back().text = text;
      record_.lines.back().ptx_line = static_cast<std::uint32_t>(record_.lines.size());
    }
    record_.counters.resize(record_.lines.size());
    record_.tracks = {{0, sim::Unit::warp, 0, 0}, {0, sim::Unit::warp, 1, 0}};
    for (const sim::TrackId warp : {0u, 1u}) {
      sim::Event run;
      run.track = warp;
      run.end = 1000;
      run.amount = 7;
      record_.events.push_back(run);
    }
    record_.end = 1000;
    using Kind = WarpAccess::Kind;
    using Of = WarpAccess::Of;
    for (const std::uint32_t w : {0u, 1u}) {
      add(w, 0, Kind::load, Of::global, 10 + w, 400, 8, 0, [w](auto l) { return 256 * w + 8 * l; });
      record_.accesses.back().from_l2 = 256;
      record_.accesses.back().from_memory = w ? 256 : 0;
    }
    for (const std::uint32_t w : {0u, 1u}) {
      add(w, 1, Kind::store, Of::shared, 420 + w, 430, 8, 0,
          [w](auto l) { return 256 * w + 8 * l; });
    }
    for (const std::uint32_t w : {0u, 1u}) {  // the first half of the other's row
      add(w, 3, Kind::load, Of::shared, 500 + w, 530, 4, 0,
          [w](auto l) { return 256 * (1 - w) + 4 * l; });
    }
    add(0, 5, Kind::store, Of::global, 600, 700, 4, 1, [](auto l) { return 4 * l; });
  }

  template <class Lane>
  void add(std::uint32_t warp, std::uint32_t pc, WarpAccess::Kind kind, WarpAccess::Of of,
           sim::Cycle begin, sim::Cycle end, std::uint8_t bytes, std::uint32_t buffer, Lane lane) {
    WarpAccess access;
    access.track = warp;
    access.pc = pc;
    access.kind = kind;
    access.of = of;
    access.begin = begin;
    access.end = end;
    access.bytes = bytes;
    access.mask = ~0u;
    access.passes = access.ideal = 1;
    access.buffer = of == WarpAccess::Of::global ? buffer : WarpAccess::none;
    std::uint64_t at[32];
    for (std::uint64_t l = 0; l < 32; ++l) at[l] = lane(l);
    set_lanes(access, at, record_.lane_offsets);
    record_.accesses.push_back(access);
  }

  std::vector<LaneRegister> at(std::uint32_t warp, double time) const {
    return registers_at(record_, LaneAccesses(record_, {0}), 0, warp, time, 8);
  }
  static std::vector<std::string> names(const std::vector<LaneRegister>& registers) {
    std::vector<std::string> out;
    for (const LaneRegister& of : registers) out.push_back(of.name);
    return out;
  }

  sim::Record record_;
};

TEST_F(TheatreRegisters, HoldWhatWasLoaded) {
  const auto coming = at(1, 100);
  ASSERT_EQ(names(coming), (std::vector<std::string>{"%f1", "%f2"}));
  EXPECT_TRUE(coming[0].loads);
  EXPECT_TRUE(coming[0].on_its_way);
  EXPECT_EQ(content_text(record_, coming[0], 5), "A [1, 10]");
  EXPECT_EQ(content_text(record_, coming[1], 5), "A [1, 11]");
  EXPECT_EQ(way_text(record_, coming[0]), "= A [1, 0] ..., from memory, there at 400");
  EXPECT_EQ(coming[0].instruction, "st.shared.v2.f32 [%r1], {%f1, %f2}");
  const auto there = at(0, 410);
  EXPECT_FALSE(there[0].on_its_way);
  EXPECT_EQ(way_text(record_, there[0]), "= A [0, 0] ..., from L2");
}

TEST_F(TheatreRegisters, GoWhereTheyAreStored) {
  const auto last = at(0, 650);
  ASSERT_EQ(names(last), (std::vector<std::string>{"%f4", "%f3", "%f1", "%f2"}));
  EXPECT_FALSE(last[0].loads);
  EXPECT_EQ(content_text(record_, last[0], 7), "C [7]");
  EXPECT_EQ(last[0].instruction, "add.f32 %f4, %f3, %f1");
  EXPECT_EQ(content_text(record_, last[1], 7), "shared byte 284");
  EXPECT_EQ(last[1].instruction, "add.f32 %f4, %f3, %f1");
  EXPECT_FALSE(last[2].loads) << "its last access is the store to shared memory";
}

TEST_F(TheatreRegisters, WhatIsReadHasItsWriters) {
  const SharedRows rows = shared_rows(record_, LaneAccesses(record_, {0}), 0, 4);
  EXPECT_EQ(rows.writers, std::vector<std::uint32_t>{1});
  EXPECT_EQ(rows.unknown, 0u);
  ASSERT_EQ(rows.rows.size(), 4u);  // 512 bytes were written
  for (const SharedRows::Row& row : rows.rows) {
    EXPECT_EQ(row.read, row.number == 2);  // bytes 256 to 383
    for (std::uint32_t bank = 0; bank < 32; ++bank) {
      const SharedRows::Word& word = row.words[bank];
      EXPECT_EQ(word.read, row.number == 2);
      EXPECT_EQ(word.writer, row.number < 2 ? 2u : 3u);
      EXPECT_EQ(word.lane, (row.number % 2 * 32 + bank) / 2);
    }
  }
}

// A word that no access in the record wrote: a copy by TMA, or a store that was not kept.
TEST_F(TheatreRegisters, WhoWroteIsNotGuessed) {
  record_.accesses.erase(record_.accesses.begin() + 2, record_.accesses.begin() + 4);
  const SharedRows rows = shared_rows(record_, LaneAccesses(record_, {0}), 0, 2);
  EXPECT_TRUE(rows.writers.empty());
  EXPECT_EQ(rows.unknown, 32u);
}

TEST_F(TheatreRegisters, TheTheatreShowsThem) {
  const auto roles = sim::statistics_of(record_).roles;
  const auto record = std::make_shared<const sim::Record>(record_);
  const auto timeline = std::make_shared<const sim::Timeline>(*record);
  const TheatreView view(record, timeline, roles, 0);
  const TheatreNow now = theatre_at(view, 510);
  TheatreShown shown{view, now, light_theme()};
  shown.variable = [](std::uint32_t, const std::string& name) {
    return name == "%f3" ? std::string("other") : std::string();
  };
  shown.value = [](std::uint32_t warp, const std::string& name, std::uint32_t lane) {
    return name + " " + std::to_string(100 * warp + lane);
  };
  Scene scene;
  draw_theatre(scene, shown, {1300, 900});
  const auto says = [&](std::string_view what) {
    return std::any_of(scene.items.begin(), scene.items.end(), [&](const Item& item) {
      const auto* const text = std::get_if<Text>(&item);
      return text && text->text.find(what) != std::string::npos;
    });
  };
  EXPECT_TRUE(says("Registers of warp 0, lane by lane"));
  EXPECT_TRUE(says("other %f3"));
  EXPECT_TRUE(says("Read now by warp 0, written by warp 1"));
  const Json told = describe_theatre(shown);
  EXPECT_EQ(told["lanes"]["registers"][0]["register"], "%f3");
  EXPECT_EQ(told["lanes"]["registers"][0]["variable"], "other");
  EXPECT_EQ(told["lanes"]["registers"][0]["values"][31], "%f3 31");
  EXPECT_EQ(told["lanes"]["written_by"]["warps"], Json({1}));
}

TEST(TheatreRegistersText, OperandsAndTheirNames) {
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(operands_in("@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd4+16];"),
            (Names{"{%f1, %f2}", "[%rd4+16]"}));
  EXPECT_EQ(operands_in("ret;"), Names{});
  EXPECT_EQ(names_in("{%f1, %f2}"), (Names{"%f1", "%f2"}));
  EXPECT_EQ(names_in("[%rd4+-16]"), Names{"%rd4"});
  EXPECT_EQ(names_in("_"), Names{});
  EXPECT_EQ(names_in("0f3F800000"), Names{});
}

}  // namespace
}  // namespace tilescope
