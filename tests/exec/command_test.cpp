// `tilescope exec` as a user meets it, on a program that needs no nvcc (small_program.cpp).
#include <cstring>

#include "tests/app/elf.h"
#include "tests/app/program.h"

namespace tilescope::test {
namespace {

using nlohmann::json;

class ExecCommand : public Program {
 protected:
  Ended exec(Words options, const std::string& what = "add") {
    options.insert(options.begin(), "exec");
    for (const std::string& word : {std::string("--"), std::string(TILESCOPE_SMALL), what}) {
      options.push_back(word);
    }
    return run(options);
  }
  void refused(const Words& options, const std::string& part, int code = 2) {
    const Ended ended = exec(options);
    EXPECT_EQ(ended.exit_code, code) << ended.err;
    EXPECT_TRUE(has(ended.err, part)) << ended.err;
    EXPECT_EQ(ended.out, "") << "the program did not run";
  }
};

TEST_F(ExecCommand, RunsAProgram) {
  const Ended ended = exec({});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(has(ended.out, "right\n")) << ended.out;
  EXPECT_TRUE(has(ended.err, "2 launches of 1 kernel")) << ended.err;
  EXPECT_TRUE(files().empty());
}

TEST_F(ExecCommand, WhoAsksForMoreMemoryThanThereIsIsToldOnce) {
  const Ended ended = exec({}, "much");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, "2\n2\n");
  const std::string told =
      "asks for 5 GiB of device memory, and 4 of 4 GiB are left: it is answered "
      "CUDA_ERROR_OUT_OF_MEMORY.\n";
  const std::size_t first = ended.err.find(told);
  ASSERT_NE(first, std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find(told, first + 1), std::string::npos) << ended.err;
}

TEST_F(ExecCommand, AHostThatDoesNotWaitIsToldAtTheEndToo) {
  Ended ended = exec({}, "early");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, "6\n");
  EXPECT_TRUE(has(ended.err, "host_race")) << ended.err;
  EXPECT_TRUE(has(ended.err, "small_program, at 0x")) << ended.err;
  EXPECT_EQ(exec({"--strict"}, "early").exit_code, 3);
  ended = exec({"--trust-host", "--strict"}, "early");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, "6\n");
}

TEST_F(ExecCommand, MemoryOfTheDeviceIsNotTheHosts) {
  const Ended ended = exec({}, "touches");
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_TRUE(has(ended.err, "tilescope: the host reads 0x7000")) << ended.err;
  EXPECT_TRUE(has(ended.err, ", an address of the device at which")) << ended.err;
}

