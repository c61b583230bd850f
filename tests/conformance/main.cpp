// conformance: every form of the opcode table on the simulator and on a chip, bit for bit.
//
//   conformance list                     what is tried, and which opcodes have no generator
//   conformance show PART                the kernels of the spellings that contain PART, as PTX
//   conformance simulate [PART]          runs all (or those that contain PART) on the simulator
//   conformance record FILE [COMMIT [PART]]   runs all (or those that contain PART) on both; keeps
//                                        the chip's answers in FILE, and prints every difference
//   conformance missing FILE COMMIT KNOWN...  the same of what none of the files KNOWN has
//   conformance answers PART             every lane of a few spellings, as the chip answers
//   conformance replay FILE...           the simulator against kept answers
//   conformance programs FOLDER [PART]   the text programs of tests/sim/programs on the chip
//   conformance memory FILE              what one of them leaves in memory on the chip
//   conformance maps COUNT [im2col]      which tensor maps the driver takes, and which we take
//   conformance copies COUNT [interleaved]   random tensor copies on the chip, against their model
//
// TILESCOPE_CUDA_DRIVER names another driver library than libcuda.so.1.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <set>

#include "core/sim/machine/device.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/copies.h"
#include "tests/conformance/maps.h"
#include "tests/conformance/programs.h"
#include "tests/conformance/record.h"

namespace tilescope::conformance {
namespace {

int list() {
  std::size_t all = 0, tried = 0;
  std::set<std::string> without;
  each_case("", [&](const Case& c) {
    ++all;
    c.kernel ? void(++tried) : void(without.insert(std::string(c.spelling.opcode->name)));
  });
  fmt::print("{} spellings, {} with a kernel; opcodes with some that have none:", all, tried);
  for (const std::string& name : without) fmt::print(" {}", name);
  fmt::print("\n");
  return 0;
}

int show(const std::string& part) {
  each_case(part, [&](const Case& c) {
    if (c.kernel) fmt::print("// {}\n{}", c.spelling.key(), c.kernel->ptx);
  });
  return 0;
}

int simulate(const std::string& part) {
  sim::SimDevice simulator;
  std::size_t refused = 0, ran = 0, told = 0;
  each_case(part, [&](const Case& c) {
    if (!c.kernel) return;
    std::vector<Report> reports;
    const auto buffers = run(simulator, *c.kernel, &reports);
    ++ran;
    for (const Report& r : reports) fmt::print("{}: {}\n", c.spelling.key(), r.sentence);
    told += !reports.empty();
    if (buffers) return;
    ++refused;
    fmt::print("{}: {}\n", c.spelling.key(), buffers.error().sentence);
  });
  fmt::print("{} run, {} refused or faulted, {} with hazards or notes\n", ran, refused, told);
  return 0;
}

int replay(const std::vector<std::string>& files) {
  Vectors vectors;
  for (const std::string& file : files) {
    Outcome<Vectors> more = vectors_in(file);
    if (!more) {
      fmt::print(stderr, "{}: {}\n", file, more.error().sentence);
      return 2;
    }
    vectors.answers.merge(more->answers);
  }
  sim::SimDevice simulator;
  std::size_t equal = 0, differing = 0, unrecorded = 0;
  each_case("", [&](const Case& c) {
    if (!c.kernel) return;
    const auto answer = vectors.answers.find(c.spelling.key());
    if (answer == vectors.answers.end()) return void(++unrecorded);
    if (answer->second.kind == '-') return;
    const auto simulated = run(simulator, *c.kernel);
    const Differences d = simulated ? compare(c.spelling, *c.kernel, answer->second, *simulated)
                                    : Differences{lanes, {simulated.error().sentence}};
    if (d.lanes == 0) return void(++equal);
    ++differing;
    fmt::print("{}\n", c.spelling.key());
    for (const std::string& one : d.first) fmt::print("    {}\n", one);
  });
  fmt::print("{} equal, {} differ, {} not recorded\n", equal, differing, unrecorded);
  return differing ? 1 : 0;
}

int usage() {
  fmt::print(
      stderr,
      "usage: conformance list | show PART | simulate [PART] | record FILE [COMMIT [PART]] | "
      "missing FILE COMMIT KNOWN... | answers PART | replay FILE... | "
      "programs FOLDER [PART] | memory FILE | maps COUNT [im2col] | copies COUNT [interleaved]\n");
  return 2;
}

}  // namespace

int main_of(const std::vector<std::string>& words) {
  const auto word = [&](std::size_t i) { return i < words.size() ? words[i] : std::string(); };
  if (word(0) == "list") return list();
  if (word(0) == "show" && words.size() == 2) return show(word(1));
  if (word(0) == "simulate") return simulate(word(1));
  if (word(0) == "record" && words.size() >= 2) return record(word(1), word(2), word(3));
  if (word(0) == "answers" && words.size() == 2) return answers(word(1));
  if (word(0) == "missing" && words.size() >= 4) {
    return record_missing(word(1), word(2), {words.begin() + 3, words.end()});
  }
  if (word(0) == "replay" && words.size() >= 2) return replay({words.begin() + 1, words.end()});
  if (word(0) == "programs" && words.size() >= 2) return programs(word(1), word(2));
  if (word(0) == "memory" && words.size() == 2) return memory(word(1));
  const std::uint64_t count = std::strtoull(word(1).c_str(), nullptr, 10);
  if (word(0) == "maps" && words.size() == 2) return maps(count, random_map);
  if (word(0) == "maps" && word(2) == "im2col") return maps(count, random_im2col_map);
  if (word(0) == "copies" && words.size() == 2) {
    return copies(count,
                  [](std::uint64_t n) { return test::random_copy(n, test::Generation::hopper); });
  }
  if (word(0) == "copies" && word(2) == "interleaved") {
    return copies(count, test::random_interleaved_copy);
  }
  return usage();
}

}  // namespace tilescope::conformance

int main(int count, char** words) {
  // Whatever ends the process, what was found so far is told.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  return tilescope::conformance::main_of({words + 1, words + count});
}
