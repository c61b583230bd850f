// The road from an empty window to the view that answers: what there is to begin with, the page of
// a kernel, how a run ends, where the machine stands then, the layouts of the open kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/viz/ui_session.h"
#include "viz/commands/describe_window.h"
#include "viz/commands/rebuild.h"
#include "viz/machine/kernel_card.h"
#include "viz/session/kernel_page.h"
#include "viz/session/panels.h"
#include "viz/session/result_view.h"
#include "viz/session/seek.h"

namespace tilescope {
namespace {

class KernelPageTest : public test::SessionTest {
 protected:
  Picture shown(Size size = {768, 584}) { return picture(session, size); }
  std::string said(const Picture& picture) {
    std::string out;
    for (const Item& item : picture.scene.items) {
      if (const Text* text = std::get_if<Text>(&item)) out += text->text + "\n";
    }
    return out;
  }
  bool leads_to(const Picture& picture, std::string_view command) {
    const auto& targets = picture.scene.targets;
    return std::any_of(targets.begin(), targets.end(),
                       [&](const Target& target) { return target.command == command; });
  }
  // The colour of the line that begins so.
  std::optional<Role> ink_of(const Picture& picture, std::string_view begin) {
    for (const Item& item : picture.scene.items) {
      const Text* text = std::get_if<Text>(&item);
      if (text && text->text.rfind(begin, 0) == 0) return text->ink.role;
    }
    return {};
  }
  // Comes where it is going.
  void arrive() {
    for (int i = 0; i < 1000 && busy(session); ++i) seek_on(session, backend, 1000);
    ASSERT_FALSE(busy(session));
  }
};

TEST_F(KernelPageTest, AnEmptyWindowOffersThreeWaysToBegin) {
  for (const Size size : {Size{768, 584}, Size{400, 300}, Size{1400, 900}}) {
    const Picture start = shown(size);
    for (const char* command : {"lesson layouts", "open hgemm_v7", "palette open"}) {
      EXPECT_TRUE(leads_to(start, command)) << command << " at " << size.width;
    }
    for (const Target& target : start.scene.targets) {
      EXPECT_GE(target.box.x, 0);
      EXPECT_LE(target.box.right(), size.width) << target.command;
    }
  }
  EXPECT_NE(describe(session, backend, shown()).dump().find("Check my kernel"), std::string::npos);
  must("open layout (4,8):(8,1)");
  EXPECT_FALSE(leads_to(shown(), "palette open")) << "it gives way to what is opened";
}

TEST_F(KernelPageTest, AKernelOpensWithItsPage) {
  must("open add");
  EXPECT_EQ(session.state.view, ViewName::kernel);
  const Picture page = shown();
  for (const char* words : {"add", "C = A + B", "Launch", "Tensors", "1 block of 32 threads"}) {
    EXPECT_NE(said(page).find(words), std::string::npos) << words << "\nin\n" << said(page);
  }
  for (const char* command :
       {"run", "select source", "select matrices", "open layout (4,8):(8,1)"}) {
    EXPECT_TRUE(leads_to(shown({768, 2000}), command)) << command;
  }
  EXPECT_EQ(kernel_run(session), nullptr);
}

TEST_F(KernelPageTest, ItTellsHowTheRunEndedInItsColour) {
  must("open add");
  must("run");
  EXPECT_TRUE(session.message.good) << session.message.text;
  must("select kernel");
  const std::string verdict = session.state.timeline->statistics().verdict;
  ASSERT_NE(verdict, "");
  EXPECT_EQ(kernel_run(session)->verdict, verdict);
  EXPECT_EQ(ink_of(shown(), "add: all 32 elements agree"), Role::right);
  backend.wrong = {3, 4};
  must("run");
  EXPECT_FALSE(session.message.good);
  EXPECT_TRUE(session.message.failed);
  must("select kernel");
  EXPECT_EQ(ink_of(shown(), "add: 2 of 32 elements differ"), Role::wrong);
  must("open add");
  EXPECT_EQ(kernel_run(session), nullptr) << "another run is to come";
}

// What was not promised is said before how the run ended, and no such run is watched as a good one.
TEST_F(KernelPageTest, AHazardIsSaidFirstAndNotInGreen) {
  must("open add");
  must("run");
  RunResult result = *session.state.result;
  Report hazard;
  hazard.weight = Weight::hazard;
  hazard.sentence = "two meet";
  result.reports = {hazard, hazard};
  ASSERT_TRUE(result.diff->ok());
  EXPECT_EQ(outcome_of(result, false).rfind("2 hazards: two meet. add: all 32 elements agree", 0),
            0u)
      << outcome_of(result, false);
  EXPECT_TRUE(is_bad(result));
  EXPECT_FALSE(is_right(result));
  session.state.live = *backend.live(*session.state.kernel, {});
  session.state.result = std::make_shared<const RunResult>(std::move(result));
  session.state.view = ViewName::kernel;
  EXPECT_EQ(ink_of(shown(), "2 hazards: two meet."), Role::wrong);
  EXPECT_EQ(next_steps(session).front().command, "go report 0");
  const Tab first = strip(session, backend).actions.front();
  EXPECT_EQ(first.label, "2 hazards");
  EXPECT_EQ(first.command, "go report 0");
  EXPECT_TRUE(first.alarm);
}

// Nobody knows what a run would take that did not come to its end, nor what would help it.
TEST_F(KernelPageTest, ARunThatFaultedHasNoPredictionAndNoAdvice) {
  must("open add");
  backend.faults = true;
  must("run");
  ASSERT_NE(kernel_run(session), nullptr);
  EXPECT_EQ(kernel_run(session)->verdict, "");
  EXPECT_EQ(kernel_run(session)->time.rfind("It stopped", 0), 0u) << kernel_run(session)->time;
  session.state.view = ViewName::kernel;
  for (const StripStep& step : strip(session, backend).steps) EXPECT_NE(step.title, "Time");
}

// The first line of the outcome is bold, and measured so.
TEST_F(KernelPageTest, TheOutcomeStaysInItsBoxAndLeadsOn) {
  must("open add");
  must("run");
  must("select kernel");
  for (double width = 150; width < 400; width += 13) {
    const Picture page = shown({width, 584});
    std::size_t bold = 0;
    for (const Item& item : page.scene.items) {
      const Text* text = std::get_if<Text>(&item);
      if (!text || text->text.rfind("add: ", 0) != 0) continue;
      ++bold;
      EXPECT_EQ(text->weight, FontWeight::bold);
      const double right =
          text->at.x + text_width(text->text, text->size, text->family, text->weight);
      EXPECT_LE(right, width - 24) << text->text;
    }
    EXPECT_EQ(bold, 1u) << width;
  }
  for (const char* view : {"timeline", "why", "handoffs"}) {
    EXPECT_TRUE(leads_to(shown(), std::string("select ") + view)) << view;
  }
  EXPECT_FALSE(leads_to(shown(), "select product")) << "it has no products of tensor cores";
}

TEST_F(KernelPageTest, AViewThatTheReaderChoseStays) {
  must("open add");
  must("select matrices");
  must("run");
  EXPECT_EQ(session.state.view, ViewName::matrices);
  must("open add");
  backend.slow = true;
  must("run");
  must("select timeline");
  backend.finish();
  ASSERT_TRUE(take_result(session, backend));
  EXPECT_EQ(session.state.view, ViewName::timeline) << "changed to while it ran";
  must("open add");
  must("run");
  must("select source");
  must("select kernel");
  backend.finish();
  ASSERT_TRUE(take_result(session, backend));
  EXPECT_NE(session.state.view, ViewName::source);
}

TEST_F(KernelPageTest, AfterARunTheMachineStandsWhereThereIsSomethingToSee) {
  backend.leaves_machine = true;
  backend.record = nullptr;  // it is of another kernel than the machine
  must("open add");
  must("run");
  const std::uint64_t end = session.state.result->moment;
  ASSERT_EQ(session.state.moment, end);
  for (const char* view : {"registers", "barriers", "memory", "source"}) {
    must("run");
    must(std::string("select ") + view);
    arrive();
    EXPECT_FALSE(emptiness(session)) << view << ": " << emptiness(session)->sentence;
    EXPECT_LT(session.state.moment, end) << view;
  }
  // A run that ends while one looks at registers, too.
  must("run");
  must("select registers");
  arrive();
  must("run");
  arrive();
  EXPECT_EQ(session.state.view, ViewName::registers);
  EXPECT_FALSE(emptiness(session));
  // Who goes to the end stands there; and a view that was shared so opens so.
  must("go end");
  arrive();
  ASSERT_TRUE(emptiness(session));
  EXPECT_NE(emptiness(session)->sentence.find("have exited"), std::string::npos);
  must("select memory");
  arrive();
  EXPECT_EQ(session.state.moment, end);
  const ViewState there = session.state;
  Session other;
  ASSERT_TRUE(rebuild(other, backend, rebuilding(session.state)));
  for (int i = 0; i < 100 && (busy(other) || !other.script.lines.empty()); ++i) {
    backend.wait();
    take_result(other, backend);
    seek_on(other, backend, 1000);
    continue_script(other, backend);
  }
  EXPECT_EQ(other.state.moment, end);
  EXPECT_EQ(other.state.view, ViewName::memory);
}

TEST_F(KernelPageTest, WithAKernelOpenLayoutListsItsLayouts) {
  must("open add");
  must("select layout");
  EXPECT_EQ(session.field, "add");
  const Picture list = shown();
  for (const KernelCard::OwnLayout& own : session.state.kernel->layouts) {
    EXPECT_TRUE(leads_to(list, "open layout " + own.expression)) << own.name;
  }
  must("open layout (4,8):(8,1)");
  const auto choices = view_choices(session);
  const auto own = std::find_if(choices.begin(), choices.end(),
                                [](const Choice& each) { return each.title == "Of add"; });
  ASSERT_NE(own, choices.end());
  ASSERT_EQ(own->options.size(), 2u);
  EXPECT_TRUE(own->options[0].current);
  EXPECT_FALSE(own->options[1].current);
}

}  // namespace
}  // namespace tilescope
