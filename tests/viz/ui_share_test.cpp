// Views that go elsewhere: share strings and workspaces come back as they were, old ones are
// migrated, broken and newer ones get a sentence, and a stranger's writes nothing.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/viz/random_lines.h"
#include "tests/viz/ui_session.h"
#include "viz/commands/describe_window.h"
#include "viz/commands/rebuild.h"
#include "viz/commands/share.h"
#include "viz/commands/workspace.h"
#include "viz/scene/command_text.h"
#include "viz/session/panels.h"
#include "viz/session/seek.h"

namespace tilescope {
namespace {

using test::FakeBackend;
using Words = std::vector<std::string>;

class Share : public test::SessionTest {
 protected:
  // All that is to be read in the window but for what just happened.
  Json shown(Session& of) {
    of.show_times = false;
    Json out = describe(of, backend, picture(of, {1000, 640}));
    for (const char* passing : {"status", "copied", "field"}) out.erase(passing);
    // A machine that has been at the end knows how it ends; another one does not yet.
    for (Json& step : out["strip"]) {
      if (step.is_object() && step["value"] == "not known yet") step["value"] = "all exit";
    }
    return out;
  }
};

TEST_F(Share, AStringIsItsLinesAgain) {
  for (const Words& lines :
       {Words{"open preset 9x32"}, Words{"open layout \"A = 4:1; A\"", "colour offset", "pick 0 1"},
        Words{"open layout (2,2):(1,2)", "", "x"}, Words{"\xc3\xa9\x01 odd"}}) {
    const std::string text = share_string(lines);
    EXPECT_EQ(text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789-_:"),
              std::string::npos);
    const auto read = read_share(text);
    ASSERT_TRUE(read.ok()) << read.error().sentence;
    EXPECT_EQ(*read, lines);
  }
  EXPECT_LT(share_string({"open preset 9x32"}).size(), 48u) << "short";
}

TEST_F(Share, PastingDoesNotHarmIt) {
  const Words lines{"open layout zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)"};
  const std::string text = share_string(lines);
  std::string broken_lines = text;
  for (std::size_t i = 20; i < broken_lines.size(); i += 21) broken_lines.insert(i, "\r\n> ", 2);
  for (const std::string& pasted :
       {text + "\n", "  " + text + "  ", "\"" + text + "\"", "<" + text + ">.", "`" + text + "`",
        "see (" + text + ").", broken_lines}) {
    const auto read = read_share(pasted);
    ASSERT_TRUE(read.ok()) << pasted << ": " << read.error().sentence;
    EXPECT_EQ(*read, lines);
  }
}

TEST_F(Share, EveryCutAndEveryWrongLetterIsTold) {
  const std::string text = share_string({"open preset 9x32", "colour offset"});
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(read_share(text.substr(0, i)).ok()) << i;
    std::string wrong = text;
    wrong[i] = wrong[i] == 'x' ? 'y' : 'x';
    const auto read = read_share(wrong);
    // The last letter may hold bits that belong to no byte.
    EXPECT_TRUE(!read.ok() || i + 1 == text.size()) << wrong;
  }
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string noise = "tilescope:1:";
    for (unsigned i = random() % 60; i > 0; --i) noise += static_cast<char>(random() % 256);
    const auto read = read_share(noise);
    EXPECT_TRUE(read.ok() || !read.error().sentence.empty());
  }
}

TEST_F(Share, BrokenNewerAndForeignOnesGetASentence) {
  must("open preset 9x32");
  refused("open share", "begins with `tilescope:1:`");
  refused("open share hello", "begins with `tilescope:1:`");
  refused("open share tilescope:", "no version");
  refused("open share tilescope:one:abc", "version is no number");
  refused("open share tilescope:2:abc", "reads up to 1");
  refused("open share tilescope:1:", "too short");
  refused("open share tilescope:1:****", "belongs to no share string");
  refused("open share tilescope:1:b3BlbiBwcmVzZXQ", "missing or was changed");
  refused("open share tilescope:0:open%2", "hexadecimal");
  refused("open share tilescope:0:", "nothing is in it");
  refused("open share " + share_string({"open nosuch"}), "`open nosuch` cannot be done");
  refused("open share " + share_string({"open preset 9x32", "isolate tile 99"}), "0 to 11");
}

