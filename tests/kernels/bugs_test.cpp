// Planted bugs: kernels of the ladder with a patch of a line or so (tests/kernels/bugs), each of
// which the simulator must name for what it is, at its place, and not by another name.
//
//   bug: the sum is loaded before the products are done
//   run: hgemm_v1 128x128x64 lazy               (or schedule=1..20: by one of these seeds at least)
//   expect: fault tmem_in_use | part of the sentence | part of the sentence or of its place
//   --- a/kernels/...                            the patch
//
// What was compiled is beside the patch; ./dev ptx makes it.
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

namespace tilescope {
namespace {

const std::filesystem::path folder = std::filesystem::path(TILESCOPE_TESTS_DIR) / "bugs";

struct Bug {
  std::string name, kernel, weight, kind, text, place;
  Request request;
  bool lazy = false;
  std::uint64_t first_seed = 0, last_seed = 0;
};

std::string field(const std::string& patch, const std::string& name) {
  const std::size_t at = patch.find("\n" + name + ": ");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + name.size() + 3;
  return patch.substr(begin, patch.find('\n', begin) - begin);
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
  std::istringstream run(field(patch, "run"));
  std::string shape, word;
  run >> bug.kernel >> shape;
  std::replace(shape.begin(), shape.end(), 'x', ' ');
  std::istringstream numbers(shape);
  for (const char* size : {"m", "n", "k"}) numbers >> bug.request.sizes[size];
  while (run >> word) {
    if (word == "lazy") bug.lazy = true;
    if (word == "schedule=1..20") bug.first_seed = 1, bug.last_seed = 20;
  }
  const std::string expect = field(patch, "expect");
  const std::size_t bar = expect.find(" | "), second = expect.find(" | ", bar + 3);
  std::istringstream(expect.substr(0, bar)) >> bug.weight >> bug.kind;
  bug.text = expect.substr(bar + 3, second - bar - 3);
  bug.place = expect.substr(second + 3);
  return bug;
}

class PlantedBug : public testing::TestWithParam<std::string> {};

TEST_P(PlantedBug, IsNamed) {
  const Bug bug = bug_of(GetParam());
  const auto entry = find_kernel(bug.kernel);
  ASSERT_TRUE(entry.ok());
  const Outcome<Job> job = make_job(**entry, bug.request, read(folder / (bug.name + ".ptx")));
  ASSERT_TRUE(job.ok()) << job.error().sentence;
  bool named = false;
  for (std::uint64_t seed = bug.first_seed; seed <= bug.last_seed; ++seed) {
    sim::Options options;
    options.lazy = bug.lazy;
    options.schedule = seed;
    options.exact = false;
    Outcome<sim::Machine> machine = sim::Machine::load(*job, options);
    ASSERT_TRUE(machine.ok()) << machine.error().sentence;
    machine->run(~std::uint64_t{0});
    for (const Report& r : machine->reports()) {
      // A fault may have hazards on its way, which are true as well.
      if (name_of(r.weight) != bug.weight && r.weight != Weight::fault) continue;
      const std::string all = r.sentence + "\n" + r.expected + "\n" + r.found + "\n" + text(r.site);
      SCOPED_TRACE(all);
      EXPECT_EQ(name_of(r.weight), bug.weight);
      EXPECT_EQ(r.kind, bug.kind);
      EXPECT_NE(all.find(bug.text), std::string::npos) << bug.text;
      EXPECT_NE(all.find(bug.place), std::string::npos) << bug.place;
      named = true;
    }
  }
  EXPECT_TRUE(named) << "no report at all";
}

// What takes a lucky seed to be seen is found by looking for it.
TEST(PlantedBugs, OfASeedAreFoundByASearch) {
  std::size_t found = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".patch") continue;
    const Bug bug = bug_of(file.path().stem().string());
    if (bug.first_seed == 0 || bug.weight != "fault") continue;
    SCOPED_TRACE(bug.name);
    const auto entry = find_kernel(bug.kernel);
    ASSERT_TRUE(entry.ok());
    const Outcome<Job> job = make_job(**entry, bug.request, read(folder / (bug.name + ".ptx")));
    ASSERT_TRUE(job.ok()) << job.error().sentence;
    sim::Options options;
    options.exact = false;
    Outcome<sim::Machine> machine = sim::Machine::load(*job, options);
    ASSERT_TRUE(machine.ok()) << machine.error().sentence;
    sim::Search search(std::move(*machine), {.runs = 500});
    ASSERT_EQ(search.advance(~std::uint64_t{0}), RunState::fault);
    EXPECT_EQ(search.found()->reports.back().kind, bug.kind);
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
