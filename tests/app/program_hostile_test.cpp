// Hostile input: files that never end, that are too large or promise more than they have, launch
// files that would write where they must not, runs without an end. Each is refused by a sentence,
// or ends when it is told to.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

const std::string add_toml =
    "entry = \"elementwise_add\"\ngrid = [1]\nblock = [128]\n"
    "[[buffer]]\nname = \"A\"\ndtype = \"f32\"\nfile = \"a.npy\"\n"
    "[[buffer]]\nname = \"B\"\ndtype = \"f32\"\nfile = \"b.npy\"\n"
    "[[buffer]]\nname = \"C\"\ndtype = \"f32\"\nshape = [3, 5]\npoison = true\nout = \"c.npy\"\n"
    "[[arg]]\nbuffer = \"A\"\n[[arg]]\nbuffer = \"B\"\n[[arg]]\nbuffer = \"C\"\n"
    "[[arg]]\ni32 = 3\n[[arg]]\ni32 = 5\n";

// An entry without parameters, and how to run it.
std::string kernel(const std::string& body) {
  return ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n"
         "  .reg .b32 %r<4>;\n" +
         body + "  ret;\n}\n";
}
const std::string one_cta = "grid = [1]\nblock = [32]\n";
// It counts: a loop that goes round with the same values is found to be endless.
const std::string counts = "  mov.b32 %r1, 0;\nagain:\n  add.u32 %r1, %r1, 1;\n  bra again;\n";

class Hostile : public Program {
 protected:
  void SetUp() override {
    write("a.npy", npy(3, 5, numbers(15, 1)));
    write("b.npy", npy(3, 5, numbers(15, 2)));
    write("add.toml", add_toml);
    std::ostringstream ptx;
    ptx << std::ifstream(TILESCOPE_SOURCE_DIR "/assets/ptx/elementwise_add.ptx").rdbuf();
    write("add.ptx", ptx.str());
  }

  void fifo(const std::string& name) { ASSERT_EQ(mkfifo((folder / name).c_str(), 0600), 0); }
  void write_launch(const std::string& from, const std::string& to) {
    std::string text = add_toml;
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    write("add.toml", text.replace(at, from.size(), to));
  }
  const Words add = {"run", "add.ptx", "--launch", "add.toml"};
};

TEST_F(Hostile, TheGoodLaunchRuns) {
  const Ended ended = run(add);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(exists("c.npy"));
}

// Every place that reads a file, with what has no end: a device, and a pipe that nobody writes
// into.
TEST_F(Hostile, WhatIsNoFileIsRefusedByEveryReader) {
  fifo("pipe");
  fifo("pipe.ptx");
  fifo("pipe.tsr");
  fifo("pipe.cu");
  ASSERT_EQ(symlink("/dev/zero", (folder / "zero.ptx").c_str()), 0);
  ASSERT_EQ(symlink("/dev/zero", (folder / "zero.tsr").c_str()), 0);
  ASSERT_EQ(symlink("/dev/zero", (folder / "zero.toml").c_str()), 0);
  write_launch("a.npy", "pipe");
  write("from_pipe.toml", read("add.toml"));
  write("add.toml", add_toml);
  struct Case {
    Words words;
    std::string_view kind;
  };
  const std::string device = "it is a device, which may never end", pipe = "it is a pipe";
  for (const Case& each : {
           Case{{"run", "zero.ptx", "--launch", "add.toml"}, device},
           Case{{"run", "pipe.ptx", "--launch", "add.toml"}, pipe},
           Case{{"run", "add.ptx", "--launch", "/dev/zero"}, device},
           Case{{"run", "add.ptx", "--launch", "pipe"}, pipe},
           Case{{"run", "add.ptx", "--launch", "from_pipe.toml"}, pipe},
           Case{{"run", "add.ptx", "zero.ptx", "--launch", "add.toml"}, device},
           Case{{"run", "elementwise_add", "--a", "/dev/zero"}, device},
           Case{{"run", "elementwise_add", "--b", "pipe"}, pipe},
           Case{{"run", "elementwise_add", "--against", "/dev/zero"}, device},
           Case{{"run", "elementwise_add", "--ptx", "/dev/zero"}, device},
           Case{{"run", "elementwise_add", "--source", "pipe.cu"}, pipe},
           Case{{"run", "elementwise_add", "--device", "zero.toml"}, device},
           Case{{"check", "pipe.ptx"}, pipe},
           Case{{"compare", "zero.tsr", "zero.tsr"}, device},
           Case{{"explain", "handoffs", "pipe.tsr"}, pipe},
           Case{{"explain", "map", "/dev/zero"}, device},
           Case{{"explain", "map", "pipe"}, pipe},
       }) {
    std::string line;
    for (const std::string& word : each.words) line += word + " ";
    const Ended ended = run(each.words);
    EXPECT_EQ(ended.exit_code, 2) << line << ended.err;
    EXPECT_TRUE(has(ended.err, std::string(each.kind))) << line << ended.err;
  }
}

