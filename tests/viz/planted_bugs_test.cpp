// Each planted bug (tests/kernels/bugs) opens at its fault or hazard with the view that explains
// it, and that view says what there is to say: for a barrier who came and who is missing; for a
// collision the two, with their bytes or cells and their lines of the source; for columns whose
// they are; for an element which.
#include <gtest/gtest.h>

#include <map>
#include <variant>

#include "core/run/deadlock_cause.h"
#include "core/sim/async/mbarrier.h"
#include "tests/viz/planted_bugs.h"
#include "viz/commands/rebuild.h"
#include "viz/commands/script.h"
#include "viz/machine/barrier_card.h"
#include "viz/machine/fault_scene.h"
#include "viz/session/fault_view.h"

namespace tilescope {
namespace {

using namespace test;

// The view that each kind of finding is to be seen in.
const std::map<std::string, ViewName, std::less<>>& expected_views() {
  static const std::map<std::string, ViewName, std::less<>> all = {
      {"deadlock", ViewName::why},
      {"waiter_left_behind", ViewName::barriers},
      {"too_many_arrivals", ViewName::barriers},
      {"tx_count_out_of_range", ViewName::barriers},
      {"mbarrier_overwritten", ViewName::barriers},
      {"mbarrier_not_visible", ViewName::barriers},
      {"mbarrier_initialised_twice", ViewName::barriers},
      {"operand_overwritten", ViewName::memory},
      {"missing_proxy_fence", ViewName::memory},
      {"shared_race", ViewName::memory},
      {"tmem_in_use", ViewName::tmem},
      {"tmem_race", ViewName::tmem},
      {"tcgen05_fence", ViewName::tmem},
      {"tmem_not_awaited", ViewName::tmem},
      {"tmem_out_of_allocation", ViewName::tmem},
      {"tmem_not_deallocated", ViewName::tmem},
      {"tmem_lane_quarter", ViewName::tmem},
      {"tmem_address_bits", ViewName::tmem},
      {"tmem_growth", ViewName::tmem},
      {"tmem_pair", ViewName::tmem},
      {"unordered_copies", ViewName::matrices},
      {"undefined_output", ViewName::matrices},
      {"tile_not_computed", ViewName::matrices},
      {"tile_computed_twice", ViewName::matrices},
      // With nothing to show but the instruction: what it names is not there.
      {"tmem_after_relinquish", ViewName::source},
      {"tmem_columns", ViewName::source},
      {"bad_descriptor", ViewName::source},
      {"bad_mask", ViewName::source},
      {"peer_exited", ViewName::source},
      {"peer_not_started", ViewName::source},
      {"exit_in_flight", ViewName::source},  // the block, and its memory, are gone
  };
  return all;
}

// All that is written in a picture, and the names of its groups.
std::string read(const Picture& picture) {
  std::string out;
  for (const Item& item : picture.scene.items) {
    if (const auto* text = std::get_if<Text>(&item)) out += text->text + "\n";
    if (const auto* group = std::get_if<GroupBegin>(&item)) out += "<" + group->name + ">\n";
  }
  return out;
}

std::string line_of(const Site& site) {
  const std::string& path = site.caller_line ? site.caller : site.source;
  const std::uint32_t line = site.caller_line ? site.caller_line : site.source_line;
  return path.substr(path.rfind('/') + 1) + ":" + std::to_string(line);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// ---- what each view has to say ----

void says_barrier(const BugOpened& bug, const std::string& text) {
  const Evidence::Place& place = bug.report().evidence.place;
  if (place.of == Evidence::Place::Of::mbarrier) {
    EXPECT_EQ(bug.session->state.spot.barrier, static_cast<std::uint32_t>(place.begin));
    const std::string name = readable(
        sim::mbarrier_name(bug.machine().model(), static_cast<std::uint32_t>(place.begin)));
    EXPECT_TRUE(has(text, "T" + name.substr(1) + ", phase ")) << text;
  }
  EXPECT_TRUE(has(text, "<barrier looked at>")) << text;
  if (bug.report().kind == "tmem_in_use") {
    EXPECT_EQ(bug.session->state.spot.barrier, bug.report().evidence.mbarrier);
    EXPECT_TRUE(has(text, "\npassed\n")) << text;
  }
}

// Who waits for what, what it lacks, and why that has not come; then the barriers at that moment.
void says_why(BugOpened& bug, const std::string& text) {
  const DeadlockCause& cause = *bug.report().deadlock;
  EXPECT_TRUE(has(text, "<why nobody goes on>")) << text;
  ASSERT_FALSE(cause.barriers.empty());
  const std::string& name = cause.barriers.front().name;
  EXPECT_TRUE(has(text, "\n" + name.substr(0, name.find(" of ")) + "\n")) << text;
  EXPECT_TRUE(has(text, "lacks ") || has(text, "too many")) << text;
  EXPECT_TRUE(has(text, "\n" + warps_text(cause, cause.waiting.front().warps) + "\n")) << text;
  bug.act("select barriers");
  const std::string list = read(picture(*bug.session, {760, 640}));
  const bool missing =
      has(list, "\nmissing\n") || has(list, "are still to come") || has(list, "\nnot there\n");
  EXPECT_TRUE(missing) << list;
  EXPECT_TRUE(has(list, "\nwaiting\n") || has(list, "\nthere\n")) << list;
  says_barrier(bug, list);
}

void says_both(const BugOpened& bug, const std::string& text) {
  const Evidence& evidence = bug.report().evidence;
  ASSERT_FALSE(evidence.parties.empty());
  for (std::size_t i = 0; i < evidence.parties.size(); ++i) {
    const Evidence::Party& party = evidence.parties[i];
    EXPECT_TRUE(has(text, line_of(party.site))) << text;
    // It is marked in the view, not only told.
    EXPECT_TRUE(has(text, "<" + std::to_string(i + 1) + ": " + party.does)) << text;
  }
}

void says_element(const BugOpened& bug, const std::string& text) {
  const auto& element = bug.session->state.element;
  ASSERT_TRUE(element.has_value());
  const std::string place =
      "[" + std::to_string(element->row) + ", " + std::to_string(element->column) + "]";
  EXPECT_TRUE(has(text, place)) << text;
}

void says_line(const BugOpened& bug, const std::string& text) {
  const auto& line = bug.session->state.spot.line;
  ASSERT_TRUE(line.has_value());
  EXPECT_TRUE(has(text, line->file)) << text;
  EXPECT_TRUE(has(text, "\n" + std::to_string(line->line) + "\n")) << text;
}

class BugInTheWindow : public testing::TestWithParam<std::string> {};

TEST_P(BugInTheWindow, OpensWithTheViewThatExplainsIt) {
  auto bug = opened_at_report(bug_of(GetParam()));
  ASSERT_TRUE(bug.has_value()) << "no report at all";
  const Report& report = bug->report();
  SCOPED_TRACE(report.kind + ": " + report.sentence);
  Session& session = *bug->session;
  EXPECT_EQ(bug->machine().state() == RunState::fault, report.weight == Weight::fault);
  EXPECT_EQ(session.state.spot.report, static_cast<std::uint32_t>(bug->number));
  EXPECT_TRUE(has(session.message.text, report.sentence));

  const auto wanted = expected_views().find(report.kind);
  ASSERT_NE(wanted, expected_views().end()) << "which view explains it?";
  // Cells that a product still uses, because a wait was for an earlier phase: that barrier.
  const bool by_wait = report.kind == "tmem_in_use" && report.evidence.mbarrier.has_value();
  const ViewName view = by_wait ? ViewName::barriers : wanted->second;
  ASSERT_EQ(name_of(session.state.view), name_of(view));
  const Picture shown = picture(session, {760, 640});
  const std::string text = read(shown);
  EXPECT_TRUE(has(text, std::string(title_of(report)))) << text;
  if (view == ViewName::why) return says_why(*bug, text);
  EXPECT_TRUE(has(text, "\nexpected\n")) << text;
  for (const Evidence::Party& party : report.evidence.parties) {
    EXPECT_TRUE(has(text, line_of(party.site))) << line_of(party.site) << "\n" << text;
  }
  switch (session.state.view) {
    case ViewName::barriers:
      return says_barrier(*bug, text);
    case ViewName::matrices:
      return says_element(*bug, text);
    case ViewName::source:
      return says_line(*bug, text);
    default:
      if (!report.evidence.parties.empty()) says_both(*bug, text);
  }
}

// ---- ways ----

BugOpened opened(const std::string& name) {
  const Bug bug = bug_of(name);
  BugOpened out;
  out.backend = std::make_unique<BugWorkshop>(bug, *job_of(bug), orders_of(bug).front());
  out.act("open " + bug.kernel);
  return out;
}

TEST(PlantedBugs, ARunThatFaultsShowsTheFaultInItsView) {
  BugOpened bug = opened("empty_count");
  ASSERT_TRUE(execute(*bug.session, *bug.backend, "run").ok());
  take_result(*bug.session, *bug.backend);
  EXPECT_EQ(bug.session->state.view, ViewName::why);
  EXPECT_TRUE(bug.session->message.failed);
  EXPECT_EQ(bug.session->state.spot.report, 0u);
  // The diff has nothing to show, and leads there; so does the message.
  bug.act("select diff");
  const auto nothing = emptiness(*bug.session);
  ASSERT_TRUE(nothing.has_value());
  EXPECT_EQ(nothing->command, "go report 0");
  bug.act(nothing->command);
  EXPECT_EQ(bug.session->state.view, ViewName::why);
  EXPECT_EQ(command_of_message(*bug.session), "go report 0");
}

// It is refused as it is issued: only what it meets is under way.
TEST(PlantedBugs, WhatWasNotIssuedIsNotInFlight) {
  const auto bug = opened_at_report(bug_of("stage_overwritten"));
  ASSERT_TRUE(bug.has_value());
  const Report& report = bug->report();
  ASSERT_EQ(report.kind, "operand_overwritten");
  ASSERT_EQ(report.evidence.parties.size(), 2u);
  EXPECT_FALSE(report.evidence.parties[0].in_flight);
  EXPECT_TRUE(has(report.evidence.parties[0].does, " would write"));
  EXPECT_TRUE(report.evidence.parties[1].in_flight);
}

TEST(PlantedBugs, StepsLeadFromHazardToHazardAndBack) {
  BugOpened bug = opened("no_proxy_fence");
  bug.act("step report");
  const std::uint64_t there = bug.machine().position();
  EXPECT_FALSE(bug.machine().reports().empty());
  EXPECT_EQ(bug.session->state.view, ViewName::memory);
  bug.act("step 3");
  EXPECT_FALSE(bug.session->state.spot.report.has_value()) << "it is of another moment";
  bug.act("step back report");
  EXPECT_EQ(bug.machine().position(), there);
  EXPECT_TRUE(bug.session->state.spot.report.has_value());
  bug.act("undo");
  bug.act("go report 0");
  EXPECT_EQ(bug.machine().position(), there);
}

TEST(PlantedBugs, TheCycleIsThatOfTheWarpThatExecuted) {
  BugOpened bug = opened("two_arrivals");
  bug.act("step 40");
  const std::string moment = moment_text(*bug.session->state.live);
  EXPECT_FALSE(has(moment, "cycle 0 ")) << moment;
}

TEST(PlantedBugs, AWayToAReportCanBeStopped) {
  BugOpened bug = opened("second_commit");
  ASSERT_TRUE(execute(*bug.session, *bug.backend, "go report 0").ok());
  if (!seeking(*bug.session)) GTEST_SKIP() << "It was there at once.";
  bug.act("cancel");
  EXPECT_FALSE(seeking(*bug.session));
  EXPECT_TRUE(bug.machine().reports().empty());
  bug.act("go report 0");
  EXPECT_EQ(bug.machine().reports().size(), 1u);
  EXPECT_EQ(bug.session->state.view, ViewName::barriers);
}

TEST_P(BugInTheWindow, StandsJustBehindWhatItWasToldFor) {
  auto bug = opened_at_report(bug_of(GetParam()));
  ASSERT_TRUE(bug.has_value()) << "no report at all";
  const std::uint64_t there = bug->machine().position();
  ASSERT_GT(bug->machine().reports().size(), bug->number);
  const bool fault = bug->report().weight == Weight::fault;
  bug->act(fault ? "step back fault" : "step back moment");
  EXPECT_LE(bug->machine().position(), there);
  EXPECT_LE(bug->machine().reports().size(), bug->number);
  EXPECT_NE(bug->machine().state(), RunState::fault);
  // Just before a fault it is shown in the same view.
  if (fault) {
    EXPECT_EQ(bug->session->state.spot.report, static_cast<std::uint32_t>(bug->number));
  }
}

// ---- coming back to where a report is told ----

// Of a fault that nobody waits for and one that somebody does, and of a hazard.
const std::vector<std::string> bugs_to_come_back_to = {"empty_count", "operands_overwritten",
                                                       "no_proxy_fence"};

std::string told_in(Session& session) {
  return read(picture(session, {1280, 800}));
}

// A wait that let through too early explains more than the cells do.
TEST(PlantedBugs, AWaitForAnEarlierPhaseOpensAtItsBarrier) {
  for (const char* name : {"ready_parity", "two_consumers_one_ready"}) {
    auto bug = opened_at_report(bug_of(name));
    ASSERT_TRUE(bug.has_value());
    EXPECT_EQ(bug->session->state.view, ViewName::barriers) << name;
  }
}

TEST(PlantedBugs, SteppingAwayAndBackShowsTheReportAgain) {
  for (const std::string& name : bugs_to_come_back_to) {
    SCOPED_TRACE(name);
    BugOpened bug = opened(name);
    bug.act(name == "no_proxy_fence" ? "step report" : "step fault");
    const std::uint64_t there = bug.machine().position();
    const std::string shown = told_in(*bug.session);
    const RunCursor spot = bug.session->state.spot;
    ASSERT_TRUE(spot.report.has_value());
    const auto is_back = [&] {
      EXPECT_TRUE(bug.session->state.spot == spot) << bug.session->message.text;
      EXPECT_EQ(told_in(*bug.session), shown);
    };
    bug.act("step back moment 3");
    ASSERT_LT(bug.machine().position(), there);
    EXPECT_FALSE(bug.session->state.spot.report.has_value()) << "it is of another moment";
    const std::uint64_t away = bug.machine().position();
    bug.act("step moment " + std::to_string(there - away));
    is_back();
    bug.act("go start");
    bug.act("go position " + std::to_string(there));
    is_back();
    bug.act("step back moment 3");
    bug.act("undo");
    is_back();
  }
}

TEST(PlantedBugs, AStepToAReportByTheWayKeepsTheView) {
  BugOpened bug = opened("no_proxy_fence");
  bug.act("step report");
  bug.act("step back moment 2");
  bug.act("select registers");
  bug.act("step moment 2");
  EXPECT_TRUE(bug.session->state.spot.report.has_value());
  EXPECT_EQ(bug.session->state.view, ViewName::registers);
}

// As a share string does, in a window that knows nothing of this run.
TEST(PlantedBugs, TheWordsOfAReportBringItBackWhole) {
  for (const std::string& name : bugs_to_come_back_to) {
    for (const char* way : {"step fault", "step report", "run"}) {
      for (const char* view : {"", "select source", "select matrices"}) {
        SCOPED_TRACE(name + ", " + way + ", " + view);
        BugOpened bug = opened(name);
        bug.act(way);
        take_result(*bug.session, *bug.backend);
        if (*view) bug.act(view);
        const std::vector<std::string> lines = rebuilding(bug.session->state);
        Session other;
        ASSERT_TRUE(rebuild(other, *bug.backend, lines));
        do {
          take_result(other, *bug.backend);
          while (seeking(other)) seek_on(other, *bug.backend, 1000);
        } while (continue_script(other, *bug.backend));
        EXPECT_TRUE(other.state.spot == bug.session->state.spot);
        EXPECT_EQ(told_in(other), told_in(*bug.session));
        EXPECT_EQ(rebuilding(other.state), lines);
      }
    }
  }
}

// The machine is let go when others were opened since; one that comes back must learn how it ends.
TEST(PlantedBugs, UndoShowsTheFaultThoughTheMachineIsAnotherOne) {
  BugOpened bug = opened("operands_overwritten");
  bug.act("step fault");
  const std::string shown = told_in(*bug.session);
  bug.act("go start");
  for (Step& step : bug.session->past) step.before.live.reset();
  bug.act("undo");
  EXPECT_EQ(told_in(*bug.session), shown);
}

TEST(PlantedBugs, AReportThatNoRunTellsIsRefused) {
  BugOpened bug = opened("empty_count");
  bug.act("step fault");
  const std::string said = bug.act("look report 7");
  EXPECT_TRUE(has(said, "there are 1, counted from 0")) << said;
  bug.act("look nothing");
  EXPECT_TRUE(bug.session->state.spot == RunCursor{});
}

INSTANTIATE_TEST_SUITE_P(Kernels, BugInTheWindow, testing::ValuesIn(all_bugs()),
                         [](const auto& bug) { return bug.param; });

}  // namespace
}  // namespace tilescope
