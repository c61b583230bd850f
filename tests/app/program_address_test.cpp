// Links of pages, as a desktop hands them on: `tilescope tilescope://...`. What they open is looked
// at without a display; what opens nothing is a sentence and exit code 2, and leaves no file.
#include "tests/app/program.h"

namespace tilescope::test {
namespace {

using Json = nlohmann::json;

class Addresses : public Program {
 protected:
  Addresses() { draws(); }
  // What the window shows there.
  Json shown(const std::string& link) {
    const Ended ended = run({link, "--headless", "--describe", "d.json"});
    if (ended.exit_code == 4) return {};
    EXPECT_EQ(ended.exit_code, 0) << link << ": " << ended.err;
    return Json::parse(read("d.json"));
  }
};

TEST_F(Addresses, OpenTheWindowWhereTheyLead) {
  const Json lesson = shown("tilescope://lesson/layouts/3");
  if (lesson.is_null()) SKIP_WHERE_NOTHING_DRAWS("no OpenGL");
  EXPECT_EQ(lesson["lesson"]["step"], 3) << lesson["lesson"];
  EXPECT_EQ(shown("tilescope://kernel/hgemm_v4")["field"], "hgemm_v4");
  EXPECT_EQ(shown("tilescope://course/hgemm_v4")["view"], "course");
  EXPECT_EQ(shown("tilescope://preset/9x32")["field"], "preset 9x32");
  EXPECT_EQ(shown("tilescope://layout/(4,%3F)%3A(8,1)")["field"], "(4,?):(8,1)");
  // `gui --open` takes one too.
  const Ended gui = run(
      {"gui", "--open", "tilescope://layout/(4,8):(8,1)", "--headless", "--describe", "d.json"});
  EXPECT_EQ(gui.exit_code, 0) << gui.err;
  EXPECT_EQ(Json::parse(read("d.json"))["field"], "(4,8):(8,1)");
}

TEST_F(Addresses, WithoutADisplayAGoodOneSaysSoAndABadOneSaysWhy) {
  EXPECT_EQ(run({"tilescope://lesson/layouts/3"}).exit_code, 4);
  for (const char* link :
       {"tilescope://", "tilescope:lesson/layouts", "TILESCOPE://lesson/nosuch/1",
        "tilescope://lesson/layouts/99", "tilescope://lesson/layouts/x", "tilescope://kernel/k.ptx",
        "tilescope://kernel/hgemm_v4 --source a.cu", "tilescope://kernel/..%2F..%2Fetc%2Fpasswd",
        "tilescope://course/check", "tilescope://course/start", "tilescope://course/nosuch",
        "tilescope://layout/(4,", "tilescope://layout/4:1%00", "tilescope://layout/%e2%80%ae",
        "tilescope://layout/4:1;%20export%20a.svg", "tilescope://workspace/a.json",
        "tilescope:1:b3BlbiBwcmVzZXQgOXgzMh5jb2xvdXIgb2Zmc2V0Xk9x"}) {
    const Ended ended = run({link});
    EXPECT_EQ(ended.exit_code, 2) << link;
    EXPECT_TRUE(has(ended.err, "opens nothing")) << ended.err;
    EXPECT_TRUE(ended.out.empty());
    const auto [code, document] = run_json({link});
    EXPECT_EQ(code, 2);
    EXPECT_TRUE(has(document["error"]["sentence"], "opens nothing"));
  }
  EXPECT_TRUE(files().empty());
}

// Every lesson that a page may lead to, and its last step.
TEST_F(Addresses, LeadToEveryLesson) {
  const auto [code, document] = run_json({"lesson"});
  ASSERT_EQ(code, 0);
  for (const Json& lesson : document["lessons"]) {
    const std::string link = "tilescope://lesson/" + lesson["name"].get<std::string>() + "/";
    const int steps = lesson["steps"];
    EXPECT_EQ(run({link + std::to_string(steps)}).exit_code, 4) << "only a display is missing";
    EXPECT_EQ(run({link + std::to_string(steps + 1)}).exit_code, 2);
  }
}

}  // namespace
}  // namespace tilescope::test
