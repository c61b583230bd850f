// `tilescope capture` as a command: with a driver that has no GPU (tests/kernels/fake_cuda.cpp).
// What it keeps of launches is told of in tests/exec/capture_test.cpp.
#include "tests/app/program.h"

namespace tilescope::test {
namespace {

using CaptureCommand = Program;

TEST_F(CaptureCommand, WithoutADriverItSaysWhatElseThereIs) {
  const Ended ended = run({"capture", "--driver", "/nowhere/libcuda.so.1", "--", "true"});
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_TRUE(has(ended.err, "There is no CUDA driver to capture from")) << ended.err;
  EXPECT_TRUE(has(ended.err, "tilescope exec --capture")) << ended.err;
}

TEST_F(CaptureCommand, TheExitCodeIsTheProgramsOwn) {
  const Ended ended =
      run({"capture", "--driver", TILESCOPE_FAKE_CUDA, "--", "sh", "-c", "echo own; exit 7"});
  EXPECT_EQ(ended.exit_code, 7) << ended.err;
  EXPECT_EQ(ended.out, "own\n");
  EXPECT_TRUE(has(ended.err, "sh launched nothing")) << ended.err;
  EXPECT_EQ(files(), std::vector<std::string>());
}

TEST_F(CaptureCommand, TheDriverDoesWhatTheProgramAsks) {
  const Ended ended =
      run({"capture", "--driver", TILESCOPE_FAKE_CUDA, "-o", "kept", "--", TILESCOPE_PROGRAM, "run",
           "elementwise_add", "--m", "20", "--n", "30", "--on", "gpu"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(has(ended.out, "all are equal")) << ended.out;
  EXPECT_TRUE(has(ended.err, "by the clock of Fake GPU")) << ended.err;
  // It has no cuCtxSynchronize, so that nothing can be copied.
  EXPECT_TRUE(has(ended.err, "elementwise_add is not captured")) << ended.err;
  EXPECT_TRUE(has(ended.err, "0 of 1 launch captured")) << ended.err;
}

TEST_F(CaptureCommand, OneDocument) {
  const auto [code, document] =
      run_json({"capture", "--driver", TILESCOPE_FAKE_CUDA, "--", "sh", "-c", "echo own; exit 7"});
  EXPECT_EQ(code, 7);
  EXPECT_EQ(document["ok"], false);
  EXPECT_EQ(document["error"]["kind"], "program");
  EXPECT_EQ(document["program_exit"], 7);
  EXPECT_EQ(document["captured"].size(), 0u);
}

TEST_F(CaptureCommand, WrongUsageIsASentence) {
  for (const auto& [words, sentence] :
       {std::pair<Words, const char*>{{"--launches", "5:3"}, "counted from 1"},
        {{"--kernel", "("}, "is no regular expression"}}) {
    Words all = {"capture", "--driver", TILESCOPE_FAKE_CUDA};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"--", "true"});
    const Ended ended = run(all);
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_TRUE(has(ended.err, sentence)) << ended.err;
  }
  const Ended none = run({"capture", "--driver", TILESCOPE_FAKE_CUDA, "--", "no-such-program"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_TRUE(has(none.err, "There is no program no-such-program")) << none.err;
}

}  // namespace
}  // namespace tilescope::test