TEST_F(ExecCommand, StatsAreOfEachKernelOverItsLaunches) {
  const Ended ended = exec({"--stats"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  for (const char* part : {"add: 2 launches, of whose time launching takes ", "Bound by ",
                           "sectors of global memory: ", "PTX line "}) {
    EXPECT_TRUE(has(ended.err, part)) << part << "\n" << ended.err;
  }
  EXPECT_FALSE(has(ended.out, "Bound by"));
  const Ended documented = exec({"--stats", "--json", "--launches", "2"});
  const json kernel = json::parse(documented.out).at("programs").at(0).at("kernels").at(0);
  EXPECT_EQ(kernel.at("launches"), 2);
  EXPECT_EQ(kernel.at("unchecked"), 1);
  // 100 words are read and written, in sectors of 32 bytes: 13 each.
  EXPECT_EQ(kernel.at("stats").at("all").at("ideal_sectors"), 26);
  EXPECT_EQ(kernel.at("stats").at("blocks"), 2);
}

TEST_F(ExecCommand, RecordsAndTheTimeline) {
  const Ended ended = exec({"--record", "one.tsr", "--launches", "2", "--trace", "all.json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(files(), (Words{"all.json", "one.tsr"}));
  EXPECT_TRUE(has(ended.err, "wrote 1 record to one.tsr")) << ended.err;
  EXPECT_TRUE(has(ended.err, "wrote all.json: 4 launches and copies")) << ended.err;
  const Ended compared = run({"compare", "one.tsr", "one.tsr"});
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  const json trace = json::parse(read("all.json"));
  std::vector<std::string> names;
  for (const auto& e : trace.at("traceEvents")) {
    if (e.at("ph") == "X" && e.at("pid") == 1) names.push_back(e.at("name"));
  }
  EXPECT_EQ(names,
            (Words{"copy from the host", "launch 1: add", "launch 2: add", "copy to the host"}));
  EXPECT_EQ(exec({"--record", "each"}).exit_code, 0);
  EXPECT_TRUE(exists("each/0001_add.tsr"));
  EXPECT_TRUE(exists("each/0002_add.tsr"));
}

// The handle is one of the launch's textures, over the array's bytes.
TEST_F(ExecCommand, ACapturedLaunchHasItsTextures) {
  const Ended ended = exec({"--capture", "captured"}, "texture");
  EXPECT_EQ(ended.exit_code, 0) << ended.err << ended.out;
  EXPECT_TRUE(has(ended.out, "right\n")) << ended.out;
  const std::string file = "captured/0001_elements/launch.toml";
  std::string text = read(file);
  EXPECT_TRUE(has(text, "{ offset = 0, texture = { buffer = \"")) << text;
  const std::string result = "file = \"b1.npy\"\n";
  ASSERT_TRUE(has(text, result)) << text;
  text.insert(text.find(result) + result.size(), "out = \"got.npy\"\n");
  write(file, text);
  const Ended again = run({"run", "captured/0001_elements/kernel.ptx", "--launch", file});
  EXPECT_EQ(again.exit_code, 0) << again.err << again.out;
  const std::string got = read("captured/0001_elements/got.npy");
  ASSERT_GT(got.size(), 128u);
  float last = 0;
  std::memcpy(&last, got.data() + got.size() - sizeof last, sizeof last);
  EXPECT_EQ(last, 93);
}

TEST_F(ExecCommand, EventsTellWhatIsAskedFor) {
  const auto milliseconds = [](const Ended& ended) { return std::stod(ended.out); };
  const Ended chip = exec({}), again = exec({"--time", "chip"}), wall = exec({"--time", "wall"});
  EXPECT_EQ(wall.exit_code, 0) << wall.err;
  EXPECT_EQ(chip.out, again.out) << "what is predicted is the same each time";
  EXPECT_LT(milliseconds(chip), 0.05);
  EXPECT_NE(wall.out, chip.out);
  EXPECT_GT(milliseconds(wall), 0);
}

TEST_F(ExecCommand, SomeBlocksAndHowLongAllWouldTake) {
  const Ended some = exec({"--sample-blocks", "4"}, "large");
  EXPECT_EQ(some.exit_code, 0) << some.err;
  EXPECT_TRUE(has(some.err, "4 of 4096 CTAs run, nothing found")) << some.err;
  EXPECT_TRUE(has(some.err, "what the others do was not looked at")) << some.err;
  const Ended estimate = exec({"--estimate"}, "large");
  EXPECT_EQ(estimate.exit_code, 0) << estimate.err;
  EXPECT_TRUE(has(estimate.err, "4096 CTAs, about ")) << estimate.err;
  EXPECT_TRUE(has(estimate.err, "all of this takes about ")) << estimate.err;
  const json document = json::parse(exec({"--estimate", "--json"}, "large").out);
  EXPECT_EQ(document.at("ok"), true);
  EXPECT_GT(document.at("programs").at(0).at("kernels").at(0).at("seconds_to_simulate"), 0);
}

TEST_F(ExecCommand, AFaultEndsWithThree) {
  const Ended ended = exec({"--stats", "--trace", "t.json", "--record", "r"}, "fault");
  EXPECT_EQ(ended.exit_code, 3) << ended.err;
  EXPECT_TRUE(has(ended.err, "out_of_bounds") || has(ended.err, "beyond")) << ended.err;
  EXPECT_TRUE(exists("t.json")) << "what came before it is there";
  EXPECT_TRUE(exists("r/0001_add.tsr"));
}

TEST_F(ExecCommand, WhatCannotBeIsSaid) {
  refused({"--time", "moon"}, "--time moon: chip");
  refused({"--sample-blocks", "0"}, "--sample-blocks 0");
  refused({"--estimate", "--stats"}, "--estimate runs a few blocks");
  refused({"--estimate", "--sample-blocks", "3"}, "--estimate runs a few blocks");
  refused({"--sample-blocks", "3", "--stats"}, "there is no time");
  refused({"--record", "a.tsr"}, "has room for one launch");
  refused({"--record-limit", "64MiB"}, "use them with --record");
  refused({"--stats", "--record-limit", "1"}, "--record-limit 1");
  refused({"--trace", "none/t.json"}, "There is no folder none");
  refused({"--gui"}, "there is no display here", 4);
  EXPECT_TRUE(files().empty());
}

// ---- before it runs ----

// A fat binary of one entry: PTX (kind 1), or machine code (2).
std::string fat_binary(int kind, int chip, std::string payload) {
  while (payload.size() % 8) payload += '\0';
  std::string out;
  put_number(out, 0xBA55ED50, 4), put_number(out, 1, 2), put_number(out, 16, 2);
  put_number(out, 64 + payload.size(), 8);
  put_number(out, static_cast<std::uint64_t>(kind), 2), put_number(out, 0x101, 2);
  put_number(out, 64, 4), put_number(out, payload.size(), 8), put_number(out, 0, 4);
  put_number(out, 0, 4), put_number(out, 0, 4),
      put_number(out, static_cast<std::uint64_t>(chip), 4);
  put_number(out, 0, 4), put_number(out, 0, 4), put_number(out, 0, 8), put_number(out, 0, 8);
  put_number(out, 0, 8);
  return out + payload;
}

std::string head(const std::string& target) {
  return ".version 8.0\n.target " + target + "\n.address_size 64\n";
}

class Preflight : public ExecCommand {
 protected:
  // --preflight of a program with these images.
  Ended look(const std::vector<std::string>& images, Words options = {}) {
    std::string section;
    for (const std::string& image : images) section += image;
    write("program", made_elf({{".nv_fatbin", section}}));
    options.insert(options.begin(), {"exec", "--preflight", "--device", "h100"});
    options.insert(options.end(), {"--", "./program"});
    return run(options);
  }
};

TEST_F(Preflight, KernelsWithPtxRun) {
  const Ended ended = look({fat_binary(1, 80,
                                       head("sm_80") + ".visible .entry _Z3addv() { ret; }\n"
                                                       ".visible .entry b() { ret; }\n"),
                            fat_binary(1, 90, head("sm_90a") + ".entry c() { ret; }\n"),
                            // What nvcc's linker for devices adds: code without a function.
                            fat_binary(2, 75, made_elf({{".nv.info", "nothing"}}))});
  EXPECT_EQ(ended.exit_code, 0) << ended.err << ended.out;
  for (const char* part : {"2 images, 3 kernels", "add() (sm_80)", "c (sm_90a)"}) {
    EXPECT_TRUE(has(ended.out, part)) << part << "\n" << ended.out;
  }
}

TEST_F(Preflight, WhatDoesNotRunIsNamed) {
  const std::string good = fat_binary(1, 80, head("sm_80") + ".entry b() { ret; }\n");
  Ended ended = look({good, fat_binary(2, 86, "machine code")});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(has(ended.out, "machine code alone, for sm_86")) << ended.out;
  EXPECT_TRUE(has(ended.out, "1 kernel with PTX that runs")) << ended.out;
  ended = look({good, fat_binary(2, 75, made_elf({{".text._Z1kv", "code"}}))});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(has(ended.out, "machine code alone, for sm_75")) << ended.out;
  ended = look({good, fat_binary(1, 100, head("sm_100a") + ".entry c() { ret; }\n")});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(has(ended.out, "sm_100a")) << ended.out;
  ended = look({fat_binary(1, 80, head("sm_80") + ".entry d() { nonsense.u32 %r1; ret; }\n")});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(has(ended.out, "d is refused: ")) << ended.out;
  EXPECT_TRUE(has(ended.out, "nonsense")) << ended.out;
}

TEST_F(Preflight, AsADocument) {
  const Ended ended = look({fat_binary(2, 86, "machine code")}, {"--json"});
  EXPECT_EQ(ended.exit_code, 1);
  const json document = json::parse(ended.out);
  EXPECT_EQ(document.at("ok"), false);
  EXPECT_EQ(document.at("files").at(0).at("images"), 1);
  EXPECT_EQ(document.at("files").at(0).at("refused").at(0).at("images"), 1);
  EXPECT_EQ(document.at("error").at("kind"), "refused");
}

TEST_F(Preflight, LibrariesAreLookedAtAsTheyAreFound) {
  std::filesystem::create_directory(folder / "lib");
  const std::string strings("\0libown.so\0$ORIGIN/lib\0libnone.so\0libcuda.so.1\0", 47);
  write("program",
        made_elf({made_dynamic({{1, 1}, {1, 23}, {1, 34}, {29, 11}}, 2), {".dynstr", strings, 3}}));
  write("lib/libown.so", made_elf({{".nv_fatbin", fat_binary(2, 90, "code")}}));
  const Ended ended = run({"exec", "--preflight", "--", "./program"});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_TRUE(has(ended.out, "lib/libown.so: 1 image, 0 kernels")) << ended.out;
  EXPECT_TRUE(has(ended.out, "libnone.so: not found")) << ended.out;
  EXPECT_FALSE(has(ended.out, "libcuda.so.1")) << ended.out;
}

TEST_F(Preflight, WhatCannotBeReadIsSaid) {
  Ended ended = look({fat_binary(1, 80, head("sm_80")).substr(0, 70)});
  EXPECT_EQ(ended.exit_code, 2) << ended.out;
  EXPECT_TRUE(has(ended.err, "in the middle of a fat binary")) << ended.err;
  write("script", "#!/bin/sh\n");
  ended = run({"exec", "--preflight", "--", "./script"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(has(ended.err, "is a script")) << ended.err;
  write("text", "hello, this is no program at all, and it is long enough to be none, is it not?");
  ended = run({"exec", "--preflight", "--", "./text"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(has(ended.err, "not read as an ELF file")) << ended.err;
  EXPECT_EQ(run({"exec", "--preflight", "--", "no_such_program"}).exit_code, 2);
  EXPECT_EQ(run({"exec", "--preflight", "--", "./none"}).exit_code, 2);
  EXPECT_EQ(run({"exec", "--preflight", "--", "./lib"}).exit_code, 2);
}

// Rules go to stderr as they must stand in a file, and silence what they were made of.
TEST_F(ExecCommand, RulesForWhatWasToldSilenceIt) {
  const Ended told = exec({"--generate-suppressions"}, "undefined");
  EXPECT_EQ(told.exit_code, 0) << told.err;
  const std::size_t begin = told.err.find("[[suppress]]\nkind = \"undefined_copied\"\n");
  ASSERT_NE(begin, std::string::npos) << told.err;
  std::string rules = told.err.substr(begin);
  const std::string reason = "reason = \"\"";
  ASSERT_TRUE(has(rules, reason)) << rules;
  rules.replace(rules.find(reason), reason.size(), "reason = \"a test\"");
  write("rules.toml", rules);
  const Ended silent = exec({"--strict", "--suppressions", "rules.toml"}, "undefined");
  EXPECT_EQ(silent.exit_code, 0) << silent.err;
  EXPECT_TRUE(has(silent.err, "silenced 1 time by rules.toml:1:1: a test")) << silent.err;
  const json counted =
      json::parse(exec({"--json", "--suppressions", "rules.toml"}, "undefined").out);
  EXPECT_EQ(counted.at("suppressed").at(0).at("reason"), "a test");
  const json document = json::parse(exec({"--json", "--generate-suppressions"}, "undefined").out);
  EXPECT_TRUE(has(document.at("suppressions").get<std::string>(), "undefined_copied"));
}

TEST_F(ExecCommand, TheSummaryHasKernelsAndTheirLines) {
  const Ended fault = exec({}, "fault");
  EXPECT_TRUE(has(fault.err, "\n    PTX line 20: fault out_of_bounds")) << fault.err;
}

TEST_F(ExecCommand, WhatWasNotLookedAtIsNotCalledRight) {
  const Ended none = exec({"--kernel", "nothing_of_this_name", "--launches", "1:9"});
  EXPECT_EQ(none.exit_code, 0) << none.err;
  EXPECT_TRUE(has(none.err,
                  "nothing was looked at: --kernel nothing_of_this_name --launches 1:9 chooses "
                  "none of these launches"))
      << none.err;
  EXPECT_TRUE(has(none.err, "add: 2 times, not checked")) << none.err;
  EXPECT_FALSE(has(none.err, "nothing found")) << none.err;
  const Ended one = exec({"--launches", "2"});
  EXPECT_TRUE(has(one.err, "nothing found in 1 launch, 1 not checked")) << one.err;
  EXPECT_FALSE(has(one.err, "nothing was looked at")) << one.err;
}

TEST_F(ExecCommand, ALaunchThatReadsTheHeapIsNotCaptured) {
  const Ended ended = exec({"--capture", "captured"}, "heap");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(has(ended.err,
                  "captured/0002_use was not written: the launch can reach what kernels "
                  "have allocated"))
      << ended.err;
  EXPECT_TRUE(exists("captured/0001_make/launch.toml"));
  EXPECT_FALSE(exists("captured/0002_use/launch.toml"));
}

TEST_F(ExecCommand, EachProcessCapturesIntoAFolderOfItsOwn) {
  const Ended ended = exec({"--capture", "captured", "--record", "records"}, "twice");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  for (const char* path :
       {"captured/0001_add/launch.toml", "captured/0002_add/launch.toml",
        "captured/process2/0001_add/launch.toml", "captured/process2/0002_add/launch.toml",
        "records/0001_add.tsr", "records/process2/0001_add.tsr"}) {
    EXPECT_TRUE(exists(path)) << path;
  }
}

// A chip would end it: it is no fault, and no success.
TEST_F(ExecCommand, ALaunchThatWaitsForTheHostCannotBeRun) {
  const Ended ended = exec({}, "waits");
  EXPECT_EQ(ended.exit_code, 2) << ended.err;
  EXPECT_EQ(ended.out, "702\n");
  EXPECT_TRUE(has(ended.err, "waiter: 1 time, ")) << ended.err;
  EXPECT_TRUE(has(ended.err, ", 1 not run to its end\n")) << ended.err;
  EXPECT_TRUE(has(ended.err, "waiter (launch 1) waits for memory that the host can write"))
      << ended.err;
  EXPECT_FALSE(has(ended.err, "fault")) << ended.err;
  const json document = json::parse(exec({"--json"}, "waits").out);
  EXPECT_EQ(document.at("error").at("kind"), "unsupported");
}

TEST_F(ExecCommand, AnAssertionIsToldAsADriverTellsIt) {
  const Ended ended = exec({}, "asserts");
  EXPECT_EQ(ended.exit_code, 3) << ended.err;
  EXPECT_EQ(ended.out, "710\n");
  EXPECT_TRUE(
      has(ended.err, "a.cu:7: k(): block: [0,0,0], thread: [1,2,0] Assertion `false` failed.\n"))
      << ended.err;
}

// The verdict is the parent's: where it does not know all, it says so.
TEST_F(ExecCommand, WhoClosesTheConnectionDoesNotEndInSuccess) {
  const Ended ended = exec({}, "closes");
  EXPECT_NE(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(has(ended.err, "what it asked for afterwards is not known")) << ended.err;
}

TEST_F(ExecCommand, WhoOutlivesTheProgramIsWaitedFor) {
  const Ended ended = exec({}, "orphan");
  EXPECT_EQ(ended.exit_code, 3) << ended.err;
  EXPECT_TRUE(has(ended.err, "has ended, and processes that it started go on")) << ended.err;
  EXPECT_TRUE(has(ended.err, "out_of_bounds")) << ended.err;
}

}  // namespace
}  // namespace tilescope::test