TEST_F(Share, AStrangersStringWritesNothingAndOpensNoOther) {
  for (const char* line : {"export a.svg", "save workspace a.json", "share", "copy value", "undo",
                           "font 250", "open workspace a.json", "open a.json", "open 'a b.json'",
                           "open share tilescope:0:open+preset+9x32", "palette", "nosuch"}) {
    refused("open share " + share_string({"open preset 9x32", line}), "does not describe a view");
  }
  EXPECT_TRUE(backend.exported.empty());
  EXPECT_TRUE(backend.texts.empty());
}

TEST_F(Share, VersionZeroIsWrittenByHandAndMigrated) {
  must("open share tilescope:0:open+layout+(8,8):(8,1);color+offset;pick%203%204");
  EXPECT_EQ(session.state.layout_text, "(8,8):(8,1)");
  EXPECT_TRUE(session.state.colour == ColourBy::offset);
  ASSERT_TRUE(session.state.selected);
  EXPECT_EQ(session.state.selected->column, 4);
  refused("open share " + share_string({"open preset 9x32", "color offset"}),
          "does not describe a view");
}

TEST_F(Share, OpeningOneIsOneStepAlsoWithARunInIt) {
  backend.slow = true;
  must("open layout (4,4):(4,1)");
  const ViewState before = session.state;
  ASSERT_TRUE(execute(session, backend,
                      "open share " + share_string({"open add --m 6", "run", "pick 1 2",
                                                    "open layout (8,8):(8,1)"}))
                  .ok());
  EXPECT_TRUE(session.running);
  EXPECT_EQ(session.script.lines.size(), 2u);
  backend.finish();
  ASSERT_TRUE(take_result(session, backend));
  EXPECT_TRUE(continue_script(session, backend));
  EXPECT_EQ(session.state.layout_text, "(8,8):(8,1)");
  EXPECT_TRUE(session.state.result);
  EXPECT_TRUE(session.state.element);
  EXPECT_EQ(session.past.size(), 2u);
  must("undo");
  EXPECT_TRUE(session.state == before);
  must("theme dark");
  EXPECT_EQ(session.past.back().name, "theme dark") << "the script has ended";
}

// The first things that are told differently, as the second session says them.
std::string difference(const Json& one, const Json& two) {
  std::string out;
  const Json changes = Json::diff(one, two);
  for (std::size_t i = 0; i < std::min<std::size_t>(changes.size(), 4); ++i) {
    Json change = changes[i];
    const Json::json_pointer place(change["path"].get<std::string>());
    if (one.contains(place)) change["instead of"] = one[place];
    out += change.dump().substr(0, 400) + "\n";
  }
  return out;
}

// Of what is made anew in each session: whether it is there.
template <class T>
bool alike(const T& a, const T& b) {
  return a == b;
}
template <class T>
bool alike(const std::shared_ptr<T>& a, const std::shared_ptr<T>& b) {
  return !a == !b;
}
bool alike(const LessonPlace& a, const LessonPlace& b) {
  return !a.open() == !b.open() && a.step == b.step && a.round == b.round && a.shown == b.shown;
}

// Each field that commands make again (viz/session/view_state.h) comes back; `chosen` counts those
// that are not as in a fresh session. A field that is looked past has its reason here.
void expect_fields(const ViewState& made, const ViewState& back,
                   std::map<std::string, int>& chosen) {
  const ViewState fresh;
  each_field([&](const std::string& name, auto field, Kept kept) {
    if (kept != Kept::by_command) return;
    chosen[name] += alike(made.*field, fresh.*field) ? 0 : 1;
    // A colour of another layout means nothing for this one, and the usual one may have been chosen
    // by hand. Where no layout is open nothing is studied, and where nothing has run yet no
    // timeline stands beside the baseline's: both wait for the next one.
    if (name == "colour" || (name == "study" && !made.layout)) return;
    if (!made.timeline && (name == "beside_baseline" || name == "baseline_rows")) return;
    EXPECT_TRUE(alike(made.*field, back.*field)) << name;
  });
}

