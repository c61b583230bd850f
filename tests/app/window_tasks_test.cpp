// Six things that an engineer comes for, done by hand in the window over the program's own kernels
// and simulator, with what they cost: clicks and key strokes, a chord as one; text that is typed
// counts as one. docs/manual/tasks.md has the table beside a profiler, a trace viewer and a
// debugger.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "app/assets.h"
#include "app/window_backend.h"
#include "core/profile/run_time.h"
#include "core/sim/matrix/descriptor_fields.h"
#include "kernels/catalog/catalog.h"
#include "tests/kernels/bugs.h"
#include "tests/viz/ui_stage.h"
#include "viz/machine/kernel_card.h"
#include "viz/machine/memory_view.h"
#include "viz/session/kernel_page.h"
#include "viz/session/memory_views.h"
#include "viz/session/seek.h"
#include "viz/session/theatre_session.h"
#include "viz/session/timeline_session.h"
#include "viz/timeline/timeline_search.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;

class SixRunTasks : public test::WindowOver<AppBackend> {
 protected:
  SixRunTasks() { ImGui::GetIO().DisplaySize = {1600, 1000}; }

  // Until nothing is under way any more.
  void wait() {
    for (int i = 0; i < 60'000 && (busy(session) || !session.script.lines.empty()); ++i) {
      frame();
      if (session.running) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_FALSE(busy(session));
    settle();
  }
  void run(const std::string& kernel) {
    act("open " + kernel);
    act("run");
    wait();
  }
  void click_on(ImVec2 at) {
    click(at);
    settle();
  }
  void stroke(ui::Key key, bool control = false, bool shift = false) {
    press(key, control, shift);
    settle();
  }
  void write(const std::string& text) {
    type(text.c_str());
    settle();
  }
  // A tab over the view.
  void click_on_tab(const char* label) {
    const auto tab = middle_of({"", label});
    ASSERT_TRUE(tab) << "there is no tab " << label;
    click_on(*tab);
  }
  // A line of the inspector that does something.
  void click_on_link(std::string_view label) {
    for (const InspectorSection& section : inspector(session)) {
      for (const InspectorLink& link : section.links) {
        if (link.label != label) continue;
        const auto line = middle_of({link.command});
        ASSERT_TRUE(line) << label << " is not in sight";
        click_on(*line);
        return wait();
      }
    }
    FAIL() << "no line of the inspector says " << label;
  }
  std::string said(std::string_view title, std::string_view name) {
    std::string out;
    for (const InspectorSection& section : inspector(session)) {
      if (section.title != title) continue;
      for (const auto& line : section.lines) {
        if (line.first.substr(0, name.size()) == name) out += line.second + "\n";
      }
      for (const InspectorLink& link : section.links) {
        if (link.label == name) out += link.value + "\n";
      }
    }
    return out;
  }
  bool shows(std::string_view words) {
    for (const auto& item : window->picture().scene.items) {
      const Text* text = std::get_if<Text>(&item);
      if (text && text->text.find(words) != std::string::npos) return true;
    }
    return false;
  }
  // A stretch of the run in which block 0 is seen, as after some zooming.
  void look_at_timeline(double from, double to) {
    act("select timeline");
    act(fmt::format("timeline range {} {}", from, to));
    settle();
  }
  sim::EventId first(std::string_view words, double after = 0) {
    const auto filter = search_of(*session.state.timeline, words);
    EXPECT_TRUE(filter) << words;
    if (!filter) return sim::no_event;
    return session.state.timeline->timeline().next(*filter, static_cast<sim::Cycle>(after));
  }
  ImVec2 place(sim::EventId event) {
    const auto box = box_of(*session.state.timeline, *window->picture().timeline, event);
    EXPECT_TRUE(box) << "event " << event << " is not in view";
    return box ? on_display(box->centre()) : ImVec2{};
  }
};

TEST_F(SixRunTasks, WhoDoesThisWaitWaitFor) {
  run("hgemm_v7 --m 128 --n 128 --k 256");
  look_at_timeline(0, session.state.timeline->end());
  // The warp that multiplies, at its second pair of tiles.
  const sim::EventId wait = first("wait full[1] block 0");
  ASSERT_NE(wait, sim::no_event);
  const double begin = static_cast<double>(session.state.timeline->record().events[wait].begin);
  look_at_timeline(begin - 100, begin + 400);
  click_on(place(wait));
  EXPECT_EQ(session.state.timeline_choice.selected, wait);
  EXPECT_NE(said("Selected", "waits for").find("copies in"), std::string::npos)
      << said("Selected", "waits for");
  const std::string causes = said("Selected", "because of") + said("Selected", "and that of");
  EXPECT_NE(causes.find("copies in"), std::string::npos) << "and which of them: " << causes;
  EXPECT_EQ(clicks() + keys(), 1);
}

TEST_F(SixRunTasks, WhatIsSelectedInTheTimelineIsLookedAtEverywhere) {
  run("hgemm_v7 --m 128 --n 128 --k 256");
  act("select timeline");
  act("find wait full[1] block 0");
  const sim::Record& record = *session.state.result->record;
  const sim::Event wait_event = record.events[session.state.timeline_choice.selected];
  RunCursor& spot = session.state.spot;
  EXPECT_EQ(spot.warp, record.tracks[wait_event.track].index);
  EXPECT_EQ(spot.barrier, wait_event.object);
  ASSERT_TRUE(spot.line);
  EXPECT_EQ(spot.line->line, record.lines[wait_event.pc].ptx_line);
  // The machine is led to it; at the end of the run, where its CTA has exited, the line is shown
  // all the same, and how to go there.
  act("select source");
  wait();
  EXPECT_NEAR(time_of(*machine_of(session)), static_cast<double>(wait_event.begin), 1);
  EXPECT_FALSE(emptiness(session));
  act("go end");
  wait();
  EXPECT_TRUE(shows("Selected event: cycle"));
  const auto& targets = window->picture().scene.targets;
  const std::string go = fmt::format("go {}", wait_event.begin);
  EXPECT_TRUE(std::any_of(targets.begin(), targets.end(),
                          [&](const Target& target) { return target.command == go; }));
  // And the other way: who wrote an element.
  act("select matrices");
  act("pick 100 20");
  act("go write");
  wait();
  act("select timeline");
  settle();
  const sim::EventId written = session.state.timeline_choice.selected;
  ASSERT_LT(written, record.events.size());
  EXPECT_EQ(record.tracks[record.events.track(written)].unit, sim::Unit::copy_out);
  EXPECT_TRUE(box_of(*session.state.timeline, *window->picture().timeline, written));
}

// Of a warp with one lane in the pipeline the chip says what that lane waits for.
TEST_F(SixRunTasks, AChipSaysWhatTheLaneInThePipelineWaitsFor) {
  act("open hgemm_v7 --m 128 --n 128 --k 256");
  act("step barrier 3");
  wait();
  act("select registers");
  settle();
  EXPECT_FALSE(shows("4 l")) << "31 lanes wait for their elected one";
  EXPECT_TRUE(shows("m an mbarrier")) << "what the letters stand for";
}

TEST_F(SixRunTasks, WhichCopyFilledThisStage) {
  run("hgemm_v7 --m 128 --n 128 --k 256");
  act("go 3000");
  wait();
  act("select timeline");
  settle();
  click_on_tab("Memory");
  ASSERT_EQ(session.state.view, ViewName::memory);
  ASSERT_TRUE(window->picture().memory);
  // The first tile of shared memory.
  ASSERT_FALSE(window->picture().memory->map.empty());
  point(on_display(window->picture().memory->map.front().centre()));
  std::string all;
  for (const InspectorSection& section : inspector(session)) {
    for (const auto& [name, value] : section.lines) all += name + ": " + value + "\n";
  }
  EXPECT_NE(all.find("cp.async.bulk.tensor"), std::string::npos) << all;
  EXPECT_EQ(clicks() + keys(), 1);
}

TEST_F(SixRunTasks, FromTheFirstWrongElementToItsLine) {
  // One value of sixteen is subtracted.
  const fs::path file = fs::temp_directory_path() / fmt::format("tilescope_{}.ptx", getpid());
  const auto shipped = load_asset("ptx/elementwise_add.ptx");
  ASSERT_TRUE(shipped);
  std::string ptx(shipped->text());
  ptx.replace(ptx.rfind("add.f32"), 3, "sub");
  std::ofstream(file) << ptx;
  run("elementwise_add --m 64 --n 256 --ptx " + file.string());
  EXPECT_EQ(session.state.view, ViewName::diff);
  click_on_link("(3, 3)");
  EXPECT_NE(said("Selected", "source").find("elementwise_add.cu:"), std::string::npos);
  EXPECT_EQ(clicks() + keys(), 1);
  const std::string written = said("Selected", "written in cycles");
  click_on_link("its write");
  EXPECT_EQ(session.state.view, ViewName::source);
  // The machine stops where the store was executed, which is in the time of its access.
  const auto cycles = [](std::string words) {
    words.erase(std::remove(words.begin(), words.end(), ','), words.end());
    return std::stoll(words);
  };
  const std::string stands_at = moment_text(*session.state.live).substr(6);
  EXPECT_LE(cycles(written), cycles(stands_at)) << written;
  EXPECT_GE(cycles(written.substr(written.find(" to ") + 4)), cycles(stands_at)) << written;
  EXPECT_EQ(clicks() + keys(), 2);
  // The timeline stands there, too, whatever stretch of it was seen.
  const double moment = timeline_choice_of(session).moment.value_or(-1);
  EXPECT_GT(moment, 0);
  act("timeline range 0 1");
  act("step back line");
  wait();
  const CycleRange seen = session.timeline_viewport.range;
  const double now = timeline_choice_of(session).moment.value_or(-1);
  EXPECT_LE(seen.from, now);
  EXPECT_GE(seen.to, now);
  fs::remove(file);
}

TEST_F(SixRunTasks, CompareTwoSteps) {
  run("hgemm_v7 --m 256 --n 256 --k 256");
  stroke(static_cast<ui::Key>('P'), true, true);
  write("compare hgemm_v8");
  stroke(ui::Key::enter);
  wait();
  EXPECT_EQ(session.state.view, ViewName::compare);
  ASSERT_TRUE(session.state.comparison);
  EXPECT_EQ(session.state.comparison->baseline().kernel.name, "hgemm_v7");
  EXPECT_EQ(session.state.comparison->now().kernel.name, "hgemm_v8");
  EXPECT_EQ(session.state.comparison->now().kernel.sizes.front().value, 256);
  EXPECT_TRUE(shows("tensor core"));
  EXPECT_EQ(clicks(), 0);
  EXPECT_EQ(keys(), 2);
}

TEST_F(SixRunTasks, WhyIsTheTensorCoreIdleHere) {
  run("hgemm_v7 --m 128 --n 128 --k 512");
  const TimelineView& view = *session.state.timeline;
  const sim::EventId product = first("operation tensor core block 0");
  ASSERT_NE(product, sim::no_event);
  const double at = static_cast<double>(view.record().events[product].issue);
  look_at_timeline(at - 400, at + 200);
  const auto box = box_of(view, *window->picture().timeline, product);
  ASSERT_TRUE(box);
  point(on_display({window->picture().timeline->x_of(at - 50), box->centre().y}));
  EXPECT_NE(said("Under the pointer", "idle").find("cycles"), std::string::npos);
  EXPECT_NE(said("Under the pointer", "because").find("copies in"), std::string::npos)
      << said("Under the pointer", "because");
  EXPECT_NE(said("Under the pointer", "meanwhile").find("mbarrier"), std::string::npos)
      << said("Under the pointer", "meanwhile");
  EXPECT_EQ(clicks() + keys(), 0) << "pointing says it";
}

TEST_F(SixRunTasks, FindAPlantedBug) {
  const test::Bug bug = test::bug_of("ready_no_commit");
  const fs::path file = fs::temp_directory_path() / fmt::format("tilescope_{}_bug.ptx", getpid());
  std::ofstream(file) << test::ptx_of(bug);
  act(fmt::format("open {} --m {} --n {} --k {} --ptx {}", bug.kernel, bug.request.sizes.at("m"),
                  bug.request.sizes.at("n"), bug.request.sizes.at("k"), file.string()));
  settle();
  stroke(ui::Key::f5);
  wait();
  EXPECT_EQ(session.state.view, ViewName::why) << session.message.text;
  EXPECT_TRUE(session.message.failed);
  EXPECT_TRUE(shows("ready")) << "and the view says which barrier";
  EXPECT_TRUE(shows("missing") || shows("arriv")) << "and what is missing";
  EXPECT_EQ(clicks() + keys(), 1);
  fs::remove(file);
}

// What a block has left in flight lands with its last instruction: the place before is further
// back.
// hgemm_v7's warp 4 multiplies: its lane 0 does, while 31 lanes are at the barrier of all threads.
TEST_F(SixRunTasks, AWarpInTwoPlacesIsToldOfByItsLane) {
  run("hgemm_v7 --m 512 --n 512 --k 512");
  act("go 2000");
  wait();
  act("look warp 4");
  act("select source");
  wait();
  const std::string warp = "Warp 4 of CTA 0";
  EXPECT_EQ(said(warp, "role"), "MMAs\n");
  EXPECT_EQ(said(warp, "lanes active"), "0\n1-31\n");
  EXPECT_EQ(said(warp, "line").substr(0, 14), "hgemm_v7.cu:92");
  EXPECT_NE(said("Line 92, whole run", "issued"), "");
  act("look lane 5");
  wait();
  EXPECT_EQ(said(warp, "lanes active"), "1-31\n0\n");
  EXPECT_NE(said("Line 112, whole run", "issued"), "");
  act("look warp 7 lane 0");
  wait();
  EXPECT_EQ(said("Warp 7 of CTA 0", "role"), "copies in\n");
}

// What the catalog says of a kernel's warps is what they do.
TEST_F(SixRunTasks, ThePageSaysBeforeARunWhatWarpsDoInIt) {
  int with_roles = 0;
  for (const CatalogEntry& entry : catalog()) {
    if (entry.roles.empty()) continue;
    ++with_roles;
    run(entry.name + " --m 256 --n 512 --k 256");
    std::vector<std::string> said, done;
    for (const auto& role : session.state.kernel->roles) {
      said.push_back(warps_text(role.warps) + ": " + role.does);
    }
    for (const sim::Role& role : session.state.timeline->roles()) {
      if (role.name != "the others") done.push_back(warps_text(role.warps) + ": " + role.name);
    }
    std::sort(said.begin(), said.end());
    std::sort(done.begin(), done.end());
    EXPECT_EQ(said, done) << entry.name;
  }
  EXPECT_GE(with_roles, 10);
}

TEST_F(SixRunTasks, ThePageSaysWhoMadeWhichTileAndHowLongItTook) {
  run("hgemm_v7 --m 256 --n 512 --k 256");
  act("select kernel");
  settle();
  const KernelRun* ran = kernel_run(session);
  ASSERT_TRUE(ran);
  EXPECT_TRUE(ran->right);
  ASSERT_EQ(ran->rows, 2);
  ASSERT_EQ(ran->columns, 4);
  std::vector<std::int64_t> writers = ran->writers;
  std::sort(writers.begin(), writers.end());
  EXPECT_EQ(writers, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7})) << "each CTA has one";
  ASSERT_EQ(ran->stages.size(), 1u);
  EXPECT_EQ(ran->stages[0],
            "A, B: 2 stages of 32 KiB; full: full[0] to full[1]; free: empty[0] to empty[1]");
  // One figure, wherever it is told.
  const std::string time = sim::text(sim::run_time_of(*session.state.result->record));
  EXPECT_NE(time.find(" with its launch, "), std::string::npos);
  EXPECT_NE(ran->time.find(time), std::string::npos);
  std::string strip_says;
  for (const StripStep& step : strip(session, backend).steps) strip_says += step.value + "\n";
  EXPECT_NE(strip_says.find(time.substr(0, time.find(','))), std::string::npos) << strip_says;
  act("select timeline");
  settle();
  const std::string all = said("Run", "took") + said("Run", "with its launch");
  EXPECT_NE(all.find(time.substr(0, time.find(" with"))), std::string::npos) << all;
}

