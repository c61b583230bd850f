// `tilescope run` on a GPU, through a driver that has none (tests/kernels/fake_cuda.cpp): what is
// asked of the driver, and what its answers become.

#include "tests/app/program.h"

namespace tilescope::test {
namespace {

class Gpu : public Program {
 protected:
  Gpu() {
    set("TILESCOPE_CUDA_DRIVER", TILESCOPE_FAKE_CUDA);
    set("FAKE_CUDA_LOG", (folder / "calls").string());
  }
  std::string calls() const { return read("calls"); }

  const Words small = {"run", "elementwise_add", "--m", "20", "--n", "30"};
  Words on(const std::string& device, Words more = {}) const {
    Words words = small;
    words.insert(words.end(), {"--on", device});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  // A PTX file of our own and its launch file.
  void write_kernel(const std::string& target, const std::string& launch,
                    const std::string& directive = "", const std::string& body = "") {
    write("k.ptx", ".version 9.0\n.target " + target +
                       "\n.address_size 64\n.visible .entry add(.param .u64 a, .param .u64 b, "
                       ".param .u64 c, .param .u32 m, .param .u32 n)\n" +
                       directive + "{ " + body + "ret; }\n");
    write("k.toml",
          "grid = [4, 1, 1]\nblock = [32, 1, 1]\n" + launch +
              "[[buffer]]\nname = \"A\"\ndtype = \"f32\"\nshape = [2, 4]\nrandom = 1\n"
              "[[buffer]]\nname = \"C\"\ndtype = \"f32\"\nshape = [2, 4]\npoison = true\n"
              "out = \"c.npy\"\n"
              "[[arg]]\nbuffer = \"A\"\n[[arg]]\nbuffer = \"A\"\n[[arg]]\nbuffer = \"C\"\n"
              "[[arg]]\ni32 = 2\n[[arg]]\ni32 = 4\n");
  }
  const Words own = {"run", "k.ptx", "--launch", "k.toml", "--on", "gpu"};
};

TEST_F(Gpu, RunsAKernelOfTheCatalogAndWritesItsResult) {
  const Ended ended = run(on("gpu", {"--out", "c.npy"}));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(has(ended.out, "all are equal")) << ended.out;
  EXPECT_TRUE(has(ended.err, "125.0 us by the clock of Fake GPU, compute capability 9.0"))
      << ended.err;
  EXPECT_TRUE(exists("c.npy"));
  EXPECT_TRUE(has(calls(), "launch grid 2 1 1 block 128 1 1 shared 0\n")) << calls();
  EXPECT_TRUE(has(calls(), "entry elementwise_add\n")) << calls();
  EXPECT_TRUE(has(calls(), "fill 0xFB\n")) << "the output begins undefined";
  EXPECT_TRUE(has(calls(), "release\n")) << "everything is given back";
}

TEST_F(Gpu, SeveralFilesAreLinkedByTheDriver) {
  write_kernel("sm_90", "");
  write("b.ptx", ".version 9.0\n.target sm_90\n.address_size 64\n.visible .func f() { ret; }\n");
  const Ended ended = run({"run", "k.ptx", "b.ptx", "--launch", "k.toml", "--on", "gpu"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(has(calls(), "link k.ptx\nlink b.ptx\n")) << calls();
  EXPECT_TRUE(has(calls(), "entry add\n")) << calls();
}

TEST_F(Gpu, BothComparesTheSimulatorWithTheChip) {
  const auto [code, document] = run_json(on("both"));
  EXPECT_EQ(code, 0);
  ASSERT_EQ(document["devices"].size(), 2u);
  EXPECT_EQ(document["devices"][1]["kernel_seconds"], 0.000125);
  ASSERT_EQ(document["outputs"].size(), 3u) << "each with the reference, and one with the other";
  EXPECT_EQ(document["outputs"][2]["diff"]["got"], "C on sim");
  EXPECT_EQ(document["outputs"][2]["diff"]["want"], "C on gpu");
  EXPECT_EQ(document["outputs"][2]["diff"]["wrong"], 0);
}

TEST_F(Gpu, AChipThatDiffersIsSeen) {
  set("FAKE_CUDA", "wrong");
  for (const Words& words : {on("both"), on("sim", {"--against", "gpu"})}) {
    const auto [code, document] = run_json(words);
    EXPECT_EQ(code, 1);
    EXPECT_EQ(document["ok"], false);
    EXPECT_EQ(document["outputs"].back()["diff"]["wrong"], 1);
    EXPECT_EQ(document["outputs"].back()["diff"]["first"][0]["index"], 0);
  }
  EXPECT_EQ(run(on("gpu")).exit_code, 1) << "against the reference";
  EXPECT_EQ(run(on("gpu", {"--against", "gpu"})).exit_code, 2) << "with itself";
}

TEST_F(Gpu, AFaultEndsWithThreeAndASentence) {
  for (const auto& [result, part] :
       {std::pair<std::string, std::string>{"700", "an address where there is nothing"},
        {"716", "no multiple of its size"},
        {"710", "an assertion"},
        {"719", "trap"}}) {
    set("FAKE_CUDA", "fault=" + result);
    const auto [code, document] = run_json(on("gpu", {"--out", "c.npy"}));
    EXPECT_EQ(code, 3);
    EXPECT_EQ(document["error"]["kind"], "fault");
    EXPECT_TRUE(has(document["error"]["sentence"], part)) << document["error"]["sentence"];
    EXPECT_EQ(document["error"]["where"], "elementwise_add") << "a GPU does not tell where";
    EXPECT_FALSE(exists("c.npy"));
  }
}

TEST_F(Gpu, WithoutAUsableGpuItEndsWithFourAndSaysWhatWasFound) {
  const auto sentence_of = [&](const Words& words) {
    const auto [code, document] = run_json(words);
    EXPECT_EQ(code, 4);
    EXPECT_EQ(document["error"]["kind"], "no_device");
    return document["error"]["sentence"].get<std::string>();
  };
  set("FAKE_CUDA", "no_device");
  EXPECT_TRUE(has(sentence_of(on("gpu")), "finds no GPU"));
  set("FAKE_CUDA", "sm=75");
  const std::string old = sentence_of(on("gpu"));
  EXPECT_TRUE(has(old, "sm_80") && has(old, "Fake GPU, compute capability 7.5")) << old;
  set("FAKE_CUDA", "load=222");
  EXPECT_TRUE(has(sentence_of(on("both")), "too old"));
  set("FAKE_CUDA", "");
  write_kernel("sm_100a", "");
  EXPECT_TRUE(has(sentence_of(own), "runs on no other chip"));
  set("TILESCOPE_CUDA_DRIVER", "/nowhere/libcuda.so.1");
  EXPECT_TRUE(has(sentence_of(on("gpu")), "/nowhere/libcuda.so.1"));
  EXPECT_TRUE(has(run({"list", "devices"}).out, "gpu      none: ")) << run({"list", "devices"}).out;
}

TEST_F(Gpu, ALibraryThatIsNoDriverIsToldSo) {
  set("TILESCOPE_CUDA_DRIVER", "libm.so.6");
  const auto [code, document] = run_json(on("gpu"));
  EXPECT_EQ(code, 4);
  EXPECT_TRUE(has(document["error"]["sentence"], "has no cuInit")) << document["error"]["sentence"];
}

TEST_F(Gpu, TheListOfDevicesNamesTheChip) {
  EXPECT_TRUE(has(run({"list", "devices"}).out,
                  "gpu      Fake GPU, compute capability 9.0, driver for CUDA 13.0"));
}

TEST_F(Gpu, TheListOfDevicesSaysHowFastEachIs) {
  const std::string list = run({"list", "devices"}).out;
  EXPECT_TRUE(has(list, "NVIDIA A100: 108 SMs")) << list;
  EXPECT_TRUE(has(list, "; 1.41 GHz, 312 TFLOP/s of f16, ")) << list;  // as NVIDIA has it
  EXPECT_TRUE(has(list, "; 1.97 GHz, 2243 TFLOP/s of f16, ")) << list;
}

TEST_F(Gpu, PtxThatTheDriverRefusesIsUnsupportedWithItsWords) {
  set("FAKE_CUDA", "load=218");
  const auto [code, document] = run_json(on("gpu"));
  EXPECT_EQ(code, 2);
  EXPECT_EQ(document["error"]["kind"], "unsupported");
  EXPECT_TRUE(has(document["error"]["sentence"], "ptxas fatal: nothing fits here"))
      << document["error"]["sentence"];
}

TEST_F(Gpu, ALaunchFileGoesToTheDriverAsItIs) {
  write_kernel("sm_90", "dynamic_smem = 100000\ncluster = [2, 1, 1]\n");
  const Ended ended = run(own);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(has(calls(), "attribute 8 = 100000\n")) << "more than 48 KiB has to be asked for";
  EXPECT_TRUE(has(calls(),
                  "launch grid 4 1 1 block 32 1 1 shared 100000\n"
                  "launch attribute 4 = 2 1 1\n"))
      << calls();
  EXPECT_TRUE(exists("c.npy"));
}

TEST_F(Gpu, AClusterThatThePtxAsksForIsGiven) {
  write_kernel("sm_90", "", ".reqnctapercluster 4, 1, 1\n");
  EXPECT_EQ(run(own).exit_code, 0);
  EXPECT_TRUE(has(calls(), "launch attribute 4 = 4 1 1\n")) << calls();
}

TEST_F(Gpu, WhatWaitsForTheLaunchesBeforeMayBeginEarly) {
  write_kernel("sm_90", "");
  EXPECT_EQ(run(own).exit_code, 0);
  EXPECT_FALSE(has(calls(), "launch attribute 6")) << calls();
  write_kernel("sm_90", "", "", "griddepcontrol.launch_dependents;\n// griddepcontrol.wait;\n");
  EXPECT_EQ(run(own).exit_code, 0);
  EXPECT_FALSE(has(calls(), "launch attribute 6")) << "it does not wait";
  write_kernel("sm_90", "cluster = [2, 1, 1]\n", "", "griddepcontrol.wait;\n");
  EXPECT_EQ(run(own).exit_code, 0);
  EXPECT_TRUE(has(calls(), "launch attribute 4 = 2 1 1\nlaunch attribute 6 = 1 ")) << calls();
}

TEST_F(Gpu, WhatDoesNotFitIsRefusedBeforeTheDriverIsAsked) {
  write_kernel("sm_90", "", ".reqntid 64, 1, 1\n");
  const auto [code, document] = run_json(own);
  EXPECT_EQ(code, 2);
  EXPECT_TRUE(has(document["error"]["sentence"], ".reqntid")) << document["error"]["sentence"];
  write_kernel("sm_90", "dynamic_smem = 300000\n");
  EXPECT_EQ(run(own).exit_code, 2) << "more shared memory than there is";
  EXPECT_FALSE(has(calls(), "launch"));
}

TEST_F(Gpu, WhatNobodyWroteIsNoted) {
  set("FAKE_CUDA", "nothing");
  const Ended ended = run(on("gpu"));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(has(ended.err, "600 of the 600 elements of C hold the bytes 0xFB")) << ended.err;
}

TEST_F(Gpu, WhatAKernelPrintsIsNoResult) {
  set("FAKE_CUDA", "print");
  const Ended ended = run(on("gpu"));
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_TRUE(has(ended.err, "printed by the kernel")) << ended.err;
  EXPECT_FALSE(has(ended.out, "printed by the kernel")) << ended.out;
  EXPECT_EQ(run_json(on("gpu")).first, 0) << "one document alone on stdout";
}

TEST_F(Gpu, CtrlCEndsAnEndlessKernel) {
  set("FAKE_CUDA", "endless");
  const Ended ended = run_while(on("gpu"), interrupt_when_it_listens);
  EXPECT_EQ(ended.signal, 0);
  EXPECT_EQ(ended.exit_code, 130) << ended.err;
}

}  // namespace
}  // namespace tilescope::test
