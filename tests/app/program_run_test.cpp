// `tilescope run` on a user's own matrices: right results, wrong ones with who wrote them, faults,
// and each input that does not fit with its sentence.
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

class Run : public Program {
 protected:
  // Two matrices as a.npy and b.npy; what their sum is.
  std::vector<float> matrices(int rows, int columns) {
    const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    const std::vector<float> a = numbers(count, 1), b = numbers(count, 2);
    write("a.npy", npy(rows, columns, a));
    write("b.npy", npy(rows, columns, b));
    std::vector<float> sum(count);
    for (std::size_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
    return sum;
  }

  // The program runs this PTX when it is asked for elementwise_add.
  void put_in_place_of_the_kernel(const std::string& ptx) {
    std::filesystem::create_directories(folder.parent_path() / "assets/ptx");
    std::ofstream(folder.parent_path() / "assets/ptx/elementwise_add.ptx") << ptx;
    set("TILESCOPE_ASSETS", (folder.parent_path() / "assets").string());
  }

  // A kernel of elementwise_add's parameters with another body; b is %rd1, c is %rd2.
  static std::string kernel(const std::string& body) {
    return ".version 9.0\n.target sm_80\n.address_size 64\n"
           ".visible .entry elementwise_add(\n"
           "  .param .u64 a, .param .u64 b, .param .u64 c, .param .u32 m, .param .u32 n)\n"
           "{\n"
           "  .reg .f32 %f<4>;\n  .reg .b32 %r<4>;\n  .reg .b64 %rd<4>;\n"
           "  ld.param.u64 %rd1, [b];\n  ld.param.u64 %rd2, [c];\n" +
           body + "  ret;\n}\n";
  }

  const Words with_files = {"run", "elementwise_add", "--a",   "a.npy",
                            "--b", "b.npy",           "--out", "c.npy"};
};

std::string shipped_ptx() {
  std::ostringstream text;
  text << std::ifstream(TILESCOPE_SOURCE_DIR "/assets/ptx/elementwise_add.ptx").rdbuf();
  return text.str();
}

int replace_all(std::string& text, const std::string& from, const std::string& to) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
    ++count;
  }
  return count;
}

TEST_F(Run, AddsAUsersMatricesOfAnySize) {
  const std::pair<int, int> sizes[] = {{1, 1}, {1, 129}, {17, 1000}, {128, 128}};
  for (const auto& size : sizes) {
    const std::vector<float> sum = matrices(size.first, size.second);
    const Ended ended = run(with_files);
    ASSERT_EQ(ended.exit_code, 0) << size.first << "x" << size.second << "\n" << ended.err;
    EXPECT_EQ(npy_values(read("c.npy"), size.first, size.second), sum);
    EXPECT_EQ(files(), (Words{"a.npy", "b.npy", "c.npy"}));
    EXPECT_FALSE(ended.out.empty()) << "the result of the comparison";
  }
}

TEST_F(Run, SaysTheSameInAJsonDocument) {
  matrices(17, 1000);
  const auto [code, document] = run_json(with_files);
  EXPECT_EQ(code, 0);
  EXPECT_EQ(document["ok"], true);
  EXPECT_EQ(document["outputs"][0]["diff"]["compared"], 17000);
  EXPECT_EQ(document["outputs"][0]["diff"]["wrong"], 0);
  EXPECT_EQ(document["outputs"][0]["diff"]["max_ulp"]["value"], 0)
      << "a single rounding of an exact sum";
}

