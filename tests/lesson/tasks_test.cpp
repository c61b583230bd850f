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
                 "Which coordinate of the shape (3,(2,2)) has the index 5"},
        TaskCase{"offset_of((3,(2,2)):(59,(28,1)), 5)", "146", "60", "last mode fastest"},
        TaskCase{"offset_of((3,(2,2)):(59,(28,1)), 5)", "146", "295",
                 "goes 5 steps in one direction"},
        // 26 = 3 * 8 + 2, and 33 XOR 2 * 8 = 49.
        TaskCase{"offset_of(Sw<3,3,3> o 0 o (64,64):(64,1), (26,33))", "1713", "1697",
                 "before the swizzle"},
        TaskCase{"offset_of(Sw<3,3,3> o 0 o (64,64):(64,1), (26,33))", "1713", "1705",
                 "and add, then swizzle"},
        TaskCase{"offset_of((3,(2,2)):(59,(28,1)), 5)", "146", "3",
                 "You added the numbers of the coordinate"},
        TaskCase{"offset_of((4,2):(1,16), 6)", "18", "6", "6 is the index"},
        TaskCase{"offset_of((4,(2,3)):(2,(1,8)), (1,3))", "11", "99",
                 "Write (1,3) as a coordinate of the shape (4,(2,3))"},
        TaskCase{"coordinate_of((4,8):(8,1), 13)", "(1,5)", "(1,4)", "has offset 12"},
        TaskCase{"coordinate_of((4,8):(8,1), 11)", "(1,3)", "(3,1)", "changed places"},
        TaskCase{"coordinate_of((4,8):(8,1), 13)", "(1,5)", "(0,13)", "no coordinate"},
        TaskCase{"index_of((4,8), (1,5))", "21", "13", "NumPy"},
        TaskCase{"index_of((4,8), (1,5))", "21", "22", "begins at 0"},
        TaskCase{"index_of((4,8), (1,5))", "21", "9", "Number 9 is (1,2)"},
        TaskCase{"size_of((4,8):(10,1))", "32", "38", "how far"},
        TaskCase{"size_of((4,8):(10,1))", "32", "12", "added the extents"},
        TaskCase{"cosize_of((4,8):(10,1))", "38", "37", "one more"},
        TaskCase{"cosize_of((4,8):(10,1))", "38", "41", "do not reach so far: 40 is none"},
        TaskCase{"cosize_of((4,8):(10,1))", "38", "20", "Not all offsets are below 20"},
        TaskCase{"cosize_of((4,8):(10,1))", "38", "32", "how many elements"},
        TaskCase{"same_function((4,8):(8,1), coordinate)", "(4,8):(8,1)", "(4,8):(9,1)",
                 "coordinate 1 to 9, and it is at 8. Those before it are right"},
        TaskCase{"same_function((4,8):(8,1), coordinate)", "(4,8):(8,1)", "(4,8):(1,8)",
                 "The strides 8 and 1 have changed places"},
        TaskCase{"same_function(get(" + kQuadpair + ",0), thread)", "(2,2,2):(1,16,4)",
                 "(2,2,2):(1,4,16)", "The strides 16 and 4 have changed places"},
        TaskCase{"same_function(get(" + kQuadpair + ",0), thread)", "(2,2,2):(1,16,4)",
                 "(2,2,2):(1,5,4)", "thread 2 to 5, and it is at 16"},
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
        TaskCase{"divide_mode((4,8):(13,1), (2,4):(1,8), 0)", "(2,4):(13,2)", "(2,4):(1,8)",
                 "the tiler itself"},
        TaskCase{"divide_mode(12:7, 3:2, 1)", "(2,2):(7,42)", "(2,2):(1,6)",
                 "the complement of the tiler"},
        TaskCase{"tile_of((8,12), (4,4), (5,6))", "3", "4", "along the rows"},
        TaskCase{"tile_of((8,12), (4,4), (5,6))", "3", "9", "inside its tile"},
        TaskCase{"tile_of((8,12), (4,4), (5,6))", "3", "0", "ends with (3,3)"},
        TaskCase{"thread_at(" + kQuadpair + ", (8,8), (1,2))", "3", "5", "not among"},
        TaskCase{"thread_at(" + kQuadpair + ", (8,8), (3,0))", "1", "2",
                 "2 is the number of the value that (3,0) is"},
        TaskCase{"value_at(" + kQuadpair + ", (8,8), (3,0))", "2", "1",
                 "1 is the thread that holds (3,0)"},
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

// What a number comes from when one operation of the right one is left out or is another.
TEST(Task, ASlipInAnExpressionIsNamed) {
  const auto says = [](std::string_view expression, const Drawn& numbers, std::int64_t number) {
    for (const NumberSlip& slip : number_slips(expression, numbers)) {
      if (slip.number == number) return slip.sentence;
    }
    return std::string();
  };
  const Drawn place = {{"r", 3}, {"c", 4}, {"n", 32}};
  EXPECT_EQ(says("r*65536+c+n", place, 4 * 65536 + 3 + 32),
            "262179 comes out where 3 and 4 have changed places.");
  EXPECT_EQ(says("r*65536+c+n", place, 3 + 4 + 32), "39 comes out without the factor 65536.");
  EXPECT_EQ(says("i/4%2", {{"i", 14}}, 3), "3 comes out before the rest of 3 / 2 is taken.");
  EXPECT_EQ(says("p/g", {{"p", 19}, {"g", 4}}, 5), "5 comes out where 19 / 4 is rounded up.");
  EXPECT_EQ(says("a^b", {{"a", 13}, {"b", 7}}, 20),
            "20 comes out where 13 and 7 are added: XOR carries nothing.");
  EXPECT_EQ(says("a^b", {{"a", 13}, {"b", 7}}, 15),
            "15 comes out where 13 OR 7 is taken: of two ones XOR makes 0.");
  // The number itself is none, and of what is too long for one go nothing is said.
  EXPECT_EQ(says("a^b", {{"a", 13}, {"b", 7}}, 10), "");
  EXPECT_TRUE(number_slips("a+1+2+3+4+5+6+7", {{"a", 1}}).empty());
  EXPECT_TRUE(number_slips("a+", {{"a", 1}}).empty());
  EXPECT_EQ(*filled("{13^7+1} {2*(3^1)}", {}), "5 4");

  LessonStep step;
  step.exercise.emplace();
  step.exercise->numbers = "a = 3; b = 7";
  step.exercise->checker = "number_of({a*b}, number of bytes)";
  const Outcome<PosedStep> posed = pose(step, 0);
  ASSERT_TRUE(posed.ok());
  EXPECT_EQ(judge(*posed->exercise, "10", {}).sentence,
            "10 comes out where 3 and 7 are added, not multiplied.");
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
  EXPECT_NE(is("wrong_element()", "(1,5)").sentence.find("correctly"), std::string::npos);
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
