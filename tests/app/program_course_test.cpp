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

// The same text, by both: the sentence, what is told, and the commands that show it.
TEST_F(Course, TheWindowsJudgeSaysWhatTheTerminalsSays) {
  if (!compiles()) GTEST_SKIP() << "there is no nvcc here";
  draws();
  write("mine.cu", ours("kernels/blackwell/hgemm_v2.cu", "parity ^= 1;", ""));
  const auto in_window = [&](const Words& commands) {
    Words words = {"gui", "--headless", "--describe", "out.json"};
    for (const std::string& line : commands) {
      words.emplace_back("--do");
      words.push_back(line);
    }
    return run(words);
  };
  const Ended checked = in_window({"course hgemm_v2 mine.cu", "course hint", "course check"});
  if (checked.exit_code == 4) SKIP_WHERE_NOTHING_DRAWS(checked.err);
  ASSERT_EQ(checked.exit_code, 0) << "a verdict is an answer: " << checked.err;
  const Json window = Json::parse(read("out.json"));
  const Json& course = window["picture"]["course"];
  EXPECT_EQ(course["exercise"], "hgemm_v2");
  EXPECT_EQ(course["file"]["name"], "mine.cu");
  EXPECT_EQ(course["hints"].size(), 1u);
  const auto [code, terminal] = run_json({"course", "check", "hgemm_v2", "mine.cu"});
  EXPECT_EQ(code, 3);
  for (const char* key : {"kind", "options", "sentence", "where", "told"}) {
    EXPECT_EQ(course["verdict"]["wrong"][key], terminal["wrong"][key]) << key;
  }
  EXPECT_EQ(course["verdict"]["right"], terminal["right"]);
  EXPECT_EQ(course["verdict"]["runs"], terminal["runs"]);
  EXPECT_TRUE(has(window["status"], terminal["wrong"]["sentence"])) << window["status"];

  // What it names is shown: the run with its fault, and the place.
  const Ended shown = in_window({"course hgemm_v2 mine.cu", "course check", "course show"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  const Json place = Json::parse(read("out.json"));
  EXPECT_EQ(place["view"], "source");
  EXPECT_TRUE(has(place["field"], "--source mine.cu")) << place["field"];

  // Mended, the check is run again, and passes; a text that does not compile is said to be one.
  write("mine.cu",
        ours("kernels/blackwell/hgemm_v2.cu", "int parity = 0;", "unsigned parity = 0;"));
  ASSERT_EQ(in_window({"course hgemm_v2", "course check mine.cu"}).exit_code, 0);
  const Json passed = Json::parse(read("out.json"));
  EXPECT_EQ(passed["picture"]["course"]["verdict"]["passed"], true) << passed["status"];
  EXPECT_EQ(passed["strip"][3]["value"], "yes");
  write("mine.cu", ours("kernels/blackwell/hgemm_v2.cu", "int parity = 0;", "int parity = 0"));
  ASSERT_EQ(in_window({"course hgemm_v2", "course check mine.cu"}).exit_code, 0);
  EXPECT_EQ(Json::parse(read("out.json"))["picture"]["course"]["verdict"]["wrong"]["kind"],
            "unbuilt");
}

// The window opens for somebody who sits before a display: not in pipes, not where it is asked not
// to. The display that is named here does not answer, which shows whether it was asked.
TEST_F(Course, StartOpensNoWindowWhereNobodyLooks) {
  set("DISPLAY", ":987");
  const auto asked = [](const Ended& ended) {
    return has(ended.out + ended.err, "The window cannot be opened");
  };
  const Ended piped = run({"course", "start", "hgemm_v2", "--out", "a.cu"});
  EXPECT_EQ(piped.exit_code, 0);
  EXPECT_FALSE(asked(piped)) << piped.err;
  if (shell("command -v script").exit_code != 0) GTEST_SKIP() << "There is no `script` here.";
  const auto on_terminal = [&](const std::string& words) {
    return shell("script -qec 'tilescope course start hgemm_v2 " + words + "' typed.txt");
  };
  const Ended refused = on_terminal("--out b.cu --no-window");
  EXPECT_EQ(refused.exit_code, 0);
  EXPECT_FALSE(asked(refused)) << refused.out;
  const Ended wanted = on_terminal("--out c.cu");
  EXPECT_EQ(wanted.exit_code, 0) << "the file is written all the same";
  EXPECT_TRUE(asked(wanted)) << wanted.out;
  EXPECT_TRUE(exists("c.cu"));
  set("DISPLAY", "");
  EXPECT_FALSE(asked(on_terminal("--out d.cu")));
  for (const Json& each : list()) EXPECT_EQ(each["begun"], each["name"] == "hgemm_v2");
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