// Thread 32 reads in a loop what warp 0 stores at four places: four races at one instruction.
TEST_F(Run, FoldsReportsOfOneInstruction) {
  write("race.ptx", R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry race(.param .u64 p) {
  .reg .b32 %r<4>;
  .reg .pred %p<3>;
  .shared .align 4 .b8 s[16];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, s;
  mov.u32 %r3, 0;
  setp.eq.u32 %p1, %r1, 32;
  @%p1 bra READ;
  st.shared.u32 [%r2], %r3;
  st.shared.u32 [%r2+4], %r3;
  st.shared.u32 [%r2+8], %r3;
  st.shared.u32 [%r2+12], %r3;
  bra END;
READ:
  ld.shared.u32 %r1, [%r2];
  add.u32 %r2, %r2, 4;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p2, %r3, 4;
  @%p2 bra READ;
END:
  ret;
}
)");
  write("race.toml", "grid = [1,1,1]\nblock = [33,1,1]\n[[arg]]\nnull = true\n");
  const Words command{"run", "race.ptx", "--launch", "race.toml"};
  const Ended ended = run(command);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(has(ended.err, "PTX line 13, with no barrier")) << ended.err;
  EXPECT_FALSE(has(ended.err, "PTX line 14, with no barrier")) << ended.err;
  EXPECT_TRUE(has(ended.err, "4 times at this line: 1 PTX line, 1 warp of 1 CTA")) << ended.err;
  const auto [code, document] = run_json(command);
  EXPECT_EQ(document["reports"].size(), 4u) << "--json has all";
}

TEST_F(Run, WithoutFilesItDrawsInputsFromTheSeed) {
  const auto result_of = [&](const std::string& seed) {
    const Ended ended =
        run({"run", "elementwise_add", "--m", "20", "--n", "30", "--seed", seed, "--out", "c.npy"});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return npy_values(read("c.npy"), 20, 30);
  };
  EXPECT_EQ(result_of("7"), result_of("7"));
  EXPECT_NE(result_of("7"), result_of("8"));
}

TEST_F(Run, AddsInEveryTypeAtEverySize) {
  // Rows of whole and of broken 128-bit vectors, tiles that end inside the matrix, and rows that
  // are shifted into one tile more.
  for (const std::string type : {"f16", "bf16", "i32", "f32"}) {
    for (const auto& [m, n] : {std::pair<std::string, std::string>{"17", "129"},
                               {"3", "8"},
                               {"33", "264"},
                               {"9", "255"},
                               {"1", "1"}}) {
      for (const std::string launches : {"apart", "overlapping"}) {
        const Ended ended = run({"run", "elementwise_add", "--launches", launches, "--dtype", type,
                                 "--m", m, "--n", n, "--out", "c.npy"});
        EXPECT_EQ(ended.exit_code, 0) << type << " " << m << "x" << n << "\n" << ended.err;
        EXPECT_TRUE(has(ended.out, "all are equal")) << ended.out;
        EXPECT_TRUE(has(ended.out, " " + type + ",")) << ended.out;
      }
    }
  }
}

// NumPy has no bf16: its bits travel as 16-bit integers, and --dtype says what they are.
TEST_F(Run, Bf16MatricesAreRawBits) {
  const auto bits = [](const std::string& values) {
    std::string header = "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }";
    header += std::string(63 - (10 + header.size()) % 64, ' ') + "\n";
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header +
           values;
  };
  // 1, 2, -0.5, 3.140625, infinity, 256 and what is added to them, as bf16.
  write("a.npy", bits(std::string("\x80\x3f\x00\x40\x00\xbf\x49\x40\x80\x7f\x80\x43", 12)));
  write("b.npy", bits(std::string("\x80\x3f\x00\xc0\x00\xbf\x80\x3f\x80\x3f\x80\x3f", 12)));
  Words words = with_files;
  words.insert(words.end(), {"--dtype", "bf16"});
  const Ended ended = run(words);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  // 2, 0, -1, 4.140625 (a tie, to even: 4.125), infinity, 257 (to even: 256)
  const std::string sum = read("c.npy");
  EXPECT_TRUE(has(sum, "u2")) << "bits again";
  EXPECT_EQ(sum.substr(sum.size() - 12),
            std::string("\x00\x40\x00\x00\x80\xbf\x84\x40\x80\x7f\x80\x43", 12));
}

