// A CUDA file in a kernel's place: what the compiler is asked, what becomes of its answers, and of
// its absence. The compiler is a script that each test writes; the last test asks a real nvcc,
// where there is one.
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

std::string source_text(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(std::string(TILESCOPE_SOURCE_DIR) + "/" + name).rdbuf();
  return text.str();
}

class EditedKernel : public Program {
 protected:
  EditedKernel() {
    set("PATH", (folder.parent_path() / "bin").string() + ":/usr/bin:/bin");
    set("XDG_CACHE_HOME", cache());
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) set(variable, "");
  }
  std::string cache() const { return (folder.parent_path() / "cache").string(); }

  // An nvcc that answers its version and does `script` for a compilation, whose last word but one
  // is -o; $out is the file it is to write, $in the one it reads.
  void compiler(const std::string& script) {
    const auto bin = folder.parent_path() / "bin";
    std::filesystem::create_directories(bin);
    std::ofstream(bin / "nvcc") << "#!/bin/sh\n"
                                   "if [ \"$1\" = --version ]; then echo nvcc of a test; exit; fi\n"
                                   "echo called >> \"" +
                                       (folder.parent_path() / "calls").string() +
                                       "\"\n"
                                       "for w in \"$@\"; do in=$before; before=$out; out=$w; done\n"
                                       "words=\"$*\"\n" +
                                       script + "\n";
    std::filesystem::permissions(bin / "nvcc", std::filesystem::perms::owner_all);
  }
  int calls() const {
    std::ifstream in(folder.parent_path() / "calls");
    int count = 0;
    for (std::string line; std::getline(in, line);) ++count;
    return count;
  }
  // The shipped PTX as a compiler would write it: with names of this machine.
  void copy_the_kernel(const std::string& more = "") {
    std::string ptx = source_text("assets/ptx/elementwise_add.ptx");
    const std::string name = "\"kernels/elementwise/elementwise_add.cu\"";
    const std::size_t at = ptx.find(name);
    ASSERT_NE(at, ptx.npos);
    ptx.replace(at, name.size(), "\"@IN@\"");
    std::ofstream(folder.parent_path() / "ready.ptx") << ptx;
    compiler("sed \"s#@IN@#$in#\" \"" + (folder.parent_path() / "ready.ptx").string() +
             "\" > \"$out\"\n" + more);
  }
  const Words run_mine = {"run", "elementwise_add", "--m", "5", "--n", "7", "--source", "my.cu"};
};

TEST_F(EditedKernel, RunsInItsPlaceAndIsComparedAsEver) {
  copy_the_kernel();
  write("my.cu", "// mine\n");
  const Ended ended = run(run_mine);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(has(ended.out, "elementwise_add")) << ended.out;
  EXPECT_EQ(files(), (Words{"my.cu"})) << "nothing is left beside it";
}

TEST_F(EditedKernel, IsCompiledOnceForTheSameTextAndHeaders) {
  copy_the_kernel();
  write("my.cu", "#include \"mine.h\"\n#include \"kernels/device/tma.h\"\n");
  write("mine.h", "// one\n");
  ASSERT_EQ(run(run_mine).exit_code, 0);
  ASSERT_EQ(run(run_mine).exit_code, 0);
  EXPECT_EQ(calls(), 1);
  write("mine.h", "// two\n");
  ASSERT_EQ(run(run_mine).exit_code, 0);
  EXPECT_EQ(calls(), 2) << "a header of its own has changed";
  write("my.cu", "// another\n");
  ASSERT_EQ(run(run_mine).exit_code, 0);
  EXPECT_EQ(calls(), 3);
  std::filesystem::remove_all(cache());
  std::ofstream(cache()) << "a file where a folder should be";
  ASSERT_EQ(run(run_mine).exit_code, 0) << "where nothing can be kept it is compiled each time";
  EXPECT_EQ(calls(), 4);
}

