// A sample of the score by mutation, always the same: what is seen of it may only become more
// (floor.tsv). `./dev mutate` runs all.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/kernels/products.h"
#include "tests/mutate/score.h"

namespace tilescope {
namespace {

using namespace test;

const std::string folder = TILESCOPE_SOURCE_DIR "/tests/mutate/";

std::map<std::string, std::size_t> floors() {
  std::map<std::string, std::size_t> out;
  std::ifstream file(folder + "floor.tsv");
  for (std::string name; file >> name;) {
    if (name[0] == '#') {
      std::getline(file, name);
    } else {
      file >> out[name];
    }
  }
  return out;
}

// Changes of each kernel.
constexpr std::size_t count = 8;

TEST(MutationScore, OfASampleDoesNotFall) {
  std::string mistake;
  const std::vector<Rule> rules = read_rules(folder + "equivalent.tsv", mistake);
  ASSERT_EQ(mistake, "");
  Score score;
  std::string missed;
  for (const std::string& name : case_names()) {
    const Outcome<Case> c = case_named(name);
    ASSERT_TRUE(c.ok()) << name << ": " << c.error().sentence;
    std::vector<Mutant> mutants = sampled(*c, count, 1);
    try_all(*c, mutants, rules, 2);
    for (const Mutant& m : mutants) {
      score.add(m);
      EXPECT_NE(m.trial.verdict, Verdict::crashed)
          << name << ", " << m.change.kind << ", " << m.change.sentence << ": " << m.trial.sentence;
      if (m.missed() || m.trial.verdict == Verdict::endless)
        missed += fmt::format("{} {}, {}, {}\n", name_of(m.trial.verdict), name, m.change.kind,
                              m.change.sentence);
    }
  }
  const std::map<std::string, std::size_t> floor = floors();
  const std::map<std::string, std::size_t> now = {{"named", score.named},
                                                  {"seen", score.named + score.wrong},
                                                  {"blamed", score.here + score.near}};
  ASSERT_EQ(floor.size(), now.size()) << "floor.tsv says named, seen and blamed";
  for (const auto& [name, least] : floor) {
    ASSERT_TRUE(now.count(name)) << name;
    EXPECT_GE(now.at(name), least) << name << " of " << score.tried << "; nothing came of\n"
                                   << missed;
    if (now.at(name) > least)
      fmt::print("{} is {} now: floor.tsv may say so instead of {}\n", name, now.at(name), least);
  }
}

// A rule for what there is not is a mistake.
TEST(MutationScore, RulesAreOfChangesThatThereAre) {
  std::string mistake;
  const std::vector<Rule> rules = read_rules(folder + "equivalent.tsv", mistake);
  ASSERT_EQ(mistake, "");
  std::vector<bool> used(rules.size());
  for (const std::string& name : case_names()) {
    if (std::all_of(used.begin(), used.end(), [](bool each) { return each; })) break;
    const Outcome<Case> c = case_named(name);
    ASSERT_TRUE(c.ok()) << name << ": " << c.error().sentence;
    for (const Mutant& m : drawn(*c, 0, 0)) {
      for (std::size_t i = 0; i < rules.size(); ++i) used[i] = used[i] || rules[i].is_of(m);
    }
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    EXPECT_TRUE(used[i]) << rules[i].kind << " in " << rules[i].kernel << ", " << rules[i].places;
    EXPECT_FALSE(rules[i].reason.empty() || rules[i].source.empty()) << rules[i].kind;
  }
}

}  // namespace
}  // namespace tilescope
