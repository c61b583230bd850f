// `tilescope run --search N` and the orders that it finds, from the outside.
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

class RunSearch : public Program {
 protected:
  RunSearch() {
    std::ostringstream ptx;
    ptx << std::ifstream(TILESCOPE_SOURCE_DIR "/tests/sim/programs/overtaken_if_late.ptx").rdbuf();
    write("k.ptx", ptx.str());
    write(
        "k.toml",
        "entry = \"overtaken_if_late\"\ngrid = [1]\nblock = [64]\n"
        "[[buffer]]\nname = \"OUT\"\ndtype = \"u32\"\nshape = [1]\npoison = true\nout = \"o.npy\"\n"
        "[[arg]]\nbuffer = \"OUT\"\n");
  }

  Words with(const Words& more) const {
    Words words = {"run", "k.ptx", "--launch", "k.toml"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(RunSearch, FindsAnOrderThatTheUsualOneDoesNotShow) {
  EXPECT_EQ(run(with({})).exit_code, 0);
  std::filesystem::remove(folder / "o.npy");
  const Ended searched = run(with({"--search", "100"}));
  EXPECT_EQ(searched.exit_code, 3);
  EXPECT_TRUE(has(searched.err, "fault (waiter_left_behind)")) << searched.err;
  EXPECT_FALSE(exists("o.npy"));

  const std::size_t at = searched.err.find("--schedule ");
  ASSERT_NE(at, std::string::npos) << searched.err;
  const std::string schedule = searched.err.substr(at + 11, searched.err.find('\n', at) - at - 11);
  const Ended again = run(with({"--schedule", schedule}));
  EXPECT_EQ(again.exit_code, 3);
  EXPECT_TRUE(has(searched.err, again.err.substr(0, again.err.find('\n')))) << again.err;

  // From a file, and in the window by the command that is said.
  write("order.txt", "# late\n" + schedule + "\n");
  EXPECT_EQ(run(with({"--schedule", "order.txt"})).exit_code, 3);
  write("bad.txt", "late\n");
  const Ended bad = run(with({"--schedule", "bad.txt"}));
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_TRUE(has(bad.err, "'late' is no order") && has(bad.err, "bad.txt")) << bad.err;
  const std::size_t see = searched.err.find("see it: tilescope gui ");
  ASSERT_NE(see, std::string::npos) << searched.err;
  std::string command = searched.err.substr(see + 22, searched.err.find('\n', see) - see - 22);
  const Ended seen = shell("tilescope gui --headless --describe d.json " + command);
  EXPECT_EQ(seen.exit_code, 3) << command << seen.err;
  EXPECT_TRUE(has(read("d.json"), "waiter_left_behind") || has(seen.err, "faulted")) << seen.err;

  const auto [code, json] = run_json(with({"--search", "100"}));
  EXPECT_EQ(code, 3);
  EXPECT_EQ(json["search"]["schedule"], schedule);
  EXPECT_EQ(json["error"]["kind"], "fault");
}

// A race that nothing shows unless a CTA is held: told with its order, and a failure for --strict.
TEST_F(RunSearch, TellsTheHazardsOfOtherOrders) {
  std::ostringstream ptx;
  ptx << std::ifstream(TILESCOPE_SOURCE_DIR "/tests/sim/programs/newer_flag_read.ptx").rdbuf();
  write("k.ptx", ptx.str());
  std::string launch = "entry = \"k\"\ngrid = [2]\nblock = [32]\n";
  for (const char* name : {"X", "F", "OUT"}) {
    launch += std::string("[[buffer]]\nname = \"") + name +
              "\"\ndtype = \"u32\"\nshape = [1]\nzeros = true\n[[arg]]\nbuffer = \"" + name +
              "\"\n";
  }
  write("k.toml", launch);
  EXPECT_EQ(run(with({"--strict"})).exit_code, 0);
  const Ended searched = run(with({"--search", "20"}));
  EXPECT_EQ(searched.exit_code, 0) << searched.err;
  EXPECT_TRUE(has(searched.out, "search: no fault in")) << searched.out;
  const std::string before = "search: a hazard of another schedule; again with --schedule ";
  const std::size_t at = searched.err.find(before);
  ASSERT_NE(at, std::string::npos) << searched.err;
  const std::size_t from = at + before.size();
  const std::string schedule = searched.err.substr(from, searched.err.find('\n', from) - from);
  EXPECT_TRUE(has(searched.err, "hazard (global_race)")) << searched.err;
  EXPECT_EQ(run(with({"--search", "20", "--strict"})).exit_code, 3);
  EXPECT_EQ(run(with({"--schedule", schedule, "--strict"})).exit_code, 3);
  const auto [code, json] = run_json(with({"--search", "20", "--strict"}));
  EXPECT_EQ(code, 3);
  EXPECT_EQ(json["error"]["kind"], "hazard");
  EXPECT_EQ(json["search"]["hazards"][0]["schedule"], schedule);
  EXPECT_EQ(json["search"]["hazards"][0]["report"]["kind"], "global_race");
}

TEST_F(RunSearch, SaysHowFarItLooked) {
  const Ended ended = run({"run", "hgemm_v1", "--search", "20"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_TRUE(has(ended.out, "search: no fault in 20 schedules")) << ended.out;
  const auto [code, json] = run_json({"run", "hgemm_v1", "--search", "20"});
  EXPECT_EQ(code, 0);
  EXPECT_EQ(json["search"]["tried"], 20);
  EXPECT_EQ(json["search"]["all"], false);
  EXPECT_TRUE(json["search"]["schedule"].is_null());
}

TEST_F(RunSearch, RefusesOrdersThatAreNone) {
  const Ended word = run(with({"--schedule", "0.0"}));
  EXPECT_EQ(word.exit_code, 2);
  EXPECT_TRUE(has(word.err, "'0.0' is no order")) << word.err;
  const Ended block = run(with({"--schedule", "9.0@4"}));
  EXPECT_EQ(block.exit_code, 2);
  EXPECT_TRUE(has(block.err, "1 CTA(s) of 2 warp(s)")) << block.err;
  EXPECT_EQ(run(with({"--search", "10", "--on", "gpu"})).exit_code, 2);
}

}  // namespace
}  // namespace tilescope::test