TEST_F(EditedKernel, TheCompilerFindsTheHeadersThatTheProgramCarries) {
  copy_the_kernel(
      "for w in $words; do test -f \"$w/kernels/device/tma.h\" && "
      "test -f \"$w/core/layout/algebra_inl.h\" && exit 0; done; echo missing; exit 1");
  write("my.cu", "  #  include \"kernels/device/tma.h\"\n#include \"core/layout/algebra.h\"\n");
  const Ended ended = run(run_mine);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

// A changed copy of the whole tree: its own headers are compiled, wherever in it they lie.
TEST_F(EditedKernel, TheCompilerFindsTheHeadersOfTheTreeThatTheFileIsOf) {
  copy_the_kernel(
      "for w in $words; do grep -q mine \"$w/kernels/device/tma.h\" && exit 0; done; "
      "echo missing; exit 1");
  std::filesystem::create_directories(folder / "kernels" / "device");
  std::filesystem::create_directories(folder / "kernels" / "matmul");
  write("kernels/device/tma.h", "// mine\n");
  write("kernels/matmul/my.cu", "#include \"kernels/device/tma.h\"\n");
  Words words = run_mine;
  words.back() = "kernels/matmul/my.cu";
  const Ended ended = run(words);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

// A text that lacks the kernel is named by its file, not by the kernel that is missing in it.
TEST_F(EditedKernel, AnEntryThatIsMissingIsSaidOfTheFile) {
  std::string ptx = source_text("assets/ptx/elementwise_add.ptx");
  for (std::size_t at = ptx.find(".entry elementwise_add"); at != ptx.npos;
       at = ptx.find(".entry elementwise_add", at + 1)) {
    ptx.replace(at, 22, ".entry something_else_");
  }
  write("other.ptx", ptx);
  const Ended ended = run({"run", "elementwise_add", "--m", "5", "--n", "7", "--ptx", "other.ptx"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(has(ended.err, "other.ptx has no entry")) << ended.err;
}

// One entry is left whose name has the kernel's as a part; it adds numbers of another type.
TEST_F(EditedKernel, AnotherEntryIsNotTakenForTheKernels) {
  copy_the_kernel();
  const std::string ready = (folder.parent_path() / "ready.ptx").string();
  const std::string others =
      "s/entry elementwise_add(/entry other(/; s/add_f16(/f16(/; s/add_i32(/i32(/";
  ASSERT_EQ(shell("sed -i '" + others + "' \"" + ready + "\"").exit_code, 0);
  write("my.cu", "// elementwise_add, once\n");
  const Ended ran = run(run_mine);
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_TRUE(has(ran.err, "PTX of my.cu has no entry 'elementwise_add'; it has: other, "))
      << ran.err;
  draws();
  const Ended opened =
      run({"gui", "--headless", "--do", "open elementwise_add --m 5 --n 7 --source my.cu; run"});
  if (opened.exit_code == 4) SKIP_WHERE_NOTHING_DRAWS(opened.err);
  EXPECT_EQ(opened.exit_code, 2);
  EXPECT_TRUE(has(opened.err, "no entry 'elementwise_add'")) << opened.err;
}

// The picture that was asked for shows what is wrong; the exit code says that something is.
TEST_F(EditedKernel, APictureOfWhatDoesNotCompileIsMadeAndTheProgramEndsWithTwo) {
  draws();
  compiler("echo \"$in(3): error: identifier \\\"y\\\" is undefined\"; exit 1");
  write("bad.cu", "// elementwise_add\n");
  const std::string open = "elementwise_add --m 5 --n 7 --source bad.cu";
  for (const char* then : {"select source", "rebuild", "run"}) {
    const Ended ended =
        run({"gui", "--headless", "--open", open, "--do", then, "--describe", "view.json"});
    if (ended.exit_code == 4) SKIP_WHERE_NOTHING_DRAWS(ended.err);
    EXPECT_EQ(ended.exit_code, 2) << then << ": " << ended.err;
    EXPECT_TRUE(has(ended.err, "bad.cu does not compile")) << then << ": " << ended.err;
    EXPECT_TRUE(has(read("view.json"), "does not compile")) << then;
    std::filesystem::remove(folder / "view.json");
  }
}

// Warnings are kept with the PTX, so that they are told each time.
TEST_F(EditedKernel, WarningsAreToldWithWhatCompiles) {
  draws();
  copy_the_kernel("echo \"$in(1): warning #177-D: variable \\\"x\\\" was never referenced\"");
  write("my.cu", "// elementwise_add\n");
  const std::string open = "elementwise_add --m 5 --n 7 --source my.cu";
  for (int i = 0; i < 2; ++i) {
    const Ended ended =
        run({"gui", "--headless", "--open", open, "--do", "edit", "--describe", "view.json"});
    if (ended.exit_code == 4) SKIP_WHERE_NOTHING_DRAWS(ended.err);
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_TRUE(has(read("view.json"), "was never referenced")) << i;
  }
  EXPECT_EQ(calls(), 1);
}

TEST_F(EditedKernel, ErrorsAreToldWithTheirLinesAndEndWithTwo) {
  compiler(
      "echo \"$in(3): error: identifier \\\"y\\\" is undefined\"\n"
      "echo '    p[0] = y;'\n"
      "echo '           ^'\n"
      "echo \"$in(1): warning #177-D: variable \\\"x\\\" was declared but never referenced\"\n"
      "echo 'At end of source: error: expected a \"}\"'\n"
      "echo '2 errors detected in the compilation.'\nexit 1");
  write("my.cu", "// mine\n");
  const Ended ended = run(run_mine);
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(has(ended.err, "my.cu does not compile: 2 errors.")) << ended.err;
  EXPECT_TRUE(has(ended.err, "my.cu:3: identifier \"y\" is undefined\n")) << ended.err;
  EXPECT_TRUE(has(ended.err, "expected a \"}\"")) << ended.err;
  EXPECT_FALSE(has(ended.err, "never referenced")) << "a warning stops nobody";
  const auto [code, document] = run_json(run_mine);
  EXPECT_EQ(code, 2);
  EXPECT_EQ(document["error"]["where"], "my.cu:3");
  compiler("echo \"$in:1:10: fatal error: nosuch.h: No such file or directory\"; exit 1");
  EXPECT_TRUE(has(run(run_mine).err, "my.cu:1: nosuch.h: No such file or directory"));
  compiler("echo Segmentation fault; exit 139");
  EXPECT_TRUE(has(run(run_mine).err, "nvcc ended with 139: Segmentation fault"));
  EXPECT_FALSE(std::filesystem::exists(cache())) << "only PTX is kept";
}

TEST_F(EditedKernel, WhatCannotBeDoneIsSaidWithWhatWouldWork) {
  write("my.cu", "// mine\n");
  if (!std::filesystem::exists("/usr/local/cuda/bin/nvcc")) {
    const Ended ended = run(run_mine);
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_TRUE(has(ended.err, "Install the CUDA Toolkit")) << ended.err;
    EXPECT_TRUE(has(ended.err, "--ptx F.ptx")) << ended.err;
  }
  copy_the_kernel();
  struct Case {
    Words words;
    std::string said;
  };
  for (const Case& each :
       {Case{{"run", "elementwise_add", "--source", "nosuch.cu"}, "nosuch.cu"},
        Case{{"run", "elementwise_add", "--source", "my.ptx"}, "--source takes a CUDA file"},
        Case{{"run", "elementwise_add", "--source", "my.cu", "--ptx", "a.ptx"}, "leave one out"},
        Case{{"run", "nosuch", "--source", "my.cu"}, "nosuch"},
        Case{{"run", "a.ptx", "--launch", "a.toml", "--source", "my.cu"}, "--source"}}) {
    const Ended ended = run(each.words);
    EXPECT_EQ(ended.exit_code, 2) << each.said;
    EXPECT_TRUE(has(ended.err, each.said)) << ended.err;
  }
}

TEST_F(EditedKernel, CtrlCStopsTheCompilerAndAllThatItStarted) {
  compiler("sleep 60 & echo $! > \"" + (folder.parent_path() / "child").string() + "\"; wait");
  write("my.cu", "// mine\n");
  const Ended ended = run_while(run_mine, [&](int process) {
    while (!std::filesystem::exists(folder.parent_path() / "child")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    kill(process, SIGINT);
  });
  EXPECT_EQ(ended.exit_code, 130) << ended.err;
  std::ifstream in(folder.parent_path() / "child");
  std::string child;
  in >> child;
  // Gone, or waiting for somebody to hear that it is.
  const Ended asleep = shell("grep -q 'State:.S' /proc/" + child + "/status 2>/dev/null");
  EXPECT_NE(asleep.exit_code, 0) << "it would sleep on";
}

TEST_F(EditedKernel, TheWindowShowsItsTextWhereItStandsAndErrorsAtTheirLines) {
  draws();
  copy_the_kernel();
  write("my.cu", "// the first line of mine\n// elementwise_add\n");
  const auto shows = [&](const std::string& commands, int code = 0) {
    const Ended ended =
        run({"gui", "--headless", "--size", "1000x640", "--do", commands, "--describe", "a.json"});
    if (ended.exit_code == 4) return std::string();
    EXPECT_EQ(ended.exit_code, code) << commands << ended.err;
    return ended.exit_code == code ? read("a.json") : "no picture";
  };
  const std::string standing = shows("open elementwise_add --m 5 --n 7 --source my.cu; step");
  if (standing.empty()) SKIP_WHERE_NOTHING_DRAWS("no off-screen OpenGL");
  const std::string source =
      shows("open elementwise_add --m 5 --n 7 --source my.cu; step; look line my.cu:1 in source");
  EXPECT_TRUE(has(source, "// the first line of mine")) << source;
  EXPECT_TRUE(has(shows("open my.cu; run"), "elementwise_add --source my.cu"));
  compiler("echo \"$in(2): error: this will not do\"; exit 1");
  write("my.cu", "// the first line of mine\n// elementwise_add, changed\n");
  const std::string wrong = shows("open elementwise_add --m 5 --n 9 --source my.cu", 2);
  EXPECT_TRUE(has(wrong, "my.cu does not compile: 1 error.")) << wrong;
  EXPECT_TRUE(has(wrong, "this will not do"));
  EXPECT_TRUE(has(wrong, "// the first line of mine"));
}

// A form of a kernel that is not carried is compiled with its macros, and once.
TEST_F(EditedKernel, AFormThatIsNotCarriedIsCompiledWithItsMacros) {
  const Words carried = {"run", "dense_gemm", "--m", "64", "--n", "64", "--k", "64"};
  Words other = carried;
  for (const char* word : {"--tile", "64x176", "--a-dtype", "bf16"}) other.emplace_back(word);
  compiler("echo \"$words\" > \"" + (folder.parent_path() / "words").string() +
           "\"; echo \"$in(7): error: not today\"; exit 1");
  EXPECT_EQ(run(carried).exit_code, 0);
  EXPECT_EQ(calls(), 0) << "it is carried";
  const Ended ended = run(other);
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(has(ended.err, "kernels/hopper/dense_gemm.cu:7: not today")) << ended.err;
  std::ostringstream text;
  text << std::ifstream(folder.parent_path() / "words").rdbuf();
  for (const char* word : {" -DGEMM_A=bf16 ", " -DGEMM_TILE_M=64 ", " -DGEMM_TILE_N=176 ",
                           " -arch=compute_90a ", "/kernels/hopper/dense_gemm.cu -o "}) {
    EXPECT_TRUE(has(text.str(), word)) << word << " in " << text.str();
  }
  // So is a file in its place.
  write("my.cu", "// mine\n");
  for (const char* word : {"--source", "my.cu"}) other.emplace_back(word);
  EXPECT_TRUE(has(run(other).err, "my.cu:7: not today"));
  std::ostringstream mine;
  mine << std::ifstream(folder.parent_path() / "words").rdbuf();
  EXPECT_TRUE(has(mine.str(), " -DGEMM_TILE_N=176 ")) << mine.str();
}

TEST_F(EditedKernel, WithoutACompilerItIsSaidWhichFormsAreCarried) {
  if (std::filesystem::exists("/usr/local/cuda/bin/nvcc")) {
    GTEST_SKIP() << "There is an nvcc where it is looked for last.";
  }
  const Ended ended = run({"run", "dense_gemm", "--tile", "64x128", "--a-dtype", "bf16"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(has(ended.err, "dense_gemm with --a-dtype bf16 --tile 64x128 is none of the forms"))
      << ended.err;
  EXPECT_TRUE(has(ended.err, "Carried are `--a-dtype bf16`, ")) << ended.err;
  EXPECT_TRUE(has(ended.err, "Install the CUDA Toolkit")) << ended.err;
}

TEST_F(EditedKernel, ARealCompilerMakesAnyForm) {
  const char* path = std::getenv("PATH");
  set("PATH", std::string(path ? path : "") + ":/usr/local/cuda/bin");
  if (shell("command -v nvcc").exit_code != 0) GTEST_SKIP() << "There is no nvcc here.";
  const Ended ended = run({"run", "dense_gemm", "--m", "72", "--n", "136", "--k", "64", "--tile",
                           "64x128", "--cluster", "1x2", "--a-dtype", "bf16"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err << ended.out;
}

// The same text by another name and from another folder gives the same PTX, but for the names.
TEST_F(EditedKernel, ARealCompilerNeedsNothingButTheProgram) {
  const char* path = std::getenv("PATH");
  set("PATH", std::string(path ? path : "") + ":/usr/local/cuda/bin");
  if (shell("command -v nvcc").exit_code != 0) GTEST_SKIP() << "There is no nvcc here.";
  const std::string shipped = source_text("assets/ptx/hgemm_v4.ptx");
  write("mine.cu", source_text("kernels/blackwell/hgemm_v4.cu"));
  const Ended ended =
      run({"run", "hgemm_v4", "--m", "128", "--n", "128", "--k", "64", "--source", "mine.cu"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  std::string made;
  for (const auto& each : std::filesystem::recursive_directory_iterator(cache())) {
    if (each.path().extension() != ".ptx") continue;
    std::ostringstream text;
    text << std::ifstream(each.path()).rdbuf();
    made = text.str();
  }
  ASSERT_FALSE(made.empty());
  EXPECT_TRUE(has(made, "\"mine.cu\"")) << "the file by its own name";
  EXPECT_FALSE(has(made, folder.string()));
  const std::string version = source_text("assets/ptx/NVCC_VERSION");
  if (!has(shell("nvcc --version").out, version.substr(0, version.find('\n')))) {
    GTEST_SKIP() << "The shipped PTX was made by another nvcc.";
  }
  // The names of functions for the debugger have the path's hash in them.
  const auto body = [](std::string ptx) {
    ptx = ptx.substr(0, ptx.find("\t.section\t.debug_str"));
    const std::string ours = "kernels/blackwell/hgemm_v4.cu";
    if (const auto at = ptx.find(ours); at != ptx.npos) ptx.replace(at, ours.size(), "mine.cu");
    return ptx;
  };
  EXPECT_EQ(body(made), body(shipped));
}

}  // namespace
}  // namespace tilescope::test