TEST_F(Run, AgainstAFileThatDiffersEndsWithOneAndNamesTheElement) {
  std::vector<float> want = matrices(20, 30);
  want[5 * 30 + 7] += 1;
  write("want.npy", npy(20, 30, want));
  Words words = with_files;
  words.insert(words.end(), {"--against", "want.npy"});
  const Ended ended = run(words);
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_TRUE(has(ended.out, "(5, 7)")) << ended.out;
  EXPECT_TRUE(exists("c.npy")) << "the result is written though it differs";
  const auto [code, document] = run_json(words);
  EXPECT_EQ(code, 1);
  EXPECT_EQ(document["ok"], false);
  EXPECT_EQ(document["error"]["kind"], "different");
  EXPECT_FALSE(document["error"]["sentence"].empty());
  EXPECT_EQ(document["outputs"][0]["diff"]["wrong"], 1);
}

TEST_F(Run, AnotherOrderAndLateCopiesChangeNothing) {
  matrices(20, 30);
  Words words = with_files;
  ASSERT_EQ(run(words).exit_code, 0);
  const std::string in_turn = read("c.npy");
  words.insert(words.end(), {"--schedule", "7", "--lazy", "--strict"});
  const Ended ended = run(words);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(read("c.npy"), in_turn);
}

// The tile is 16 x 128; a thread owns 4 x 4 of it, thread t at row t / 32 * 4, column t % 32 * 4.
TEST_F(Run, AWrongElementNamesWhoWroteIt) {
  std::string ptx = shipped_ptx();
  ASSERT_GT(replace_all(ptx, "\tadd.f32 ", "\tsub.f32 ") +
                replace_all(ptx, "\tadd.rn.f32 ", "\tsub.rn.f32 "),
            0);
  put_in_place_of_the_kernel(ptx);
  std::vector<float> want = matrices(40, 300);
  const auto [code, document] = run_json(with_files);
  EXPECT_EQ(code, 1);
  EXPECT_EQ(document["outputs"][0]["diff"]["wrong"], 40 * 300);
  const nlohmann::json first = document["outputs"][0]["diff"]["first"][0];
  EXPECT_EQ(first["index"], 0);
  const nlohmann::json writer = first["writer"];
  EXPECT_EQ(writer["kernel"], "elementwise_add");
  EXPECT_EQ(writer["source"], "kernels/elementwise/elementwise_add.cu");
  EXPECT_GT(writer["source_line"], 0);
  EXPECT_EQ(writer["block"], (nlohmann::json{0, 0, 0}));
  EXPECT_EQ(writer["warp"], 0);
  EXPECT_EQ(writer["lane"], 0);
  const Ended ended = run(with_files);
  EXPECT_TRUE(has(ended.out, "kernels/elementwise/elementwise_add.cu")) << ended.out;
}

TEST_F(Run, AFaultEndsWithThreeAndWritesNothing) {
  matrices(4, 4);
  put_in_place_of_the_kernel(
      kernel("  mov.f32 %f1, 0f3F800000;\n"
             "  st.global.f32 [%rd2+1000000], %f1;\n"));
  const Ended ended = run(with_files);
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_EQ(ended.out, "");
  EXPECT_TRUE(has(ended.err, "elementwise_add")) << ended.err;
  EXPECT_TRUE(has(ended.err, "PTX line 13")) << ended.err;
  EXPECT_FALSE(exists("c.npy"));
  const auto [code, document] = run_json(with_files);
  EXPECT_EQ(code, 3);
  EXPECT_EQ(document["error"]["kind"], "fault");
}

TEST_F(Run, AnOutputThatNobodyWroteIsToldSo) {
  matrices(4, 4);
  put_in_place_of_the_kernel(kernel(""));
  const Ended ended = run(with_files);
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(has(ended.out, "never written")) << ended.out;
  EXPECT_TRUE(has(ended.err, "buffer C")) << ended.err;
}

