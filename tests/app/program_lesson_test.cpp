// tilescope lesson: every shipped lesson from its first step to its last in the terminal, each
// exercise with a wrong and the right answer; its list, its document, its file of progress.
#include <algorithm>
#include <map>

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

using Json = nlohmann::json;

class Lessons : public Program {
 protected:
  Lessons() { set("XDG_STATE_HOME", (folder / "state").string()); }

  std::vector<Json> list() {
    const auto [code, document] = run_json({"lesson"});
    EXPECT_EQ(code, 0);
    return document["lessons"].get<std::vector<Json>>();
  }
  std::vector<Json> steps(const std::string& lesson) {
    const auto [code, document] = run_json({"lesson", lesson});
    EXPECT_EQ(code, 0);
    return document["steps"].get<std::vector<Json>>();
  }
  Ended walk(const std::string& lesson, const std::string& typed) {
    return run({"lesson", lesson, "--step", "1", "--keep"}, typed);
  }
};

// What follows each "The answer is " up to the end of that sentence.
std::vector<std::string> answers_in(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::vector<std::string> found;
  const std::string begin = "The answer is ", end = ". ";
  for (std::size_t at = text.find(begin); at != text.npos; at = text.find(begin, at + 1)) {
    const std::size_t from = at + begin.size();
    found.push_back(text.substr(from, text.find(end, from) - from));
  }
  return found;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++times;
  return times;
}

// An answer of the form that is asked for which cannot be right.
std::string wrong_for(const std::string& right, const std::string& form) {
  if (right == "yes" || right == "no") return right == "yes" ? "no" : "yes";
  if (form.find("letters") == 0) return "a";
  if (form.find("options") == 0) return "--nosuch 1";
  if (right.find(':') != right.npos) return "(3,5,7):(1000,10000,100000)";
  return right[0] == '(' ? "(77777,7)" : "987654321";
}

const std::vector<std::string> kLessons = {
    "layouts",   "algebra",  "threads",  "elementwise_add", "swizzles", "global_memory",
    "mbarriers", "tma",      "tcgen05",  "hgemm_v1",        "hgemm_v2", "hgemm_v3",
    "hgemm_v4",  "hgemm_v5", "hgemm_v6", "hgemm_v7",        "hgemm_v8", "hgemm_v9",
    "hgemm_v10", "hopper",   "faults",   "lowering"};

// "layouts, algebra, threads"
std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

class EachLesson : public Lessons, public ::testing::WithParamInterface<std::string> {};

TEST_P(EachLesson, IsWalkedThroughWithWrongAndRightAnswers) {
  const std::string& name = GetParam();
  const std::vector<Json> all = steps(name);
  std::string asking;
  std::size_t exercises = 0;
  for (const Json& step : all) {
    if (step.contains("exercise")) {
      ++exercises;
      // What is predicted has an answer when the kernel has run.
      if (has(step["exercise"]["form"], "tensor, shared")) asking += "do run\n";
      asking += "hint\nhint\nhint\n";
    }
    asking += "next\n";
  }
  const Ended told = walk(name, asking);
  ASSERT_EQ(told.exit_code, 0) << told.err;
  const std::vector<std::string> right = answers_in(told.out);
  ASSERT_EQ(right.size(), exercises) << name << told.out;
  EXPECT_TRUE(has(told.out, "That was the last step")) << name;
  // A terminal of 100 columns has room for each line, and a step is no scroll of tables.
  std::size_t lines = 0;
  for (std::size_t begin = 0; begin < told.out.size(); ++lines) {
    const std::size_t end = std::min(told.out.find('\n', begin), told.out.size());
    const std::string line = told.out.substr(begin, end - begin);
    const auto signs = std::count_if(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    });
    EXPECT_LE(signs, 100) << line;
    begin = end + 1;
  }
  EXPECT_LE(lines, 90 * all.size());
  EXPECT_FALSE(has(told.out, "`lesson again`")) << "the word here is `again`";

  std::string answering;
  std::size_t next = 0;
  for (const Json& step : all) {
    if (step.contains("exercise")) {
      const std::string form = step["exercise"]["form"];
      answering += wrong_for(right[next], form) + "\n" + right[next] + "\n";
      if (has(form, "tensor, shared")) answering += "do run\n";
      ++next;
    }
    answering += "next\n";
  }
  const Ended solved = walk(name, answering);
  ASSERT_EQ(solved.exit_code, 0) << solved.err;
  EXPECT_EQ(count(solved.out, "\nRight"), exercises) << name << solved.out;
  for (const Json& lesson : list()) {
    EXPECT_EQ(lesson["progress"] == "done", lesson["name"] == name) << lesson["name"];
  }
  EXPECT_TRUE(exists("state/tilescope/progress.json"));
}

