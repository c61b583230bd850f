// Breakpoints: where they stop, and where they are when the program was built anew.
#include "viz/machine/breakpoints.h"

#include <gtest/gtest.h>

#include "viz/machine/build.h"

namespace tilescope {
namespace {

// Two warps meet at line 2; of line 3 the compiler put the branch first, and instructions of line 1
// between it and the rest; line 5 was unrolled into two copies.
constexpr const char* kMoved = R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry add()
{
  .reg .b32 %r<9>;
  .reg .pred %p<3>;
  .shared .align 8 .b8 room[64];
  .loc 1 1 1
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 99;
  .loc 1 2 1
  bar.sync 0;
  .loc 1 3 1
  @!%p1 bra END;
  .loc 1 1 1
  add.u32 %r2, %r1, 1;
  .loc 1 3 1
  add.u32 %r3, %r2, 2;
  mul.lo.u32 %r4, %r3, 2;
  .loc 1 5 1
  st.shared.u32 [room], %r4;
  .loc 1 6 1
  add.u32 %r5, %r4, 2;
  .loc 1 5 1
  st.shared.u32 [room+32], %r4;
END:
  .loc 1 8 1
  ret;
}
.file 1 "my.cu"
)";

LiveRun machine_with(const std::string& text, const char* ptx = kMoved) {
  Job job;
  job.program = {"add", ptx};
  job.launch.grid = {1, 1, 1};
  job.launch.block = {64, 1, 1};
  auto stepper = sim::Stepper::load(std::move(job));
  EXPECT_TRUE(stepper) << (stepper ? "" : stepper.error().sentence);
  LiveRun live(std::move(*stepper));
  live.sources["my.cu"] = lines_of_text(text);
  live.sources[""] = lines_of_text(ptx);
  return live;
}

const char* const kText = "one\nsync\nstore\n\nunrolled\nsix\n\nend\n";

std::vector<Breakpoint> read(const LiveRun& live, const std::vector<std::string>& words) {
  std::vector<Breakpoint> out;
  for (const std::string& each : words) {
    const auto one = read_breakpoint(each, live);
    EXPECT_TRUE(one) << each << ": " << (one ? "" : one.error().sentence);
    if (one) out.push_back(*one);
  }
  return out;
}

std::string why_not(const LiveRun& live, const std::string& words) {
  const auto read = read_breakpoint(words, live);
  EXPECT_FALSE(read) << words;
  return read ? "" : read.error().sentence;
}

// All stops of a run: "warp 0 line 3".
std::vector<std::string> stops(LiveRun& live, const std::vector<Breakpoint>& all) {
  std::vector<std::string> out;
  const auto at = stops_at(all, live.stepper.machine());
  EXPECT_TRUE(at) << (at ? "" : at.error().sentence);
  sim::Step step;
  step.by = sim::StepBy::breakpoint;
  step.breaks = *at;
  for (;;) {
    live.stepper.step(step);
    if (live.stepper.arrive() != sim::Arrival::there || out.size() > 20) return out;
    const sim::Happened& reason = *live.stepper.reason();
    std::string text = "warp " + std::to_string(reason.warp);
    if (reason.what == sim::Happening::write) {
      out.push_back(text + " writes");
      continue;
    }
    const auto warps = sim::warps_of(live.stepper.machine(), 0);
    EXPECT_EQ(warps[reason.warp].splits.front().wait, sim::Wait::none);
    const std::uint32_t pc = warps[reason.warp].splits.front().pc;
    out.push_back(text + " line " +
                  std::to_string(line_of(live.stepper.machine().program(), pc).line));
  }
}

// Behind a barrier a warp comes to the next line when it is let go, not when it begins to wait; and
// it comes once to a line that the compiler put other lines into.
TEST(Breakpoints, StopOnceWhereAWarpComesToTheStatement) {
  LiveRun live = machine_with(kText);
  const auto found = stops(live, read(live, {"line my.cu:3"}));
  EXPECT_EQ(found.size(), 1u) << "both are let go in one moment: " << testing::PrintToString(found);
  LiveRun other = machine_with(kText);
  const auto unrolled = stops(other, read(other, {"line my.cu:5"}));
  EXPECT_EQ(unrolled.size(), 4u) << "each copy, by two warps";
}

TEST(Breakpoints, StepsAndWaysBackMeetTheSamePlaces) {
  LiveRun live = machine_with(kText);
  const auto stops = stops_at(read(live, {"line my.cu:3", "line my.cu:5"}), live.stepper.machine());
  ASSERT_TRUE(stops);
  sim::Step step;
  step.by = sim::StepBy::breakpoint;
  step.breaks = *stops;
  std::vector<std::uint64_t> there, back;
  for (live.stepper.step(step); live.stepper.arrive() == sim::Arrival::there;
       live.stepper.step(step)) {
    there.push_back(live.stepper.position());
  }
  step.back = true;
  for (live.stepper.step(step); live.stepper.arrive() == sim::Arrival::there;
       live.stepper.step(step)) {
    back.push_back(live.stepper.position());
  }
  EXPECT_EQ(there, std::vector<std::uint64_t>(back.rbegin(), back.rend()));
}

TEST(Breakpoints, SeveralWrittenPlacesAreWatchedTogether) {
  LiveRun live = machine_with(kText);
  const auto all = read(live, {"byte 0", "byte 33"});
  EXPECT_EQ(stops(live, all).size(), 4u) << "two warps write each";
  LiveRun other = machine_with(kText);
  EXPECT_EQ(stops(other, read(other, {"byte 33"})).size(), 2u);
}

TEST(Breakpoints, WhatIsNotThereIsSaidWithWhatIs) {
  const LiveRun live = machine_with(kText);
  EXPECT_EQ(why_not(live, "byte 999999999"),
            "Byte 999999999 is none of a CTA's shared memory: it has 64 bytes, counted from 0.");
  EXPECT_NE(why_not(live, "byte 3 block 7").find("There is no CTA 7: the grid has 1"),
            std::string::npos);
  EXPECT_NE(why_not(live, "mbarrier full[9]").find("There is no mbarrier full[9]"),
            std::string::npos);
  EXPECT_NE(why_not(live, "mbarrier 12").find("a multiple of 8"), std::string::npos);
  EXPECT_NE(why_not(live, "line 12").find("the files of this kernel are my.cu"), std::string::npos);
}

TEST(Breakpoints, GoWithTheTextThatIsBuiltAnew) {
  const LiveRun before = machine_with(kText);
  const auto all = read(before, {"line my.cu:3", "line my.cu:5", "line my.cu:2", "byte 8"});
  BuiltBefore was{before.sources, {}, "my.cu", "mine.cu"};
  std::string ptx = kMoved;
  // Two lines more at the top, one taken out, `sync` changed in its place.
  const auto now_text = "new\nnew\none\nanother sync\nstore\nunrolled\nsix\n\nend\n";
  for (const auto& [old, now] :
       {std::pair(".loc 1 8", ".loc 1 9"), std::pair(".loc 1 6", ".loc 1 7"),
        std::pair(".loc 1 5", ".loc 1 6"), std::pair(".loc 1 3", ".loc 1 5"),
        std::pair(".loc 1 2", ".loc 1 4"), std::pair("my.cu", "mine.cu")}) {
    for (std::size_t at = ptx.find(old); at != ptx.npos; at = ptx.find(old, at + 1)) {
      if (std::string(now) == "mine.cu" && at && ptx[at - 1] != '"') continue;
      ptx.replace(at, std::string(old).size(), now);
      at += std::string(now).size();
    }
  }
  LiveRun now = machine_with("", ptx.c_str());
  now.sources.erase("my.cu");
  now.sources["mine.cu"] = lines_of_text(now_text);
  const CarriedBreakpoints carried = tilescope::carried(all, was, now);
  ASSERT_EQ(carried.all.size(), 3u) << testing::PrintToString(carried.gone);
  EXPECT_EQ(text(carried.all[0]), "line mine.cu:5");
  EXPECT_EQ(text(carried.all[1]), "line mine.cu:6");
  EXPECT_EQ(text(carried.all[2]), "byte 8");
  EXPECT_EQ(carried.gone, std::vector<std::string>{"line my.cu:2"});
}

}  // namespace
}  // namespace tilescope