TEST_F(Run, AnUnknownOpcodeIsRefusedWithLineAndText) {
  matrices(4, 4);
  put_in_place_of_the_kernel(kernel("  frobnicate.f32 %f1, %f2;\n"));
  const auto [code, document] = run_json(with_files);
  EXPECT_EQ(code, 2);
  EXPECT_EQ(document["error"]["kind"], "unsupported");
  const std::string said = document["error"]["sentence"].get<std::string>() + " " +
                           document["error"]["where"].get<std::string>();
  EXPECT_TRUE(has(said, "frobnicate.f32")) << said;
  EXPECT_TRUE(has(said, "12")) << "the line: " << said;
  EXPECT_FALSE(exists("c.npy"));
}

TEST_F(Run, ShapesThatDoNotFitAreNamedOnBothSides) {
  matrices(4, 4);
  write("b.npy", npy(4, 5, numbers(20, 1)));
  const auto [code, document] = run_json(with_files);
  EXPECT_EQ(code, 2);
  EXPECT_EQ(document["error"]["kind"], "mismatch");
  const std::string sentence = document["error"]["sentence"];
  EXPECT_TRUE(has(sentence, "a.npy") || has(sentence, "A")) << sentence;
  EXPECT_TRUE(has(sentence, "b.npy")) << sentence;
  EXPECT_FALSE(exists("c.npy"));
}

TEST_F(Run, SizesThatContradictTheFilesAreRefused) {
  matrices(4, 4);
  Words words = with_files;
  words.insert(words.end(), {"--m", "5"});
  const Ended ended = run(words);
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(has(ended.err, "5") && has(ended.err, "4")) << ended.err;
}

TEST_F(Run, SizesThatAKernelCannotDoAreRefused) {
  for (const Words& sizes :
       {Words{"--m", "0"}, Words{"--n", "-3"}, Words{"--m", "100000", "--n", "100000"}}) {
    Words words = {"run", "elementwise_add"};
    words.insert(words.end(), sizes.begin(), sizes.end());
    const auto [code, document] = run_json(words);
    EXPECT_EQ(code, 2);
    EXPECT_EQ(document["error"]["kind"], "mismatch");
    EXPECT_TRUE(has(document["error"]["sentence"], sizes.back())) << document["error"]["sentence"];
  }
}

TEST_F(Run, BrokenFilesGetASentence) {
  matrices(4, 4);
  const std::string whole = npy(4, 4, numbers(16, 1));
  for (const std::string& broken : {std::string(), std::string("not a matrix"), whole.substr(0, 20),
                                    whole.substr(0, whole.size() - 1), std::string(100, '\0')}) {
    write("b.npy", broken);
    const auto [code, document] = run_json(with_files);
    EXPECT_EQ(code, 2) << broken.size();
    EXPECT_EQ(document["error"]["kind"], "unreadable");
    EXPECT_TRUE(has(document["error"]["sentence"], "b.npy")) << document["error"]["sentence"];
  }
}

TEST_F(Run, ADeviceThatIsNotHereEndsWithFour) {
  matrices(4, 4);
  set("TILESCOPE_CUDA_DRIVER", "/nowhere/libcuda.so.1");
  Words words = with_files;
  words.insert(words.end(), {"--on", "gpu"});
  const auto [code, document] = run_json(words);
  EXPECT_EQ(code, 4);
  EXPECT_EQ(document["error"]["kind"], "no_device");
  words.back() = "abacus";
  EXPECT_EQ(run(words).exit_code, 2) << "no name of a device";
  EXPECT_FALSE(exists("c.npy"));
}

TEST_F(Run, CtrlCWhileInputsAreMadeIsAnExitCodeToo) {
  const Ended ended = run_while({"run", "elementwise_add", "--m", "8000", "--n", "8000"},
                                interrupt_when_it_listens);
  EXPECT_EQ(ended.signal, 0);
  EXPECT_EQ(ended.exit_code, 130) << ended.err;
  EXPECT_TRUE(has(ended.err, "nterrupted")) << ended.err;
}

