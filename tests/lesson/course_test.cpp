// Exercises of the course: how they are read, what is left out of a kernel, what is told of a
// mistake.
#include <gtest/gtest.h>

#include "core/lesson/course.h"

namespace tilescope::test {
namespace {

const std::string kHead =
    "# A loop\n```course\nnumber: 3\nkernel: k\nshapes: --k 64; --k 128 --m 8\ntime: 120\n```\n";

CourseExercise read(const std::string& text) {
  const auto exercise = read_course_exercise(text, "e");
  EXPECT_TRUE(exercise.ok()) << exercise.error().sentence << exercise.error().where;
  return exercise ? *exercise : CourseExercise{};
}

TEST(Course, IsReadWithItsStatementHintsAndMistakes) {
  const CourseExercise e =
      read(kHead +
           "\nWrite it\nwhole.\n\n- first\n- second\n  goes on\n\n## Hints\n- "
           "which?\n- this\n## Mistakes\n- deadlock, full, phase 1: Too early\n"
           "  by one.\n- different: Wrong.\n");
  EXPECT_EQ(e.title, "A loop");
  EXPECT_EQ(e.kernel, "k");
  EXPECT_EQ(e.number, 3);
  EXPECT_EQ(e.percent, 120);
  EXPECT_EQ(e.shapes, (std::vector<std::string>{"--k 64", "--k 128 --m 8"}));
  EXPECT_EQ(e.statement,
            (std::vector<std::string>{"Write it whole.", "- first", "- second goes on"}));
  EXPECT_EQ(e.hints, (std::vector<std::string>{"which?", "this"}));
  ASSERT_EQ(e.mistakes.size(), 2u);
  EXPECT_EQ(e.mistakes[0].words, (std::vector<std::string>{"full", "phase 1"}));
  EXPECT_EQ(e.mistakes[0].sentence, "Too early by one.");
}

TEST(Course, WhatIsNoExerciseIsRefusedWithItsLine) {
  const auto where = [](const std::string& text) {
    const auto exercise = read_course_exercise(text, "e");
    return exercise ? std::string("taken") : exercise.error().where;
  };
  EXPECT_EQ(where("# A\n```course\nkernel: k\ncolour: red\n```\nText\n"), "e.md:4");
  EXPECT_EQ(where("# A\n```course\nnumber: x\n```\nText\n"), "e.md:3");
  EXPECT_EQ(where("# A\n```course\nkernel: k\n"), "e.md:4");
  EXPECT_EQ(where(kHead + "Text\n## Tips\n"), "e.md:9");
  EXPECT_EQ(where(kHead + "Text\n## Hints\nno item\n"), "e.md:10");
  EXPECT_EQ(where(kHead + "Text\n## Mistakes\n- deadlock\n"), "e.md:10");
  EXPECT_EQ(where(kHead), "e.md:8") << "nothing has to be done";
  EXPECT_EQ(where("# A\n```course\nkernel: k\ntime: 5\n```\nText\n"), "e.md:7") << "no shapes";
}

TEST(Course, MarkedPartsAreLeftOutAndTheStatementStandsInTheFirst) {
  const CourseExercise e = read(kHead + "Do it.\n\n- so\n");
  const auto out = without_marked(
      "int f() {  // [exercise\n\n    int x = 1;\n    return x;\n}  // exercise]\nint g() {\n"
      "  // [exercise\n  return 2;\n  // exercise]\n}\n",
      e);
  ASSERT_TRUE(out.ok()) << out.error().sentence;
  EXPECT_EQ(*out,
            "int f() {\n    // Do it.\n    // - so\n    //\n    // Yours.\n}\nint g() {\n  // "
            "Yours.\n}\n");
}

TEST(Course, ASourceIsShownWithoutItsMarksLineByLine) {
  EXPECT_EQ(without_marks("a {  // [exercise\n\n  // [exercise\nb;  // why\n}  // exercise]\n"),
            "a {\n\n\nb;  // why\n}\n");
  EXPECT_EQ(without_marks("x // [exercise"), "x");
  EXPECT_EQ(without_marks("// [exercise of ours\n"), "// [exercise of ours\n");
}

TEST(Course, MarksThatDoNotFitAreRefused) {
  const CourseExercise e = read(kHead + "Do it.\n");
  EXPECT_FALSE(without_marked("int x;\n", e).ok());
  EXPECT_FALSE(without_marked("// [exercise\nint x;\n", e).ok());
  EXPECT_FALSE(without_marked("int x;\n// exercise]\n", e).ok());
  EXPECT_FALSE(without_marked("// [exercise\n// [exercise\n// exercise]\n", e).ok());
}

TEST(Course, TheFirstMistakeThatFitsIsTold) {
  const CourseExercise e = read(kHead +
                                "Do it.\n## Mistakes\n- deadlock, full: F.\n- deadlock: D.\n- "
                                "different, transposed: T.\n");
  EXPECT_EQ(mistake_told(e, "deadlock", "waits for full[0]"), "F.");
  EXPECT_EQ(mistake_told(e, "deadlock", "waits for empty"), "D.");
  EXPECT_EQ(mistake_told(e, "different", "all"), "");
  EXPECT_EQ(mistake_told(e, "different", "transposed in tiles"), "T.");
  EXPECT_EQ(mistake_told(e, "slow", "full"), "");
}

}  // namespace
}  // namespace tilescope::test