INSTANTIATE_TEST_SUITE_P(Shipped, EachLesson, ::testing::ValuesIn(kLessons),
                         [](const auto& lesson) { return lesson.param; });

// One order is right however late copies come, another only where they are quick.
TEST_F(Lessons, AnOrderThatIsRightByLuckIsRefused) {
  const Ended lucky = run({"lesson", "global_memory", "--step", "10"}, "d b a e c\n");
  EXPECT_FALSE(has(lucky.out, "\nRight")) << lucky.out;
  const Ended right = run({"lesson", "global_memory", "--step", "10"}, "d b e a c\n");
  EXPECT_TRUE(has(right.out, "\nRight")) << right.out;
}

// In a terminal the theatre is a page, and what is asked can be read from it.
TEST_F(Lessons, TheTheatreCanBeReadInATerminal) {
  const std::vector<Json> all = steps("mbarriers");
  const auto asked = std::find_if(all.begin(), all.end(), [](const Json& step) {
    return has(step.value("exercise", Json::object()).dump(), "does warp ");
  });
  ASSERT_NE(asked, all.end());
  const std::string question = (*asked)["exercise"]["question"];
  const auto behind = [&](const std::string& word) {
    return std::stoi(question.substr(question.find(word) + word.size()));
  };
  const int warp = behind("warp "), cycle = behind("cycle ");
  const Ended ended =
      run({"lesson", "mbarriers", "--step", std::to_string(asked - all.begin() + 1)},
          "hint\nhint\nhint\ndo theatre at " + std::to_string(cycle) + "\n");
  const std::string answer = answers_in(ended.out).at(0);
  const std::string page = ended.out.substr(ended.out.rfind("\nWarps\n"));
  bool told = false;  // of this warp, or of it with its neighbours
  for (int first = 0; first <= warp; ++first) {
    for (int last = warp; last < 4; ++last) {
      const std::string who = "warp" + std::string(first < last ? "s " : " ") +
                              std::to_string(first) +
                              (first < last ? "-" + std::to_string(last) + ", each" : "");
      told = told || has(page, "  " + who + ": waits for " + answer);
    }
  }
  EXPECT_TRUE(told) << answer << page;
  const std::string hint = (*asked)["exercise"]["hints"][0];
  EXPECT_TRUE(has(hint, "do theatre at")) << hint;
}