// The buttons under a view of the machine.
TEST_F(SixRunTasks, StepsStayInTheCtaAndItsCyclesGoForward) {
  for (const char* kernel : {"hgemm_v5 --m 256 --n 256 --k 256", "hgemm_v7 --m 256 --n 256 --k 256",
                             "wgmma_v8 --m 512 --n 512 --k 256", "matmul_tiled"}) {
    run(kernel);
    act("look block 1 warp 2");
    act("go 1200");
    wait();
    act("select barriers");
    settle();
    double before = time_of(*machine_of(session));
    for (int i = 0; i < 40; ++i) {
      const char* wanted[] = {"Step", "Barrier", "Line", "Step"};
      std::string command;
      for (const Tab& action : strip(session, backend).actions) {
        if (action.label == wanted[i % 4]) command = action.command;
      }
      ASSERT_NE(command, "");
      act(command);
      wait();
      if (session.message.text.find("no further") != std::string::npos) break;  // at its end
      const double now = time_of(*machine_of(session));
      EXPECT_GE(now, before) << kernel << ": " << command << ", step " << i << ": "
                             << session.message.text;
      EXPECT_EQ(session.state.spot.block, 1u) << kernel << ": " << command;
      before = now;
    }
  }
}

TEST_F(SixRunTasks, FromTheEndOneStepsBack) {
  for (const char* step : {"step back", "step back line", "step back moment"}) {
    run("hgemm_v7 --m 128 --n 128 --k 256");
    std::uint64_t stood = session.state.moment;
    for (int i = 0; i < 3; ++i) {
      act(step);
      wait();
      EXPECT_LT(session.state.moment, stood) << step << ": " << session.message.text;
      stood = session.state.moment;
    }
  }
}

