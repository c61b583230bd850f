// A kernel's source that is edited: copied out, compiled in its place, with what is wrong at its
// line; files that change while they are open; and text that is not saved, which is never lost.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/viz/ui_session.h"
#include "viz/commands/commands.h"
#include "viz/commands/describe_window.h"
#include "viz/commands/rebuild.h"
#include "viz/commands/share.h"
#include "viz/commands/workspace.h"
#include "viz/session/build_scene.h"
#include "viz/session/panels.h"
#include "viz/session/seek.h"

namespace tilescope {
namespace {

class Edit : public test::SessionTest {
 protected:
  // As the window does about once a second.
  bool look() { return look_at_files(session, backend, ++seconds_); }
  // And then lets what that began come to its end.
  void look_and_wait() {
    look();
    while (session.edit.building || session.running) {
      backend.wait();
      backend.wait_build();
      take_build(session, backend);
      take_result(session, backend);
    }
  }
  std::string shown() {
    session.show_times = false;
    return describe(session, backend, picture(session, {1000, 640})).dump();
  }
  std::vector<std::string> actions() {
    std::vector<std::string> out;
    for (const Tab& each : strip(session, backend).actions) out.push_back(each.command);
    return out;
  }
  bool offers(const std::string& command) {
    const auto all = actions();
    return std::find(all.begin(), all.end(), command) != all.end();
  }

