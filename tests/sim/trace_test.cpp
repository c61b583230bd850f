// The rules of trace viewers (core/io/trace_file.h), on what is written: as Perfetto reads it,
// event by event in the order of the file, which is the order of time.
#include "core/io/trace_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/pipeline_record.h"

namespace tilescope::test {
namespace {

using namespace tilescope::sim;
using Json = nlohmann::json;

std::string trace_of(const Record& record) {
  std::string out;
  EXPECT_TRUE(write_trace(record, [&](std::string_view piece) {
    out += piece;
    return true;
  }));
  return out;
}

struct Slice {
  std::int64_t begin = 0, end = 0;
  std::string name;
};
struct Arrow {
  Slice from, to;
  std::uint64_t from_thread = 0, to_thread = 0;
  std::string name;
};
struct Read {
  std::map<std::uint64_t, std::vector<Slice>> slices;  // by thread
  std::map<std::uint64_t, std::string> threads, processes;
  std::vector<Arrow> arrows;
  std::map<std::string, std::vector<double>> counters;  // "process/name/series": values
  std::size_t instants = 0;
};

// Perfetto keeps ts and dur as whole nanoseconds, each for itself, and cuts what is below.
std::int64_t nanoseconds_of(const Json& us) {
  const double value = us.get<double>() * 1000;
  EXPECT_NEAR(value, std::round(value), 1e-3);
  return static_cast<std::int64_t>(std::llround(value));
}

// Reads a trace and checks every rule on the way.
Read read(const std::string& text) {
  Read out;
  const Json json = Json::parse(text);
  std::int64_t now = 0;
  std::map<std::uint64_t, std::uint64_t> process_of;
  std::map<std::uint64_t, std::pair<Slice, std::uint64_t>> started;  // flows
  std::set<std::uint64_t> ended;
  std::map<std::uint64_t, std::vector<Slice>> stacks;
  for (const Json& e : json.at("traceEvents")) {
    const std::string ph = e.at("ph");
    const std::uint64_t pid = e.at("pid");
    if (ph == "M") {
      EXPECT_EQ(now, 0) << "names stand first";
      const std::string name = e.at("name");
      if (name == "process_name") out.processes[pid] = e.at("args").at("name");
      if (name == "thread_name") {
        const std::uint64_t tid = e.at("tid");
        EXPECT_FALSE(out.threads.count(tid)) << "a thread's number is its own";
        EXPECT_FALSE(out.processes.count(tid)) << "and no process has it";
        out.threads[tid] = e.at("args").at("name");
        process_of[tid] = pid;
      }
      continue;
    }
    EXPECT_TRUE(out.processes.count(pid));
    const std::int64_t ts = nanoseconds_of(e.at("ts"));
    EXPECT_GE(ts, now) << e;
    now = ts;
    if (ph == "C") {
      for (const auto& [series, value] : e.at("args").items()) {
        EXPECT_GE(value.get<double>(), 0) << e;
        out.counters[out.processes[pid] + "/" + e.at("name").get<std::string>() + "/" + series]
            .push_back(value);
      }
      continue;
    }
    const std::uint64_t tid = e.at("tid");
    EXPECT_TRUE(out.threads.count(tid)) << e;
    EXPECT_EQ(process_of[tid], pid) << e;
    std::vector<Slice>& stack = stacks[tid];
    if (ph == "X") {
      const std::int64_t end = ts + nanoseconds_of(e.at("dur"));
      EXPECT_GE(end, ts);
      while (!stack.empty() && stack.back().end <= ts) stack.pop_back();
      if (!stack.empty()) {
        EXPECT_LE(end, stack.back().end) << "overlaps without nesting: " << e;
      }
      stack.push_back({ts, end, e.at("name")});
      out.slices[tid].push_back(stack.back());
    } else if (ph == "i") {
      ++out.instants;
    } else if (ph == "s" || ph == "f") {
      const std::uint64_t id = e.at("id");
      if (stack.empty()) {
        ADD_FAILURE() << "an arrow without a slice: " << e;
        continue;
      }
      const Slice& slice = stack.back();
      EXPECT_LE(slice.begin, ts) << e;
      EXPECT_GE(slice.end, ts) << e;
      if (ph == "s" && slice.end > slice.begin) {
        EXPECT_GT(slice.end, ts) << e;
      }
      if (ph == "s") {
        EXPECT_TRUE(started.emplace(id, std::pair(slice, tid)).second) << "begun twice: " << e;
      } else {
        EXPECT_EQ(e.at("bp"), "e");
        EXPECT_TRUE(started.count(id)) << "ends before it begins: " << e;
        EXPECT_TRUE(ended.insert(id).second) << "ends twice: " << e;
        out.arrows.push_back(
            {started[id].first, slice, started[id].second, tid, e.at("name").get<std::string>()});
      }
    } else {
      ADD_FAILURE() << "an event of no known kind: " << e;
    }
  }
  EXPECT_EQ(started.size(), ended.size());
  for (const auto& [name, values] : out.counters) EXPECT_EQ(values.back(), 0) << name;
  return out;
}

std::uint64_t thread(const Read& r, const std::string& name) {
  for (const auto& [tid, n] : r.threads) {
    if (n == name) return tid;  // the first block's, as numbers go block by block
  }
  ADD_FAILURE() << "no thread " << name;
  return 0;
}

TEST(Trace, ShowsBlocksWarpsStagesAndBarriers) {
  const Read r = read(trace_of(pipeline_record()));
  std::vector<std::string> names;
  for (const auto& [pid, name] : r.processes) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"pipeline, three \"tiles\"", "CTA (0,0,0), SM 0",
                                             "CTA (1,0,0), SM 1"}));
  names.clear();
  for (const auto& [tid, name] : r.threads) names.push_back(name);
  names.resize(names.size() / 2);
  EXPECT_EQ(
      names,
      (std::vector<std::string>{
          "warp 0: copies in", "warp 1: MMAs", "warp 2: write back", "warp 3: write back",
          "copies in, mbarrier 0x400", "copies in, mbarrier 0x400 (2)", "tensor core", "TMEM loads",
          "TMEM loads (2)", "commits", "mbarrier 0x400", "mbarrier 0x410", "mbarrier 0x420"}));
}