TEST_F(Hostile, AFolderIsNoFile) {
  const Ended ended = run({"run", ".", "--launch", "add.toml"});
  EXPECT_EQ(ended.exit_code, 2);
  const Ended launch = run({"run", "add.ptx", "--launch", "."});
  EXPECT_EQ(launch.exit_code, 2);
  EXPECT_TRUE(has(launch.err, "Is a directory")) << launch.err;
}

// Sparse, so that they cost nothing here: what is refused is refused by the size alone.
TEST_F(Hostile, WhatIsTooLargeIsRefusedByItsSize) {
  const auto huge = [&](const std::string& name, std::uintmax_t bytes) {
    std::ofstream(folder / name, std::ios::app);
    std::filesystem::resize_file(folder / name, bytes);
  };
  huge("huge.ptx", std::uintmax_t{1} << 40);
  huge("huge.toml", std::uintmax_t{1} << 40);
  huge("huge.tsr", std::uintmax_t{1} << 40);
  for (const Words& words :
       {Words{"run", "huge.ptx", "--launch", "add.toml"},
        Words{"run", "add.ptx", "--launch", "huge.toml"}, Words{"compare", "huge.tsr", "huge.tsr"},
        Words{"run", "elementwise_add", "--a", "huge.tsr"}}) {
    const Ended ended = run(words);
    EXPECT_EQ(ended.exit_code, 2) << words[1];
    EXPECT_TRUE(has(ended.err, "it has 1024.0 GiB, and of a file of this kind up to")) << ended.err;
  }
  // A header that promises what the file has not; and one that keeps it, in a file that is longer.
  std::string promises = npy(3, 5, numbers(15, 1));
  promises.replace(promises.find("(3, 5)"), 6, "(3, 6)");
  write("a.npy", promises);
  const Ended short_file = run(add);
  EXPECT_EQ(short_file.exit_code, 2);
  EXPECT_TRUE(has(short_file.err, "the file is cut short")) << short_file.err;
  write("a.npy", npy(3, 5, numbers(15, 1)));
  huge("a.npy", std::uintmax_t{3} << 30);
  const auto begun = std::chrono::steady_clock::now();
  const Ended long_file = run(add);
  EXPECT_EQ(long_file.exit_code, 2);
  EXPECT_TRUE(has(long_file.err, "longer than one array")) << long_file.err;
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(2))
      << "its data was read";
}

TEST_F(Hostile, TheSumOfAllBuffersIsToldBeforeAnyIsMade) {
  write_launch("[[arg]]",
               "[[buffer]]\nname = \"D\"\ndtype = \"u8\"\nshape = [3000000000]\nzeros = true\n"
               "[[buffer]]\nname = \"E\"\ndtype = \"u8\"\nshape = [2000000000]\nzeros = true\n"
               "[[arg]]");
  const Ended ended = run(add);
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(has(ended.err,
                  "The buffers need 4.66 GiB together, the largest, [[buffer]] \"D\" of u8 "
                  "(3000000000,), 2.79 GiB; up to 4 GiB work in one run."))
      << ended.err;
}

