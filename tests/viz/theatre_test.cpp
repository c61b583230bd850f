// The theatre at times of a record that was made by hand (tests/sim/pipeline_record.h): the figures
// are those that its times say.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/profile/statistics.h"
#include "core/run/deadlock_cause.h"
#include "tests/sim/pipeline_record.h"
#include "viz/paint/player.h"
#include "viz/theatre/theatre_scene.h"

namespace tilescope {
namespace {

sim::Record with_uses() {
  sim::Record record = test::pipeline_record();
  test::add_uses(record);
  return record;
}

std::shared_ptr<const TheatreView> theatre(sim::Record made = with_uses(),
                                           std::uint64_t cluster = 0) {
  const auto roles = sim::statistics_of(made).roles;
  auto record = std::make_shared<const sim::Record>(std::move(made));
  auto timeline = std::make_shared<const sim::Timeline>(*record);
  return std::make_shared<const TheatreView>(record, timeline, roles, cluster);
}

using StageState = TheatreStage::State;
using SumState = TheatreSum::State;

TEST(Theatre, StagesGoFromEmptyToRead) {
  const auto view = theatre();
  const auto state = [&](double at, std::size_t stage) {
    return theatre_at(*view, at).stages[stage].state;
  };
  EXPECT_EQ(state(2, 0), StageState::empty);
  EXPECT_EQ(state(4, 0), StageState::coming);  // issued
  EXPECT_EQ(state(44, 0), StageState::coming);
  EXPECT_EQ(state(45, 0), StageState::full);
  EXPECT_EQ(state(50, 0), StageState::read);
  EXPECT_EQ(state(70, 0), StageState::used);
  EXPECT_EQ(state(72, 0), StageState::empty);
  EXPECT_EQ(state(78, 0), StageState::coming);  // the third tile
  EXPECT_EQ(state(60, 1), StageState::full);
  EXPECT_EQ(state(80, 1), StageState::read);
}

TEST(Theatre, CopiesAreAsFarAsTheirTimesSay) {
  const auto view = theatre();
  const TheatreNow queued = theatre_at(*view, 4);
  ASSERT_EQ(queued.copies.size(), 1u);
  EXPECT_TRUE(queued.copies[0].queued);
  const TheatreNow now = theatre_at(*view, 25);
  ASSERT_EQ(now.copies.size(), 2u);
  EXPECT_FALSE(now.copies[0].queued);
  EXPECT_DOUBLE_EQ(now.copies[0].share, 0.5);  // of 5 to 45
  EXPECT_DOUBLE_EQ(now.copies[1].share, 0.3);  // of 10 to 60
  EXPECT_EQ(now.copies[0].stage, 0u);
  ASSERT_TRUE(now.copies[1].part);
  EXPECT_EQ(now.copies[1].part->column, 16u);
  EXPECT_EQ(now.copies[1].step, 1u);
}

// As the other views draw them, too.
TEST(Theatre, StagesAndDialsAreTheSameInAllViews) {
  const auto view = theatre();
  const TheatreNow now = theatre_at(*view, 25);
  const StageContents coming = contents_of(*view, now, 0);
  EXPECT_EQ(coming.state, StageState::coming);
  ASSERT_EQ(coming.tiles.size(), 1u);
  EXPECT_EQ(coming.tiles[0].label, "A");
  EXPECT_DOUBLE_EQ(coming.tiles[0].share, 0.5);
  EXPECT_EQ(contents_of(*view, now, 1).step, 1u);
  const StageContents full = contents_of(*view, theatre_at(*view, 46), 0);
  EXPECT_EQ(full.state, StageState::full);
  EXPECT_DOUBLE_EQ(full.tiles[0].share, 1);
  EXPECT_EQ(contents_of(*view, theatre_at(*view, 2), 0).tiles.size(), 0u);
  for (const TheatreBarrier& barrier : now.barriers) {
    const Dial dial = dial_of(barrier);
    EXPECT_EQ(dial.phase, barrier.phase);
    EXPECT_EQ(dial.waited, !barrier.waiting.empty());
    EXPECT_EQ(dial.share, barrier.share());
    const std::string waits = waiting_text(view->pipeline(), barrier);
    EXPECT_EQ(waits.empty(), barrier.waiting.empty());
    const bool told = dial_text(barrier, "full").find("wait") != std::string::npos;
    EXPECT_EQ(told, !barrier.waiting.empty());
  }
}

// Twenty-one steps have hues of their own, in both themes; then they come again.
TEST(Theatre, AHueIsOneStep) {
  for (const Theme& theme : {light_theme(), dark_theme()}) {
    for (std::uint32_t a = 0; a < 21; ++a) {
      EXPECT_EQ(step_colour(a, theme), step_colour(a + 21, theme));
      for (std::uint32_t b = 0; b < a; ++b) {
        EXPECT_FALSE(step_colour(a, theme) == step_colour(b, theme)) << a << " " << b;
      }
    }
  }
}

// Two copies for one phase: the first is there at 30, the other at 45.
TEST(Theatre, AStageIsPartlyThere) {
  sim::Record record = with_uses();
  const std::size_t uses = record.uses.size();
  for (std::size_t i = 0; i < uses; ++i) {
    sim::MemoryUse use = record.uses[i];
    sim::Event copy = record.events[use.event];
    if (copy.issue != 4 || record.tracks[copy.track].unit != sim::Unit::copy_in) continue;
    if (use.of != sim::MemoryUse::Of::shared) continue;
    copy.end = 30;
    record.events.push_back(copy);
    use.event = static_cast<sim::EventId>(record.events.size() - 1);
    use.column = 8192;
    record.uses.push_back(use);
  }
  ASSERT_EQ(record.uses.size(), uses + 1);
  const auto view = theatre(std::move(record));
  const auto at = [&](double time) {
    const TheatreNow now = theatre_at(*view, time);
    for (std::size_t i = 0; i < now.stages.size(); ++i) {
      if (view->pipeline().stages[i].spans.size() != 2) continue;  // bytes 0-4095, 8192-12287
      const auto copies = std::count_if(now.copies.begin(), now.copies.end(),
                                        [&](const TheatreCopy& copy) { return copy.stage == i; });
      return std::pair<std::uint64_t, long>(now.stages[i].arrived, copies);
    }
    return std::pair<std::uint64_t, long>(1, -1);
  };
  EXPECT_EQ(at(25), (std::pair<std::uint64_t, long>(0, 2)));
  EXPECT_EQ(at(35), (std::pair<std::uint64_t, long>(4096, 1)));
  EXPECT_EQ(at(46), (std::pair<std::uint64_t, long>(8192, 0)));
}

// Whichever copy is issued first, tiles stand in the order of their addresses, with names that say
// which is which.
TEST(Theatre, TilesStandByTheirAddresses) {
  sim::Record record = with_uses();
  const std::size_t uses = record.uses.size();
  for (std::size_t i = 0; i < uses; i += 2) {  // what of A, then where
    sim::MemoryUse part = record.uses[i], place = record.uses[i + 1];
    sim::Event copy = record.events[part.event];
    if (copy.issue != 4 || record.tracks[copy.track].unit != sim::Unit::copy_in) continue;
    copy.issue = 2, copy.begin = 3;
    record.events.push_back(copy);
    part.event = place.event = static_cast<sim::EventId>(record.events.size() - 1);
    part.row = 16;
    place.column = 8192;
    record.uses.push_back(part);
    record.uses.push_back(place);
    break;
  }
  ASSERT_EQ(record.uses.size(), uses + 2);
  const auto view = theatre(std::move(record));
  const TheatreNow now = theatre_at(*view, 46);
  for (std::size_t i = 0; i < now.stages.size(); ++i) {
    if (view->pipeline().stages[i].spans.size() != 2) continue;
    const sim::Filling& filling = *now.stages[i].filling;
    ASSERT_EQ(filling.parts.size(), 2u);
    EXPECT_EQ(filling.parts[0].row, 0u);
    EXPECT_EQ(filling.parts[1].row, 16u);
    const StageContents contents = contents_of(*view, now, i);
    ASSERT_EQ(contents.tiles.size(), 2u);
    EXPECT_EQ(contents.tiles[0].label, "A0");
    EXPECT_EQ(contents.tiles[1].label, "A1");
    return;
  }
  FAIL() << "no stage has two parts";
}

TEST(Theatre, TheProductAndItsSum) {
  const auto view = theatre();
  const TheatreNow now = theatre_at(*view, 75);
  ASSERT_EQ(now.products.size(), 1u);
  EXPECT_DOUBLE_EQ(now.products[0].share, 0.25);  // of 70 to 90
  EXPECT_EQ(now.products[0].number, 1u);
  EXPECT_EQ(now.products[0].of, 3u);
  EXPECT_EQ(now.products[0].step, 1u);
  EXPECT_EQ(now.products[0].stages, (std::vector<std::size_t>{1}));
  EXPECT_EQ(now.sums[0].state, SumState::adding);
  EXPECT_EQ(now.sums[0].done, 1u);
  EXPECT_EQ(theatre_at(*view, 145).sums[0].state, SumState::added);
  EXPECT_EQ(theatre_at(*view, 147).sums[0].state, SumState::complete);
  const TheatreNow reading = theatre_at(*view, 160);
  EXPECT_EQ(reading.sums[0].state, SumState::read);
  EXPECT_EQ(reading.loads.size(), 2u);
  EXPECT_EQ(theatre_at(*view, 172).sums[0].state, SumState::used);
}

// What is added and what is under way, by the same rule in all views.
TEST(Theatre, ASumSaysWhatIsAddedAndWhatIsUnderWay) {
  const auto view = theatre();
  const auto told = [&](double at) { return state_text(theatre_at(*view, at).sums[0]); };
  EXPECT_EQ(told(55), "k0 now");
  EXPECT_EQ(told(75), "k0 added, k1 now");
  EXPECT_EQ(told(95), "k0-k1 added");
  EXPECT_EQ(told(130), "k0-k1 added, k2 now");
  EXPECT_EQ(told(147), "complete");
  EXPECT_EQ(told(160), "being read, 0%");
}

// Without a copy nothing tells which part of K a product takes.
TEST(Theatre, NoStepIsToldThatNoCopyTells) {
  sim::Record record = with_uses();
  std::erase_if(record.uses, [&](const sim::MemoryUse& use) {
    return record.tracks[record.events[use.event].track].unit == sim::Unit::copy_in;
  });
  const auto view = theatre(std::move(record));
  const TheatreNow now = theatre_at(*view, 75);
  ASSERT_EQ(now.products.size(), 1u);
  EXPECT_FALSE(now.products[0].known_step);
  EXPECT_EQ(now.sentence, "The tensor core is at product 1 of 0 to 2.");
  EXPECT_EQ(state_text(now.sums[0]), "1 of 3 products");
}

// Both CTAs as one cluster; the second does the same 100 cycles later.
sim::Record cluster_of_two() {
  sim::Record record = with_uses();
  record.launch.cluster = Dim3{2, 1, 1};
  for (sim::MemoryUse& use : record.uses) {
    use.rank = static_cast<std::uint8_t>(record.tracks[record.events[use.event].track].block);
  }
  return record;
}

TEST(Theatre, WhatIsCountedIsOfTheCtaThatIsShown) {
  const auto view = theatre(cluster_of_two());
  ASSERT_EQ(view->pipeline().blocks.size(), 2u);
  EXPECT_EQ(theatre_at(*view, 75, 0).products.size(), 1u);
  EXPECT_EQ(theatre_at(*view, 75, 1).products.size(), 0u);
  EXPECT_EQ(theatre_at(*view, 75, 1).sentence, "The CTA has not started.");
  EXPECT_EQ(theatre_at(*view, 110, 0).copies.size(), 1u);  // of 80 to 120
  EXPECT_EQ(theatre_at(*view, 110, 1).copies.size(), 2u);  // one of them queued
  EXPECT_EQ(theatre_at(*view, 175, 0).sentence, "Nothing is in flight: 2 warps run.");
  EXPECT_EQ(theatre_at(*view, 175, 1).sentence,
            "The tensor core multiplies k-step 1 of 0 to 2, read from stage 1.");
}

std::vector<std::string> texts_of(const Scene& scene) {
  std::vector<std::string> out;
  for (const Item& item : scene.items) {
    if (const auto* text = std::get_if<Text>(&item)) out.push_back(text->text);
  }
  return out;
}

// The copies of a pair arrive at the mbarrier of one of its CTAs: it has one dial.
TEST(Theatre, AnMbarrierOfThePairHasOneDial) {
  sim::Record record = cluster_of_two();
  for (sim::Track& track : record.tracks) {
    if (track.block == 1 && track.unit == sim::Unit::mbarrier && track.index == 1024) {
      track.index = 4096;  // of no copy
    }
  }
  for (sim::MemoryUse& use : record.uses) {  // its products take from both
    if (use.operand == sim::MemoryUse::Operand::a) use.rank = 1 - use.rank;
  }
  const auto view = theatre(std::move(record));
  ASSERT_EQ(view->ranks_with(0).size(), 2u);
  const auto& stages = view->pipeline().stages;
  const auto other =
      std::find_if(stages.begin(), stages.end(), [](const auto& stage) { return stage.rank == 1; });
  ASSERT_TRUE(other != stages.end() && other->full);
  ASSERT_EQ(view->pipeline().barriers[*other->full].rank, 0);
  Scene scene;
  const TheatreNow now = theatre_at(*view, 30);
  draw_theatre(scene, {*view, now, light_theme()}, {1600, 1000});
  // Beside both stages of CTA 0, and none of CTA 1.
  const auto dials = std::count_if(scene.hints.begin(), scene.hints.end(), [](const auto& hint) {
    return hint.text.starts_with("mbarrier 1024");
  });
  EXPECT_EQ(dials, 2);
}

// The whole run's end, and that of this CTA; as seconds by the clock that the run's time says.
TEST(Theatre, TheHeadSaysTheRunsEndAndTheCtas) {
  const auto view = theatre();
  Scene scene;
  const TheatreNow now = theatre_at(*view, 75);
  draw_theatre(scene, {*view, now, light_theme()}, {1600, 1000});
  const auto all = texts_of(scene);
  // 340 cycles in 200 ns less the launch's 10 are 1.789 GHz.
  EXPECT_EQ(std::count(all.begin(), all.end(), "cycle 75 (42 ns) of 340, CTA 0, until 200"), 1)
      << all[1];
}

// arrive.expect_tx for each copy, then its bytes.
TEST(Theatre, BytesAreExpectedOnceTheyAre) {
  sim::Record record = with_uses();
  const auto full = std::find_if(record.tracks.begin(), record.tracks.end(), [](const auto& track) {
    return track.block == 0 && track.unit == sim::Unit::mbarrier && track.index == 1024;
  });
  const auto add = [&](sim::Cycle at, std::uint32_t phase, std::uint64_t amount, bool bytes) {
    sim::Event e;
    e.kind = sim::EventKind::arrival;
    e.track = static_cast<sim::TrackId>(full - record.tracks.begin());
    e.issue = e.begin = e.end = at;
    e.amount = amount, e.phase = phase, e.bytes = bytes;
    record.events.push_back(e);
  };
  const sim::Cycle times[3][2] = {{4, 45}, {50, 60}, {78, 120}};
  for (std::uint32_t phase = 0; phase < 3; ++phase) {
    add(times[phase][0], phase, 1, false);
    add(times[phase][1], phase, 4096, true);
  }
  const auto view = theatre(std::move(record));
  const auto number = view->pipeline().mbarrier(0, 1024);
  ASSERT_TRUE(number);
  const auto told = [&](double at) {
    return dial_text(theatre_at(*view, at).barriers[*number], "full");
  };
  EXPECT_EQ(told(48), "full, phase 1 (parity 1), 0 of 1 arrivals");
  EXPECT_EQ(told(55), "full, phase 1 (parity 1), 1 of 1 arrivals, 0 of 4,096 bytes, 1 warp waits");
  EXPECT_EQ(told(130), "full, phase 3 (parity 1), not begun");
}

TEST(Theatre, WarpsWaitForTheBarrierOfThatTime) {
  const auto view = theatre();
  const TheatreNow now = theatre_at(*view, 30);
  ASSERT_EQ(now.warps.size(), 4u);
  EXPECT_EQ(now.warps[0].state, TheatreWarp::State::waits);
  EXPECT_EQ(now.warps[0].doing, "waits for mbarrier 1040, phase 0");
  EXPECT_EQ(now.warps[1].doing, "waits for mbarrier 1024, phase 0");
  ASSERT_TRUE(now.warps[1].barrier);
  EXPECT_EQ(now.barriers[*now.warps[1].barrier].waiting, (std::vector<std::size_t>{1}));
  EXPECT_EQ(now.barriers[*now.warps[1].barrier].phase, 0u);
  EXPECT_EQ(theatre_at(*view, 50).barriers[*now.warps[1].barrier].phase, 1u);
  EXPECT_EQ(theatre_at(*view, 48).warps[1].state, TheatreWarp::State::runs);
  EXPECT_EQ(theatre_at(*view, 250).warps[1].state, TheatreWarp::State::exited);
}

// A run that a deadlock ended: whoever has not exited waits, for what never comes.
TEST(Theatre, NobodyWhoWaitsForEverHasExited) {
  sim::Record record = with_uses();
  auto cause = std::make_shared<DeadlockCause>();
  DeadlockCause::WaitedFor empty;
  empty.name = "empty[0]";
  empty.object = 1040;
  DeadlockCause::Waiting producer;
  producer.warps.mask = 1;
  producer.waits_for = 0;
  producer.pc = 2;
  producer.phase = 7;
  empty.count = 2;
  cause->barriers.push_back(empty);
  cause->waiting.push_back(producer);
  Report report;
  report.kind = "deadlock";
  report.deadlock = cause;
  record.reports.push_back(report);
  record.lines.resize(6);
  for (sim::RecordedLine& line : record.lines) line.text = "mov.b32 %r1, %exit;";
  record.lines[3].text = "@%p1 ret;";
  const auto view = theatre(record);
  const TheatreNow now = theatre_at(*view, 400);
  EXPECT_EQ(now.warps[0].state, TheatreWarp::State::waits);
  EXPECT_EQ(now.warps[0].doing, "waits for empty[0], phase 7");
  EXPECT_EQ(now.warps[0].event.pc, 2u);
  ASSERT_TRUE(now.warps[0].barrier);
  EXPECT_EQ(now.barriers[*now.warps[0].barrier].waiting, (std::vector<std::size_t>{0}));
  EXPECT_EQ(now.barriers[*now.warps[0].barrier].arrivals_of, 2u);  // not as many as came
  EXPECT_EQ(now.warps[1].state, TheatreWarp::State::exited);       // its last instruction is ret
  EXPECT_EQ(now.warps[2].state, TheatreWarp::State::stopped);      // nobody says that it waits
  EXPECT_EQ(now.sentence, "Nobody goes on: warp 0 waits for empty[0], phase 7.");
  // Before its last event, as ever.
  EXPECT_EQ(theatre_at(*view, 76).warps[0].state, TheatreWarp::State::runs);

  // The cause is of the first cluster; in the other one they stood when the run ended.
  const auto other = theatre(record, 1);
  EXPECT_EQ(theatre_at(*other, 500).warps[0].state, TheatreWarp::State::stopped);
  EXPECT_EQ(theatre_at(*other, 500).sentence,
            "A fault ended the run here: 3 warps had not exited.");

  // A hazard ends nothing.
  record.reports[0].weight = Weight::hazard;
  EXPECT_EQ(theatre_at(*theatre(record), 400).sentence, "All warps have exited.");
}

TEST(Theatre, TheSentenceSaysWhatMoves) {
  const auto view = theatre();
  EXPECT_EQ(theatre_at(*view, 75).sentence,
            "The tensor core multiplies k-step 1 of 0 to 2, read from stage 1.");
  EXPECT_EQ(
      theatre_at(*view, 85).sentence,
      "The tensor core multiplies k-step 1 of 0 to 2, read from stage 1. Copies bring k-step 2 "
      "into stage 0.");
  EXPECT_EQ(theatre_at(*view, 160).sentence, "Warps read a sum from TMEM.");
  EXPECT_EQ(theatre_at(*view, 146).sentence,
            "Nothing is in flight: warp 2 waits for mbarrier 1056, phase 0.");
  EXPECT_EQ(theatre_at(*view, 400).sentence, "All warps have exited.");
}

TEST(Theatre, StepsGoToTheNextAndBack) {
  const auto view = theatre();
  EXPECT_EQ(view->next(TheatreStep::product, 0), 50.0);
  EXPECT_EQ(view->next(TheatreStep::product, 50), 70.0);
  EXPECT_EQ(view->previous(TheatreStep::product, 70), 50.0);
  EXPECT_EQ(view->next(TheatreStep::copy, 10), 80.0);
  EXPECT_EQ(view->next(TheatreStep::phase, 0), 45.0);
  EXPECT_FALSE(view->next(TheatreStep::load, 151));
  EXPECT_FALSE(view->previous(TheatreStep::copy, 5));
}

// Whatever the time and the size, each thing is inside the picture and has a place of its own.
TEST(Theatre, ThePictureShowsWhereEverythingIs) {
  const auto view = theatre();
  for (const Size size : {Size{1600, 900}, Size{1000, 640}, Size{620, 420}, Size{200, 120}}) {
    for (double at = 0; at < 220; at += 7) {
      const TheatreNow now = theatre_at(*view, at);
      TheatreShown shown{*view, now, light_theme()};
      Scene scene;
      const TheatreFrame frame = draw_theatre(scene, shown, size);
      EXPECT_EQ(frame.begin, 0);
      EXPECT_LE(frame.strip.right(), size.width + 1);
      for (const Item& item : scene.items) {
        const auto* text = std::get_if<Text>(&item);
        if (text && size.width >= 1000) {
          EXPECT_GE(text->at.y, 0) << text->text;
          EXPECT_LE(text->at.y, size.height) << text->text;
        }
      }
    }
  }
}

TEST(Theatre, AFilmHasItsStatesBesideItsFrames) {
  const auto view = theatre();
  Film film;
  film.title = "a <pipeline>";
  for (const double at : {10.0, 75.0}) {
    const TheatreNow now = theatre_at(*view, at);
    FilmFrame frame;
    frame.time = at;
    const TheatreShown shown{*view, now, light_theme()};
    draw_theatre(frame.scene, shown, {1280, 720});
    frame.state = describe_theatre(shown).dump();
    film.frames.push_back(std::move(frame));
  }
  const std::string html = paint_player(film);
  EXPECT_NE(html.find("<title>a &lt;pipeline&gt;</title>"), std::string::npos);
  EXPECT_NE(html.find("\"times\":[10,\n75]"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos) << "it needs no network";
  const std::size_t states = html.find("\"states\":[");
  ASSERT_NE(states, std::string::npos);
  const std::size_t end = html.find("]};\n", states);
  const auto parsed = nlohmann::json::parse(html.substr(states + 9, end + 1 - states - 9));
  ASSERT_EQ(parsed.size(), 2u);
  EXPECT_EQ(parsed[0]["copies"].size(), 2u);
  EXPECT_EQ(parsed[1]["stages"][1]["state"], "being read");
}

}  // namespace
}  // namespace tilescope