// ---- Three more -------------------------------------------------------------------------------

TEST_F(SixRunTasks, FollowATile) {
  run("hgemm_v7 --m 128 --n 128 --k 512");
  look_at_timeline(0, session.state.timeline->end());
  click_on_tab("Theatre");
  ASSERT_EQ(session.state.view, ViewName::theatre);
  // The first stage that has something in it.
  const auto& targets = window->picture().scene.targets;
  const auto stage = std::find_if(targets.begin(), targets.end(), [](const Target& target) {
    return target.command.rfind("theatre follow tile", 0) == 0;
  });
  ASSERT_NE(stage, targets.end());
  click_on(on_display(stage->box.centre()));
  EXPECT_NE(said("Followed", "what").find("A ["), std::string::npos) << said("Followed", "what");
  EXPECT_NE(said("Followed", "there"), "") << "when it came";
  EXPECT_NE(said("Followed", "last read"), "");
  EXPECT_EQ(said("Followed", "goes into"), "D [0:128, 0:128]\n");
  EXPECT_EQ(clicks() + keys(), 2);
}

TEST_F(SixRunTasks, WhyIsThisProductLate) {
  run("hgemm_v7 --m 128 --n 128 --k 512");
  // One in the middle, before which the tensor core was idle.
  const TimelineView& view = *session.state.timeline;
  sim::EventId late = sim::no_event;
  sim::EventFilter products = *search_of(view, "operation tensor core block 0");
  for (const sim::EventId each : view.timeline().find(products, 0, ~sim::Cycle{0}, 64)) {
    const sim::Event event = view.record().events[each];
    const auto idle = idle_at(view, event.track, static_cast<double>(event.begin) - 1);
    if (late == sim::no_event && event.begin > 1000 && idle && idle->next == each) late = each;
  }
  ASSERT_NE(late, sim::no_event);
  const double at = static_cast<double>(view.record().events[late].begin);
  look_at_timeline(at - 1200, at + 300);
  click_on(place(late));
  EXPECT_NE(said("Selected", "idle before").find("cycles"), std::string::npos);
  const std::string causes = said("Selected", "because of") + said("Selected", "and that of");
  EXPECT_NE(causes.find("copies in"), std::string::npos) << causes;
  // The picture says it, too: what each arrow of the chain carries.
  EXPECT_TRUE(shows("16 KiB to full[")) << "the copy's bytes";
  EXPECT_TRUE(shows("issues")) << "and who issued the product then";
  EXPECT_EQ(clicks() + keys(), 1);
}

