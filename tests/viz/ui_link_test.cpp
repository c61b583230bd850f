// Links of pages: each opens what the command for it opens, as one step; what a stranger writes
// opens nothing else, writes nothing and gets a sentence.
#include <gtest/gtest.h>

#include <random>

#include "tests/viz/ui_session.h"
#include "viz/commands/link.h"
#include "viz/commands/rebuild.h"
#include "viz/commands/share.h"

namespace tilescope {
namespace {

class Links : public test::SessionTest {
 protected:
  std::string command(std::string_view link) {
    const auto answer = command_of_link(session, backend, link);
    return answer ? *answer : answer.error().sentence;
  }
};

TEST_F(Links, EachIsACommand) {
  EXPECT_EQ(command("tilescope://lesson/layouts/2"), "lesson layouts 2");
  EXPECT_EQ(command("tilescope://lesson/layouts"), "lesson layouts");
  EXPECT_EQ(command("tilescope://course/loop"), "course loop");
  EXPECT_EQ(command("tilescope://kernel/add"), "open add");
  EXPECT_EQ(command("tilescope://preset/9x32"), "open preset 9x32");
  EXPECT_EQ(command("tilescope://preset/Volta%208x8%20quadpair"), "open preset Volta 8x8 quadpair");
  EXPECT_EQ(command("tilescope://layout/(4,8):(8,1)"), "open layout (4,8):(8,1)");
  EXPECT_EQ(command("tilescope://layout/%284%2c8%29%3A%288%2C1%29"), "open layout (4,8):(8,1)");
  EXPECT_EQ(command("tilescope://layout/(4,%3F):(8,1)"), "open layout (4,?):(8,1)");
  EXPECT_EQ(command("tilescope://layout/A%20=%20(4,8):(8,1);%20coalesce(A)"),
            "open layout A = (4,8):(8,1); coalesce(A)");
  // A desktop may write the scheme and the word as it likes, and pasting brings blanks.
  EXPECT_EQ(command("  TileScope://Lesson/layouts/1\n"), "lesson layouts 1");
}

TEST_F(Links, TheyOpenAsOneStep) {
  must("open preset 9x32");
  must("open tilescope://lesson/layouts/2");
  ASSERT_TRUE(session.state.lesson.open());
  EXPECT_EQ(session.state.lesson.step, 1u);
  EXPECT_TRUE(session.state.coordinates) << "the step's view";
  ASSERT_EQ(session.past.size(), 2u);
  must("undo");
  EXPECT_FALSE(session.state.lesson.open());
  EXPECT_EQ(session.field, "preset 9x32");
  must("open tilescope://layout/(8,8):(8,1)");
  EXPECT_EQ(session.state.layout_text, "(8,8):(8,1)");
  must("open tilescope://kernel/add");
  ASSERT_TRUE(session.state.kernel);
  EXPECT_EQ(session.state.kernel->name, "add");
}

TEST_F(Links, TheyArePastedAndEntered) {
  must("paste tilescope://lesson/layouts/2");
  EXPECT_EQ(session.state.lesson.step, 1u);
  must("lesson close");
  for (const char* typed : {"tilescope://lesson/layouts/", "tilescope://lesson/layouts/1"}) {
    type_field(session, backend, typed);
    EXPECT_FALSE(session.state.lesson.open()) << "not before Enter";
  }
  ASSERT_TRUE(enter_field(session, backend).ok());
  EXPECT_TRUE(session.state.lesson.open());
  type_field(session, backend, "tilescope://lesson/nosuch");
  EXPECT_FALSE(enter_field(session, backend).ok());
  ASSERT_TRUE(session.problem);
  EXPECT_NE(session.problem->sentence.find("the lessons are layouts, second"), std::string::npos);
}

TEST_F(Links, WhatOpensNothingSaysWhy) {
  must("open preset 9x32");
  const auto opens_nothing = [&](const std::string& link, const char* why) {
    refused("open " + link, why);
    refused("open " + link, "opens nothing");
  };
  opens_nothing("tilescope://", "stands one of lesson, course, kernel");
  opens_nothing("tilescope://nosuch/add", "stands one of lesson, course, kernel");
  opens_nothing("tilescope:///lesson/layouts", "stands one of lesson");
  opens_nothing("tilescope://user@lesson/layouts", "stands one of lesson");
  opens_nothing("tilescope://lesson", "names no lesson");
  opens_nothing("tilescope://layout/", "names no layout");
  opens_nothing("tilescope://lesson/nosuch", "the lessons are layouts, second");
  opens_nothing("tilescope://lesson/layouts/3", "has steps 1 to 2");
  for (const char* step : {"0", "-1", "x", "1x", "1/2", "99999999999999999999", "%31%00"}) {
    refused(std::string("open tilescope://lesson/layouts/") + step, "opens nothing");
  }
  opens_nothing("tilescope://kernel/nosuch", "the kernels are add");
  opens_nothing("tilescope://course/nosuch", "tiles, loop, last");
  opens_nothing("tilescope://preset/nosuch", "9x32");
  opens_nothing("tilescope://layout/(4,", "Expected");
  opens_nothing("tilescope://layout/(4,%3", "two hexadecimal digits");
  opens_nothing("tilescope://layout/(4,%zz", "two hexadecimal digits");
  opens_nothing("tilescope://layout/(4,?):(1,4)", "%3F");
  opens_nothing("tilescope://layout/4:1#x", "`#`");
  opens_nothing("tilescope://layout/4:1%00", "do not print");
  opens_nothing("tilescope://layout/4:1%0Arun", "do not print");
  opens_nothing("tilescope://layout/%c3%a9", "do not print");
  opens_nothing("tilescope://layout/" + std::string(most_link, '4'), "4096 are read");
  EXPECT_EQ(command_of_link(session, backend, "tilescope:1:abc").error().kind, ErrorKind::usage);
  EXPECT_NE(command("tilescope:1:abc").find("share string"), std::string::npos);
  // Decoded once.
  opens_nothing("tilescope://kernel/a%2564d", "letters, digits");
  EXPECT_EQ(command("tilescope://kernel/a%64d"), "open add");
  // Nothing of it reaches a terminal as it is.
  EXPECT_EQ(command("tilescope://x\x1b[2J").find('\x1b'), std::string::npos);
}

TEST_F(Links, AStrangersNamesNoFileNoOptionAndNoSecondCommand) {
  backend.texts["a.json"] = backend.texts["a.cu"] = backend.texts["a.ptx"] = "text";
  must("open preset 9x32");
  for (const char* what :
       {"a.json", "a.cu", "a.ptx", "a.npy", "/a.json", "..%2Fa.json", "workspace a.json",
        "add --source a.cu", "add --ptx a.ptx", "add%20--source%20a.cu", "-h", "add;run",
        "add%3Brun", "add%0Arun", "\"add\"", "'add'", "add "}) {
    for (const char* word : {"kernel", "lesson", "preset"}) {
      const std::string link = std::string("tilescope://") + word + "/" + what;
      const auto answer = act("open " + link);
      const bool only_blanks = std::string_view(what) == "add " && answer.ok();
      EXPECT_TRUE(!answer.ok() || only_blanks) << link;
    }
  }
  // `course check` compiles and runs, `course start` writes.
  must("course loop");
  for (const char* what : {"check", "start", "hint", "show", "edit", "loop a.cu", "start loop",
                           "loop%20a.cu", "check%20a.cu"}) {
    refused(std::string("open tilescope://course/") + what, "opens nothing");
  }
  EXPECT_TRUE(backend.checked.empty());
  must("open preset 9x32");
  for (const char* layout : {"4:1; export a.svg", "4:1);export a.svg", "4:1\";export a.svg",
                             "a.json", "preset 9x32", "share tilescope:0:open+preset+9x32"}) {
    refused(std::string("open tilescope://layout/") + layout, "opens nothing");
  }
  // A shared view has no link in it, as it has no other shared view.
  refused("open share " + share_string({"open tilescope://lesson/layouts/2"}),
          "does not describe a view");
  EXPECT_TRUE(backend.exported.empty());
  EXPECT_EQ(backend.texts.size(), 3u);
  EXPECT_EQ(backend.builds, 0);
  EXPECT_EQ(backend.starts, 0);
}

// Whatever stands there: a name of a few kinds of letters, or an expression, or a sentence.
TEST_F(Links, AnyBytesAreALinkOrASentence) {
  std::mt19937 random(7);
  const std::string starts[] = {"tilescope://",        "tilescope://lesson/", "tilescope://kernel/",
                                "tilescope://layout/", "tilescope:",          ""};
  const std::string pieces[] = {"%",  "%0", "%00", "%2F", "%25", "/", "..", "add", "layouts", "1",
                                "\"", "'",  ";",   " ",   "--a", "?", "#",  ":",   "(4,8)",   "\n"};
  for (int round = 0; round < 5000; ++round) {
    std::string text = starts[random() % std::size(starts)];
    for (unsigned i = random() % 8; i > 0; --i) {
      text += random() % 4 ? pieces[random() % std::size(pieces)]
                           : std::string(1, static_cast<char>(random() % 256));
    }
    const auto link = read_link(text);
    if (!link) {
      EXPECT_EQ(link.error().kind, ErrorKind::usage);
      EXPECT_FALSE(link.error().sentence.empty());
      continue;
    }
    for (const char c : link->what) EXPECT_TRUE(c >= ' ' && c <= '~') << text;
    if (link->to == Link::To::layout) continue;
    EXPECT_EQ(link->what.find_first_of("./\\;\"'%:()<>|&$`"), std::string::npos) << text;
    EXPECT_NE(link->what[0], '-') << text;
  }
}

}  // namespace
}  // namespace tilescope
