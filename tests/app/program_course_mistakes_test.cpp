// Every exercise of the course beside what learners write: our own text passes; texts with one
// mistake in the part that is left out (course_mistakes.tsv) are refused, each with a sentence of
// the exercise that names the mistake; and what `course start` writes compiles. nvcc takes seconds
// for each text: without TILESCOPE_WHOLE (./dev test --whole) every twelfth mistake is tried.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Mistake {
  std::string kinds, words, from, to;  // kinds and words: one of several, between `|`
};

std::string unescaped(std::string text) {
  for (std::size_t at = 0; (at = text.find("\\n", at)) != text.npos; ++at)
    text.replace(at, 2, "\n");
  return text;
}

// Of each exercise.
std::map<std::string, std::vector<Mistake>> table() {
  std::map<std::string, std::vector<Mistake>> out;
  std::ifstream file(fs::path(TILESCOPE_TESTS_DIR) / "course_mistakes.tsv");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::string name;
    Mistake row;
    std::getline(fields, name, '\t');
    std::getline(fields, row.kinds, '\t');
    std::getline(fields, row.words, '\t');
    std::getline(fields, row.from, '\t');
    std::getline(fields, row.to, '\t');
    row.from = unescaped(row.from);
    row.to = unescaped(row.to);
    out[name].push_back(row);
  }
  return out;
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const auto& [name, rows] : table()) out.push_back(name);
  return out;
}

// The kernel's own text; the kernel is called as the exercise.
std::string source_of(const std::string& name) {
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(TILESCOPE_SOURCE_DIR) / "kernels")) {
    if (entry.path().filename() != name + ".cu") continue;
    std::ifstream in(entry.path());
    return {std::istreambuf_iterator<char>(in), {}};
  }
  return "";
}

bool one_of(const std::string& several, const std::function<bool(const std::string&)>& fits) {
  std::istringstream words(several);
  for (std::string word; std::getline(words, word, '|');) {
    if (fits(word)) return true;
  }
  return false;
}

class CourseMistakes : public Program, public ::testing::WithParamInterface<std::string> {
 protected:
  CourseMistakes() { set("XDG_STATE_HOME", (folder / "state").string()); }

  Json checked(const std::string& text) {
    write("mine.cu", text);
    return run_json({"course", "check", GetParam(), "mine.cu"}).second;
  }
  bool compiles() { return shell("command -v nvcc || ls /usr/local/cuda/bin/nvcc").exit_code == 0; }
};

class CourseTable : public Program {};

TEST_F(CourseTable, HasFiveMistakesForEachExerciseInThePartThatIsLeftOut) {
  auto rows = table();
  const auto [code, document] = run_json({"course"});
  ASSERT_EQ(code, 0);
  for (const Json& each : document["exercises"]) {
    const std::string name = each["name"], source = source_of(name);
    EXPECT_GE(rows[name].size(), 5u) << name;
    for (const Mistake& row : rows[name]) {
      const std::size_t at = source.find(row.from);
      ASSERT_NE(at, source.npos) << name << " has no " << row.from;
      const std::size_t begun = source.rfind("// [exercise", at);
      const std::size_t ended = source.rfind("// exercise]", at);
      EXPECT_TRUE(begun != source.npos && (ended == source.npos || ended < begun))
          << name << ": " << row.from << " is not left out";
    }
  }
}

TEST_P(CourseMistakes, OurTextPassesAndWrongOnesAreToldWhatIsWrong) {
  if (!compiles()) GTEST_SKIP() << "there is no nvcc here";
  const std::string source = source_of(GetParam());
  const Json ours = checked(source);
  EXPECT_EQ(ours.value("passed", false), true) << ours;
  const std::vector<Mistake> rows = table()[GetParam()];
  const std::size_t step = std::getenv("TILESCOPE_WHOLE") ? 1 : 12;
  for (std::size_t k = 0; k < rows.size(); k += step) {
    const Mistake& row = rows[k];
    std::string text = source;
    text.replace(text.find(row.from), row.from.size(), row.to);
    const Json verdict = checked(text);
    EXPECT_TRUE(verdict.contains("wrong")) << row.from << " -> " << row.to << "\n" << verdict;
    if (!verdict.contains("wrong")) continue;
    const Json& wrong = verdict["wrong"];
    const std::string told = wrong["told"];
    EXPECT_TRUE(one_of(row.kinds, [&](const std::string& kind) { return wrong["kind"] == kind; }))
        << row.from << " -> " << row.to << "\n"
        << wrong;
    EXPECT_TRUE(one_of(row.words, [&](const std::string& word) { return has(told, word); }))
        << row.from << " -> " << row.to << "\n"
        << wrong;
  }
}

TEST_P(CourseMistakes, WhatOneBeginsWithCompilesAndDoesNotPass) {
  if (!compiles()) GTEST_SKIP() << "there is no nvcc here";
  ASSERT_EQ(run({"course", "start", GetParam(), "--out", "begun.cu"}).exit_code, 0);
  const Json verdict = checked(read("begun.cu"));
  EXPECT_EQ(verdict.value("passed", true), false) << verdict;
  EXPECT_EQ(verdict.value("built", false), true) << verdict;
}

std::string name_of(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}
INSTANTIATE_TEST_SUITE_P(All, CourseMistakes, ::testing::ValuesIn(names()), name_of);

}  // namespace
}  // namespace tilescope::test