TEST(Trace, EveryEventIsThere) {
  const Record record = pipeline_record();
  std::size_t slices = 0, instants = 0;
  for (const Event& e : record.events) (e.kind == EventKind::arrival ? instants : slices) += 1;
  const Read r = read(trace_of(record));
  std::size_t read_slices = 0;
  for (const auto& [tid, s] : r.slices) read_slices += s.size();
  EXPECT_EQ(read_slices, slices);
  EXPECT_EQ(r.instants, instants);
}

TEST(Trace, TimesAreTheClocks) {
  const Read r = read(trace_of(pipeline_record()));
  const Slice& copy = r.slices.at(thread(r, "copies in, mbarrier 0x400")).front();
  EXPECT_EQ(copy.name, "copy in");
  EXPECT_EQ(copy.begin, 2);  // 5 and 45 cycles at 1.7 GHz: 2.94 and 26.47 ns
  EXPECT_EQ(copy.end, 26);
}

TEST(Trace, ArrowsGoFromWhatCompletedAPhaseToWhoWaited) {
  const Read r = read(trace_of(pipeline_record()));
  const std::uint64_t consumer = thread(r, "warp 1: MMAs");
  std::vector<std::string> from;
  for (const Arrow& a : r.arrows) {
    if (a.to_thread != consumer) continue;
    EXPECT_EQ(a.to.name, "runs");
    EXPECT_EQ(a.name, "arrive");
    from.push_back(r.threads.at(a.from_thread) + " " + a.from.name);
  }
  EXPECT_EQ(from, (std::vector<std::string>{"copies in, mbarrier 0x400 copy in",
                                            "copies in, mbarrier 0x400 (2) copy in",
                                            "copies in, mbarrier 0x400 copy in"}));
  // By way of an arrival: the commit that freed the first stage.
  std::size_t freed = 0, issued = 0;
  for (const Arrow& a : r.arrows) {
    freed += a.to_thread == thread(r, "warp 0: copies in") && a.from.name == "commit";
    issued += a.name == "issue" && a.to.name == "MMA";
  }
  EXPECT_EQ(freed, 1u);
  EXPECT_EQ(issued, 6u);
}