TEST_F(SixRunTasks, WhatDoesThisDescriptorSay) {
  act("open hgemm_v7 --m 128 --n 128 --k 256");
  settle();
  // Behind a first product, and up to the next one: its operands are in registers then.
  for (const char* line : {"step mma", "step 4"}) {
    stroke(static_cast<ui::Key>('P'), true, true);
    write(line);
    stroke(ui::Key::enter);
    wait();
  }
  click_on_tab("Registers");
  const sim::Machine& machine = session.state.live->stepper.machine();
  const sim::WarpState warp = sim::warps_of(machine, 0)[session.state.spot.warp];
  const std::string_view next = warp.splits[sim::split_of_lane(warp, session.state.spot.lane)].text;
  ASSERT_NE(next.find("tcgen05.mma"), next.npos) << next;
  const auto a = session.state.live->registers.find(machine, 0, session.state.spot.warp, "%rd11");
  ASSERT_NE(next.find("%rd11"), next.npos) << next;
  ASSERT_TRUE(a && shows("%rd11"));
  // What `tilescope explain desc` says of it, one line at a prompt more: 128-byte swizzle.
  bool swizzled = false;
  for (const sim::BitField& field : sim::tcgen05_matrix_fields(a->low[0])) {
    swizzled = swizzled || (field.name == "swizzle" && field.meaning.rfind("128 bytes", 0) == 0);
  }
  EXPECT_TRUE(swizzled);
  EXPECT_EQ(clicks(), 1);
  EXPECT_EQ(keys(), 4);
}

