// The program's contract as a whole: help, usage errors, and nothing on stdout that is no result.
#include <algorithm>
#include <sstream>

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

using Contract = Program;

const Words all_commands = {"eval", "draw", "list", "run", "check", "compare", "gui"};

// The line after "Example:".
std::string example_in(const std::string& help) {
  const std::size_t at = help.find("Example:\n");
  if (at == std::string::npos) return "";
  std::istringstream rest(help.substr(at + 9));
  std::string line;
  std::getline(rest, line);
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

TEST_F(Contract, HelpListsEveryCommandAndHasAnExample) {
  const Ended ended = run({"--help"});
  EXPECT_EQ(run({"help"}).out, ended.out);
  EXPECT_EQ(ended.exit_code, 0);
  for (const std::string& command : all_commands) EXPECT_TRUE(has(ended.out, command)) << command;
  EXPECT_FALSE(has(ended.out, "generate")) << "for the build alone";
  EXPECT_EQ(example_in(ended.out).rfind("tilescope ", 0), 0u) << ended.out;
  EXPECT_EQ(ended.err, "");
}

TEST_F(Contract, EveryCommandHasHelpWithAnExampleThatWorks) {
  // What `compare` compares, somebody has recorded.
  for (const char* record : {"A.tsr", "B.tsr"}) {
    EXPECT_EQ(run({"run", "elementwise_add", "--m", "20", "--record", record}).exit_code, 0);
  }
  // What `check` looks at, somebody has compiled.
  write("kernel.ptx",
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n");
  for (const std::string& command : all_commands) {
    const Ended help = run({command, "--help"});
    EXPECT_EQ(run({"help", command}).out, help.out);
    EXPECT_EQ(help.exit_code, 0) << command;
    const std::string example = example_in(help.out);
    ASSERT_EQ(example.rfind("tilescope " + command, 0), 0u) << help.out;
    const Ended ended = shell(example);
    // The window's example needs a display, and says so where there is none.
    EXPECT_EQ(ended.exit_code, command == "gui" ? 4 : 0) << example << "\n" << ended.err;
  }
}

TEST_F(Contract, VersionIsOneLine) {
  const Ended ended = run({"--version"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out.rfind("tilescope ", 0), 0u);
  EXPECT_EQ(std::count(ended.out.begin(), ended.out.end(), '\n'), 1);
}

TEST_F(Contract, AloneWithoutADisplayItNamesThreeCommandsThatWork) {
  const Ended ended = run({});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  int tried = 0;
  std::istringstream lines(ended.out + ended.err);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find_first_not_of(' ');
    if (at == std::string::npos || line.compare(at, 10, "tilescope ") != 0) continue;
    const Ended suggested = shell(line.substr(at));
    EXPECT_EQ(suggested.exit_code, 0) << line << "\n" << suggested.err;
    ++tried;
  }
  EXPECT_EQ(tried, 3) << ended.out << ended.err;
}

TEST_F(Contract, ResultsThatCannotBeWrittenAreNoSuccess) {
  for (const char* command : {"tilescope eval 4:1", "tilescope eval 4:1 --json", "tilescope --help",
                              "tilescope list functions"}) {
    const Ended ended = shell(std::string(command) + " > /dev/full");
    EXPECT_EQ(ended.exit_code, 2) << command;
    EXPECT_TRUE(has(ended.err, "standard output")) << command << "\n" << ended.err;
  }
}

TEST_F(Contract, AReaderThatLeavesEndsItQuietly) {
  const Ended ended =
      shell("(yes 4:1 | (tilescope eval -; echo $? > code)) 2> words | head -n 1; cat code");
  EXPECT_EQ(ended.out, "4:1\n2\n");
  EXPECT_EQ(read("words"), "");
}

TEST_F(Contract, WrongUsageIsASentenceOnStderr) {
  const std::vector<Words> wrong = {{"frobnicate"},
                                    {"eval"},
                                    {"eval", "--frobnicate", "4:1"},
                                    {"draw", "4:1"},
                                    {"run"},
                                    {"run", "elementwise_add", "--m", "many"},
                                    {"list", "nonsense"},
                                    {"--frobnicate"},
                                    {"run", "elementwise_add", "--dtype", "f33"},
                                    {"run", "nonsense"},
                                    {"gui", "--size", "big"}};
  for (const Words& words : wrong) {
    std::string line;
    for (const std::string& word : words) line += word + " ";
    const Ended ended = run(words);
    EXPECT_EQ(ended.exit_code, 2) << line << "\n" << ended.err;
    EXPECT_EQ(ended.out, "") << line;
    EXPECT_GT(ended.err.size(), 20u) << line;
    const auto [code, document] = run_json(words);
    EXPECT_EQ(code, 2) << line;
    ASSERT_TRUE(document.contains("error")) << line;
    const std::string sentence = document["error"]["sentence"];
    EXPECT_TRUE(has(ended.err, sentence)) << line << ": text and document say the same";
  }
}

TEST_F(Contract, AnUnknownNameComesWithThoseThatExist) {
  EXPECT_TRUE(has(run({"run", "elementwise_ad"}).err, "elementwise_add"));
  EXPECT_TRUE(has(run({"list", "kernel"}).err, "kernels"));
  EXPECT_TRUE(has(run({"draw", "preset 9x33", "-o", "a.svg"}).err, "9x32"));
}

TEST_F(Contract, ListsAreText_AndDocuments) {
  const Ended all = run({"list"});
  EXPECT_EQ(all.exit_code, 0);
  for (const char* what : {"kernels", "devices", "presets", "atoms", "commands"}) {
    EXPECT_TRUE(has(all.out, what));
    EXPECT_EQ(run({"list", what}).exit_code, 0) << what;
    const auto [code, document] = run_json({"list", what});
    EXPECT_EQ(code, 0);
    ASSERT_TRUE(document[what].is_array()) << what;
    EXPECT_FALSE(document[what].empty()) << what;
  }
  EXPECT_TRUE(has(run({"list", "kernels"}).out, "elementwise_add"));
  EXPECT_TRUE(has(run({"list", "presets"}).out, "9x32"));
}

TEST_F(Contract, AListIsFoundInByText) {
  const Ended found = run({"list", "atoms", "SM90_64x64x16_F32BF16"});
  EXPECT_EQ(found.exit_code, 0);
  EXPECT_TRUE(has(found.out, "SM90_64x64x16_F32BF16BF16_SS<MN,K>")) << found.out;
  EXPECT_FALSE(has(found.out, "SM80")) << found.out;
  // Not the family's example: a member of its own.
  EXPECT_TRUE(has(run({"list", "atoms", "64x40x16"}).out, "SM90_64x40x16_F32F16F16_SS"));
  const auto [code, document] = run_json({"list", "atoms", "SM75_U32x4"});
  EXPECT_EQ(code, 0);
  EXPECT_EQ(document["atoms"][0]["threads"], "32 threads");
  EXPECT_TRUE(has(document["atoms"][0]["source"], "ldmatrix"));
  EXPECT_EQ(run({"list", "kernels", "elementwise_add"}).exit_code, 0);
  EXPECT_EQ(run({"list", "kernels", "no such text"}).exit_code, 2);
}

TEST_F(Contract, AFileThatCannotBeReadIsNamed) {
  write("b.npy", npy(2, 3, numbers(6, 1)));
  for (const std::string bad : {"missing.npy", "."}) {
    const auto [code, document] =
        run_json({"run", "elementwise_add", "--a", bad, "--b", "b.npy", "--out", "c.npy"});
    EXPECT_EQ(code, 2);
    EXPECT_EQ(document["error"]["kind"], "unreadable");
    EXPECT_TRUE(has(document["error"]["sentence"], bad));
  }
  EXPECT_FALSE(exists("c.npy"));
}

// What the build writes from the table of commands.
TEST_F(Contract, ManualAndCompletionsKnowEveryCommandAndOption) {
  const Ended man = run({"generate", "man"}), bash = run({"generate", "bash"}),
              zsh = run({"generate", "zsh"});
  for (const std::string& command : all_commands) {
    EXPECT_TRUE(has(man.out, ".SS " + command + "\n")) << command;
    EXPECT_TRUE(has(bash.out, "      " + command + ") words=\"")) << command;
    EXPECT_TRUE(has(zsh.out, "      '" + command + ":")) << command;
  }
  EXPECT_TRUE(has(man.out, "\\-\\-against")) << "an option of run";
  EXPECT_TRUE(has(bash.out, "--against"));
  EXPECT_TRUE(has(zsh.out, "--against["));
  write("completion.bash", bash.out);
  const Ended completed = shell(
      "bash -c 'source ./completion.bash && COMP_WORDS=(tilescope ru) COMP_CWORD=1 && _tilescope "
      "&& "
      "echo \"${COMPREPLY[@]}\" && COMP_WORDS=(tilescope run --ag) COMP_CWORD=2 && _tilescope && "
      "echo \"${COMPREPLY[@]}\" && COMP_WORDS=(tilescope draw --theme l) COMP_CWORD=3 && "
      "_tilescope && echo \"${COMPREPLY[@]}\" && COMP_WORDS=(tilescope list k) COMP_CWORD=2 && "
      "_tilescope && echo \"${COMPREPLY[@]}\"'");
  EXPECT_EQ(completed.exit_code, 0) << completed.err;
  EXPECT_EQ(completed.out, "run\n--against\nlight\nkernels\n");
}

}  // namespace
}  // namespace tilescope::test
