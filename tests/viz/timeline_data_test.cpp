// A timeline as data for a page: nothing of the record is lost or told otherwise than in the
// window, and a record with more events than there is room for keeps its time and its reports.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/record/text.h"
#include "tests/viz/timeline_fixture.h"
#include "viz/timeline/timeline_data.h"
#include "viz/timeline/timeline_words.h"

namespace tilescope::test {
namespace {

using nlohmann::json;
using sim::Event;
using sim::EventId;
using sim::EventKind;

// Events as a page reads them, by the rules of timeline_data.h.
struct Read {
  std::uint64_t track = 0, begin = 0;
  std::int64_t length = 0, cause = -1;
};
std::vector<Read> events_in(const json& data) {
  std::vector<Read> out;
  const json& events = data.at("events");
  std::size_t i = 0, number = 0;
  std::int64_t cause = 0;
  for (const json& track : data.at("tracks")) {
    std::uint64_t begin = 0;
    for (std::size_t last = i + track.at("events").get<std::size_t>(); i < last; ++i) {
      begin += events.at("begin")[i].get<std::uint64_t>();
      Read event{number, begin, events.at("length")[i], -1};
      const auto step = events.at("cause")[i].get<std::int64_t>();
      if (step != 0) event.cause = cause += step > 0 ? step - 1 : step;
      out.push_back(event);
    }
    ++number;
  }
  for (const auto& [name, column] : events.items()) EXPECT_EQ(column.size(), out.size()) << name;
  return out;
}

// The record's events in the same order.
std::vector<EventId> order_of(const sim::Record& record) {
  std::vector<EventId> out(record.events.size());
  for (EventId id = 0; id < out.size(); ++id) out[id] = id;
  std::stable_sort(out.begin(), out.end(), [&](EventId a, EventId b) {
    const Event x = record.events[a], y = record.events[b];
    return std::pair(x.track, x.begin) < std::pair(y.track, y.begin);
  });
  return out;
}

TEST(TimelineData, HasEveryEventWithItsWordsAndItsCause) {
  const auto view = small_timeline();
  const sim::Record& record = view->record();
  const json data = json::parse(timeline_data(*view));
  const std::vector<Read> events = events_in(data);
  const std::vector<EventId> order = order_of(record);
  ASSERT_EQ(events.size(), record.events.size());
  std::size_t causes = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event event = record.events[order[i]];
    EXPECT_EQ(events[i].track, event.track);
    EXPECT_EQ(events[i].begin, event.begin);
    if (event.end != sim::never_ends) {
      EXPECT_EQ(events[i].length, static_cast<std::int64_t>(event.end - event.begin));
    } else {
      EXPECT_EQ(events[i].length, -1);
    }
    const std::string text = data.at("texts")[data.at("events").at("text")[i].get<std::size_t>()];
    EXPECT_EQ(data.at("tracks")[event.track].at("name").get<std::string>() + ": " + text,
              sentence_of(*view, order[i]));
    if (event.cause == sim::no_event) {
      EXPECT_EQ(events[i].cause, -1);
    } else {
      ASSERT_GE(events[i].cause, 0);
      EXPECT_EQ(order[static_cast<std::size_t>(events[i].cause)], event.cause);
      const auto carried = data.at("events").at("carried")[i].get<std::size_t>();
      EXPECT_EQ(data.at("texts")[carried], carried_text(*view, event.cause, order[i]));
      ++causes;
    }
  }
  EXPECT_GT(causes, 20u);
  EXPECT_EQ(data.at("together"), 0);
}

TEST(TimelineData, RowsAreTheWindows) {
  const auto view = small_timeline();
  const json data = json::parse(timeline_data(*view));
  const json& all = data.at("rows").at("all");
  // As the window shows them at first: what is in a closed group is left out.
  std::vector<std::string> read, want;
  for (std::size_t i = 0; i < all.size();) {
    const bool group = all[i] == 1;
    const auto place = all[i + 1].get<std::size_t>();
    const int level = all[i + 2];
    read.push_back(data.at(group ? "groups" : "tracks")[place].at("label"));
    const bool closed = group && !data.at("groups")[place].at("open").get<bool>();
    i += 3;
    while (closed && i < all.size() && all[i + 2] > level) i += 3;
  }
  for (const TimelineRow& row : view->rows({})) want.push_back(view->label_of(row.place));
  EXPECT_EQ(read, want);
  EXPECT_GT(read.size(), 8u);
}

TEST(TimelineData, ColoursAreTheWindowsInBothThemes) {
  const auto view = small_timeline();
  const json data = json::parse(timeline_data(*view));
  EXPECT_EQ(data.at("themes").at("light").at("paper"), "#ffffff");
  EXPECT_EQ(data.at("themes").at("dark").at("paper"), "#14171a");
  bool copies = false;
  for (const json& doing : data.at("doings")) {
    if (doing.at("text") != "copies in") continue;
    copies = true;
    EXPECT_EQ(doing.at("light").at("solid"), "#e69f00");  // Okabe and Ito's orange
  }
  EXPECT_TRUE(copies);
}

TEST(TimelineData, WhatHasNoRoomIsTakenTogetherAndKeepsItsTime) {
  sim::SyntheticPipeline pipeline;
  pipeline.blocks = 8;
  pipeline.steps = 200;
  const auto view = timeline_of(pipeline);
  const sim::Record& record = view->record();
  ASSERT_GT(record.events.size(), 8000u);
  const json data = json::parse(timeline_data(*view, 2000));
  const std::vector<Read> events = events_in(data);
  EXPECT_LT(events.size(), record.events.size() / 2);
  EXPECT_GT(data.at("together").get<std::size_t>(), record.events.size() / 2);
  // The cycles that each warp ran are the same, whole or together; and no event is lost.
  std::vector<double> ran(record.tracks.size()), want(record.tracks.size());
  double count = 0;
  const json& columns = data.at("events");
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto kind = static_cast<EventKind>(columns.at("kind")[i].get<int>());
    const bool folded = kind == EventKind::folded;
    count += folded ? columns.at("amount")[i].get<double>() : 1;
    if (folded) ran[events[i].track] += columns.at("a")[i].get<double>();
    if (kind == EventKind::run) ran[events[i].track] += static_cast<double>(events[i].length);
  }
  EXPECT_EQ(count, static_cast<double>(record.events.size()));
  for (const Event& event : record.events) {
    if (event.kind == EventKind::run) {
      want[event.track] += static_cast<double>(event.end - event.begin);
    }
  }
  for (sim::TrackId t = 0; t < ran.size(); ++t) {
    if (record.tracks[t].unit == sim::Unit::warp) EXPECT_NEAR(ran[t], want[t], 1) << t;
  }
}

}  // namespace
}  // namespace tilescope::test