TEST_F(Share, AnyViewComesBackFromItsStringInAFreshSession) {
  backend.wrong = {5};
  backend.leaves_machine = true;
  std::mt19937 random(21);
  std::map<std::string, int> chosen;
  for (int round = 0; round < 2000; ++round) {
    session = {};
    for (const std::string& line : test::random_sequence(random, 25)) (void)act(session, line);
    // Undo may have left its machine on the way.
    while (seeking(session)) (void)seek_on(session, backend, 10);
    const Words made = rebuilding(session.state);
    if (made.empty()) continue;
    Session other;
    other.state.dark = random() % 2 == 0;
    other.progress = session.progress;  // the reader's own, which no view brings along
    const auto answer = act(other, "open share " + share_string(made));
    ASSERT_TRUE(answer.ok()) << joined(made) << ": " << answer.error().sentence;
    EXPECT_EQ(rebuilding(other.state), made);
    expect_fields(session.state, other.state, chosen);
    if (HasFailure()) FAIL() << joined(made);

    session.hovered.cell.reset();
    session.hovered.element.reset();
    fit_view(session);
    session.layout_viewport = session.matrices_viewport = session.diff_viewport = {};
    session.timeline_viewport = other.timeline_viewport = {};
    // Which lessons there are is listed once one was opened, and what opened it may be closed
    // again.
    if (!session.state.lesson.open()) other.shelf = session.shelf;
    other.course.index = session.course.index;
    EXPECT_EQ(difference(shown(session), shown(other)), "") << joined(made);
  }
  for (const auto& [name, times] : chosen) {
    EXPECT_GE(times, 3) << "no line of tests/viz/random_lines.h chooses ViewState::" << name;
  }
}

TEST_F(Share, JoinedLinesAreTakenApartAgain) {
  must("open layout A = (8,8):(8,1); zipped_divide(A, <4,4>)");
  must("isolate tile 2");
  const Words made = rebuilding(session.state);
  EXPECT_EQ(*split_commands(joined(made)), made);
}

TEST_F(Share, TheStringIsCopiedAndOpensTheSame) {
  must("open preset 9x32");
  must("isolate tile 3");
  const Json before = shown(session);
  must("share");
  EXPECT_TRUE(session.copy_due);
  const std::string text = session.copied;
  must("open layout (4,4):(4,1)");
  must("open share \"" + text + "\"");
  EXPECT_EQ(shown(session), before);
  Session empty;
  EXPECT_FALSE(execute(empty, backend, "share").ok()) << "nothing is open";
}

TEST_F(Share, PastedWordsOpenWhatWasSharedAndAreWaitedFor) {
  must("open add --m 6");
  must("run");
  must("share");
  const std::string text = session.copied;
  Session other;
  ASSERT_TRUE(act(other, "paste " + text).ok());
  EXPECT_TRUE(other.state.result);
  EXPECT_EQ(other.past.size(), 1u) << "one step";
  ASSERT_TRUE(act(other, "paste \"(4,8):(8,1)\"").ok());
  EXPECT_EQ(other.state.layout_text, "(4,8):(8,1)");
  refused("paste " + text.substr(0, text.size() - 4), "share string is broken");
  refused("paste (4,8", "Expected `)`");
}

TEST_F(Share, ValuesTablesAndCommandLinesAreCopied) {
  refused("copy", "value, table, command or share");
  refused("copy value", "No cell is selected");
  must("open preset 9x32");
  must("pick 4 7");
  must("copy value");
  EXPECT_EQ(session.copied, "276");
  must("copy table");
  EXPECT_NE(session.copied.find("Selected\toffset\t276\n"), std::string::npos);
  must("copy command");
  EXPECT_EQ(session.copied, "tilescope gui --do 'open preset 9x32; pick 4 7 0 0'");
  must("pick nothing");
  must("colour offset");
  must("theme dark");
  must("copy command");
  EXPECT_EQ(session.copied,
            "tilescope draw 'preset 9x32' --colour offset --theme dark -o view.svg");
  backend.wrong = {11};
  must("open add");
  must("run");
  must("pick 1 3");
  must("copy value");
  EXPECT_EQ(session.copied, "23") << "11 + 11, and one off";
}

