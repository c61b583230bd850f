// `tilescope run --stats --trace --record` and `tilescope compare`: what a user sees of where the
// time went.
#include <nlohmann/json.hpp>

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

class Profile : public Program {
 protected:
  // Adds two matrices of 300 rows, and does what is asked besides.
  Ended add(Words words) {
    words.insert(words.begin(), {"run", "elementwise_add", "--m", "300", "--n", "200"});
    return run(words);
  }
  void refused(const Words& words, const std::string& part) {
    const Ended ended = run(words);
    EXPECT_EQ(ended.exit_code, 2) << ended.err;
    EXPECT_TRUE(has(ended.err, part)) << ended.err;
    EXPECT_EQ(ended.out, "");
  }
};

TEST_F(Profile, StatsSayWhatBoundsTheKernel) {
  const Ended ended = add({"--stats"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  for (const char* part :
       {"Bound by ", "predicted ", " on NVIDIA B200, ", "load/store", "all warps",
        "occupancy: ", "sectors of global memory: ", "kernels/elementwise/elementwise_add.cu:"}) {
    EXPECT_TRUE(has(ended.out, part)) << part << "\n" << ended.out;
  }
  EXPECT_TRUE(files().empty());
}

TEST_F(Profile, StatsAsADocument) {
  const auto [code, document] =
      run_json({"run", "elementwise_add", "--m", "300", "--n", "200", "--stats"});
  EXPECT_EQ(code, 0);
  const nlohmann::json& stats = document.at("stats");
  EXPECT_EQ(stats.at("timed"), true);
  EXPECT_GT(stats.at("seconds"), 1e-7);
  EXPECT_LT(stats.at("seconds"), 1e-3);
  // Both inputs are read and the sum is written: 3 x 300 x 200 f32, in sectors of 32 bytes.
  EXPECT_EQ(stats.at("all").at("ideal_sectors"), 3 * 300 * 200 * 4 / 32);
  EXPECT_GT(stats.at("lines").size(), 3u);
  double shares = 0;
  for (const auto& cause : stats.at("stalls").at("causes"))
    shares += cause.at("share").get<double>();
  EXPECT_NEAR(shares, 1, 1e-9);
}

TEST_F(Profile, TheSameRunTwiceIsTheSameToTheByte) {
  EXPECT_EQ(add({"--stats", "--trace", "a.json", "--record", "a.tsr"}).exit_code, 0);
  EXPECT_EQ(add({"--stats", "--trace", "b.json", "--record", "b.tsr"}).exit_code, 0);
  EXPECT_EQ(read("a.json"), read("b.json"));
  EXPECT_EQ(read("a.tsr"), read("b.tsr"));
  EXPECT_EQ(files(), (Words{"a.json", "a.tsr", "b.json", "b.tsr"}));
}

TEST_F(Profile, ATraceHasEveryBlock) {
  const Ended ended = add({"--trace", "t.json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(has(ended.err, "wrote t.json")) << ended.err;
  EXPECT_FALSE(has(ended.out, "Bound by")) << "only --stats prints figures";
  const nlohmann::json trace = nlohmann::json::parse(read("t.json"));
  std::size_t blocks = 0, slices = 0;
  for (const auto& e : trace.at("traceEvents")) {
    blocks += e.at("ph") == "M" && e.at("name") == "process_name" &&
              has(e.at("args").at("name"), "CTA (");
    slices += e.at("ph") == "X";
  }
  const auto [code, document] = run_json({"run", "elementwise_add", "--m", "300", "--n", "200"});
  EXPECT_EQ(blocks, document.at("blocks").get<std::size_t>());
  EXPECT_GE(slices, blocks * 4) << "each of 4 warps ran";
}

TEST_F(Profile, ATimelineIsOneFile) {
  const Ended ended = add({"--timeline", "t.html"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(has(ended.err, "wrote t.html")) << ended.err;
  EXPECT_EQ(files(), (Words{"t.html"}));
  const std::string page = read("t.html");
  EXPECT_EQ(page.find("<!doctype html>"), 0u);
  EXPECT_TRUE(has(page, "elementwise_add, M = 300, N = 200, f32"));
  EXPECT_FALSE(has(page, "src=\"")) << "it would need another file";
  EXPECT_FALSE(has(page, "@data@") || has(page, "@script@") || has(page, "@style@"));
}

TEST_F(Profile, OfADrawnOrderThereIsNoTime) {
  for (const Words& drawn : {Words{"--lazy"}, Words{"--schedule", "7"}}) {
    Words words = drawn;
    words.push_back("--stats");
    const Ended ended = add(words);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_TRUE(has(ended.out, "There is no time in this record")) << ended.out;
    EXPECT_FALSE(has(ended.out, "predicted")) << ended.out;
  }
}

TEST_F(Profile, WhatCannotBeRecordedIsRefused) {
  refused({"run", "elementwise_add", "--stats", "--on", "gpu"}, "--on sim");
  refused({"run", "elementwise_add", "--record-limit", "1GiB"}, "--record F.tsr");
  refused({"run", "elementwise_add", "--stats", "--record-limit", "many"}, "512MiB");
  refused({"run", "elementwise_add", "--stats", "--record-limit", "17"}, "at least 1MiB");
  refused({"run", "elementwise_add", "--stats", "--record-limit", "99999999999GiB"}, "512MiB");
  refused(
      {"run", "elementwise_add", "--m", "300", "--n", "200", "--stats", "--record-block", "5,0,7"},
      "the grid is");
  refused({"run", "elementwise_add", "--stats", "--record-block", "one"}, "x,y,z");
  refused({"run", "elementwise_add", "--stats", "--record-time", "5:2"}, "1000:5000");
  EXPECT_TRUE(files().empty());
}

// A stretch of cycles says nothing of what bounds the whole run, and is told as what it is.
TEST_F(Profile, APartOfTheTimeIsToldAsThat) {
  const std::vector<std::string> all{"run", "hgemm_v4", "--m", "256",    "--n",
                                     "256", "--k",      "128", "--stats"};
  std::vector<std::string> part = all;
  part.insert(part.end(), {"--record-time", "1000:2000"});
  const Ended whole = run(all), some = run(part);
  EXPECT_TRUE(has(whole.out, "Bound by")) << whole.out;
  EXPECT_FALSE(has(whole.out, "The record has events of cycles"));
  EXPECT_FALSE(has(some.out, "Bound by")) << some.out;
  EXPECT_TRUE(has(some.out, "The record has events of cycles")) << some.out;
  EXPECT_TRUE(has(some.out, "role (cycles")) << some.out;
}

TEST_F(Profile, ADeviceWithoutTimesIsRefused) {
  write("mine.toml",
        "name = \"Mine\"\ncompute_capability = \"10.0\"\nsms = 4\n"
        "[sm]\nblocks = 32\nthreads = 2048\nshared = 233472\n"
        "[block]\nshared = 232448\nshared_reserved = 1024\n");
  refused({"run", "elementwise_add", "--stats", "--device", "mine.toml"},
          "does not say how long things take");
  EXPECT_EQ(run({"run", "elementwise_add", "--device", "mine.toml"}).exit_code, 0);
}

TEST_F(Profile, AFileThatCannotBeWrittenIsSaid) {
  EXPECT_EQ(add({"--timeline", "nowhere/t.html"}).exit_code, 2);
  EXPECT_EQ(add({"--timeline", "t", "--trace", "t"}).exit_code, 2);
  const Ended ended = add({"--trace", "nowhere/t.json"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(has(ended.err, "Cannot write nowhere/t.json")) << ended.err;
}

TEST_F(Profile, AFaultIsInItsRecordAndTrace) {
  write("fault.ptx",
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry fault()\n{\n  .reg .b64 %rd<2>;\n  .reg .b32 %r<2>;\n"
        "  mov.u64 %rd1, 64;\n  mov.u32 %r1, 1;\n  st.global.u32 [%rd1], %r1;\n  ret;\n}\n");
  write("fault.toml", "grid = [1, 1, 1]\nblock = [32, 1, 1]\n");
  const Ended ended = run({"run", "fault.ptx", "--launch", "fault.toml", "--stats", "--trace",
                           "t.json", "--record", "r.tsr"});
  EXPECT_EQ(ended.exit_code, 3) << ended.err;
  EXPECT_TRUE(has(ended.out, "ended with a fault")) << ended.out;
  EXPECT_TRUE(has(read("t.json"), "fault: "));
  EXPECT_EQ(files(), (Words{"fault.ptx", "fault.toml", "r.tsr", "t.json"}));
}

TEST_F(Profile, CompareSaysWhereTheTimeWent) {
  EXPECT_EQ(add({"--record", "a.tsr"}).exit_code, 0);
  EXPECT_EQ(
      run({"run", "elementwise_add", "--m", "3000", "--n", "200", "--record", "b.tsr"}).exit_code,
      0);
  const Ended same = run({"compare", "a.tsr", "a.tsr"});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_TRUE(has(same.out, "B takes as long as A")) << same.out;
  const Ended larger = run({"compare", "a.tsr", "b.tsr"});
  EXPECT_EQ(larger.exit_code, 0) << larger.err;
  EXPECT_TRUE(has(larger.out, " times as long as A")) << larger.out;
  const auto [code, document] = run_json({"compare", "a.tsr", "b.tsr"});
  EXPECT_EQ(code, 0);
  EXPECT_GT(document.at("ratio"), 1);
  EXPECT_DOUBLE_EQ(
      document.at("ratio").get<double>(),
      document.at("b").at("seconds").get<double>() / document.at("a").at("seconds").get<double>());
  // Ten times the elements: ten times the bytes, by the same lines.
  for (const auto& t : document.at("traffic")) {
    if (t.at("name") == "L2 bytes") {
      EXPECT_EQ(t.at("b"), t.at("a").get<double>() * 10);
    }
  }
  for (const auto& line : document.at("lines")) EXPECT_EQ(line.at("a"), line.at("b"));
}

TEST_F(Profile, CompareRefusesWhatIsNoRecord) {
  EXPECT_EQ(add({"--record", "a.tsr"}).exit_code, 0);
  write("text.tsr", "this is no record");
  refused({"compare", "a.tsr", "text.tsr"}, "text.tsr");
  refused({"compare", "none.tsr", "a.tsr"}, "none.tsr");
  std::string cut = read("a.tsr");
  write("cut.tsr", cut.substr(0, cut.size() / 2));
  refused({"compare", "a.tsr", "cut.tsr"}, "cut.tsr");
  cut[8] = 99;  // its version
  write("new.tsr", cut);
  refused({"compare", "new.tsr", "a.tsr"}, "version");
}

}  // namespace
}  // namespace tilescope::test