TEST_F(Run, CtrlCEndsAnEndlessKernel) {
  matrices(4, 4);
  // It counts: a loop that goes round with the same values is found to be endless.
  put_in_place_of_the_kernel(
      kernel("  mov.b32 %r1, 0;\nagain:\n  add.u32 %r1, %r1, 1;\n  bra again;\n"));
  const Ended ended = run_while(with_files, interrupt_when_it_listens);
  EXPECT_EQ(ended.signal, 0);
  EXPECT_EQ(ended.exit_code, 130) << ended.err;
  EXPECT_FALSE(ended.err.empty());
  EXPECT_EQ(files(), (Words{"a.npy", "b.npy"}));
}

TEST_F(Run, AnyNumberOfThreadsGivesTheSameBytes) {
  const Words words = {"run", "hgemm_v8", "--m", "200",        "--n",
                       "136", "--k",      "264", "--schedule", "3"};
  std::string first;
  for (const std::string threads : {"1", "2", "5"}) {
    Words all = words;
    all.insert(all.end(), {"--threads", threads, "--out", "d.npy"});
    auto [code, document] = run_json(all);
    EXPECT_EQ(code, 0);
    for (auto& device : document["devices"]) device.erase("seconds");
    document.erase("seconds");
    const std::string told = document.dump() + read("d.npy");
    if (first.empty()) first = told;
    EXPECT_EQ(told, first) << threads;
  }
  const Ended none = run({"run", "elementwise_add", "--threads", "0"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_TRUE(has(none.err, "--threads 0: a number from 1 to 1024.")) << none.err;
}

// A persistent kernel has as many blocks as the chip has processors.
TEST_F(Run, TheChipSaysHowManyProcessorsThereAre) {
  const Words persistent = {"run", "hgemm_v6", "--m", "1536", "--n", "1536", "--k", "8"};
  const auto with = [&](const std::string& device) {
    Words words = persistent;
    words.insert(words.end(), {"--device", device});
    return words;
  };
  EXPECT_EQ(run_json(with("b200")).second["blocks"], 144);  // a tile each
  write("small.toml",
        "name = \"a small one\"\ncompute_capability = \"10.0\"\nprocessors = 20\n"
        "[processor]\nblocks = 32\nthreads = 2048\nshared = 233472\n"
        "[block]\nshared = 232448\nshared_reserved = 1024\n");
  const auto [code, small] = run_json(with("small.toml"));
  EXPECT_EQ(code, 0);
  EXPECT_EQ(small["blocks"], 20);
}

TEST_F(Run, AChipThatDoesNotFitIsASentence) {
  const auto said = [&](const Words& words) {
    const Ended ended = run(words);
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_EQ(ended.out, "");
    return ended.err;
  };
  EXPECT_TRUE(has(
      said({"run", "hgemm_v1", "--device", "b100"}),
      "no such chip is described; there are a100, b200, gb300, h100, h200, rtx5090, or a file"));
  EXPECT_TRUE(has(said({"run", "hgemm_v1", "--device", "h200"}),
                  "The PTX is for sm_100a, which does not run on NVIDIA H200 (compute capability "
                  "9.0); it needs compute capability 10.0."));
  EXPECT_TRUE(has(said({"run", "hgemm_v1", "--on", "gpu", "--device", "b200"}), "--on sim"));
  write("bad.toml", "name = \"x\"\nprocessors = 20\n");
  EXPECT_TRUE(has(said({"run", "hgemm_v1", "--device", "bad.toml"}),
                  "compute_capability is missing; compute_capability = \"10.0\" would work."));
  write("large.toml",
        "name = \"x\"\ncompute_capability = \"10.0\"\nprocessors = 20\n"
        "[processor]\nblocks = 32\nthreads = 2048\nshared = 2048\n"
        "[block]\nshared = 2048\nshared_reserved = 1024\n");
  EXPECT_TRUE(has(said({"run", "hgemm_v1", "--device", "large.toml"}), "but an SM has 2048"));
  EXPECT_EQ(run({"run", "elementwise_add", "--device", "a100"}).exit_code, 0);
}

TEST_F(Run, SaysHowTensorCoresAdded) {
  EXPECT_TRUE(has(run({"run", "hgemm_v1"}).out, "exact numerics"));
  EXPECT_TRUE(has(run({"run", "hgemm_v1", "--numerics", "fast"}).out, "fast numerics"));
  EXPECT_FALSE(has(run({"run", "elementwise_add"}).out, "numerics"));
  const Ended wrong = run({"run", "hgemm_v1", "--numerics", "slow"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(has(wrong.err, "exact (as the chip adds) or fast"));
}

// Only of what a launch file says that a block computes: without `tile` nobody is told.
TEST_F(Run, ATileThatNobodyComputesIsNamed) {
  std::ostringstream ptx;
  ptx << std::ifstream(TILESCOPE_SOURCE_DIR "/tests/sim/programs/faults/tile_missing.ptx").rdbuf();
  write("k.ptx", ptx.str());
  const std::string launch =
      "grid = [3]\nblock = [32]\n[[arg]]\nbuffer = \"Y\"\n"
      "[[buffer]]\nname = \"Y\"\ndtype = \"f32\"\nshape = [8, 16]\nzeros = true\n";
  write("whole.toml", launch);
  write("tiles.toml", launch + "tile = [4, 8]\n");
  EXPECT_EQ(run({"run", "k.ptx", "--launch", "whole.toml"}).exit_code, 0);
  const Ended tiles = run({"run", "k.ptx", "--launch", "tiles.toml"});
  EXPECT_EQ(tiles.exit_code, 3);
  EXPECT_TRUE(has(tiles.err, "no CTA computes tile (1,0) of buffer Y")) << tiles.err;
}

// A mistake in an unrolled loop is one entry with its counts; --verbose and --json have each
// report.
TEST_F(Run, EqualHazardsOfALineAreOneEntry) {
  std::ostringstream ptx;
  ptx << std::ifstream(TILESCOPE_SOURCE_DIR "/tests/sim/programs/unrolled_race_hazard.ptx").rdbuf();
  write("k.ptx", ptx.str());
  write("k.toml",
        "grid = [2]\nblock = [64]\n[[arg]]\nbuffer = \"OUT\"\n"
        "[[buffer]]\nname = \"OUT\"\ndtype = \"u32\"\nshape = [128]\nzeros = true\n");
  const Words words = {"run", "k.ptx", "--launch", "k.toml"};
  const auto entries = [](const std::string& text) {
    std::string rest = text;
    return replace_all(rest, "hazard (shared_race)", "");
  };
  const Ended grouped = run(words);
  EXPECT_EQ(grouped.exit_code, 0);
  EXPECT_EQ(entries(grouped.err), 1) << grouped.err;
  EXPECT_TRUE(has(grouped.err, "16 times at this line: 8 PTX lines, 2 warps of 2 CTAs"))
      << grouped.err;
  EXPECT_TRUE(has(grouped.err, "8 reports, grouped by source line and kind; --verbose shows each"))
      << grouped.err;
  Words verbose = words;
  verbose.push_back("--verbose");
  const Ended each = run(verbose);
  EXPECT_EQ(entries(each.err), 8) << each.err;
  EXPECT_FALSE(has(each.err, "grouped")) << each.err;
  const auto [code, document] = run_json(words);
  EXPECT_EQ(code, 0);
  EXPECT_EQ(document["reports"].size(), 8u);
}

TEST_F(Run, AShapeThatAStepCannotDoIsASentence) {
  const Ended wrong = run({"run", "hgemm_v3", "--m", "300"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(has(wrong.err, "hgemm_v3 multiplies whole tiles"));
  EXPECT_EQ(run({"run", "hgemm_v4", "--m", "300", "--n", "64", "--k", "72", "--strict"}).exit_code,
            0);
}

// A kernel's own options, read with the others; wrong ones are told by name.
TEST_F(Program, AKernelsOwnOptionsChooseItsForm) {
  const Words run_it = {"run", "dense_gemm", "--m", "72", "--n", "80", "--k", "64"};
  const auto with = [&](const Words& more) {
    Words words = run_it;
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  const Ended plain = with({});
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  const Ended chosen =
      with({"--a-dtype", "e4m3", "--alpha", "-0.5", "--beta", "2", "--l", "2", "--out", "c.npy"});
  EXPECT_EQ(chosen.exit_code, 0) << chosen.err;
  // What was written is what another run begins with: C = 0 A B + 1 C.
  const Ended again = with({"--alpha", "0", "--beta", "1", "--l", "2", "--c", "c.npy", "--against",
                            "c.npy", "--rtol", "0", "--atol", "0"});
  EXPECT_EQ(again.exit_code, 0) << again.err << again.out;
  struct Case {
    Words more;
    std::string said;
  };
  for (const Case& each :
       {Case{{"--tile", "3x3"}, "dense_gemm was asked for --tile 3x3; it takes auto, 48x64, "},
        Case{{"--a-dtype", "f16", "--b-dtype", "e4m3"}, "multiplies A and B of one type"},
        Case{{"--c", "c.npy"}, "C (c.npy) is given as an input"},
        Case{{"--beta", "x"}, "--beta takes a number"}}) {
    const Ended ended = with(each.more);
    EXPECT_EQ(ended.exit_code, 2) << each.said;
    EXPECT_TRUE(has(ended.err, each.said)) << ended.err;
  }
  const Ended elsewhere = run({"run", "hgemm_v1", "--tile", "64x64"});
  EXPECT_EQ(elsewhere.exit_code, 2);
  EXPECT_TRUE(has(elsewhere.err, "hgemm_v1 has no option --tile; it takes --m, ")) << elsewhere.err;
}

TEST_F(Program, AKernelsOptionsAreListedAndCompleted) {
  const Ended listed = run({"list", "kernels", "dense_gemm"});
  EXPECT_EQ(listed.exit_code, 0);
  for (const char* words : {"--c-major n|m: ", "64x256, ", "forms are carried",
                            "\n  --a-dtype bf16 --tile 128x256 --cluster 2x1\n"}) {
    EXPECT_TRUE(has(listed.out, words)) << words << " in " << listed.out;
  }
  const auto [code, document] = run_json({"list", "kernels", "dense_gemm"});
  EXPECT_EQ(code, 0);
  const nlohmann::json& kernel = document["kernels"][0];
  EXPECT_EQ(kernel["options"].size(), 13u);
  EXPECT_EQ(kernel["options"][0]["name"], "a-dtype");
  EXPECT_EQ(kernel["options"][0]["values"].size(), 5u);
  EXPECT_GT(kernel["carried"].size(), 5u);
  EXPECT_TRUE(
      has(run({"generate", "bash"}).out, "run:--a-dtype) words=\"f16 bf16 tf32 e4m3 e5m2\""));
  EXPECT_TRUE(has(run({"run", "--help"}).out, "--c-major"));
}

TEST_F(Run, AFileThatIsNotThereIsGuessed) {
  matrices(4, 4);
  const Ended near = run({"run", "elementwise_add", "--a", "aa.npy", "--b", "b.npy"});
  EXPECT_EQ(near.exit_code, 2);
  EXPECT_TRUE(has(near.err, "aa.npy: No such file or directory; did you mean a.npy?")) << near.err;
  const Ended far = run({"run", "elementwise_add", "--a", "weights_of_layer.npy"});
  EXPECT_EQ(far.exit_code, 2);
  EXPECT_FALSE(has(far.err, "did you mean")) << far.err;
  EXPECT_TRUE(has(far.err, "No such file or directory.")) << far.err;
  write("kernel_one.ptx", "");
  const Ended open = run({"gui", "--headless", "--do", "open kernel_won.ptx"});
  EXPECT_EQ(open.exit_code, 2);
  EXPECT_TRUE(has(open.err, "did you mean kernel_one.ptx?")) << open.err;
}

}  // namespace
}  // namespace tilescope::test
