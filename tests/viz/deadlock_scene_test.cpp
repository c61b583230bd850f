// The picture of a deadlock, of a cause made by hand: a consumer waits for `full`, the producer for
// `empty`, each behind the other; and of a barrier that a branch keeps a warp from.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <variant>

#include "viz/why/deadlock_scene.h"

namespace tilescope {
namespace {

Scene deadlock_scene(const DeadlockCause& cause, Size size, const Theme& theme) {
  Scene out;
  out.size = size;
  out.theme = theme;
  draw_deadlock(out, cause, {0, 0, size.width, size.height});
  return out;
}

using Cause = DeadlockCause;

Site at(std::uint32_t line, std::uint32_t warp) {
  Site site;
  site.source = "kernels/ring.cu";
  site.source_line = line;
  site.ptx_line = 10 * line;
  site.warp = warp;
  return site;
}

Cause::WaitedFor barrier(std::string name, std::uint32_t offset, Cause::Source source) {
  Cause::WaitedFor out;
  out.name = std::move(name);
  out.object = offset;
  out.count = out.pending = 1;
  out.made = at(5, 0);
  out.sources.push_back(std::move(source));
  return out;
}

Cause::Source source(std::string opcode, std::uint32_t line, Cause::NotCome why) {
  Cause::Source out;
  out.opcode = std::move(opcode);
  out.site = at(line, 0);
  out.arrives = out.certain = true;
  out.not_come.push_back(std::move(why));
  return out;
}

Cause::NotCome waits(std::uint32_t warp, std::uint32_t line, std::size_t barrier) {
  Cause::NotCome out;
  out.why = Cause::Why::waits;
  out.warps = {0, std::uint64_t{1} << warp};
  out.pc = line;
  out.site = at(line, warp);
  out.waits_for = barrier;
  return out;
}

Cause::Waiting waiting(std::uint32_t warp, std::uint32_t line, std::size_t barrier) {
  Cause::Waiting out;
  out.warps = {0, std::uint64_t{1} << warp};
  out.lanes = 1;
  out.site = at(line, warp);
  out.opcode = "mbarrier.try_wait.parity.shared.b64";
  out.waits_for = barrier;
  return out;
}

Cause ring() {
  Cause out;
  out.barriers = {
      barrier("empty[0]", 16, source("tcgen05.commit.cta_group::1.b64", 30, waits(4, 20, 1))),
      barrier("full[0]", 0, source("mbarrier.arrive.expect_tx.b64", 12, waits(7, 10, 0)))};
  out.waiting = {waiting(7, 10, 0), waiting(4, 20, 1)};
  out.cycle = {0, 1};
  out.sentence = first_cause_text(out);
  return out;
}

std::vector<std::string> texts_of(const Scene& scene) {
  std::vector<std::string> out;
  for (const Item& item : scene.items) {
    if (const auto* text = std::get_if<Text>(&item)) out.push_back(text->text);
  }
  return out;
}

// Lines with a head, by whether they are dashed.
std::size_t arrows(const Scene& scene, bool dashed, Role role) {
  return static_cast<std::size_t>(
      std::count_if(scene.items.begin(), scene.items.end(), [&](const Item& item) {
        const auto* line = std::get_if<Line>(&item);
        return line && line->arrow && line->stroke.dashed == dashed &&
               line->stroke.ink.role == role;
      }));
}

TEST(DeadlockScene, WaitsAreArrowsAndWhatDidNotComeIsDashed) {
  const Scene scene = deadlock_scene(ring(), {1000, 500}, light_theme());
  EXPECT_EQ(arrows(scene, false, Role::text), 2u);   // who waits
  EXPECT_EQ(arrows(scene, true, Role::quiet), 2u);   // what did not come
  EXPECT_EQ(arrows(scene, false, Role::wrong), 2u);  // the round
  const std::vector<std::string> texts = texts_of(scene);
  for (const char* wanted : {"warp 7", "empty[0]", "tcgen05.commit, ring.cu:30",
                             "warp 4 waits itself at ring.cu:20 for full[0]", "phase 0, parity 0",
                             "lacks 1 of 1 arrival"}) {
    EXPECT_TRUE(std::count(texts.begin(), texts.end(), wanted)) << wanted;
  }
}

TEST(DeadlockScene, WhatGoesRoundIsRedAndWhatDoesNotIsNot) {
  Cause cause = ring();
  cause.cycle.clear();
  const Scene scene = deadlock_scene(cause, {1000, 500}, light_theme());
  EXPECT_EQ(arrows(scene, false, Role::wrong), 0u);
}

TEST(DeadlockScene, CopiesOfAnUnrolledLoopAreNumbered) {
  Cause cause = ring();
  std::vector<Cause::Source>& sources = cause.barriers[0].sources;
  sources[0].pc = 40;
  sources.push_back(sources[0]);
  sources[1].pc = 60;
  sources[1].not_come[0].phases = 2;
  const std::vector<std::string> texts =
      texts_of(deadlock_scene(cause, {1600, 500}, light_theme()));
  for (const char* wanted :
       {"tcgen05.commit, ring.cu:30 (copy 1 of 2)", "tcgen05.commit, ring.cu:30 (copy 2 of 2)",
        "warp 4 waits itself at ring.cu:20 for full[0], after it executed it in 2 phases",
        "mbarrier.arrive.expect_tx, ring.cu:12"}) {
    EXPECT_TRUE(std::count(texts.begin(), texts.end(), wanted)) << wanted;
  }
}

TEST(DeadlockScene, ClicksLeadToTheLine) {
  const Scene scene = deadlock_scene(ring(), {1000, 500}, dark_theme());
  const auto leads = [&](const std::string& command) {
    return std::any_of(scene.targets.begin(), scene.targets.end(),
                       [&](const Target& t) { return t.command == command; });
  };
  EXPECT_TRUE(leads("look block 0 warp 4 line kernels/ring.cu:20 in source"));
  EXPECT_TRUE(leads("look block 0 warp 4 line kernels/ring.cu:30 in source"));
}

TEST(DeadlockScene, NothingLiesOutsideOfTheRoomThatItAsksFor) {
  const Cause cause = ring();
  for (const double width : {640.0, 1000.0, 1600.0}) {
    Scene scene;
    const Box room{0, 0, width, deadlock_height(cause, width)};
    draw_deadlock(scene, cause, room);
    for (const Item& item : scene.items) {
      if (const auto* box = std::get_if<Rectangle>(&item)) {
        EXPECT_LE(box->box.right(), width);
        EXPECT_LE(box->box.bottom(), room.height);
      }
    }
  }
}

TEST(DeadlockScene, TheSentenceSaysWhyInOrder) {
  EXPECT_EQ(ring().sentence,
            "Warp 7 waits at ring.cu:10 (PTX line 100) for phase 0 of empty[0], which lacks 1 of 1 "
            "arrival. Warp 4 (tcgen05.commit at ring.cu:30 (PTX line 300)) waits itself at "
            "ring.cu:20 (PTX line 200) for phase 0 of full[0], before it comes to it. The waits go "
            "round: empty[0] waits for full[0], that for empty[0].");
  Cause branch = ring();
  branch.cycle.clear();
  Cause::NotCome& why = branch.barriers[0].sources[0].not_come[0];
  why.why = Cause::Why::branch;
  why.waits_for = Cause::none;
  why.detail = "%p3 is false";
  EXPECT_NE(
      first_cause_text(branch).find("Warp 4 (tcgen05.commit at ring.cu:30 (PTX line 300)) has "
                                    "not come to it: the branch at ring.cu:20 (PTX line 200) "
                                    "took it another way, as %p3 is false."),
      std::string::npos)
      << first_cause_text(branch);
}

TEST(DeadlockScene, DescribesWhatItShows) {
  const Json told = describe_deadlock(ring());
  EXPECT_EQ(told["barriers"].size(), 2u);
  EXPECT_EQ(told["barriers"][0]["sources"][0]["why"][0],
            "warp 4 waits itself at ring.cu:20 (PTX line 200) for phase 0 of full[0], before it "
            "comes to it");
}

}  // namespace
}  // namespace tilescope
