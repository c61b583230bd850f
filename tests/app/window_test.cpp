// Pictures of the window as committed ones, what they show as JSON, the real window on a virtual
// display, and what is said where none of it works.
//
// TILESCOPE_REFRESH=1 in the environment writes the committed pictures and descriptions anew; look
// at every one of them before committing.
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "app/picture_png.h"
#include "tests/app/program.h"

namespace tilescope::test {
namespace {

constexpr double kMostDiffering = 0.005;  // share of pixels
constexpr int kSameColour = 24;           // of 255 in a channel: another FreeType's smoothing

struct View {
  std::string name, open, commands, theme;
};
void PrintTo(const View& view, std::ostream* out) {
  *out << view.name;
}

const std::vector<View>& views() {
  static const std::vector<View> all = {
      {"divided", "preset 9x32", "pick 1 9; point 4 7", "light"},
      {"thread_value", "preset Volta", "pick 3 2", "dark"},
      {"elementwise_tile", "preset elementwise", "colour value", "light"},
      {"million", "layout (1024,1024):(1024,1)", "colour offset", "light"},
      {"derivation", "layout composition((6,2):(8,2), (4,3):(3,1))", "derive 3; point 1 1 1",
       "light"},
      {"banks", "layout (64,64):(64,1)", "element 2; access columns 16; select banks", "dark"},
      {"start", "", "theme dark", "dark"},
      {"kernel", "hgemm_v7 --m 512 --n 1024 --k 256", "panel inspector hide", "light"},
      {"kernel_ran", "hgemm_v10 --m 512 --n 512 --k 512", "run; select kernel; panel outline hide",
       "dark"},
      {"kernel_layouts", "wgmma_v5", "select layout; panel inspector hide", "light"},
      {"matrices", "elementwise_add --m 48 --n 80", "run; select matrices; pick 5 9", "light"},
      {"memory", "hgemm_v7 --m 512 --n 512 --k 512", "step barrier 5; select memory", "light"},
      {"memory_byte", "hgemm_v7 --m 512 --n 512 --k 512",
       "step barrier 5; look byte 900 in memory; memory order physical", "dark"},
      {"tmem", "hgemm_v8 --m 512 --n 512 --k 512", "step mma 40; look cell 5,17 in tmem", "dark"},
      {"tiles", "hgemm_v7 --m 512 --n 512 --k 512", "step barrier 5; look byte 16900 in matrices",
       "light"},
      {"palette", "preset 9x32", "palette col", "light"},
      {"steps", "preset 9x32", "colour offset; pick 2 3; label coordinates; undo; history", "dark"},
      {"tour", "preset 9x32", "tour; tour next; tour next", "light"},
      {"letters", "elementwise_add --m 12 --n 20",
       "run; select diff; font 150; panel outline hide; pick 3 2", "dark"},
      {"difference", "elementwise_add --m 300 --n 200", "run; select diff; pick 17 42", "dark"},
      {"timeline", "hgemm_v7 --m 256 --n 256 --k 256",
       "run; select timeline; timeline totals 1500 2500; find wait mbarrier 98304", "light"},
      {"timeline_arrows", "hgemm_v10 --m 512 --n 512 --k 512",
       "run; select timeline; timeline pin tensor core; timeline range 3000 5000; timeline arrows "
       "on",
       "dark"},
      {"theatre", "hgemm_v7 --m 256 --n 256 --k 256", "run; theatre next product; look warp 4",
       "light"},
      {"theatre_pair", "hgemm_v10 --m 512 --n 512 --k 512", "run; theatre at 8000", "dark"},
      {"theatre_hopper", "dense_gemm --m 256 --n 256 --k 512",
       "run; select theatre; theatre follow tile 3 0", "light"},
      {"theatre_threads", "matmul_tiled", "run; theatre at 7800; panel outline hide", "light"},
      {"why", "hgemm_v7 --m 256 --n 256 --k 512", "run; why products 0", "light"},
      {"handoffs", "hgemm_v10 --m 512 --n 512 --k 512", "run; select handoffs", "dark"},
      {"product", "hgemm_v7 --m 256 --n 256 --k 256", "run; product 5; product element 37 90",
       "light"},
      {"product_pair", "hgemm_v9 --m 256 --n 256 --k 256", "run; product 9; product element 77 200",
       "dark"},
      {"product_hopper", "wgmma_v5 --m 256 --n 256 --k 256",
       "run; product next; product element 21 33", "dark"},
      {"source", "hgemm_v8 --m 256 --n 256 --k 256", "run; go 3000; select source; look warp 4",
       "light"},
      {"registers", "hgemm_v4", "step barrier 3; select registers; look lane 5", "dark"},
      {"barriers", "hgemm_v7 --m 256 --n 256 --k 256", "step barrier 5; select barriers", "light"},
      {"compare", "hgemm_v7 --m 256 --n 256 --k 256", "run; compare hgemm_v8", "dark"},
      {"beside", "hgemm_v7 --m 256 --n 256 --k 256",
       "run; compare hgemm_v8; select timeline; timeline beside on; timeline totals 1000 3000",
       "light"},
      {"worst", "elementwise_add --m 300 --n 200", "run; show table; show relative", "light"},
      {"lesson", "preset 9x32", "lesson layouts; lesson step 6; hint; answer 16", "light"},
      {"course", "layout (2,2):(1,2)", "course hgemm_v2", "light"},
      {"lesson_find", "preset 9x32", "lesson elementwise_add; lesson step 6; answer 20,20", "dark"},
  };
  return all;
}

std::string screens() {
  return std::string(TILESCOPE_TESTS_DIR) + "/screens/";
}

std::string bytes_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Pixels pixels_in(const std::string& bytes) {
  const auto pixels = pixels_of_png(std::as_bytes(std::span(bytes)));
  EXPECT_TRUE(pixels.ok()) << pixels.error().sentence;
  return pixels ? *pixels : Pixels{};
}

// The share of pixels that differ in a way that is seen.
double differing(const Pixels& a, const Pixels& b) {
  if (a.width != b.width || a.height != b.height) return 1;
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.rgba.size(); i += 4) {
    int most = 0;
    for (std::size_t c = 0; c < 3; ++c)
      most = std::max(most, std::abs(a.rgba[i + c] - b.rgba[i + c]));
    count += most > kSameColour;
  }
  return static_cast<double>(count) * 4 / static_cast<double>(a.rgba.size());
}

// The program with OpenGL in it.
class Drawing : public Program {
 protected:
  Drawing() { draws(); }
};

class Screens : public Drawing, public ::testing::WithParamInterface<View> {};

TEST_P(Screens, LookAndReadAsCommitted) {
  const View& view = GetParam();
  const Ended ended =
      run({"gui", "--headless", "--open", view.open, "--do", view.commands, "--theme", view.theme,
           "--size", "1000x640", "--screenshot", "a.png", "--describe", "a.json"});
  if (ended.exit_code == 4) SKIP_WHERE_NOTHING_DRAWS(ended.err);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const std::string png = read("a.png"), json = read("a.json");
  const std::string committed = screens() + view.name;
  if (std::getenv("TILESCOPE_REFRESH")) {
    std::filesystem::create_directories(screens());
    std::ofstream(committed + ".png", std::ios::binary) << png;
    std::ofstream(committed + ".json", std::ios::binary) << json;
    GTEST_SKIP() << "Wrote " << committed << ".png and .json anew; look at the picture.";
  }
  EXPECT_LE(differing(pixels_in(png), pixels_in(bytes_of_file(committed + ".png"))),
            kMostDiffering);
  EXPECT_EQ(nlohmann::json::parse(json), nlohmann::json::parse(bytes_of_file(committed + ".json")));
}

INSTANTIATE_TEST_SUITE_P(Window, Screens, ::testing::ValuesIn(views()),
                         [](const auto& which) { return which.param.name; });

// The manual says beside each of its pictures of the window which commands make it: `![what is to
// be seen](../../assets/pictures/window_X.png "commands")`. `./dev docs` makes them anew.
class ManualPictures : public Drawing {};

TEST_F(ManualPictures, OfTheWindowAreWhatTheirCommandsMake) {
  const std::string root = std::string(TILESCOPE_SOURCE_DIR) + "/";
  const std::string begin = "(../../assets/pictures/window_";
  int count = 0;
  for (const auto& page : std::filesystem::directory_iterator(root + "docs/manual")) {
    if (page.path().extension() != ".md") continue;
    const std::string text = bytes_of_file(page.path().string());
    for (std::size_t at = text.find(begin); at != text.npos; at = text.find(begin, at + 1)) {
      const std::size_t blank = text.find(' ', at), end = text.find("\")\n", at);
      ASSERT_TRUE(blank < end && end != text.npos) << text.substr(at, 80);
      const std::string file = text.substr(at + 7, blank - at - 7);
      const std::string commands = text.substr(blank + 2, end - blank - 2);
      const Ended ended = run(
          {"gui", "--headless", "--do", commands, "--size", "1000x640", "--screenshot", "a.png"});
      if (ended.exit_code == 4) SKIP_WHERE_NOTHING_DRAWS(ended.err);
      ASSERT_EQ(ended.exit_code, 0) << commands << ": " << ended.err;
      EXPECT_LE(differing(pixels_in(read("a.png")), pixels_in(bytes_of_file(root + file))),
                kMostDiffering)
          << file << " is not what `" << commands << "` shows; `./dev docs` makes it anew";
      ++count;
    }
  }
  EXPECT_EQ(count, 7);
}

// EGL alone is not enough: the functions are looked up in libGL.so.1. A file that is none stands
// for a machine without it.
TEST_F(Drawing, WithoutLibGlItEndsWithFourAndAWordOnWhatBringsIt) {
  write("libGL.so.1", "no library");
  set("LD_LIBRARY_PATH", folder.string());
  const Ended ended = run({"gui", "--headless", "--open", "preset 9x32", "--screenshot", "a.png"});
  EXPECT_EQ(ended.exit_code, 4) << "signal " << ended.signal << ": " << ended.err;
  EXPECT_TRUE(has(ended.err, "OpenGL 3.3")) << ended.err;
  EXPECT_FALSE(exists("a.png"));
}

class Window : public Drawing {
 protected:
  // Runs a headless gui; false where there is no off-screen OpenGL.
  bool headless(Words words, Ended& ended, const char* size = "800x500") {
    words.insert(words.begin(), {"gui", "--headless", "--size", size});
    ended = run(words);
    return ended.exit_code != 4;
  }
};

TEST_F(Window, ARunThatFaultsIsShownAndTheExitCodeSaysSo) {
  const std::string broken = std::string(TILESCOPE_SOURCE_DIR) + "/docs/faults/deadlock/";
  Ended ended;
  if (!headless({"--do",
                 "open '" + broken + "broken.ptx' --launch '" + broken +
                     "launch.toml'; run; select barriers",
                 "--screenshot", "a.png", "--describe", "a.json"},
                ended)) {
    SKIP_WHERE_NOTHING_DRAWS(ended.err);
  }
  EXPECT_EQ(ended.exit_code, 3) << ended.err;
  EXPECT_TRUE(exists("a.png"));
  EXPECT_TRUE(has(read("a.json"), "\"barriers\""));
}

TEST_F(Window, ACommandThatFailsEndsWithItsCodeAndNoPicture) {
  struct Case {
    std::string commands;
    int code;
    std::string words;
  };
  for (const Case& each :
       {Case{"open layout (3,4", 1, "`)`"}, Case{"colur tile", 2, "did you mean"},
        Case{"open elementwise_add --m 0; run", 2, "m"}, Case{"isolate tile 99", 2, "0 to 11"},
        Case{"open elementwise_add --a nosuch.npy", 2, "nosuch.npy"}}) {
    Ended ended;
    if (!headless({"--do", each.commands, "--screenshot", "a.png", "--describe", "a.json"},
                  ended)) {
      SKIP_WHERE_NOTHING_DRAWS(ended.err);
    }
    EXPECT_EQ(ended.exit_code, each.code) << each.commands << ": " << ended.err;
    EXPECT_TRUE(has(ended.err, each.words)) << ended.err;
    EXPECT_TRUE(files().empty()) << each.commands;
  }
}

// What is no PTX is refused where it is opened, with the place in it, not where it would run.
TEST_F(Window, PtxThatIsNoneIsNotOpened) {
  write("empty.ptx", "");
  write("cut.ptx", ".version 9.0\n.target sm_100a\n.address_size 64\n.entry k() {\n  ret;\n");
  write("odd.ptx",
        ".version 9.0\n.target sm_100a\n.address_size 64\n.entry k() {\n  zz %r1;\n  ret;\n}\n");
  for (const std::string name : {"empty", "cut", "odd"}) {
    write(name + ".toml", "grid = [1, 1, 1]\nblock = [32, 1, 1]\n");
    Ended ended;
    if (!headless({"--do", "open " + name + ".ptx"}, ended)) SKIP_WHERE_NOTHING_DRAWS(ended.err);
    EXPECT_EQ(ended.exit_code, 2) << name;
    EXPECT_TRUE(has(ended.err, name + ".ptx:")) << ended.err;
    headless({"--do", "open elementwise_add --m 5 --n 7 --ptx " + name + ".ptx"}, ended);
    EXPECT_EQ(ended.exit_code, 2) << name;
  }
}

// PTX without lines of a source: a step is an instruction, and what has exited is said of the warp.
TEST_F(Window, WithoutALineOfTheSourceAStepIsAnInstruction) {
  write("k.ptx",
        ".version 9.0\n.target sm_100a\n.address_size 64\n.entry k() {\n  .reg .b32 %r<4>;\n"
        "  mov.u32 %r1, 1;\n  mov.u32 %r2, 2;\n  bar.sync 0;\n  ret;\n}\n");
  write("k.toml", "grid = [1, 1, 1]\nblock = [64, 1, 1]\n");
  Ended ended;
  if (!headless({"--do", "open k.ptx; step line", "--describe", "a.json"}, ended)) {
    SKIP_WHERE_NOTHING_DRAWS(ended.err);
  }
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  std::string said = nlohmann::json::parse(read("a.json"))["status"];
  EXPECT_TRUE(has(said, "warp 0 is at mov.u32 %r2, 2")) << said;
  EXPECT_TRUE(has(said, "a line is an instruction")) << said;
  headless({"--do", "open k.ptx; step instruction 5 warp 0; look warp 0; step instruction warp 1",
            "--describe", "a.json"},
           ended);
  said = nlohmann::json::parse(read("a.json"))["status"];
  EXPECT_FALSE(has(said, "not resident")) << said;
}

// PTX that the program carries lies in no folder: its name stays as it was given.
TEST_F(Window, WhatTheProgramCarriesIsFoundAgainByCopiesAndWorkspaces) {
  Ended ended;
  if (!headless({"--do",
                 "open elementwise_add --m 37 --n 150 --ptx ptx/swapped_tiles.ptx; run; copy "
                 "command; save workspace w.json; open hgemm_v1; open workspace w.json",
                 "--describe", "a.json"},
                ended)) {
    SKIP_WHERE_NOTHING_DRAWS(ended.err);
  }
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(has(read("w.json"), "--ptx ptx/swapped_tiles.ptx")) << read("w.json");
}

// What warp 4 runs goes over the lines of the others without having been there.
TEST_F(Window, ALineIsFoundWhereItWasExecuted) {
  Ended ended;
  if (!headless(
          {"--do", "open hgemm_v7 --m 256 --n 256 --k 256; run; select timeline; find tcgen05.ld",
           "--describe", "a.json"},
          ended)) {
    SKIP_WHERE_NOTHING_DRAWS(ended.err);
  }
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const std::string said = nlohmann::json::parse(read("a.json"))["status"];
  EXPECT_TRUE(has(said, "TMEM load")) << said;
  headless({"--do", "open hgemm_v7 --m 256 --n 256 --k 256; run; select timeline; find TMEM"},
           ended);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST_F(Window, SharedMemoryIsShownForEveryKernelThatHasSome) {
  struct Kernel {
    std::string open, step, tile;
  };
  const std::vector<Kernel> kernels = {
      {"matmul_tiled", "step sync 3", "a_tile"},
      {"hgemm_v1", "step mma 1", "written by"},
      {"hgemm_v4 --m 256 --n 256 --k 256", "step copy 4", "A [0:128, 0:64]"},
      {"hgemm_v9 --m 512 --n 512 --k 256", "step copy 4", "A ["},
      {"hgemm_v10 --m 512 --n 512 --k 256", "step copy 40", "A ["}};
  for (const Kernel& kernel : kernels) {
    Ended ended;
    const std::string todo = "open " + kernel.open + "; " + kernel.step + "; select memory";
    if (!headless({"--do", todo, "--describe", "a.json"}, ended))
      SKIP_WHERE_NOTHING_DRAWS(ended.err);
    ASSERT_EQ(ended.exit_code, 0) << todo << ended.err;
    const auto json = nlohmann::json::parse(read("a.json"));
    EXPECT_EQ(json["view"], "memory");
    EXPECT_TRUE(has(json["picture"].dump(), kernel.tile)) << todo;
  }
}

// What an element of a product comes from: by the names of its sizes, whatever they are.
TEST_F(Window, AnElementOfAProductLeadsToARowAndAColumnOfItsFactors) {
  struct Case {
    std::string open, a, b;
  };
  for (const Case& each : {Case{"hgemm_v7 --m 256 --n 256 --k 64", "row 130: ", "row 140: "},
                           Case{"matmul_tiled --m 150 --n 170 --k 70", "row 130: ", "column 140: "},
                           Case{"elementwise_add --m 150 --n 170", "", ""}}) {
    for (const char* run : {"", "; run"}) {
      Ended ended;
      const std::string todo = "open " + each.open + run + "; select matrices; pick 130 140";
      if (!headless({"--do", todo, "--describe", "a.json"}, ended))
        SKIP_WHERE_NOTHING_DRAWS(ended.err);
      ASSERT_EQ(ended.exit_code, 0) << todo << ended.err;
      const auto json = nlohmann::json::parse(read("a.json"));
      const std::string inspector = json["inspector"].dump();
      if (each.a.empty()) {
        EXPECT_FALSE(has(inspector, "row 130: ")) << "it is the element at the same place";
        continue;
      }
      EXPECT_TRUE(has(inspector, each.a)) << todo << inspector;
      EXPECT_TRUE(has(inspector, each.b)) << todo << inspector;
    }
  }
}

// Before the run's end its result is not shown as if it were there, whatever kernel it is.
TEST_F(Window, MatricesAreOfTheMomentAlsoWhereAKernelNamesNoTiles) {
  for (const char* run : {"", "run; "}) {
    Ended ended;
    const std::string todo =
        std::string("open elementwise_add --m 37 --n 150; ") + run + "go 600; select matrices";
    if (!headless({"--do", todo, "--describe", "a.json"}, ended))
      SKIP_WHERE_NOTHING_DRAWS(ended.err);
    ASSERT_EQ(ended.exit_code, 0) << todo << ended.err;
    const std::string all = read("a.json");
    EXPECT_TRUE(has(all, "0 of 5,550 elements written")) << todo;
    EXPECT_FALSE(has(all, "largest absolute error")) << todo << " tells of the end";
  }
}

// Two warps that multiply have accumulators of their own: each has its colour and what it issued.
TEST_F(Window, TwoAccumulatorsAreToldApart) {
  Ended ended;
  if (!headless({"--do",
                 "open hgemm_v10 --m 512 --n 512 --k 256; run; go 5000; select tmem; tmem colour "
                 "writer; look cell 5,17",
                 "--describe", "a.json"},
                ended, "1600x1000")) {
    SKIP_WHERE_NOTHING_DRAWS(ended.err);
  }
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const std::string picture = nlohmann::json::parse(read("a.json"))["picture"].dump();
  EXPECT_TRUE(has(picture, "tcgen05.mma, warp 8")) << picture;
  EXPECT_TRUE(has(picture, "tcgen05.mma, warp 9")) << picture;
  EXPECT_TRUE(has(picture, " more\"")) << "how many fly besides those that are named";
}

// A register's lanes have lines of their own, and do not push the columns apart.
TEST_F(Window, ARegisterThatIsUnfoldedLeavesTheColumnsWhereTheyAre) {
  Ended ended;
  const std::string todo =
      "open hgemm_v7 --m 256 --n 256 --k 256; step barrier 3; look warp 2; select registers";
  if (!headless({"--do", todo, "--describe", "a.json"}, ended, "1600x1000")) {
    SKIP_WHERE_NOTHING_DRAWS(ended.err);
  }
  const auto registers = nlohmann::json::parse(read("a.json"))["picture"].dump();
  const std::size_t name = registers.find("\"%r");
  ASSERT_NE(name, std::string::npos);
  const std::string one = registers.substr(name + 1, registers.find('"', name + 1) - name - 1);
  ASSERT_TRUE(headless({"--do", todo + "; look register " + one, "--describe", "b.json"}, ended,
                       "1600x1000"));
  const std::string unfolded = nlohmann::json::parse(read("b.json"))["picture"].dump();
  EXPECT_TRUE(has(unfolded, "from lane to lane"));
  EXPECT_TRUE(has(unfolded, "> 0: ")) << "the lane looked at is marked";
}

TEST_F(Window, CommandsFollowEachOtherAcrossSeveralDo) {
  Ended ended;
  if (!headless({"--open", "elementwise_add", "--do", "run; select diff", "--do", "pick 3 5",
                 "--do", "export map.svg", "--describe", "a.json"},
                ended)) {
    SKIP_WHERE_NOTHING_DRAWS(ended.err);
  }
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(files(), (std::vector<std::string>{"a.json", "map.svg"}));
  const auto json = nlohmann::json::parse(read("a.json"));
  EXPECT_EQ(json["view"], "diff");
  EXPECT_EQ(json["status"], "Wrote map.svg.");
  EXPECT_TRUE(has(read("a.json"), "elementwise_add.cu:")) << "the element's source line";
}

// Tiles of B are taken in another order than those of A and C: the lesson's planted bug.
TEST_F(Window, AWrongElementLeadsToTheWriteThatMadeIt) {
  Ended ended;
  if (!headless({"--open", "elementwise_add --m 37 --n 150 --ptx ptx/swapped_tiles.ptx", "--do",
                 "run; wrong first; go write", "--describe", "a.json"},
                ended)) {
    SKIP_WHERE_NOTHING_DRAWS(ended.err);
  }
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const auto json = nlohmann::json::parse(read("a.json"));
  const std::string status = json["status"];
  EXPECT_TRUE(has(status, "Element (0, 128) has just become ")) << status;
  EXPECT_TRUE(has(status, "swapped_tiles.cu:")) << status;
  EXPECT_EQ(json["view"], "source");
  if (!headless({"--open", "elementwise_add --m 37 --n 150 --ptx ptx/swapped_tiles.ptx", "--do",
                 "run; wrong first; show table; export worst.csv; diff against reference",
                 "--describe", "b.json"},
                ended)) {
    SKIP_WHERE_NOTHING_DRAWS(ended.err);
  }
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(has(read("worst.csv"), "swapped_tiles.cu:")) << read("worst.csv");
  EXPECT_TRUE(has(read("b.json"), "Pattern: ")) << "what is wrong has a name";
}

TEST_F(Window, PicturesNeedHeadlessAndSizesThatExist) {
  const Ended no_window = run({"gui", "--screenshot", "a.png"});
  EXPECT_EQ(no_window.exit_code, 2);
  EXPECT_TRUE(has(no_window.err, "--headless"));
  for (const char* size : {"0x0", "1600", "axb", "1600x1000x3", "99999x10", "-5x100"}) {
    const Ended ended = run({"gui", "--headless", "--size", size, "--screenshot", "a.png"});
    EXPECT_EQ(ended.exit_code, 2) << size;
    EXPECT_TRUE(has(ended.err, "1600x1000")) << ended.err;
  }
  EXPECT_TRUE(files().empty());
}

TEST_F(Window, WithoutADisplayTheWindowSaysWhatWorks) {
  const Ended gui = run({"gui"});
  EXPECT_EQ(gui.exit_code, 4);
  EXPECT_TRUE(has(gui.err, "--headless")) << gui.err;
  const Ended alone = run({});
  EXPECT_EQ(alone.exit_code, 0);
  EXPECT_TRUE(has(alone.out, "tilescope eval") && has(alone.out, "tilescope draw") &&
              has(alone.out, "tilescope run"))
      << alone.out;
  const auto [code, document] = run_json({});
  EXPECT_EQ(code, 0);
  EXPECT_EQ(document["commands"].size(), 3u);
  const Ended empty = shell("DISPLAY= WAYLAND_DISPLAY= tilescope");
  EXPECT_EQ(empty.exit_code, 0) << "an empty name is no display: " << empty.err;
  EXPECT_EQ(empty.out, alone.out);
}

TEST_F(Window, OnAVirtualDisplayItStartsDrawsAndCloses) {
  if (shell("command -v Xvfb").exit_code != 0) {
    SKIP_WHERE_NOTHING_DRAWS("Xvfb is not installed, so the real window is not tried.");
  }
  // Xvfb chooses a free display and says which; the window draws twenty frames and closes.
  const Ended ended = shell(
      "Xvfb -displayfd 3 -screen 0 1280x800x24 3>display 2>/dev/null & xvfb=$!; "
      "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "
      "test -s display && break; sleep 0.25; done; "
      "DISPLAY=:$(cat display) tilescope gui --size 1000x640 --frames 20 "
      "--open elementwise_add --do 'run; pick 1 1'; code=$?; kill $xvfb; wait $xvfb; exit $code");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

// The window on a display of its own, driven as by hand. Each step waits for what it does to stand
// in the workspace, which the window keeps as soon as it has nothing else to do.
class RealWindow : public Drawing {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "It waits for frames, which come late here; the release build is driven.";
#endif
    if (shell("command -v Xvfb && command -v xdotool").exit_code != 0) {
      SKIP_WHERE_NOTHING_DRAWS(
          "Xvfb or xdotool is not installed, so the real window is not tried.");
    }
  }
  // Runs the steps.
  void drive(const std::string& steps, Ended& ended) {
    ended = shell(
        "Xvfb -noreset -displayfd 3 -screen 0 1280x800x24 3>display 2>/dev/null & xvfb=$!\n"
        "for i in $(seq 50); do test -s display && break; sleep 0.1; done\n"
        "export DISPLAY=:$(cat display) XDG_STATE_HOME=$PWD/state\n"
        "kept=state/tilescope/workspace.json\n"
        // Patient, since machines are busy; and what a slow frame may miss is done again.
        "has() { grep -q -- \"$1\" $kept 2>/dev/null; }\n"
        "says() { for i in $(seq 600); do has \"$1\" && return; sleep 0.1; done\n"
        "echo \"no '$1' in the workspace:\" >&2; cat $kept >&2; stop; exit 1; }\n"
        "until_says() { for i in $(seq 10); do has \"$1\" && return; eval \"$2\"; sleep 1; done; "
        "says \"$1\"; }\n"
        "begin() { tilescope gui --size 1280x800 \"$@\" & app=$!\n"
        "for i in $(seq 300); do w=$(xdotool search --onlyvisible --name '^Tilescope$') && break; "
        "sleep 0.1; done\n"
        "says view; sleep 0.5; xdotool windowfocus $w; sleep 0.5; }\n"
        "end() { kill $app; wait $app; }\n"
        "stop() { kill $app; kill $xvfb; wait; }\n" +
        steps + "\nstop\nexit 0\n");
  }
};

TEST_F(RealWindow, MouseAndKeyboardChooseAndTomorrowAllIsThere) {
  Ended ended;
  drive(
      "begin\n"
      "says seen\n"  // the tour is shown on the first day alone
      "xdotool key Escape\n"
      "until_says 'open preset Volta 8x8 quadpair' 'xdotool mousemove 100 148 sleep 0.5 click 1'\n"
      "xdotool key ctrl+shift+p sleep 0.3 type --delay 60 dark\n"
      "xdotool sleep 0.3 key Return\n"
      "says 'theme dark'\n"
      "until_says 'panel outline 296' 'xdotool mousemove 216 400 sleep 0.5 mousedown 1 sleep 0.5 "
      "mousemove 260 400 sleep 0.5 mousemove 296 400 sleep 0.5 mouseup 1'\n"
      "xdotool key Right sleep 0.2 key Down\n"
      "says 'pick 1 0 0 0'\n"
      "xdotool key ctrl+equal\n"
      "says 'font 125'\n"
      "end\n"
      "cp $kept yesterday.json\n"
      "begin\n"
      "cmp -s $kept yesterday.json || { stop; exit 3; }\n"
      "xdotool key ctrl+shift+p sleep 0.3 type --delay 60 'pick nothing'\n"
      "xdotool sleep 0.3 key Return sleep 0.3 key Right sleep 0.2 key Right sleep 0.2 key Right\n"
      "says 'pick 0 2 0 0'\n"
      "xdotool key ctrl+z\n"
      "for i in $(seq 600); do has pick || break; sleep 0.1; done\n"
      "cp $kept today.json\n",
      ended);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const auto today = nlohmann::json::parse(read("today.json"));
  EXPECT_EQ(today["view"],
            nlohmann::json::parse(R"(["theme dark", "open preset Volta 8x8 quadpair"])"));
  EXPECT_EQ(today["settings"], nlohmann::json::parse(R"(["font 125", "panel outline 296"])"));
}

// On a terminal `course start` opens the window, which stands in the exercise; a click begins
// another.
TEST_F(RealWindow, CourseStartOpensItAtTheExercise) {
  Ended ended;
  drive(
      "script -qec 'tilescope course start hgemm_v2' typed.txt > said.txt & app=$!\n"
      "says 'course hgemm_v2'\n"
      "xdotool sleep 0.5 key Down\n"
      "says 'course hgemm_v3'\n",
      ended);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(has(read("hgemm_v2.cu"), "// Yours."));
  EXPECT_TRUE(has(read("said.txt"), "course check hgemm_v2 hgemm_v2.cu"));
}

// What tests/viz/ui_six_tasks_test.cpp counts, as far as it leaves a trace; the clipboard is the
// display's.
TEST_F(RealWindow, AConflictIsSeenAViewSharedTwoLayoutsComparedAndStepsUndone) {
  Ended ended;
  drive(
      "begin\n"
      "says seen\n"
      "xdotool key Escape sleep 0.5\n"
      "until_says 'open layout (32,32):(32,1)' 'xdotool mousemove 400 28 sleep 0.3 click 1 sleep "
      "0.3 "
      "key ctrl+a type --delay 60 \"(32,32):(32,1)\"'\n"
      "until_says 'select banks' 'xdotool mousemove 100 148 sleep 0.5 click 1'\n"
      "xdotool key ctrl+shift+s sleep 0.5\n"
      "until_says 'theme dark' 'xdotool key ctrl+shift+p sleep 0.3 type --delay 60 \"theme dark\"; "
      "xdotool sleep 0.3 key Return'\n"
      "xdotool key ctrl+z sleep 0.3 key ctrl+z\n"
      "for i in $(seq 600); do has banks || break; sleep 0.1; done\n"
      "has banks && { stop; exit 3; }\n"
      "until_says 'select banks' 'xdotool key ctrl+v'\n"
      "has dark && { stop; exit 4; }\n"
      "until_says 'beside .*(33,1)' 'xdotool key ctrl+shift+p sleep 0.3 type --delay 60 "
      "\"beside (32,32):(33,1)\"; xdotool sleep 0.3 key Return'\n"
      "end\n",
      ended);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST_F(RealWindow, AKernelIsRunItsTimelineAddedUpSteppedBackAndCompared) {
  Ended ended;
  drive(
      "begin --open 'hgemm_v7 --m 128 --n 128 --k 256'\n"
      "says 'open hgemm_v7'\n"
      "until_says '\"run\"' 'xdotool key Escape sleep 0.3 key F5; sleep 2'\n"
      "until_says 'select timeline' 'xdotool key ctrl+shift+p sleep 0.3 type --delay 60 \"select "
      "timeline\"; xdotool sleep 0.3 key Return'\n"
      "until_says 'timeline totals' 'xdotool mousemove 600 300 sleep 0.3 mousedown 1 sleep 0.2 "
      "mousemove 660 302 sleep 0.2 mousemove 700 304 sleep 0.3 mouseup 1'\n"
      "xdotool key ctrl+z\n"
      "for i in $(seq 600); do has totals || break; sleep 0.1; done\n"
      "has totals && { stop; exit 3; }\n"
      "until_says 'go position' 'xdotool key shift+F11'\n"
      "until_says 'select compare' 'xdotool key ctrl+shift+p sleep 0.3 type --delay 60 \"compare "
      "hgemm_v8\"; xdotool sleep 0.3 key Return; sleep 3'\n"
      "says 'open hgemm_v8'\n"
      "end\n",
      ended);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST_F(RealWindow, ABrokenWorkspaceIsPutAsideAndWhatIsAskedForInWordsComesFirst) {
  Ended ended;
  std::filesystem::create_directories(folder / "state/tilescope");
  write("state/tilescope/workspace.json", "{\"tilescope\": \"workspace\", \"ver");
  drive(
      "begin\n"
      "says '\"view\": ..,'\n"  // with nothing open
      "end\n"
      "test -f state/tilescope/workspace.broken.json || { stop; exit 3; }\n"
      "sed -i 's/\"settings\": ..,/\"settings\": [\"font 125\"], \"kept\": {\"expressions\": "
      "[\"7:3\"]},/' $kept; says 7:3\n"
      "begin --open 'layout (4,8):(8,1)' --do 'colour bank'\n"
      "says 'colour bank'\n"
      "says 'font 125'\n"
      "says 7:3\n",  // what was asked for is another view, and loses nothing else
      ended);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST_F(RealWindow, ABrokenRecordOfLessonsIsPutAsideAndProgressGoesOnBeingKept) {
  Ended ended;
  std::filesystem::create_directories(folder / "state/tilescope");
  write("state/tilescope/progress.json", "{\"schema\": 1, \"less");
  drive(
      "begin --do 'lesson threads 2'\n"
      "says 'lesson at threads 2 0 keep'\n"
      "end\n",
      ended);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(read("state/tilescope/progress.broken.json"), "{\"schema\": 1, \"less");
  EXPECT_TRUE(has(read("state/tilescope/progress.json"), "Eight threads in two groups"));
}

TEST_F(RealWindow, AFileThatMovedLosesNothingElse) {
  Ended ended;
  std::filesystem::create_directories(folder / "state/tilescope");
  write("state/tilescope/workspace.json",
        "{\"tilescope\": \"workspace\", \"version\": 1, \"tour\": \"seen\",\n"
        " \"view\": [\"open gone.npy\", \"open layout (4,8):(8,1)\"],\n"
        " \"settings\": [\"font 125\"], \"kept\": {\"expressions\": [\"7:3\"]}}");
  drive(
      "begin\n"
      "until_says 'font 150' 'xdotool key ctrl+equal'\n"
      "says 'open layout (4,8):(8,1)'\n"
      "says 7:3\n"
      "says seen\n"
      "end\n"
      "test ! -f state/tilescope/workspace.broken.json || { stop; exit 3; }\n",
      ended);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST_F(Window, TheCopiedCommandLineMakesTheSameView) {
  for (const char* commands :
       {"open layout zipped_divide((8,8):(8,1), <4,4>); isolate tile 2; pick 3 4; theme dark",
        "open layout \"A = (8,8):(8,1); zipped_divide(A, <4,4>)\"; isolate tile 1",
        "open elementwise_add --m 20 --n 30; run; pick 3 5; show wrong"}) {
    Ended ended;
    if (!headless({"--do", std::string(commands) + "; copy command", "--describe", "a.json"},
                  ended)) {
      SKIP_WHERE_NOTHING_DRAWS(ended.err);
    }
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    auto first = nlohmann::json::parse(read("a.json"));
    const std::string line = first["copied"];
    const Ended again = shell(line + " --headless --size 800x500 --describe b.json");
    ASSERT_EQ(again.exit_code, 0) << line << ": " << again.err;
    auto second = nlohmann::json::parse(read("b.json"));
    for (auto* each : {&first, &second}) {
      each->erase("status");
      each->erase("copied");
    }
    EXPECT_EQ(first, second) << line;
  }
  Ended ended;
  ASSERT_TRUE(headless({"--do", "colour offset; copy command", "--describe", "a.json"}, ended));
  const std::string line = nlohmann::json::parse(read("a.json"))["copied"];
  EXPECT_EQ(shell(line).exit_code, 0) << line;
  EXPECT_TRUE(has(read("view.svg"), "<svg"));
}

TEST_F(Window, AKernelFromFilesFindsItsLaunchFileAndAMatrixIsShown) {
  write("A.npy", npy(2, 3, {1, 2, 3, 4, 5, 6.5}));
  write("k.ptx", "no PTX");
  Ended ended;
  if (!headless({"--do", "open A.npy; pick 1 2; copy value; export a.csv", "--describe", "a.json"},
                ended)) {
    SKIP_WHERE_NOTHING_DRAWS(ended.err);
  }
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(nlohmann::json::parse(read("a.json"))["copied"], "6.5");
  EXPECT_TRUE(has(read("a.csv"), "1,2,6.5\r\n"));
  headless({"--do", "open k.ptx"}, ended);
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(has(ended.err, "there is none beside it")) << ended.err;
}

}  // namespace
}  // namespace tilescope::test
