// Going through a run from the window: steps both ways, undo, what views show of the machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/viz/ui_backend.h"
#include "viz/commands/commands.h"
#include "viz/commands/describe_window.h"
#include "viz/commands/rebuild.h"
#include "viz/session/panels.h"
#include "viz/session/seek.h"

namespace tilescope {
namespace {

class WalkTest : public ::testing::Test {
 protected:
  // The command to its end; its answer.
  std::string does(const std::string& line) {
    const auto answer = execute(session, backend, line);
    EXPECT_TRUE(answer) << line << ": " << (answer ? "" : answer.error().sentence);
    while (seeking(session)) seek_on(session, backend, 1000);
    return session.message.text;
  }
  std::string refused(const std::string& line) {
    const auto answer = execute(session, backend, line);
    EXPECT_FALSE(answer) << line;
    return answer ? "" : answer.error().sentence;
  }
  std::uint64_t position() { return session.state.live->stepper.position(); }
  std::string shown() {
    const Picture now = picture(session, {1280, 800});
    return describe(session, backend, now).dump();
  }

  Session session;
  test::FakeBackend backend;
};

TEST_F(WalkTest, StepsGoForwardsAndBackToTheSamePlace) {
  does("open add");
  does("step");
  const std::uint64_t first = position();
  EXPECT_EQ(first, 1u);
  does("step 3");
  const std::uint64_t fourth = position();
  EXPECT_GT(fourth, first);
  does("step back 3");
  EXPECT_EQ(position(), first);
  does("step 3");
  EXPECT_EQ(position(), fourth);
}

TEST_F(WalkTest, UndoBringsTheMachineBackToWhereItStood) {
  does("open add");
  does("step 2");
  const std::uint64_t second = position();
  does("step barrier");
  EXPECT_GT(position(), second);
  EXPECT_EQ(session.past.back().name, "step barrier");
  does("undo");
  EXPECT_EQ(position(), second);
  does("redo");
  EXPECT_GT(position(), second);
}

TEST_F(WalkTest, ABarrierStepStopsWhereAPhaseIsComplete) {
  does("open add");
  EXPECT_NE(does("step barrier").find("Phase 0 of the mbarrier at byte 0"), std::string::npos)
      << session.message.text;
  does("step barrier");
  EXPECT_EQ(session.state.spot.block, 1u) << "the next phase is of the other block";
  EXPECT_NE(does("step barrier").find("here is no further phase of an mbarrier"), std::string::npos)
      << session.message.text;
}

TEST_F(WalkTest, ViewsShowWhereTheMachineStands) {
  does("open add");
  does("step barrier");
  does("select barriers");
  EXPECT_NE(shown().find("the mbarrier at byte 0"), std::string::npos);
  does("select registers");
  EXPECT_NE(shown().find("%rd1"), std::string::npos);
  does("select source");
  EXPECT_NE(shown().find("mbarrier.try_wait"), std::string::npos);
  does("select memory");
  EXPECT_NE(shown().find("0 to 7"), std::string::npos);
  does("go end");
  ASSERT_TRUE(emptiness(session));
  EXPECT_NE(emptiness(session)->sentence.find("have exited"), std::string::npos);
  does(emptiness(session)->command);
  EXPECT_FALSE(emptiness(session));
}

TEST_F(WalkTest, AViewIsMadeAgainFromItsLines) {
  does("open add");
  does("step barrier");
  does("select registers");
  does("look warp 1 lane 5");
  const std::vector<std::string> lines = rebuilding(session.state);
  const std::uint64_t stood = position();
  Session other;
  ASSERT_TRUE(rebuild(other, backend, lines));
  while (busy(other)) {
    seek_on(other, backend, 1000);
  }
  EXPECT_EQ(other.state.live->stepper.position(), stood);
  EXPECT_TRUE(other.state == session.state) << joined(rebuilding(other.state));
}

// The line of the PTX that holds this text.
std::uint32_t line_with(const std::string& text) {
  const std::string all = test::small_ptx;
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(all.find(text));
  return static_cast<std::uint32_t>(std::count(all.begin(), end, '\n')) + 1;
}

TEST_F(WalkTest, ContinueStopsAtLinesPhasesAndWrites) {
  does("open add");
  does("break line ptx:" + std::to_string(line_with("mul.wide")));
  does("continue");
  const sim::Machine* machine = machine_of(session);
  ASSERT_NE(machine, nullptr);
  const RunCursor& spot = session.state.spot;
  EXPECT_EQ(sim::warps_of(*machine, spot.block)[spot.warp].splits.front().site.ptx_line,
            line_with("mul.wide"));
  does("continue");
  does("continue");
  does("continue");
  EXPECT_EQ(session.state.spot.block, 1u) << "two warps of two blocks come to the line";
  EXPECT_NE(does("continue").find("no further breakpoint"), std::string::npos);
  does("continue back");
  EXPECT_EQ(session.state.spot.block, 1u);
  does("break clear");
  does("go start");
  does("break mbarrier 0 block 1");
  EXPECT_NE(does("continue").find("CTA 1, is complete"), std::string::npos);
  does("break clear");
  does("go start");
  does("break element C 40");
  does("continue");
  EXPECT_EQ(session.state.spot.warp, 1u);
  EXPECT_EQ(sim::element(*machine_of(session), 0, 40)->value, 40);
  does("step back");
  EXPECT_EQ(sim::element(*machine_of(session), 0, 40)->value, 0);
}

// A warp that waits at a barrier has not come to the line behind it.
TEST_F(WalkTest, BehindABarrierALineIsComeToWhenTheBarrierLetsGo) {
  does("open add");
  const std::string line = std::to_string(line_with("mbarrier.arrive"));
  does("break line ptx:" + line);
  const std::string said = does("continue");
  EXPECT_EQ(said.find("waits"), std::string::npos) << said;
  EXPECT_NE(said.find("is at"), std::string::npos) << said;
  const RunCursor& spot = session.state.spot;
  const auto warps = sim::warps_of(*machine_of(session), spot.block);
  for (const sim::WarpState& warp : warps) {
    EXPECT_EQ(std::to_string(warp.splits.front().site.ptx_line), line) << "both have met";
  }
}

TEST_F(WalkTest, ARegisterThatIsNotThereIsRefused) {
  does("open add");
  does("look register %r1");
  EXPECT_NE(refused("look register %rX").find("There is no register %rX"), std::string::npos);
  EXPECT_EQ(session.state.spot.name, "%r1");
}

TEST_F(WalkTest, ABreakpointIsSetAndTakenAwayByTheSameWords) {
  does("open add");
  does("break mbarrier 0 phase 2");
  EXPECT_EQ(session.state.breakpoints.size(), 1u);
  does("break mbarrier 0 phase 2");
  EXPECT_TRUE(session.state.breakpoints.empty());
  does("undo");
  EXPECT_EQ(session.state.breakpoints.size(), 1u);
  EXPECT_NE(refused("break line ptx:3").find("No instruction"), std::string::npos);
  EXPECT_NE(refused("break element D 3").find("there are C"), std::string::npos);
  EXPECT_NE(refused("break element C 64").find("64 elements"), std::string::npos);
  does("break clear");
  does("break element C 63");
  does("break byte 4 block 0");
  EXPECT_EQ(does("break list"), "2 breakpoints: 1 element C 63; 2 byte 4 block 0.");
  does("break remove 1");
  EXPECT_EQ(does("break list"), "1 breakpoint: 1 byte 4 block 0.");
  EXPECT_NE(refused("break remove 2").find("a number from 1 to 1"), std::string::npos);
  EXPECT_NE(refused("break tea").find("`break` takes"), std::string::npos);
}

TEST_F(WalkTest, ListsShowWhereItStandsAgainAfterALineWasLookedAt) {
  does("open add");
  does("step 3");
  does("look line ptx:" + std::to_string(line_with("ret;")) + " in source");
  EXPECT_TRUE(session.state.spot.line);
  does("step");
  EXPECT_FALSE(session.state.spot.line);
}

TEST_F(WalkTest, ThePtxBesideTheSourceIsScrolledByItself) {
  does("open add");
  does("step 2");
  does("select source");
  Picture now = picture(session, {1200, 260});
  ASSERT_GT(now.scroll_beside, 0) << "the PTX is longer than its room";
  const double before = session.scrolls[ViewName::source].at;
  scroll_view(session, now, -1, now.beside.centre());
  now = picture(session, {1200, 260});
  EXPECT_GT(session.scrolls[ViewName::source].beside, 0);
  EXPECT_EQ(session.scrolls[ViewName::source].at, before);
  does("step");
  EXPECT_FALSE(session.scrolls[ViewName::source].beside_by_hand) << "and follows again";
}

TEST_F(WalkTest, AFileIsNamedByItsEndAndABarrierByItsName) {
  const std::vector<std::string> files{"kernels/blackwell/a.cu", "kernels/device/b.h", "x/b.h"};
  const auto line = [&](std::string_view word) { return source_line_in(word, files); };
  ASSERT_TRUE(line("a.cu:3"));
  EXPECT_EQ(line("a.cu:3")->file, "kernels/blackwell/a.cu");
  EXPECT_EQ(line("blackwell/a.cu:3")->file, "kernels/blackwell/a.cu");
  EXPECT_EQ(line("b.h:3")->file, "b.h") << "two end so";
  EXPECT_EQ(line("x/b.h:3")->file, "x/b.h");
  EXPECT_EQ(line("ptx:3")->file, "");
  EXPECT_FALSE(line("a.cu"));
  does("open add");
  EXPECT_NE(refused("look mbarrier nosuch").find("named by its byte"), std::string::npos);
  EXPECT_NE(refused("step barrier on nosuch").find("named by its byte"), std::string::npos);
  EXPECT_NE(refused("step barrier on").find("needs an mbarrier"), std::string::npos);
}

TEST_F(WalkTest, ALineIsNamedByItsText) {
  does("open add");
  does("look line ptx:\"ret;\"");
  ASSERT_TRUE(session.state.spot.line);
  EXPECT_EQ(session.state.spot.line->file, "");
  EXPECT_EQ(session.state.spot.line->line, line_with("ret;"));
  does("look line ptx:'ret;' lane 3");
  EXPECT_EQ(session.state.spot.lane, 3u);
  EXPECT_NE(refused("look line ptx:\"nobody wrote this\"").find("No line of ptx has"),
            std::string::npos);
  EXPECT_NE(refused("look line ptx:\";\"").find("more of one says which"), std::string::npos);
  EXPECT_NE(refused("look line nosuch.cu:\"ret;\"").find("no text of nosuch.cu"),
            std::string::npos);
  for (const char* bad : {"look line ptx:\"\"", "look line ptx:", "look line :\"ret;\"",
                          "look line ptx:ret;", "look line \"ret;\"", "look line \"\""}) {
    EXPECT_NE(refused(bad).find("A line is written FILE:LINE"), std::string::npos) << bad;
  }
}

TEST_F(WalkTest, ARunGoesToALine) {
  does("open add");
  does("to ptx:" + std::to_string(line_with("st.global")));
  const RunCursor& spot = session.state.spot;
  const auto warps = sim::warps_of(*machine_of(session), spot.block);
  EXPECT_EQ(warps[spot.warp].splits.front().site.ptx_line, line_with("st.global"));
}

TEST_F(WalkTest, WrongPlacesGetASentence) {
  EXPECT_NE(refused("step").find("no kernel"), std::string::npos);
  does("open add");
  EXPECT_NE(refused("step sideways").find("`sideways`"), std::string::npos);
  EXPECT_NE(refused("step block 7").find("grid has 2"), std::string::npos);
  EXPECT_NE(refused("look warp 9").find("a CTA has 2"), std::string::npos);
  EXPECT_NE(refused("look lane 32").find("0 to 31"), std::string::npos);
  EXPECT_NE(refused("go 1.2us").find("no clock"), std::string::npos);
  EXPECT_NE(refused("go soon").find("no time"), std::string::npos);
  EXPECT_NE(refused("step 0").find("from 1"), std::string::npos);
  EXPECT_NE(refused("go report soon").find("needs a number"), std::string::npos);
  EXPECT_EQ(session.state.moment, 0u);
}

TEST_F(WalkTest, AReportThatThereIsNotIsLookedForToTheEnd) {
  does("open add");
  does("go report 3");
  EXPECT_NE(session.message.text.find("There is no report 3: the run has 1."), std::string::npos)
      << session.message.text;
  EXPECT_EQ(machine_of(session)->state(), RunState::done);
  EXPECT_FALSE(session.state.spot.report.has_value());
}

}  // namespace
}  // namespace tilescope
