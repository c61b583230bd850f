// Tasks: each knows its answer, and says of a wrong one what it would be right for.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/lesson/task_case.h"

namespace tilescope::test {
namespace {

const std::string kQuadpair = "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))";

class Tasks : public ::testing::TestWithParam<TaskCase> {};

TEST_P(Tasks, TakesTheAnswerAndExplainsTheSlip) {
  check(GetParam(), {});
}

INSTANTIATE_TEST_SUITE_P(
    Each, Tasks,
    ::testing::Values(
        TaskCase{"offset_of((4,8):(8,1), (1,5))", "13", "41", "other way round"},
        TaskCase{"offset_of((4,8):(8,1), (1,5))", "13", "21", "counted"},
        TaskCase{"offset_of((4,8):(10,1), (1,5))", "15", "13", "along the rows"},
        TaskCase{"offset_of((4,8):(8,1), (1,5))", "13", "6", "added"},
        TaskCase{"offset_of((4,8):(8,1), (1,5))", "13", "14", "that of (1,6)"},
        TaskCase{"offset_of((4,8):(8,1), (1,5))", "13", "99", "No coordinate"},
        TaskCase{"offset_of((3,(2,2)):(59,(28,1)), 5)", "146", "1",
                 "Index 5 is the coordinate (2,(1,0)) of the shape (3,(2,2))"},
        TaskCase{"offset_of((3,(2,2)):(59,(28,1)), 5)", "146", "3",
                 "You added the numbers of (2,(1,0))"},
        TaskCase{"offset_of((4,2):(1,16), 6)", "18", "6", "Index 6 is the coordinate (2,1)"},
        TaskCase{"offset_of((4,(2,3)):(2,(1,8)), (1,3))", "11", "99",
                 "Here (1,3) is the coordinate (1,(1,1))"},
        TaskCase{"coordinate_of((4,8):(8,1), 13)", "(1,5)", "(1,4)", "has offset 12"},
        TaskCase{"coordinate_of((4,8):(8,1), 11)", "(1,3)", "(3,1)", "changed places"},
        TaskCase{"coordinate_of((4,8):(8,1), 13)", "(1,5)", "(0,13)", "no coordinate"},
        TaskCase{"index_of((4,8), (1,5))", "21", "13", "NumPy"},
        TaskCase{"index_of((4,8), (1,5))", "21", "22", "begins at 0"},
        TaskCase{"index_of((4,8), (1,5))", "21", "9", "Number 9 is (1,2)"},
        TaskCase{"size_of((4,8):(10,1))", "32", "38", "how far"},
        TaskCase{"size_of((4,8):(10,1))", "32", "12", "added the extents"},
        TaskCase{"cosize_of((4,8):(10,1))", "38", "37", "one more"},
        TaskCase{"cosize_of((4,8):(10,1))", "38", "32", "how many elements"},
        TaskCase{"same_function((4,8):(8,1), coordinate)", "(4,8):(8,1)", "(4,8):(1,8)",
                 "coordinate 1 to 1"},
        TaskCase{"same_function(get(" + kQuadpair + ",0), thread)", "(2,2,2):(1,16,4)",
                 "(2,2,2):(1,4,16)", "thread 2 to 4, and it is at 16"},
        TaskCase{"same_function(4:1)", "4:1", "5:1", "for 5 coordinates"},
        TaskCase{"composition_at((6,2):(8,2), (4,3):(3,1), 5)", "32", "4", "where"},
        TaskCase{"composition_at((6,2):(8,2), (4,3):(3,1), 5)", "32", "40", "itself"},
        TaskCase{"composition_of((6,2):(8,2), (4,3):(3,1))", "((2,2),3):((24,2),8)", "(4,3):(24,8)",
                 "At 2 yours answers 48"},
        TaskCase{"composition_of((6,2):(8,2), (4,3):(3,1))", "((2,2),3):((24,2),8)", "4:24",
                 "Yours has 4 elements"},
        TaskCase{"complement_of((2,2):(1,6), 24)", "(3,2):(2,12)", "(3,2):(2,6)", "reach offset 6"},
        TaskCase{"complement_of((2,2):(1,6), 24)", "(3,2):(2,12)", "3:2",
                 "No copy reaches offset 12"},
        TaskCase{"complement_of((2,2):(1,6), 24)", "(3,2):(2,12)", "(3,2):(2,24)",
                 "leave the range"},
        TaskCase{"complement_of((2,2):(1,6), 24)", "(3,2):(2,12)", "(2,3):(12,2)", "not in order"},
        TaskCase{"divide_mode(12:1, 4:3, 0)", "4:3", "3:1", "where the tiles begin"},
        TaskCase{"divide_mode(12:1, 4:3, 1)", "3:1", "4:3", "inside one tile"},
        TaskCase{"divide_mode(12:1, 4:3, 0)", "4:3", "4:1", "as element 1 of the tile"},
        TaskCase{"tile_of((8,12), (4,4), (5,6))", "3", "4", "along the rows"},
        TaskCase{"tile_of((8,12), (4,4), (5,6))", "3", "9", "inside its tile"},
        TaskCase{"tile_of((8,12), (4,4), (5,6))", "3", "0", "ends with (3,3)"},
        TaskCase{"thread_at(" + kQuadpair + ", (8,8), (1,2))", "3", "5", "not among"},
        TaskCase{"thread_at(" + kQuadpair + ", (8,8), (3,0))", "1", "2", "which of its values"},
        TaskCase{"value_at(" + kQuadpair + ", (8,8), (3,0))", "2", "1", "That is the thread"},
        TaskCase{"value_at(" + kQuadpair + ", (8,8), (3,0))", "2", "4", "is at (1,4)"},
        TaskCase{"place_of(" + kQuadpair + ", (8,8), 3, 0)", "(1,2)", "(2,1)",
                 "thread 0, as its value 3"},
        TaskCase{"tiles_for((37,150), (16,128))", "6", "2", "full tiles"},
        TaskCase{"tiles_for((37,150), (16,128))", "6", "3", "around the edge"},
        TaskCase{"tiles_for((37,150), (16,128))", "6", "5", "multiplied"},
        TaskCase{"predicate_of((37,150), (36,149))", "yes", "no", "149 < 150 holds"},
        TaskCase{"predicate_of((37,150), (36,150))", "no", "yes", "does not hold"},
        TaskCase{"outside_of((37,150), (16,128), 5)", "1938", "110", "are inside"},
        TaskCase{"outside_of((37,150), (16,128), 5)", "1938", "2048", "all of the tile"}));

TEST(Task, EveryTaskIsNamedOnceAndTried) {
  const std::vector<std::string_view> names = task_names();
  for (const std::string_view name : names) {
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
  }
  EXPECT_EQ(names.size(), 44u);
}

TEST(Task, ARightAnswerMayBeWrittenInSeveralWays) {
  EXPECT_EQ(judge(asked("same_function((2,6):(1,2))"), "12:1", {}).is, Judgement::Is::right);
  EXPECT_EQ(judge(asked("coordinate_of((4,8):(8,1), 13)"), "1, 5", {}).is, Judgement::Is::right);
  EXPECT_EQ(judge(asked("coordinate_of((4,8):(0,1), 5)"), "(3,5)", {}).is, Judgement::Is::right);
  EXPECT_EQ(judge(asked("thread_at(" + kQuadpair + ", (8,8), (1,2))"), "T3", {}).is,
            Judgement::Is::right);
  EXPECT_EQ(judge(asked("number_of(12288)"), "12,288", {}).is, Judgement::Is::right);
  EXPECT_EQ(judge(asked("number_of(1048576)"), "1,048,576", {}).is, Judgement::Is::right);
  EXPECT_EQ(judge(asked("predicate_of((4,4), (1,2))"), " Inside ", {}).is, Judgement::Is::right);
}

TEST(Task, WhatIsNoAnswerIsNoTry) {
  const auto unreadable = [](const std::string& checker, const std::string& answer,
                             const std::string& words) {
    const Judgement verdict = judge(asked(checker), answer, {});
    EXPECT_EQ(verdict.is, Judgement::Is::unreadable) << answer;
    EXPECT_NE(verdict.sentence.find(words), std::string::npos) << verdict.sentence;
  };
  unreadable("size_of(4:1)", "", "no answer yet");
  unreadable("size_of(4:1)", "four", "a number, such as 12");
  unreadable("size_of(4:1)", "1,2", "a number, such as 12");
  unreadable("size_of(4:1)", ",128", "a number, such as 12");
  unreadable("size_of(4:1)", "(4,1)", "a number, such as 12");
  unreadable("coordinate_of(4:1, 2)", "4:1", "a coordinate");
  unreadable("coordinate_of(4:1, 2)", "(_,2)", "a coordinate");
  unreadable("same_function(4:1)", "(4", "a layout");
  unreadable("same_function(4:1)", "?:1", "a layout");
  unreadable("composition_of(4:1, 2:2)", "composition(4:1, 2:2)", "written out");
  unreadable("predicate_of((4,4), (1,2))", "maybe", "yes or no");
  unreadable("wrong_element()", "(0,0)", "run the kernel first");
}

TEST(Task, ARunIsJudgedByWhatItLeft) {
  RunEvidence run;
  run.done = true;
  run.rows = 4;
  run.columns = 8;
  run.wrong = 2;
  run.first_wrong = 11;
  run.at = [](std::int64_t row, std::int64_t column) {
    return RunEvidence::Element{row == 1 && column >= 3 && column <= 4, "1", "2"};
  };
  const auto is = [&](const char* checker, const char* answer) {
    return judge(asked(checker), answer, run);
  };
  EXPECT_EQ(*solution(asked("wrong_element()"), run), "(1,3)");
  EXPECT_EQ(is("wrong_element()", "(1,4)").is, Judgement::Is::right);
  EXPECT_NE(is("wrong_element()", "(1,5)").sentence.find("is right"), std::string::npos);
  EXPECT_NE(is("wrong_element()", "(9,9)").sentence.find("4 x 8"), std::string::npos);
  EXPECT_EQ(is("wrong_count()", "2").is, Judgement::Is::right);
  EXPECT_NE(is("wrong_count()", "30").sentence.find("are right"), std::string::npos);
}

TEST(Task, AMistakeOfTheLessonIsToldFirst) {
  PosedExercise exercise = asked("offset_of((4,8):(8,1), (1,5))");
  exercise.mistakes = {{"41", "Look at the strides."}, {"13", "never"}};
  EXPECT_EQ(judge(exercise, "41", {}).sentence, "Look at the strides.");
  EXPECT_EQ(judge(exercise, "13", {}).is, Judgement::Is::right);
}

}  // namespace
}  // namespace tilescope::test