TEST_F(Hostile, LinesOfStandardInputThatNeverEnd) {
  const Ended ended = run({"eval", "-"}, "4:1\n" + std::string(3 << 20, '1'));
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.out, "4:1\n");
  EXPECT_TRUE(has(ended.err, "longer than 1048576 bytes")) << ended.err;
  EXPECT_EQ(shell("tilescope eval - < /dev/zero").exit_code, 2);
}

TEST_F(Hostile, ALaunchFileWritesNothingThatItReads) {
  const std::string before = read("a.npy");
  for (const std::string out : {"add.toml", "./add.toml", "a.npy", "add.ptx"}) {
    write_launch("c.npy", out);
    const std::string launch = read("add.toml");
    for (const bool allowed : {false, true}) {
      Words words = add;
      if (allowed) words.push_back("--allow-outside");
      const Ended ended = run(words);
      EXPECT_EQ(ended.exit_code, 2) << out;
      EXPECT_TRUE(has(ended.err, "[[buffer]] \"C\" has out = ")) << ended.err;
      EXPECT_TRUE(has(ended.err, "a name of its own would work")) << ended.err;
    }
    EXPECT_EQ(read("add.toml"), launch);
  }
  // By another name of the same file.
  std::filesystem::create_hard_link(folder / "a.npy", folder / "also.npy");
  write_launch("c.npy", "also.npy");
  EXPECT_EQ(run(add).exit_code, 2);
  EXPECT_EQ(read("a.npy"), before);
}

TEST_F(Hostile, ALaunchFileWritesInItsFolderAlone) {
  std::filesystem::create_directories(folder / "in/deeper");
  std::filesystem::create_directories(folder / "beside");
  std::filesystem::create_directory_symlink("../../beside", folder / "in/deeper/link");
  for (const std::string name : {"a.npy", "b.npy"}) write("in/" + name, read(name));
  struct Case {
    std::string out, written;
  };
  for (const Case& each : {Case{"../c.npy", "c.npy"}, Case{"../beside/c.npy", "beside/c.npy"},
                           Case{"../in2.npy", "in2.npy"}, Case{"deeper/link/l.npy", "beside/l.npy"},
                           Case{(folder / "whole.npy").string(), "whole.npy"}}) {
    write_launch("c.npy", each.out);
    write("in/add.toml", read("add.toml"));
    const Words words = {"run", "add.ptx", "--launch", "in/add.toml"};
    const Ended ended = run(words);
    EXPECT_EQ(ended.exit_code, 2) << each.out;
    EXPECT_TRUE(has(ended.err, "outside of the launch file's folder")) << ended.err;
    EXPECT_TRUE(has(ended.err, "--allow-outside")) << ended.err;
    EXPECT_FALSE(exists(each.written));
    Words allowed = words;
    allowed.push_back("--allow-outside");
    EXPECT_EQ(run(allowed).exit_code, 0);
    EXPECT_TRUE(exists(each.written)) << each.out;
  }
  write_launch("c.npy", "deeper/c.npy");
  write("in/add.toml", read("add.toml"));
  EXPECT_EQ(run({"run", "add.ptx", "--launch", "in/add.toml"}).exit_code, 0);
  EXPECT_TRUE(exists("in/deeper/c.npy"));
  EXPECT_EQ(run({"run", "elementwise_add", "--allow-outside"}).exit_code, 2);
}

TEST_F(Hostile, ALaunchFileReplacesNoFileThatIsNotNpy) {
  write("c.npy", "my notes\n");
  const Ended ended = run(add);
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(has(ended.err, "no .npy file and would be replaced")) << ended.err;
  EXPECT_EQ(read("c.npy"), "my notes\n");
  std::filesystem::remove(folder / "c.npy");
  EXPECT_EQ(run(add).exit_code, 0);
  EXPECT_EQ(run(add).exit_code, 0) << "its own of before is one";
}

