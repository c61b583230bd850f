// A task, its answer, a slip, and words of what is said of the slip.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/lesson/pose.h"

namespace tilescope::test {

struct TaskCase {
  std::string checker, right, wrong, words;
};

inline void PrintTo(const TaskCase& c, std::ostream* out) {
  *out << c.checker << " <- " << c.wrong;
}

inline PosedExercise asked(const std::string& checker) {
  return {"", checker, "", {"", ""}, {}};
}

inline void check(const TaskCase& c, const RunEvidence& evidence) {
  const auto answer = solution(asked(c.checker), evidence);
  ASSERT_TRUE(answer.ok()) << answer.error().sentence;
  EXPECT_EQ(*answer, c.right);
  EXPECT_EQ(judge(asked(c.checker), c.right, evidence).is, Judgement::Is::right);
  const Judgement verdict = judge(asked(c.checker), c.wrong, evidence);
  EXPECT_EQ(verdict.is, Judgement::Is::wrong) << verdict.sentence;
  EXPECT_NE(verdict.sentence.find(c.words), std::string::npos) << verdict.sentence;
}

}  // namespace tilescope::test
