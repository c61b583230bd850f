// The lessons that the program carries: they can be read, no word comes before its explanation, and
// every exercise has an answer with many seeds, and an explanation for what is not it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "core/lesson/course.h"
#include "core/lesson/glossary.h"
#include "core/lesson/pose.h"

namespace tilescope {
namespace {

std::vector<Lesson> shipped() {
  std::vector<Lesson> lessons;
  const std::filesystem::path folder = std::string(TILESCOPE_SOURCE_DIR) + "/assets/lessons";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".md") continue;
    std::ifstream in(entry.path());
    std::stringstream text;
    text << in.rdbuf();
    auto lesson = read_lesson(text.str(), entry.path().stem().string());
    EXPECT_TRUE(lesson.ok()) << lesson.error().where << ": " << lesson.error().sentence;
    if (lesson) lessons.push_back(std::move(*lesson));
  }
  std::sort(lessons.begin(), lessons.end(),
            [](const Lesson& a, const Lesson& b) { return a.number < b.number; });
  return lessons;
}

// Wrong whatever the exercise is.
std::string nonsense(const std::string& right) {
  if (right == "yes") return "no";
  if (right == "no") return "yes";
  if (right.find(':') != right.npos) return "(3,5,7):(1000,10000,100000)";
  return right[0] == '(' ? "(77777,77777)" : "987654321";
}

TEST(ShippedLessons, CanBeReadInOrder) {
  const std::vector<Lesson> lessons = shipped();
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    EXPECT_EQ(lessons[i].number, static_cast<int>(i) + 1) << lessons[i].name;
  }
  EXPECT_FALSE(lessons.empty());
}

TEST(ShippedLessons, NoWordComesBeforeItsExplanation) {
  const std::vector<Lesson> lessons = shipped();
  for (const std::string& early : early_words(lessons)) ADD_FAILURE() << early;
  std::set<std::string> explained;
  for (const GlossaryEntry& entry : glossary(lessons)) {
    for (const std::string& form : entry.term.forms) {
      EXPECT_TRUE(explained.insert(form).second) << form << " is explained twice";
    }
  }
}

TEST(ShippedLessons, EachExerciseHasAnAnswerAndExplainsWrongOnesWithManySeeds) {
  for (const Lesson& lesson : shipped()) {
    for (const LessonStep& step : lesson.steps) {
      if (!step.exercise || needs_a_run(step.exercise->checker)) continue;
      std::set<std::string> asked;
      for (std::uint64_t round = 0; round < 40; ++round) {
        const auto posed = pose(step, round);
        ASSERT_TRUE(posed.ok()) << lesson.name << ", " << step.title << ": "
                                << posed.error().sentence;
        const PosedExercise& exercise = *posed->exercise;
        const auto right = solution(exercise, {});
        ASSERT_TRUE(right.ok()) << lesson.name << ", " << step.title << ": "
                                << right.error().sentence;
        asked.insert(exercise.question + *right);
        EXPECT_EQ(judge(exercise, *right, {}).is, Judgement::Is::right) << exercise.question;
        const Judgement wrong = judge(exercise, nonsense(*right), {});
        EXPECT_EQ(wrong.is, Judgement::Is::wrong) << exercise.question;
        EXPECT_GT(wrong.sentence.size(), 10u) << exercise.question;
        for (const LessonMistake& mistake : exercise.mistakes) {
          const Judgement slip = judge(exercise, mistake.answer, {});
          EXPECT_TRUE(slip.is == Judgement::Is::right || slip.sentence == mistake.sentence)
              << exercise.question << " " << slip.sentence;
        }
      }
      if (step.exercise->numbers.empty()) continue;
      EXPECT_GT(asked.size(), 3u) << "the seed changes the numbers: " << step.title;
    }
  }
}

std::string source(const std::string& name) {
  std::ifstream in(std::string(TILESCOPE_SOURCE_DIR) + "/kernels/" + name);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The broken kernels of the lesson on faults are rung 7 but for their bug: when that one changes,
// they have to.
TEST(ShippedLessons, BrokenKernelsAreTheRightOneButForTheirBug) {
  const auto body = [](const std::string& name) {
    std::istringstream in(without_marks(source(name)));
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
      if (!line.empty() && line.find("//") != 0) lines.push_back(line);
    }
    return lines;
  };
  std::vector<std::string> right = body("blackwell/hgemm_v7.cu");
  right.pop_back();  // the kernel for bf16
  for (const char* name : {"raced", "stale", "stuck", "unfenced"}) {
    std::vector<std::string> is = body(std::string("lessons/hgemm_") + name + ".cu");
    ASSERT_GT(is.size(), 80u) << name;
    EXPECT_NE(is, right) << name << " has no bug";
    std::vector<std::string> whole = right, extra, missing;
    std::sort(is.begin(), is.end());
    std::sort(whole.begin(), whole.end());
    std::set_difference(is.begin(), is.end(), whole.begin(), whole.end(),
                        std::back_inserter(extra));
    std::set_difference(whole.begin(), whole.end(), is.begin(), is.end(),
                        std::back_inserter(missing));
    EXPECT_LE(extra.size(), 1u) << name << ": " << (extra.empty() ? "" : extra.back());
    EXPECT_LE(missing.size(), 1u) << name << ": " << (missing.empty() ? "" : missing.back());
  }
}

}  // namespace
}  // namespace tilescope