TEST(Trace, CountsStagesInFlight) {
  Read r = read(trace_of(pipeline_record()));
  const std::string block = "CTA (0,0,0), SM 0/";
  EXPECT_EQ(r.counters[block + "copies in flight/copies"], (std::vector<double>{1, 2, 1, 0, 1, 0}));
  EXPECT_EQ(r.counters[block + "stages/being filled"], (std::vector<double>{1, 2, 1, 0, 1, 0}));
  // Each is used two cycles after it is full.
  EXPECT_EQ(r.counters[block + "stages/ready, not consumed"],
            (std::vector<double>{1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(r.counters["pipeline, three \"tiles\"/blocks resident/blocks"],
            (std::vector<double>{1, 2, 1, 0}));
}

// Of several launches each has its own numbers, and its place in time.
TEST(Trace, RecordsStandBesideEachOther) {
  TracePlace place{1000, 5, 2, "launch 1: "};
  std::string events;
  const auto take = [&](std::string_view piece) {
    events += piece;
    return true;
  };
  EXPECT_TRUE(write_trace_events(pipeline_record(), place, take));
  const TracePlace behind = place;
  place.name = "launch 2: ";
  place.begin = 5000;
  EXPECT_TRUE(write_trace_events(pipeline_record(), place, take));
  EXPECT_EQ(place.numbers - behind.numbers, behind.numbers - 5);
  EXPECT_EQ(place.flows - behind.flows, behind.flows - 2);
  const Json all = Json::parse("[0" + events + "]");
  std::set<std::uint64_t> numbers, flows;
  std::map<std::uint64_t, std::string> processes;
  std::map<std::string, std::int64_t> first;  // by launch
  for (std::size_t i = 1; i < all.size(); ++i) {
    const Json& e = all[i];
    if (e.at("ph") == "M") {
      const std::uint64_t pid = e.at("pid");
      if (e.at("name") == "process_name") {
        EXPECT_TRUE(numbers.insert(pid).second);
        processes[pid] = e.at("args").at("name");
      }
      if (e.at("name") == "thread_name")
        EXPECT_TRUE(numbers.insert(e.at("tid").get<std::uint64_t>()).second);
      continue;
    }
    if (e.at("ph") == "s") EXPECT_TRUE(flows.insert(e.at("id").get<std::uint64_t>()).second);
    const std::string launch = processes.at(e.at("pid")).substr(0, 10);
    const std::int64_t at = nanoseconds_of(e.at("ts"));
    first[launch] = std::min(first.try_emplace(launch, at).first->second, at);
  }
  EXPECT_EQ(*numbers.begin(), 6u);
  EXPECT_EQ(*numbers.rbegin(), place.numbers);
  EXPECT_EQ(numbers.size(), place.numbers - 5u);
  EXPECT_EQ(*flows.begin(), 3u);
  EXPECT_EQ(*flows.rbegin(), place.flows);
  EXPECT_EQ(first.at("launch 1: "), 1000);
  EXPECT_EQ(first.at("launch 2: "), 5000);
}

TEST(Trace, WithoutTimeAnInstructionIsANanosecond) {
  Record record = pipeline_record();
  record.timed = false;
  const Read r = read(trace_of(record));
  EXPECT_EQ(r.slices.at(thread(r, "copies in, mbarrier 0x400")).front().end, 45);
}

TEST(Trace, AFaultIsShownAndWhatGoesOnEndsWithTheRecord) {
  Record record = pipeline_record();
  Report fault;
  fault.kind = "deadlock";
  fault.sentence = "Nobody can go on: \"\x01\xff\".";
  record.reports.push_back(fault);
  Event e;
  e.kind = EventKind::report;
  e.begin = e.end = 200;
  record.events.push_back(e);
  Event last = record.events[0];
  last.begin = 290, last.end = never_ends;
  record.events.push_back(last);
  const std::string text = trace_of(record);
  const Read r = read(text);
  EXPECT_NE(text.find("fault: deadlock"), std::string::npos);
  EXPECT_NE(text.find("\"goes on\":true"), std::string::npos);
}

TEST(Trace, FoldedEventsStandBesideTheOthers) {
  Record record = pipeline_record();
  Event e = record.events[0];
  e.kind = EventKind::folded;
  e.begin = 5, e.end = 500, e.amount = 77;
  record.events.push_back(e);
  const Read r = read(trace_of(record));
  EXPECT_EQ(r.slices.at(thread(r, "warp 0: copies in (2)")).front().name, "aggregated: 77 events");
}

TEST(Trace, StopsWhenNobodyWantsMore) {
  EXPECT_FALSE(write_trace(pipeline_record(), [](std::string_view) { return false; }));
}

// Whatever overlaps, whatever caused what: the rules hold.
TEST(Trace, AnyRecordKeepsTheRules) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    Record record;
    record.timed = true;
    record.device.times.clock = seed % 3 ? 1.755 : 0;
    record.launch.grid = {3, 1, 1};
    for (int i = 0; i < 12; ++i) {
      record.tracks.push_back({draw(9) == 0 ? many_blocks : draw(3),
                               static_cast<Unit>(draw(static_cast<std::uint32_t>(Unit::count_))),
                               draw(3), draw(2)});
    }
    for (int i = 0; i < 150; ++i) {
      Event e;
      e.kind = static_cast<EventKind>(draw(7));
      e.begin = draw(200);
      e.issue = e.begin - std::min<Cycle>(e.begin, draw(5));
      e.end = draw(30) == 0 ? never_ends : e.begin + draw(40);
      if (e.kind == EventKind::arrival || e.kind == EventKind::report) e.end = e.begin;
      e.track = draw(14);
      e.cause = draw(4) == 0 ? no_event : draw(160);
      e.stall = static_cast<Stall>(draw(static_cast<std::uint32_t>(Stall::count_)));
      e.object = draw(3), e.phase = draw(3), e.pc = draw(4), e.amount = draw(100);
      record.events.push_back(e);
    }
    read(trace_of(record));
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace tilescope::test