// What a step's view shows, as far as characters can.
TEST_F(Lessons, ViewsAreToldInCharacters) {
  const auto shows = [&](const char* lesson, const char* step, std::vector<std::string> words,
                         const std::string& typed = "") {
    const Ended told = run({"lesson", lesson, "--step", step}, typed);
    ASSERT_EQ(told.exit_code, 0) << told.err;
    for (const std::string& each : words) {
      EXPECT_TRUE(has(told.out, each)) << lesson << " " << step << ": " << each << "\n" << told.out;
    }
  };
  // Lane l at float 6 * l or so: sectors; a column of 32 banks; a matrix of bits.
  shows("global_memory", "1", {"lanes, by sectors of 32 bytes", "byte 0  | 0-7 "});
  shows("swizzles", "3", {"  0  1  2  3  4", " 30 31\n", "phase 0", " .. .."});
  shows("swizzles", "6", {"bits of the offset down", "(mode.bit)"});
  shows("hgemm_v4", "4", {"Cycle 1,300. ", "stage 0 of ", "full", "warp 0: "});
  shows("hgemm_v1", "8", {"__syncthreads()"});
  // The machine is where the step sends it, and a comparison has both runs.
  shows("hgemm_v6", "3", {"kernels/blackwell/hgemm_v6.cu", "D's tile has been read"});
  shows("hgemm_v3", "5", {"Baseline: hgemm_v2", "instructions issued", "load/store"});
  shows("hgemm_v3", "5", {"Baseline: hgemm_v3", "instructions issued"},
        "do run\ndo compare hgemm_v4\n");
  shows("mbarriers", "2", {"full[0]", "empty[1]"});
  shows("lowering", "3", {"llvm.srem %0, %1"});
  shows("elementwise_add", "6", {"........####", "#: a part of"});
  shows("hgemm_v1", "4",
        {"This view is a picture. `do export F.png` writes all of it", "`tilescope gui",
         "Here `do theatre at 1700` says what goes on then."});
  shows("elementwise_add", "3", {"is too large for characters"});
  // What is isolated is there alone; and what pointing would say is said by a word.
  shows("threads", "4", {"T0", "\u00b7"});
  shows("layouts", "1", {"`do pick ROW COLUMN` says of a cell", "offset  13"}, "inspect\n");
  shows("layouts", "1", {"offset  21"}, "do pick 2 5\n");
  shows("algebra", "3", {"one must divide"}, "do open layout composition((4,6):(1,5), 4:3)\n");
}

TEST_F(Lessons, TheListIsInOrderAndListsAgreeWithIt) {
  std::vector<std::string> names;
  for (const Json& lesson : list()) names.push_back(lesson["name"]);
  EXPECT_EQ(names, kLessons);
  const Ended words = run({"lesson"});
  EXPECT_EQ(words.exit_code, 0);
  EXPECT_TRUE(has(words.out, "layouts"));
  const auto [code, listed] = run_json({"list", "lessons"});
  EXPECT_EQ(code, 0);
  EXPECT_EQ(listed["lessons"].size(), names.size());
  const auto [glossary_code, glossary] = run_json({"list", "words"});
  EXPECT_EQ(glossary_code, 0);
  EXPECT_GT(glossary["words"].size(), 20u);
}

TEST_F(Lessons, InputThatEndsAndQuitEndCleanly) {
  for (const char* typed :
       {"", "\n", "quit\n", "next\nq\n", "back\n", "step 99\n", "nonsense", "do run\n",
        "do open layout (3,\n", "words stride\n", "words nothing\n", "again\n"}) {
    const Ended ended = run({"lesson", "layouts"}, typed);
    EXPECT_EQ(ended.exit_code, 0) << typed << ended.err;
    EXPECT_TRUE(has(ended.out, "step 1 of")) << typed;
  }
  EXPECT_FALSE(exists("state")) << "nobody sits there, so nothing is kept";
}

TEST_F(Lessons, AWrongNameOrStepSaysWhichThereAre) {
  const Ended name = run({"lesson", "nosuch"});
  EXPECT_EQ(name.exit_code, 2);
  EXPECT_TRUE(has(name.err, joined(kLessons))) << name.err;
  const Ended step = run({"lesson", "layouts", "--step", "99"});
  EXPECT_EQ(step.exit_code, 2);
  EXPECT_TRUE(has(step.err, "steps 1 to")) << step.err;
  const auto [code, document] = run_json({"lesson", "nosuch"});
  EXPECT_EQ(code, 2);
  EXPECT_FALSE(document["ok"]);
  EXPECT_EQ(document["error"]["sentence"],
            "There is no lesson `nosuch`; there are " + joined(kLessons) + ".");
}