TEST_F(Hostile, TwoOutputsOfOneNameAreRefused) {
  write_launch("file = \"b.npy\"", "file = \"b.npy\"\nout = \"./c.npy\"");
  const Ended ended = run(add);
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(has(ended.err, "where [[buffer]] \"B\" is written too")) << ended.err;
}

// Seconds of a processor that a process has used.
double used_by(int process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream rest(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string word;
  for (int skipped = 0; skipped < 11; ++skipped) rest >> word;  // state to cmajflt (proc(5))
  double user = 0, system = 0;
  rest >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}
double used_by_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Inputs being made, a run, its reference, its comparison, files being written: wherever it is when
// Ctrl-C comes, it does not go on for long. In seconds of a processor, as others may use it too.
TEST_F(Hostile, CtrlCEndsWhateverIsBeingDone) {
  const Words words = {"run", "elementwise_add", "--m",   "3000",    "--n",    "3000",  "--threads",
                       "1",   "--record",        "r.tsr", "--trace", "t.json", "--out", "o.npy"};
  const double start = used_by_children();
  ASSERT_EQ(run(words).exit_code, 0);
  const double whole = used_by_children() - start;
  for (const std::string name : {"r.tsr", "t.json", "o.npy"}) {
    std::filesystem::remove(folder / name);
  }
  int interrupted = 0;
  for (const double share : {0.1, 0.5, 0.8}) {
    const double before = used_by_children();
    double at = 0;
    const Ended ended = run_while(words, [&](int process) {
      while ((at = used_by(process)) < share * whole && kill(process, 0) == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        if (std::ifstream state("/proc/" + std::to_string(process) + "/stat"); state) {
          std::string text;
          std::getline(state, text);
          if (has(text, ") Z ")) return;
        }
      }
      kill(process, SIGINT);
    });
    if (ended.exit_code == 0) continue;  // it was as good as ready
    EXPECT_EQ(ended.signal, 0);
    EXPECT_EQ(ended.exit_code, 130) << ended.err;
    EXPECT_TRUE(has(ended.err, "nterrupted")) << ended.err;
    EXPECT_LT(used_by_children() - before - at, 0.3) << share << " of " << whole << " s";
    for (const std::string& name : files()) {
      EXPECT_EQ(name.find(".npy."), std::string::npos) << name;
      EXPECT_EQ(name.find(".tsr."), std::string::npos) << name;
      EXPECT_EQ(name.find(".json."), std::string::npos) << name;
    }
    ++interrupted;
  }
  EXPECT_GE(interrupted, 2);
}

TEST_F(Hostile, MaxInstructionsEndsARun) {
  write("k.ptx", kernel(counts));
  write("k.toml", one_cta);
  Words words = {"run", "k.ptx", "--launch", "k.toml", "--max-instructions", "100000"};
  const Ended ended = run(words);
  EXPECT_EQ(ended.exit_code, 2) << ended.err;
  EXPECT_TRUE(has(ended.err,
                  "PTX instructions by warps, and --max-instructions allows 100000; 0 "
                  "of 1 CTAs have ended"))
      << ended.err;
  const auto [code, document] = run_json(words);
  EXPECT_EQ(code, 2);
  EXPECT_EQ(document["error"]["kind"], "mismatch");
  Words predicted = words;
  predicted.push_back("--predict");
  EXPECT_EQ(run(predicted).exit_code, 2);
  // What ends in time is not touched; and the limit is a limit.
  const Ended fits = run({"run", "elementwise_add", "--max-instructions", "1000000000"});
  EXPECT_EQ(fits.exit_code, 0) << fits.err;
  words.back() = "0";
  EXPECT_EQ(run(words).exit_code, 2);
  EXPECT_EQ(run({"run", "elementwise_add", "--on", "gpu", "--max-instructions", "5"}).exit_code, 2);
}

}  // namespace
}  // namespace tilescope::test
