// The reader of lessons: what it takes, and the sentence for each way to get it wrong.
#include <gtest/gtest.h>

#include <set>

#include "core/lesson/glossary.h"
#include "core/lesson/numbers.h"
#include "core/lesson/pose.h"

namespace tilescope {
namespace {

const std::string kHead = "# T\n```lesson\nnumber: 1\nabout: a\n```\n";
const std::string kView = "```do\nopen layout 4:1\n```\n";

std::string exercise(const std::string& checker, const std::string& more = "") {
  return "```exercise\nquestion: What?\nseed: 1\nchecker: " + checker + "\nhint: a\nhint: b\n" +
         more + "```\n";
}

void refused(const std::string& text, const std::string& words, int line) {
  const auto lesson = read_lesson(text, "x");
  ASSERT_FALSE(lesson.ok()) << text;
  EXPECT_NE(lesson.error().sentence.find(words), std::string::npos) << lesson.error().sentence;
  EXPECT_EQ(lesson.error().where, "x.md:" + std::to_string(line)) << lesson.error().sentence;
}

TEST(LessonReader, ReadsTextTermsPicturesViewsAndExercises) {
  const auto lesson = read_lesson(
      kHead +
          "## One\nA line\nand its rest.\n\n- an item\n- another\n```term\ntile, tiles: a part\n"
          "```\n```draw\n(2,2):(1,2)\ncolour tile\n```\n" +
          kView + exercise("size_of(({n},2):(1,{n}))", "numbers: n = 3..5\nmistake: {n} => no\n"),
      "x");
  ASSERT_TRUE(lesson.ok()) << lesson.error().sentence;
  ASSERT_EQ(lesson->steps.size(), 1u);
  const LessonStep& step = lesson->steps[0];
  ASSERT_EQ(step.parts.size(), 5u);
  EXPECT_EQ(step.parts[0].text, "A line and its rest.");
  EXPECT_EQ(step.parts[2].text, "another");
  EXPECT_EQ(step.parts[3].text, "tile: a part");
  EXPECT_EQ(step.parts[4].colour, "tile");
  EXPECT_EQ(step.terms[0].forms, (std::vector<std::string>{"tile", "tiles"}));
  EXPECT_EQ(step.commands, std::vector<std::string>{"open layout 4:1"});
  EXPECT_EQ(step.words, 5 + 2 + 1 + 3 + 1);
}

TEST(LessonReader, SaysWhatIsWrongAndInWhichLine) {
  refused("", "no title", 1);
  refused("## One\n", "before the first step", 1);
  refused(kHead, "no steps", 1);
  refused("# T\ntext\n", "before the first step", 2);
  refused("# T\n# U\n", "a title already", 2);
  refused(kHead + "### Deep\n", "no heading", 6);
  refused(kHead + "## One\ntext\n", "sets no view", 6);
  std::string many;
  for (int i = 0; i <= most_words; ++i) many += "word ";
  refused(kHead + "## One\n" + kView + many + "\n", "has 121 words", 6);
  refused(kHead + "## One\n```python\nx\n```\n", "no blocks ```python", 7);
  refused(kHead + "## One\n```do\nx\n", "does not end", 7);
  refused(kHead + "## One\n```do\n```\n", "is empty", 7);
  refused(kHead + "```do\nx\n```\n", "belongs to a step", 6);
  refused("# T\n```lesson\nnumber: x\n```\n", "says nothing of a lesson", 3);
  refused(kHead + "## One\n```term\nno colon\n```\n", "explains no word", 8);
  refused(kHead + "## One\n```draw\n4:1\n5:1\n```\n", "one expression", 9);
  refused(kHead + "## One\n```exercise\nquestion: x\n```\n", "two hints", 7);
  refused(kHead + "## One\n```exercise\nseed: x\n```\n", "seed is a number", 8);
  refused(kHead + "## One\n```exercise\nanswer: 3\n```\n", "says nothing of an exercise", 8);
  refused(kHead + "## One\n```exercise\nmistake: 3\n```\n", "no mistake", 8);
  refused(kHead + "## One\n" + kView + exercise("size_of(4:1)") + exercise("size_of(4:1)"),
          "a second", 17);
}

TEST(LessonReader, AnExerciseThatCannotBeAskedIsRefusedWhenRead) {
  const std::string begin = kHead + "## One\n" + kView;
  refused(begin + exercise("nothing_of(4:1)"), "no checker `nothing_of`; there are offset_of", 10);
  refused(begin + exercise("size_of"), "is no checker", 10);
  refused(begin + exercise("size_of(4:1, 3)"), "takes 1 operand", 10);
  refused(begin + exercise("size_of((2,3))"), "no layout", 10);
  refused(begin + exercise("offset_of((2,3):(1,2), (5,5))"), "no coordinate of it", 10);
  refused(begin + exercise("coordinate_of((2,3):(1,2), 77)"), "No coordinate of it has offset 77",
          10);
  refused(begin + exercise("composition_of((4,6):(7,1), 5:3)"), "cannot ask this", 10);
  refused(begin + exercise("size_of({n}:1)"), "no number `n`", 10);
  refused(begin + exercise("size_of(4:1)", "mistake: (1,2) => no\n"), "is no answer", 10);
  refused(begin + exercise("size_of(4:1)", "numbers: n = 5..3\n"), "no numbers", 10);
}

TEST(LessonNumbers, TheSameSeedGivesTheSameNumbersAndOthersDiffer) {
  const std::string rules = "m = 3..60; n = 4|8|16; i = 1..m-1; at = (i+1)*n%7";
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto a = draw_numbers(rules, seed), b = draw_numbers(rules, seed);
    ASSERT_TRUE(a.ok()) << a.error().sentence;
    EXPECT_EQ(*a, *b);
    const auto value = [&](std::size_t k) { return (*a)[k].second; };
    EXPECT_TRUE(value(0) >= 3 && value(0) <= 60);
    EXPECT_TRUE(value(1) == 4 || value(1) == 8 || value(1) == 16);
    EXPECT_TRUE(value(2) >= 1 && value(2) < value(0));
    EXPECT_EQ(value(3), (value(2) + 1) * value(1) % 7);
    seen.insert(*filled("{m} {n} {i}", *a));
  }
  EXPECT_GT(seen.size(), 30u);
}

TEST(LessonNumbers, RulesAndBracesThatSayNothingGetASentence) {
  for (const char* rules : {"m", "m = ", "= 3", "m = 3..", "m = 9..3", "m = k", "m = 3 4", "m = (3",
                            "m = 7/0", "m = 99999999999999999999", "m = 3;;", "3 = 4"}) {
    const auto numbers = draw_numbers(rules, 1);
    ASSERT_FALSE(numbers.ok()) << rules;
    EXPECT_FALSE(numbers.error().sentence.empty());
  }
  for (const char* text : {"{m", "{}", "{m+}", "{q}", "?{div=4", "?{div={m}", "?{div={q}}"})
    EXPECT_FALSE(filled(text, {{"m", 3}}).ok());
  EXPECT_EQ(*filled("{m*2-1} and {m}", {{"m", 3}}), "5 and 3");
  EXPECT_EQ(*filled("({m},?):(?{div=16},1)", {{"m", 3}}), "(3,?):(?{div=16},1)");
  EXPECT_EQ(*filled("(?{div={m}},{m}):(?{i64 div={4*m}},?{i64})", {{"m", 3}}),
            "(?{div=3},3):(?{i64 div=12},?{i64})");
}

TEST(LessonGlossary, FindsAWordThatIsUsedBeforeItIsExplained) {
  const auto first = read_lesson(kHead + "## One\nA Tile, and `stride` as code.\n" + kView +
                                     "## Two\n```term\ntile, tiles: a part\n```\nTiles.\n" + kView,
                                 "first");
  const auto second = read_lesson(
      kHead + "## One\nNo striders.\n```term\nstride, strides: far\n```\n" + kView, "second");
  ASSERT_TRUE(first.ok() && second.ok());
  const std::vector<Lesson> lessons = {*first, *second};
  EXPECT_EQ(early_words(lessons),
            std::vector<std::string>{"first, step 1 says `tile`, which first, step 2 explains."});
  ASSERT_EQ(glossary(lessons).size(), 2u);
  EXPECT_EQ(glossary(lessons)[0].term.forms[0], "stride");
  // Words that lead elsewhere, or nowhere, are not the term; and links are no words.
  const auto links = read_lesson(
      kHead + "## One\nA [tile]() of `[clay](tile)`, [paths](layout).\n" + kView +
          "## Two\n```term\ntile, tiles: a part\n```\n```term\npaths: ways\n```\nTiles.\n" + kView,
      "links");
  ASSERT_TRUE(links.ok());
  EXPECT_EQ(early_words({&*links, 1}), std::vector<std::string>());
  EXPECT_EQ(links->steps[0].words, 5);
  EXPECT_EQ(without_links("a [b c](d), `[e](f)`"), "a b c, `[e](f)`");
}

}  // namespace
}  // namespace tilescope