 private:
  double seconds_ = 0;
};

TEST_F(Edit, TheKernelsSourceIsCopiedOnceAndNeverOverwritten) {
  refused("edit", "open one first");
  must("open add");
  must("edit");
  EXPECT_EQ(session.state.view, ViewName::source);
  EXPECT_EQ(backend.texts["add.cu"], "// add\nvoid add() {\n}\n");
  EXPECT_NE(session.message.text.find("Copied the source of add to add.cu"), std::string::npos);
  EXPECT_EQ(session.edit.edit.text, backend.texts["add.cu"]);
  must("edit off");
  backend.put("add.cu", "// add, mine\n");
  must("edit");
  EXPECT_EQ(session.edit.edit.text, "// add, mine\n") << "it is there, so it is opened";
  must("edit off");
  backend.put("other.cu", "int main() {}\n");
  refused("edit other.cu", "nothing in it is called add");
  EXPECT_EQ(backend.texts["other.cu"], "int main() {}\n");
  refused("edit notes.txt", "takes a CUDA file");
  refused("edit off", "Nothing is edited");
}

TEST_F(Edit, WhatIsRebuiltTakesTheKernelsPlaceAndKeepsSizesViewAndBaseline) {
  must("open add --m 6");
  must("run");
  must("baseline");
  must("edit my.cu");
  type_edit(session, backend, "void add() { /* faster */ }\n");
  must("rebuild");
  EXPECT_EQ(backend.texts["my.cu"], "void add() { /* faster */ }\n") << "saved first";
  const ViewState& state = session.state;
  EXPECT_EQ(state.options, (KernelOptions{{"m", "6"}, {"source", "my.cu"}}));
  ASSERT_TRUE(state.kernel->built);
  EXPECT_EQ(state.kernel->built->sources.at("my.cu").front(), "void add() { /* faster */ }");
  ASSERT_TRUE(state.result) << "it had run, so it is run again";
  EXPECT_EQ(backend.starts, 2);
  ASSERT_TRUE(state.baseline);
  EXPECT_TRUE(state.comparison) << "the run before is what this one is compared with";
  must("select compare");
  EXPECT_FALSE(emptiness(session));
}

TEST_F(Edit, WithoutARunTheRebuiltKernelStandsBeforeItsFirstInstruction) {
  must("open add");
  must("look block 1 warp 1");
  must("edit");
  must("rebuild");
  EXPECT_FALSE(session.state.result);
  EXPECT_EQ(backend.starts, 0);
  EXPECT_EQ(session.state.view, ViewName::source);
  EXPECT_EQ(session.state.spot.block, 1u) << "who was looked at still is";
  EXPECT_NE(session.message.text.find("Compiled add.cu"), std::string::npos);
  must("undo");
  EXPECT_FALSE(session.state.options.count("source"));
  must("redo");
  EXPECT_TRUE(session.state.kernel->built);
  EXPECT_EQ(backend.builds, 1) << "what was compiled is kept with the step";
}

TEST_F(Edit, NothingWaitsForTheCompilerAndItCanBeStopped) {
  backend.slow_compiler = true;
  backend.texts["my.cu"] = "void add() {}";
  must("open add --source my.cu");
  EXPECT_TRUE(busy(session));
  refused("step", "is being compiled");
  must("select source");
  ASSERT_TRUE(emptiness(session));
  EXPECT_EQ(emptiness(session)->command, "cancel");
  const Strip during = strip(session, backend);
  EXPECT_TRUE(during.share) << "there is something to stop";
  EXPECT_NE(during.progress.find("compiling my.cu"), std::string::npos);
  must("run");
  EXPECT_NE(session.message.text.find("runs when that is done"), std::string::npos);
  EXPECT_FALSE(take_build(session, backend));
  must("cancel");
  EXPECT_TRUE(take_build(session, backend));
  EXPECT_FALSE(busy(session));
  EXPECT_EQ(session.message.text, "nvcc was stopped.");
  EXPECT_EQ(emptiness(session)->command, "rebuild") << "the way on is a button";
  must("run");
  EXPECT_EQ(backend.builds, 2) << "what is to run is compiled first";
  backend.finish_build();
  EXPECT_TRUE(take_build(session, backend));
  EXPECT_TRUE(session.running);
}

TEST_F(Edit, ACompilationOfWhatIsNoLongerOpenIsForgotten) {
  backend.slow_compiler = true;
  backend.texts["my.cu"] = "void add() {}";
  must("open add --source my.cu");
  must("open add");
  EXPECT_EQ(backend.build_cancels, 1);
  backend.finish_build();
  EXPECT_FALSE(take_build(session, backend));
  EXPECT_FALSE(session.state.kernel->built);
}

TEST_F(Edit, CommandsChangeTheTextAndUndoTakesThatBack) {
  refused("edit line 1 x", "open one first");
  must("open add");
  must("edit line 2 \"void add() { int i = 0; }\"");
  EXPECT_EQ(session.edit.edit.text, "// add\nvoid add() { int i = 0; }\n}\n");
  EXPECT_EQ(session.edit.edit.line, 2u) << "the caret goes where the change is";
  must("edit delete 3");
  must("edit insert 1 \"  // first\"");
  must("edit insert 4 // last");
  const std::string whole = "  // first\n// add\nvoid add() { int i = 0; }\n// last\n";
  EXPECT_EQ(session.edit.edit.text, whole);
  EXPECT_TRUE(session.edit.edit.unsaved());
  must("undo 2");
  EXPECT_EQ(session.edit.edit.text, "// add\nvoid add() { int i = 0; }\n");
  must("redo 2");
  EXPECT_EQ(session.edit.edit.text, whole);
  refused("edit line 9 x", "add.cu has 4 lines, and 9 is none of them");
  refused("edit delete 3 9", "9 is none of them");
  refused("edit insert 0 x", "needs a line's number");
  refused("edit delete 3 2", "the first and the last one");
  must("save");
  EXPECT_EQ(backend.texts["add.cu"], whole);
  must("rebuild");
  EXPECT_TRUE(session.state.kernel->built);
  must("undo 2");
  EXPECT_FALSE(session.state.kernel->built);
  EXPECT_TRUE(session.edit.edit.unsaved()) << "what was saved can be taken back, too";
}

TEST_F(Edit, UndoNeverTakesTextThatWasTypedSince) {
  must("open add");
  must("edit line 1 // one");
  type_edit(session, backend, "// typed\n");
  must("undo");
  EXPECT_EQ(session.edit.edit.text, "// typed\n");
  EXPECT_NE(session.message.text.find("has changed since"), std::string::npos);
  must("edit line 1 // two");
  must("edit off");
  must("undo");
  EXPECT_EQ(session.edit.edit.text, "// typed\n") << "the editor opens for it";
  must("edit revert");
  EXPECT_EQ(session.edit.edit.text, backend.texts["add.cu"]);
  must("undo");
  EXPECT_EQ(session.edit.edit.text, "// typed\n") << "what was given up comes back";
}

TEST_F(Edit, WarningsOfATextThatCompilesStandAtTheirLines) {
  must("open add");
  must("edit insert 2 int unused;");
  must("rebuild");
  EXPECT_TRUE(session.state.kernel->built);
  EXPECT_NE(session.message.text.find("1 warning, it is in line 2: variable was declared"),
            std::string::npos)
      << session.message.text;
  EXPECT_NE(shown().find("\"weight\":\"warning\""), std::string::npos);
  EXPECT_NE(shown().find("\"line\":2"), std::string::npos);
  ASSERT_TRUE(complained_of(session));
  EXPECT_EQ(heading_of(*complained_of(session)), "add.cu compiles, with 1 warning.");
  must("edit delete 2");
  must("rebuild");
  EXPECT_FALSE(complained_of(session));
}

TEST_F(Edit, BreakpointsStayWhenTheKernelIsBuiltAnew) {
  must("open add");
  must("break line ptx:17");
  must("break byte 4");
  must("edit line 2 void add() { better; }");
  must("rebuild");
  ASSERT_TRUE(session.state.kernel->built);
  EXPECT_EQ(session.state.breakpoints.size(), 2u) << session.message.text;
  must("undo");
  EXPECT_EQ(session.state.breakpoints.size(), 2u);
}

// PTX is opened anew by itself.
TEST_F(Edit, AsASettingPtxThatChangesIsOpenedAnew) {
  backend.texts["my.ptx"] = "// one\n";
  must("open add --ptx my.ptx");
  must("rebuild on change on");
  look();
  const auto before = session.state.kernel;
  backend.put("my.ptx", "// two\n");
  look_and_wait();
  EXPECT_NE(session.state.kernel, before) << session.message.text;
  EXPECT_EQ(session.message.text, "Opened my.ptx anew.");
  EXPECT_EQ(backend.builds, 0) << "nothing is compiled";
  must("run");
  backend.put("my.ptx", "// three\n");
  look_and_wait();
  EXPECT_EQ(backend.starts, 2) << "it had run, so it is run again";
  must("rebuild on change off");
  const auto open = session.state.kernel;
  backend.put("my.ptx", "// four\n");
  look_and_wait();
  EXPECT_EQ(session.state.kernel, open) << "only told";
}

TEST_F(Edit, WhatDoesNotCompileIsShownWithEachErrorAtItsLine) {
  must("open add");
  must("run");
  const auto result = session.state.result;
  backend.put("add.cu", "void add() {\n  @one;\n  fine;\n  @two;\n}\n");
  must("edit");
  must("rebuild");
  EXPECT_EQ(session.message.text,
            "add.cu does not compile: 2 errors, the first in line 2: unrecognized token.");
  EXPECT_TRUE(session.message.failed);
  EXPECT_EQ(session.state.result, result) << "what ran before is still there";
  must("edit off");
  const std::string text = shown();
  EXPECT_NE(text.find("add.cu does not compile: 2 errors."), std::string::npos) << text;
  EXPECT_NE(text.find("add.cu:2"), std::string::npos);
  EXPECT_NE(text.find("@one"), std::string::npos) << "the text stands there";
  std::string command;
  for (const Target& target : picture(session, {1000, 640}).scene.targets) {
    if (command.empty()) command = target.command;
  }
  EXPECT_EQ(command, "edit line 2");
  must(command);
  EXPECT_EQ(session.edit.edit.line, 2u);
  EXPECT_NE(shown().find("\"line\":4"), std::string::npos);
  type_edit(session, backend, "// add\nvoid add() {\n  @one;\n  fine;\n}\n");
  EXPECT_NE(shown().find("\"line\":3"), std::string::npos) << "the mark goes with its line";
  EXPECT_EQ(shown().find("\"line\":4"), std::string::npos) << "and goes away with it";
  type_edit(session, backend, "void add() {}\n");
  must("rebuild");
  EXPECT_FALSE(session.edit.failed);
  EXPECT_TRUE(session.state.kernel->built);
}

TEST_F(Edit, AFileThatNeverCompiledCannotRunAndSaysWhy) {
  backend.texts["bad.cu"] = "@add\n";
  must("open add --source bad.cu");
  EXPECT_EQ(session.state.view, ViewName::source);
  refused("run", "bad.cu does not compile: an error in line 1");
  refused("step", "bad.cu does not compile");
  must("select registers");
  EXPECT_TRUE(emptiness(session));
  refused("open add --source nosuch.cu", "nosuch.cu cannot be read");
  backend.has_compiler = false;
  refused("open add --source bad.cu", "no nvcc");
  refused("rebuild", "no nvcc");
}

TEST_F(Edit, AFileThatAnotherProgramWritesIsReloadedAndCanBeRebuilt) {
  backend.texts["my.cu"] = "void add() {}\n";
  must("open add --source my.cu");
  must("edit");
  EXPECT_FALSE(look());
  EXPECT_FALSE(offers("rebuild"));
  backend.put("my.cu", "void add() { better; }\n");
  EXPECT_TRUE(files_changed(session, backend)) << "a sleeping window wakes up";
  EXPECT_TRUE(look());
  EXPECT_EQ(session.message.text, "my.cu has changed: `rebuild` compiles it.");
  EXPECT_EQ(session.edit.edit.text, "void add() { better; }\n");
  EXPECT_TRUE(offers("rebuild"));
  EXPECT_FALSE(files_changed(session, backend));
  EXPECT_FALSE(look()) << "told once";
  must("rebuild");
  EXPECT_FALSE(offers("rebuild"));
  backend.put("my.cu", "void add() { better; }\n");
  EXPECT_FALSE(look()) << "written, with the same text";
}

TEST_F(Edit, AsASettingItIsRebuiltByItself) {
  backend.texts["my.cu"] = "void add() {}\n";
  must("open add --source my.cu");
  must("run");
  refused("rebuild now", "on change on");
  must("rebuild on change on");
  look();
  backend.put("my.cu", "void add() { better; }\n");
  look_and_wait();
  EXPECT_EQ(session.state.kernel->built->sources.at("my.cu").front(), "void add() { better; }");
  EXPECT_EQ(backend.starts, 2);
  backend.put("my.cu", "@\n");
  look_and_wait();
  ASSERT_TRUE(session.edit.failed);
  EXPECT_TRUE(session.state.result);
  Session other;
  ASSERT_TRUE(open_workspace_text(other, backend, workspace_text(session, backend)).ok());
  EXPECT_TRUE(other.state.settings.rebuilds) << "a setting of the window";
  must("rebuild on change off");
  backend.put("my.cu", "void add() {}\n");
  look_and_wait();
  EXPECT_TRUE(session.edit.failed) << "only told";
}

TEST_F(Edit, SavingNeverDropsWhatAnotherProgramWrote) {
  must("open add");
  must("edit");
  type_edit(session, backend, "add here\n");
  backend.put("add.cu", "add there\n");
  look();
  EXPECT_NE(session.message.text.find("`save over`"), std::string::npos) << session.message.text;
  EXPECT_EQ(session.edit.edit.text, "add here\n");
  refused("save", "was written by another program");
  refused("rebuild", "was written by another program");
  EXPECT_EQ(backend.texts["add.cu"], "add there\n");
  must("save over");
  EXPECT_EQ(backend.texts["add.cu"], "add here\n");
  type_edit(session, backend, "add again\n");
  must("edit revert");
  EXPECT_EQ(session.edit.edit.text, "add here\n");
  EXPECT_FALSE(session.edit.edit.unsaved());
}

TEST_F(Edit, TextThatIsNotSavedIsThereTheNextDay) {
  must("open add");
  must("edit my.cu");
  const std::string saved = backend.texts["my.cu"];
  type_edit(session, backend, "void add() {\n  half a tho");
  must("edit off");
  EXPECT_NE(session.message.text.find("What was not saved is kept"), std::string::npos);
  const std::string day = workspace_text(session, backend);
  Session next;
  ASSERT_TRUE(restore_workspace_text(next, backend, day).ok());
  const auto answer = act(next, "edit my.cu");
  ASSERT_TRUE(answer.ok()) << answer.error().sentence;
  EXPECT_EQ(next.edit.edit.text, "void add() {\n  half a tho");
  EXPECT_NE(answer->find("not saved"), std::string::npos);
  EXPECT_EQ(backend.texts["my.cu"], saved);
  ASSERT_TRUE(act(next, "save").ok());
  EXPECT_EQ(backend.texts["my.cu"], "void add() {\n  half a tho");
  EXPECT_TRUE(next.kept.empty()) << "it is in the file now";
}

TEST_F(Edit, SharesUndoAndWorkspacesBringTheSourceBack) {
  backend.folder = "/home/me/";
  backend.texts["my.cu"] = backend.texts["/home/me/my.cu"] = "void add() {}\n";
  must("open add --m 6 --source my.cu");
  must("run");
  const auto lines = rebuilding(session, backend, Extent::view);
  EXPECT_EQ(lines.front(), "open add --m 6 --source /home/me/my.cu");
  Session other;
  ASSERT_TRUE(act(other, "open share " + share_string(lines)).ok()) << other.message.text;
  ASSERT_TRUE(other.state.kernel && other.state.kernel->built);
  EXPECT_TRUE(other.state.result) << "what waits for the compiler is done when it has ended";
  EXPECT_EQ(other.past.size(), 1u);
}

TEST_F(Edit, ACudaFileIsOpenedInThePlaceOfTheKernelThatItNames) {
  backend.texts["add.cu"] = "void anything() {}\n";
  must("open add.cu");
  EXPECT_EQ(session.field, "add --source add.cu");
  backend.texts["mine/fast.cu"] = "void adder() {} void add() {}\n";
  must("open mine/fast.cu");
  EXPECT_EQ(session.field, "add --source mine/fast.cu");
  session = {};
  backend.texts["what.cu"] = "void adder() {}\n";
  refused("open what.cu", "`open K --source what.cu` says of which");
  must("open add");
  must("open what.cu");
  EXPECT_EQ(session.field, "add --source what.cu") << "of the open one";
}

}  // namespace
}  // namespace tilescope
