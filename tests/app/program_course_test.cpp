// tilescope course: the list, a text to begin with, hints, and the judge of texts.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

using Json = nlohmann::json;

class Course : public Program {
 protected:
  Course() { set("XDG_STATE_HOME", (folder / "state").string()); }

  std::vector<Json> list() {
    const auto [code, document] = run_json({"course"});
    EXPECT_EQ(code, 0);
    return document["exercises"].get<std::vector<Json>>();
  }
  bool compiles() { return shell("command -v nvcc || ls /usr/local/cuda/bin/nvcc").exit_code == 0; }
  // Our own text of an exercise, with one place replaced.
  std::string ours(const std::string& source, const std::string& from, const std::string& to) {
    std::ifstream in(std::filesystem::path(TILESCOPE_SOURCE_DIR) / source);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << source << " has no " << from;
    if (at != text.npos) text.replace(at, from.size(), to);
    return text;
  }
};

TEST_F(Course, ListsItsExercisesWithTheLessonsThatExplainThem) {
  const std::vector<Json> all = list();
  ASSERT_GE(all.size(), 1u);
  const auto [code, lessons] = run_json({"lesson"});
  std::set<std::string> known;
  for (const Json& lesson : lessons["lessons"]) known.insert(lesson["name"]);
  for (const Json& each : all) {
    EXPECT_FALSE(each["shapes"].empty()) << each["name"];
    EXPECT_EQ(each["passed"], false);
    EXPECT_TRUE(each["lesson"] == "" || known.count(each["lesson"])) << each["name"];
  }
}

TEST_F(Course, StartWritesTheKernelWithoutWhatIsToBeWrittenAndNeverOverwrites) {
  for (const Json& each : list()) {
    const std::string name = each["name"];
    const Ended begun = run({"course", "start", name});
    ASSERT_EQ(begun.exit_code, 0) << begun.err;
    const std::string text = read(name + ".cu");
    EXPECT_TRUE(has(text, "// Yours.")) << name;
    EXPECT_FALSE(has(text, "[exercise")) << name;
    EXPECT_TRUE(has(text, "tilescope course check " + name)) << name;
    const Ended again = run({"course", "start", name});
    EXPECT_EQ(again.exit_code, 2);
    EXPECT_TRUE(has(again.err, "--out")) << again.err;
    EXPECT_EQ(read(name + ".cu"), text);
  }
}

TEST_F(Course, HintsGoFromAQuestionToTheLine) {
  for (const Json& each : list()) {
    const std::string name = each["name"];
    const auto [code, first] = run_json({"course", "hint", name});
    ASSERT_EQ(code, 0) << name;
    EXPECT_TRUE(has(first["hint"], "?")) << name << " begins with no question";
    EXPECT_GE(first["hints"], 3) << name;
  }
  const Ended none = run({"course", "hint", "hgemm_v2", "--number", "99"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_TRUE(has(none.err, "hints 1 to"));
}

TEST_F(Course, WhatIsAskedWrongSaysWhatWouldWork) {
  for (const Words& words : std::vector<Words>{{"course", "begin"},
                                               {"course", "start"},
                                               {"course", "check"},
                                               {"course", "check", "nosuchfolder"},
                                               {"course", "hint"}}) {
    const Ended ended = run(words);
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_TRUE(has(ended.err, "course start NAME")) << ended.err;
  }
  const Ended name = run({"course", "start", "nosuch"});
  EXPECT_EQ(name.exit_code, 2);
  EXPECT_TRUE(has(name.err, "hgemm_v2")) << name.err;
}

TEST_F(Course, LimitsThatNoRunCanKeepAreRefused) {
  for (const auto& [option, value] :
       std::vector<std::pair<std::string, std::string>>{{"--seconds", "-1"},
                                                        {"--seconds", "0"},
                                                        {"--seconds", "nan"},
                                                        {"--memory", "1"},
                                                        {"--memory", "-5"}}) {
    const Ended ended = run({"course", "check", "hgemm_v2", "mine.cu", option, value});
    EXPECT_EQ(ended.exit_code, 2) << option << value;
    EXPECT_TRUE(has(ended.err, option)) << ended.err;
  }
}

TEST_F(Course, ARightTextPassesAndIsRemembered) {
  if (!compiles()) GTEST_SKIP() << "there is no nvcc here";
  write("mine.cu", ours("kernels/blackwell/hgemm_v2.cu", "int parity = 0;", "int parity = 0;  //"));
  const auto [code, verdict] = run_json({"course", "check", "hgemm_v2", "mine.cu"});
  EXPECT_EQ(code, 0) << verdict;
  EXPECT_EQ(verdict["passed"], true) << verdict;
  // Three shapes, as usual and late; ten schedules; the time of both.
  EXPECT_EQ(verdict["runs"], 3 + 3 + 10 + 2) << verdict;
  EXPECT_NEAR(verdict["seconds"].get<double>() / verdict["ours"].get<double>(), 1, 1e-9);
  for (const Json& each : list()) EXPECT_EQ(each["passed"], each["name"] == "hgemm_v2");
}

TEST_F(Course, AFolderOfTextsBecomesATable) {
  if (!compiles()) GTEST_SKIP() << "there is no nvcc here";
  const std::string source = "kernels/blackwell/hgemm_v2.cu";
  for (const char* who : {"all/ann", "all/ben", "all/cleo"}) {
    std::filesystem::create_directories(folder / who);
  }
  write("all/ann/hgemm_v2.cu", ours(source, "parity ^= 1;", ""));
  write("all/ben/hgemm_v2.cu", ours(source, "int parity = 0;", "int parity = 0"));
  write("all/cleo/hgemm_v2.cu", ours(source, "int parity = 0;", "unsigned parity = 0;"));
  write("all/cleo/notes.cu", "nothing");
  const auto [code, table] = run_json({"course", "check", "all", "--csv", "t.csv"});
  EXPECT_EQ(code, 1);
  ASSERT_EQ(table["submissions"].size(), 3u) << table;
  EXPECT_EQ(table["submissions"][0]["who"], "ann");
  EXPECT_EQ(table["submissions"][0]["wrong"]["kind"], "operand_overwritten");
  EXPECT_NE(table["submissions"][0]["wrong"]["told"], "");
  EXPECT_EQ(table["submissions"][1]["built"], false);
  EXPECT_EQ(table["submissions"][2]["passed"], true);
  const std::string csv = read("t.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n') >= 4, true) << csv;
  EXPECT_TRUE(has(csv, "cleo,hgemm_v2,true,true,true,true,")) << csv;
}

TEST_F(Course, ATextThatNeverEndsIsStopped) {
  if (!compiles()) GTEST_SKIP() << "there is no nvcc here";
  write("mine.cu", ours("kernels/blackwell/hgemm_v2.cu", "int parity = 0;",
                        "int parity = 0; for (volatile int i = 0; i < 100000000; ++i) {}"));
  const auto [code, verdict] =
      run_json({"course", "check", "hgemm_v2", "mine.cu", "--seconds", "6"});
  EXPECT_EQ(code, 3) << verdict;
  EXPECT_EQ(verdict["wrong"]["kind"], "too_long") << verdict;
}

}  // namespace
}  // namespace tilescope::test
