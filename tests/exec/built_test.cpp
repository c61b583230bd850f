// Programs that nvcc builds, with the runtime linked statically, under `tilescope exec`.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

// What was printed by each of the programs in answers.cu on a chip.
std::vector<std::pair<std::string, std::string>> sections_of(const std::string& file) {
  std::vector<std::pair<std::string, std::string>> out;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("# ", 0) == 0) continue;
    if (line.rfind("== ", 0) == 0) {
      out.emplace_back(line.substr(3), "");
    } else if (!out.empty()) {
      out.back().second += line + "\n";
    }
  }
  return out;
}

// Two figures of the chip that its description has otherwise: the size of L2, as it was measured,
// and the width of the memory's bus. Both stand at the end of one line.
std::string without_known_figures(const std::string& text) {
  const std::size_t at = text.find(" L2 ");
  return at == std::string::npos ? text : text.substr(0, at) + text.substr(text.find('\n', at));
}

class Built : public Program {
 protected:
  // Nothing, or what nvcc said.
  std::string build() {
    const std::string folder_of_tests = TILESCOPE_TESTS_DIR;
    const Ended ended =
        shell("nvcc -rdc=true -gencode arch=compute_90,code=compute_90 -o built " +
              folder_of_tests + "/built.cu " + folder_of_tests + "/built_part.cu -lcuda 2>&1");
    return ended.exit_code == 0 ? "" : ended.out + ended.err;
  }
  Ended exec(const std::string& words) {
    return shell("tilescope exec --device h200 -- ./built " + words);
  }
};

TEST_F(Built, ProgramsOfNvccAreAnsweredAsByADriver) {
  if (shell("command -v nvcc").exit_code != 0) GTEST_SKIP() << "There is no nvcc here.";
  ASSERT_EQ(build(), "");
  {
    SCOPED_TRACE("two files, linked by nvcc");
    const Ended ended = exec("parts");
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_EQ(ended.out,
              "cudaMemcpy(got, data, sizeof got, cudaMemcpyDeviceToHost) 0\n1000 1093\n");
  }
  {
    SCOPED_TRACE("PTX, linked by the program");
    const Ended ended = exec("linked");
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_TRUE(has(ended.out, "nullptr, 0, \"none\", 0, nullptr, nullptr) 1\n")) << ended.out;
    EXPECT_TRUE(has(ended.out, "cuModuleLoadData(&module, image) 0\n")) << ended.out;
    EXPECT_TRUE(has(ended.out, "\n70\n")) << ended.out;
  }
  {
    SCOPED_TRACE("a tensor map");
    const Ended ended = exec("mapped");
    EXPECT_EQ(ended.exit_code, 0) << ended.err << ended.out;
    EXPECT_TRUE(has(ended.out,
                    "encode(crooked_strides, shape, matrix) 1\n"
                    "encode(strides, large, matrix) 1\n"
                    "encode(strides, shape, matrix + 1) 1\n"
                    "encode(strides, shape, matrix) 0\n"))
        << ended.out;
    // Row 28 from column 4 on, row 31, and what lies beyond it.
    EXPECT_TRUE(has(ended.out, "\n900 907 996 0\n")) << ended.out;
  }
  {
    SCOPED_TRACE("machine code alone");
    write("one.ptx",
          ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k() {\n  ret;\n}\n");
    const Ended made = shell(
        "ptxas -arch=sm_90 -o one.cubin one.ptx && fatbinary --create=one.fatbin -64 "
        "--image3=kind=elf,sm=90,file=one.cubin");
    ASSERT_EQ(made.exit_code, 0) << made.err << made.out;
    const Ended ended = exec("image one.fatbin");
    EXPECT_TRUE(has(ended.out, "cuModuleLoad(&module, file) 209\n")) << ended.out;
    EXPECT_TRUE(has(ended.err, "it holds machine code for sm_90 and no PTX")) << ended.err;
  }
  for (const auto& [which, wanted] : sections_of(TILESCOPE_TESTS_DIR "/answers_h200.txt")) {
    SCOPED_TRACE(which);
    EXPECT_EQ(without_known_figures(exec(which).out), without_known_figures(wanted));
  }
}

}  // namespace
}  // namespace tilescope::test