TEST_F(Share, AWorkspaceKeepsViewSettingsAndWhatIsRemembered) {
  must("open preset 9x32");
  must("colour offset");
  must("font 150");
  must("panel outline 240");
  must("panel inspector hide");
  must("animation off");
  must("theme dark");
  session.kept["expressions"] = {"(8,8):(8,1)", "4:1"};
  session.tour_seen = true;
  must("save workspace day.json");
  Session other;
  ASSERT_TRUE(act(other, "open workspace day.json").ok()) << other.message.text;
  EXPECT_EQ(shown(other), shown(session));
  EXPECT_TRUE(other.state.settings == session.state.settings);
  EXPECT_EQ(other.kept, session.kept);
  EXPECT_TRUE(other.tour_seen);
  EXPECT_EQ(other.past.size(), 1u) << "one step";
  EXPECT_EQ(workspace_text(other, backend), workspace_text(session, backend));
}

TEST_F(Share, WhatIsRememberedComesWithoutTheView) {
  must("open preset 9x32");
  const std::string text =
      R"({"tilescope": "workspace", "version": 1, "view": ["open nosuch"], "settings": ["font 125"],
          "tour": "seen", "kept": {"expressions": ["4:1"]}})";
  EXPECT_FALSE(remember_workspace_text(session, backend, text));
  EXPECT_EQ(session.state.layout_text, "preset 9x32");
  EXPECT_EQ(session.state.settings.font, 125);
  EXPECT_EQ(session.kept["expressions"], (Words{"4:1"}));
  EXPECT_TRUE(session.tour_seen);
  EXPECT_TRUE(remember_workspace_text(session, backend, "{"));
}

TEST_F(Share, AnOldWorkspaceIsMigrated) {
  backend.texts["old.json"] =
      R"({"tilescope": "workspace", "version": 0, "view": "tilescope:0:open+preset+9x32;color+bank"})";
  must("open workspace old.json");
  EXPECT_TRUE(session.state.colour == ColourBy::bank);
}

TEST_F(Share, BrokenWorkspacesGetASentenceAndChangeNothing) {
  must("open preset 9x32");
  refused("open workspace", "file's name");
  refused("open workspace nosuch.json", "no such file");
  const std::string good = workspace_text(session, backend);
  const auto refuse_text = [&](const std::string& text, std::string_view words) {
    backend.texts["w.json"] = text;
    refused("open workspace w.json", words);
    refused("open workspace w.json", "w.json: ");
  };
  refuse_text("", "not JSON");
  refuse_text("[]", "is JSON, but no object");
  refuse_text("{}", "\"tilescope\"");
  refuse_text(R"({"tilescope": "workspace"})", "version is missing");
  refuse_text(R"({"tilescope": "workspace", "version": 7})", "reads up to 1");
  refuse_text(R"({"tilescope": "workspace", "version": 1, "view": 3})", "list of commands");
  refuse_text(R"({"tilescope": "workspace", "version": 1, "view": [3]})", "list of commands");
  refuse_text(R"({"tilescope": "workspace", "version": 1, "view": ["export a.svg"]})",
              "does not describe a view");
  refuse_text(R"({"tilescope": "workspace", "version": 1, "settings": ["export a.svg"]})",
              "no setting");
  refuse_text(R"({"tilescope": "workspace", "version": 1, "settings": ["font 900"]})",
              "100 to 250");
  refuse_text(R"({"tilescope": "workspace", "version": 0, "view": []})", "no share string");
  for (std::size_t i = 0; i + 2 < good.size(); i += 3) {
    refuse_text(good.substr(0, i), "no workspace");
  }
}

TEST_F(Share, SettingsHaveBoundsAndAreUndone) {
  must("font 125");
  must("font larger");
  EXPECT_EQ(session.state.settings.font, 150);
  must("undo");
  EXPECT_EQ(session.state.settings.font, 125);
  must("font usual");
  must("font smaller");
  EXPECT_EQ(session.state.settings.font, 100);
  for (int i = 0; i < 9; ++i) must("font larger");
  EXPECT_EQ(session.state.settings.font, 250);
  refused("font 99", "100 to 250");
  refused("font huge", "100 to 250");
  refused("animation maybe", "on or off");
  refused("panel left 200", "outline or inspector");
  refused("panel outline 3", "from 120");
  refused("panel outline", "show or hide");
}

}  // namespace
}  // namespace tilescope
