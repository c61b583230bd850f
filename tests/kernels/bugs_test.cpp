// Planted bugs: kernels of the ladder with a patch of a line or so (tests/kernels/bugs), each of
// which the simulator must name for what it is, at its place, and not by another name.
//
//   bug: the sum is loaded before the products are done
//   run: hgemm_v1 128x128x64 lazy               (or schedule=1..20: by one of these seeds at least;
//                                                grid=1: so many blocks, for steps that persist)
//   expect: fault tmem_in_use | part of the sentence | part of the sentence or of its place
//                                               (several: by another seed it may show in another
//                                               way)
//   clock: fault tmem_in_use | ... | ...        (where by the clock somebody else comes first, and
//                                               it is told by another name, or `nothing` is)
//   --- a/kernels/...                            the patch
//
// What was compiled is beside the patch, as what differs from the kernel's own PTX: ./dev ptx makes
// it. Patches keep the number of lines, as every line that moves is one more that differs.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/sim/machine.h"
#include "core/sim/search.h"
#include "kernels/catalog/catalog.h"
#include "tests/sim/chip_times.h"

namespace tilescope {
namespace {

const std::filesystem::path folder = std::filesystem::path(TILESCOPE_TESTS_DIR) / "bugs";

struct Expected {
  std::string weight, kind, text, place;
  bool is(const Report& r, const std::string& all) const {
    return name_of(r.weight) == weight && r.kind == kind && all.find(text) != std::string::npos &&
           all.find(place) != std::string::npos;
  }
};

struct Bug {
  std::string name, kernel;
  std::vector<Expected> expected, by_the_clock;
  bool unseen_by_the_clock = false;
  Request request;
  bool lazy = false;
  std::uint64_t first_seed = 0, last_seed = 0;
  std::uint32_t grid = 0;  // blocks; 0: as many as the catalog says
};

std::vector<std::string> fields(const std::string& patch, const std::string& name) {
  std::vector<std::string> out;
  const std::string key = "\n" + name + ": ";
  for (std::size_t at = patch.find(key); at != std::string::npos; at = patch.find(key, at + 1)) {
    const std::size_t begin = at + key.size();
    out.push_back(patch.substr(begin, patch.find('\n', begin) - begin));
  }
  return out;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Bug bug_of(const std::string& name) {
  const std::string patch = "\n" + read(folder / (name + ".patch"));
  Bug bug;
  bug.name = name;
  std::istringstream run(fields(patch, "run").at(0));
  std::string shape, word;
  run >> bug.kernel >> shape;
  std::replace(shape.begin(), shape.end(), 'x', ' ');
  std::istringstream numbers(shape);
  for (const char* size : {"m", "n", "k"}) numbers >> bug.request.sizes[size];
  while (run >> word) {
    if (word == "lazy") bug.lazy = true;
    if (word == "schedule=1..20") bug.first_seed = 1, bug.last_seed = 20;
    if (word.rfind("grid=", 0) == 0)
      bug.grid = static_cast<std::uint32_t>(std::stoul(word.substr(5)));
  }
  const auto expected = [](const std::string& expect) {
    const std::size_t bar = expect.find(" | "), second = expect.find(" | ", bar + 3);
    Expected one{"", "", expect.substr(bar + 3, second - bar - 3), expect.substr(second + 3)};
    std::istringstream(expect.substr(0, bar)) >> one.weight >> one.kind;
    return one;
  };
  for (const std::string& e : fields(patch, "expect")) bug.expected.push_back(expected(e));
  for (const std::string& e : fields(patch, "clock")) {
    bug.unseen_by_the_clock = e == "nothing";
    if (e != "nothing") bug.by_the_clock.push_back(expected(e));
  }
  if (bug.by_the_clock.empty()) bug.by_the_clock = bug.expected;
  return bug;
}

// What `diff -n` says of an old text: "d12 3" deletes three lines from line 12 on, "a14 2" has the
// two lines that follow stand behind line 14.
std::string differing(const std::string& old, std::istream& edits) {
  std::istringstream lines(old);
  std::ostringstream out;
  std::string line;
  std::size_t at = 0;  // lines of `old` that have been read
  const auto keep_up_to = [&](std::size_t last) {
    for (; at < last && std::getline(lines, line); ++at) out << line << "\n";
  };
  for (std::string edit; std::getline(edits, edit);) {
    std::size_t from = 0, count = 0;
    std::istringstream(edit.substr(1)) >> from >> count;
    if (edit[0] == 'd') {
      keep_up_to(from - 1);
      for (; count && std::getline(lines, line); --count) ++at;
      continue;
    }
    keep_up_to(from);
    for (; count && std::getline(edits, line); --count) out << line << "\n";
  }
  keep_up_to(~std::size_t{0});
  return out.str();
}

// Empty where the kernel's own PTX is not the one that the differences are of.
std::string ptx_of(const Bug& bug) {
  const std::string own = read(TILESCOPE_SOURCE_DIR "/assets/ptx/" + bug.kernel + ".ptx");
  std::ifstream edits(folder / (bug.name + ".diff"));
  std::string first;
  std::getline(edits, first);
  if (first != "of " + std::to_string(own.size()) + " bytes") return "";
  return differing(own, edits);
}

Outcome<Job> job_of(const Bug& bug) {
  const auto entry = find_kernel(bug.kernel);
  if (!entry) return entry.error();
  const std::string ptx = ptx_of(bug);
  if (ptx.empty()) {
    return Error{ErrorKind::mismatch, bug.name + ".diff is not of the shipped PTX: run ./dev ptx",
                 ""};
  }
  Outcome<Job> job = make_job(**entry, bug.request, ptx);
  if (job && bug.grid) job->launch.grid = {bug.grid, 1, 1};
  return job;
}

class PlantedBug : public testing::TestWithParam<std::string> {};

TEST_P(PlantedBug, IsNamed) {
  const Bug bug = bug_of(GetParam());
  const Outcome<Job> job = job_of(bug);
  ASSERT_TRUE(job.ok()) << job.error().sentence;
  bool named = false;
  std::vector<sim::Options> ways;
  for (std::uint64_t seed = bug.first_seed; seed <= bug.last_seed; ++seed) {
    ways.emplace_back();
    ways.back().lazy = bug.lazy;
    ways.back().schedule = seed;
  }
  // What shows in the order of turns shows in that of a chip's clock, too.
  if (!bug.lazy && bug.last_seed == 0) {
    ways.emplace_back();
    ways.back().clocked = true;
    ways.back().times = test::chip_times();
  }
  for (sim::Options& options : ways) {
    SCOPED_TRACE(options.clocked ? "by the clock" : "in turns");
    options.exact = false;
    Outcome<sim::Machine> machine = sim::Machine::load(*job, options);
    ASSERT_TRUE(machine.ok()) << machine.error().sentence;
    machine->run(~std::uint64_t{0});
    for (const Report& r : machine->reports()) {
      // A fault may have hazards on its way, which are true as well.
      const auto& wanted = options.clocked ? bug.by_the_clock : bug.expected;
      const bool hazards = wanted[0].weight == "hazard";
      if (r.weight != Weight::fault && !(hazards && r.weight == Weight::hazard)) continue;
      const std::string all = r.sentence + "\n" + r.expected + "\n" + r.found + "\n" + text(r.site);
      EXPECT_TRUE(std::any_of(wanted.begin(), wanted.end(),
                              [&](const Expected& e) { return e.is(r, all); }))
          << name_of(r.weight) << " " << r.kind << ": " << all;
      named = true;
    }
    if (bug.last_seed == 0) {
      const bool unseen = options.clocked && bug.unseen_by_the_clock;
      EXPECT_EQ(std::exchange(named, false), !unseen) << "no report at all, or one too many";
    }
  }
  if (bug.last_seed) {
    EXPECT_TRUE(named) << "no report at all";
  }
}

// What takes a lucky seed to be seen is found by looking for it.
TEST(PlantedBugs, OfASeedAreFoundByASearch) {
  std::size_t found = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".patch") continue;
    const Bug bug = bug_of(file.path().stem().string());
    if (bug.first_seed == 0 || bug.expected[0].weight != "fault") continue;
    SCOPED_TRACE(bug.name);
    const Outcome<Job> job = job_of(bug);
    ASSERT_TRUE(job.ok()) << job.error().sentence;
    sim::Options options;
    options.exact = false;
    Outcome<sim::Machine> machine = sim::Machine::load(*job, options);
    ASSERT_TRUE(machine.ok()) << machine.error().sentence;
    sim::Search search(std::move(*machine), {.runs = 500});
    ASSERT_EQ(search.advance(~std::uint64_t{0}), RunState::fault);
    const std::string kind = search.found()->reports.back().kind;
    EXPECT_TRUE(std::any_of(bug.expected.begin(), bug.expected.end(), [&](const Expected& e) {
      return e.kind == kind;
    })) << kind;
    ++found;
  }
  EXPECT_GT(found, 0u);
}

std::vector<std::string> all_bugs() {
  std::vector<std::string> out;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() == ".patch") out.push_back(file.path().stem().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

INSTANTIATE_TEST_SUITE_P(Kernels, PlantedBug, testing::ValuesIn(all_bugs()),
                         [](const auto& bug) { return bug.param; });

}  // namespace
}  // namespace tilescope