// ---- What the machine's views say of a run's pipeline ------------------------------------------

TEST_F(SixRunTasks, MachineViewsShowStagesDialsAndSteps) {
  run("hgemm_v7 --m 128 --n 128 --k 512");
  act("select theatre");
  settle();
  act(fmt::format("go {}", static_cast<std::uint64_t>(theatre_of(session)->opening())));
  wait();
  const PipelineNow* now = pipeline_of_moment(session);
  ASSERT_TRUE(now);
  ASSERT_EQ(now->stages.size(), 2u);
  ASSERT_EQ(now->sums.size(), 1u);
  ASSERT_TRUE(now->sums[0].step);
  // The record's phases are the machine's.
  const sim::Machine& machine = session.state.live->stepper.machine();
  std::size_t compared = 0;
  for (const sim::MbarrierState& of : sim::mbarriers_of(machine, 0)) {
    for (const BarrierDial& dial : now->barriers) {
      if (dial.offset != of.offset) continue;
      EXPECT_EQ(dial.dial.phase, of.phase) << dial.name;
      EXPECT_EQ(dial.dial.waited, !of.waiting.empty()) << dial.name;
      ++compared;
    }
  }
  EXPECT_GE(compared, 4u);
  act("select memory");
  settle();
  EXPECT_TRUE(shows("stage 0: ") && shows("stage 1: "));
  // A tile in a stage has its step's hue, and its columns of A are those of that step.
  std::size_t tiles = 0;
  for (const MemoryPart& part : shared_memory_of(session)->parts) {
    if (!part.step) continue;
    EXPECT_EQ(part_colour(part, session.theme()), step_colour(*part.step, session.theme()));
    const std::uint32_t from = *part.step * 64;
    EXPECT_NE(part.name.find(fmt::format(", {}:{}]", from, from + 64)), std::string::npos)
        << part.name << " as step " << *part.step;
    ++tiles;
  }
  EXPECT_GE(tiles, 2u);
  // A click on a stage shows it; both orders of it side by side hold the same bytes.
  act("memory order both");
  const auto& targets = window->picture().scene.targets;
  const auto chip = std::find_if(targets.begin(), targets.end(), [](const Target& target) {
    return target.command == "look byte 0" && target.hint == "shows it alone";
  });
  ASSERT_NE(chip, targets.end());
  click_on(on_display(chip->box.centre()));
  ASSERT_EQ(window->picture().memory->cards.size(), 2u);
  EXPECT_FALSE(window->picture().memory->cards[0].physical);
  EXPECT_TRUE(window->picture().memory->cards[1].physical);
  for (const MemoryCard& card : window->picture().memory->cards) {
    const auto at = window->picture().memory->place_in(card, 2000);
    ASSERT_TRUE(at);
    const double pixel = card.cell_width() / card.cell_bytes;
    const Point middle{card.grid.x + (at->byte + 0.5) * pixel,
                       card.grid.y + (at->row + 0.5) * card.cell_height()};
    EXPECT_EQ(byte_at(*window->picture().memory, middle), 2000u);
  }
  act("select tmem");
  settle();
  EXPECT_TRUE(shows(fmt::format("k{} was added last", *now->sums[0].step)));
  EXPECT_TRUE(shows("for D [0:128, 0:128]"));
  act("select barriers");
  settle();
  EXPECT_TRUE(shows("full[0]"));
  for (const auto& item : window->picture().scene.items) {
    const Text* text = std::get_if<Text>(&item);
    EXPECT_FALSE(text && text->ink.role == Role::wrong)
        << text->text << " is red, and nothing is wrong";
  }
  // The lanes that a warp loads are told while it does.
  const auto load = first("operation tmem loads block 0");
  ASSERT_NE(load, sim::no_event);
  const sim::Event loading = session.state.timeline->record().events[load];
  act(fmt::format("go {}", (loading.begin + loading.end) / 2));
  wait();
  act("select tmem");
  settle();
  EXPECT_TRUE(shows("warp 0 loads"));
}

TEST_F(SixRunTasks, TheMomentGoesWhereItIsDroppedOnTheAxis) {
  run("hgemm_v7 --m 128 --n 128 --k 256");
  act("select timeline");
  settle();
  const TimelineFrame now = *window->picture().timeline;
  const double y = now.axis.y + 8;
  drag(on_display({now.x_of(1000), y}), on_display({now.x_of(3000), y}));
  wait();
  EXPECT_FALSE(session.timeline_playhead);
  EXPECT_NEAR(timeline_choice_of(session).moment.value_or(0), 3000, 60 + now.cycles_of_pixel());
}

}  // namespace
}  // namespace tilescope