TEST_F(Lessons, AFileOfProgressThatIsNoneIsToldAndPutAsideAndAnotherBegun) {
  std::filesystem::create_directories(folder / "state/tilescope");
  const std::string later = R"({"schema":2,"lessons":{}})";
  for (const auto& [text, aside] : std::vector<std::pair<std::string, std::string>>{
           {"not ours", "progress.broken.json"}, {later, "progress.2.broken.json"}}) {
    write("state/tilescope/progress.json", text);
    const Ended ended = run({"lesson", "layouts", "--step", "1", "--keep"}, "next\n");
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_TRUE(has(ended.err, "no record of lessons")) << ended.err;
    EXPECT_TRUE(has(ended.err, aside)) << ended.err;
    EXPECT_EQ(read("state/tilescope/" + aside), text);
    EXPECT_TRUE(has(read("state/tilescope/progress.json"), "Shape and stride"));
  }
}

TEST_F(Lessons, TwoThatLearnAtOnceLoseNothingOfEachOther) {
  // The second learner comes and goes between two steps of the first.
  const Ended both = shell(
      "(echo next; sleep 1; echo next) | tilescope lesson layouts --step 1 --keep & sleep 0.5; "
      "echo | tilescope lesson threads --step 1 --keep; wait");
  ASSERT_EQ(both.exit_code, 0) << both.err;
  const std::string kept = read("state/tilescope/progress.json");
  EXPECT_TRUE(has(kept, "Who holds which element")) << kept;
  EXPECT_TRUE(has(kept, "Find an offset")) << kept;
}

TEST_F(Lessons, TheWordsAreSaidAndWhatIsAdvisedWorks) {
  const Ended begun = run({"lesson", "layouts", "--step", "3"}, "");
  EXPECT_TRUE(has(begun.out.substr(0, 100), "next, back, hint, again")) << begun.out;
  for (const char* typed : {"help\n", "?\n"}) {
    const Ended ended = run({"lesson", "layouts"}, typed);
    EXPECT_EQ(count(ended.out, "next, back, hint, again"), 2u) << typed;
  }
  for (const char* typed : {"exit\nnext\n", "quit\nnext\n", "lesson close\nnext\n"}) {
    const Ended ended = run({"lesson", "layouts", "--step", "1"}, typed);
    EXPECT_FALSE(has(ended.out, "step 2 of")) << typed;
  }
  const Ended again = run({"lesson", "layouts", "--step", "3"}, "lesson again\nlesson next\n");
  EXPECT_EQ(count(again.out, "step 3 of"), 2u) << again.out;
  EXPECT_EQ(count(again.out, "step 4 of"), 1u) << again.out;
  const Ended other = run({"lesson", "layouts", "--step", "3"}, "lesson threads\n");
  EXPECT_TRUE(has(other.out, "Threads and values, step")) << other.out;
}

TEST_F(Lessons, ALessonOfTheUsersOwnIsRead) {
  std::filesystem::create_directories(folder / "mine/lessons");
  write("mine/lessons/own.md",
        "# Own\n```lesson\nnumber: 9\nabout: mine\n```\n## One\nHello.\n```do\nopen layout "
        "4:1\n```\n");
  write("mine/lessons/broken.md", "# Broken\n## One\n");
  set("TILESCOPE_ASSETS", (folder / "mine").string());
  const Ended own = run({"lesson", "own"}, "");
  EXPECT_EQ(own.exit_code, 0) << own.err;
  EXPECT_TRUE(has(own.out, "Own, step 1 of 1: One"));
  const Ended broken = run({"lesson", "broken"}, "");
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_TRUE(has(broken.err, "broken.md:2")) << broken.err;
}

}  // namespace
}  // namespace tilescope::test
