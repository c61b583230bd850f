// The score by mutation: `./dev mutate`. Not a test: all of it takes an hour; score_test.cpp runs a
// sample.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/mutate/legal.h"
#include "tests/mutate/score.h"

namespace {

using namespace tilescope;
using namespace tilescope::test;

constexpr const char* usage =
    "usage: ./dev mutate [KERNEL...] [--per-kind N] [--kind PATTERN] [--seed N] [--jobs N] [--out "
    "FOLDER]\n\n"
    "Changes right kernels, one instruction at a time, and says what the simulator makes of it.\n\n"
    "  KERNEL        hgemm_v1 and so on; none: all\n"
    "  --per-kind N  of each kind of change in each kernel up to N places (default 3; 0: all)\n"
    "  --kind P      only kinds that this pattern of the shell matches: 'drop *'\n"
    "  --seed N      which places are drawn (default 0)\n"
    "  --jobs N      processes at a time (default 1)\n"
    "  --out FOLDER  where every change is written, a table for each kernel (default out/mutate)\n"
    "  --legal       instead: what is written otherwise and as right, of which nothing may be "
    "told\n"
    "  --list        the kernels, with their number of kinds and places\n";

struct Asked {
  std::vector<std::string> kernels;
  std::string kind = "*", out = "out/mutate";
  std::size_t per_kind = 3, jobs = 1;
  std::uint64_t seed = 0;
  bool list = false, legal = false;
};

int refuse(const std::string& sentence) {
  fmt::print(stderr, "mutate: {}\n", sentence);
  return 2;
}

bool number(const char* text, std::uint64_t& out) {
  char* end = nullptr;
  out = std::strtoull(text, &end, 10);
  return *text && !*end && *text != '-';
}

// Empty, or what is wrong.
std::string read(int count, char** words, Asked& asked) {
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--list") {
      asked.list = true;
      continue;
    }
    if (word == "--legal") {
      asked.legal = true;
      continue;
    }
    if (word.rfind("--", 0) != 0) {
      if (std::find(case_names().begin(), case_names().end(), word) == case_names().end())
        return fmt::format("there is no kernel '{}'; --list shows those that there are", word);
      asked.kernels.push_back(word);
      continue;
    }
    if (i + 1 == count) return word + " needs a value, or is not known; --help lists the options";
    const char* value = words[++i];
    std::uint64_t n = 0;
    if (word == "--kind") {
      asked.kind = value;
    } else if (word == "--out") {
      asked.out = value;
    } else if (!number(value, n)) {
      return fmt::format("{} {}: not a number, or an option that is not known", word, value);
    } else if (word == "--per-kind") {
      asked.per_kind = n;
    } else if (word == "--seed") {
      asked.seed = n;
    } else if (word == "--jobs") {
      asked.jobs = std::max<std::size_t>(n, 1);
    } else {
      return fmt::format("there is no option {}; --help lists them", word);
    }
  }
  if (asked.kernels.empty()) asked.kernels = case_names();
  return "";
}

// Answers how many are accused or wrong.
std::size_t try_legal(const Case& c, const Asked& asked) {
  const std::vector<Mutation> variants = legal_variants(c);
  std::vector<const Mutation*> changes;
  for (const Mutation& m : variants) changes.push_back(&m);
  const std::vector<Trial> trials =
      try_apart(c, changes, tried_orders(), asked.jobs, long_patience);
  std::size_t bad = 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial& t = trials[i];
    if (t.verdict == Verdict::unchanged || t.verdict == Verdict::idle ||
        t.verdict == Verdict::noted)
      continue;
    ++bad;
    fmt::print("{}, {}: {} {}: {} at PTX line {}: {}\n", c.name, variants[i].kind,
               name_of(t.verdict), t.order, t.report, t.line, t.sentence);
  }
  fmt::print("{}: {} variants, {} accused or wrong\n", c.name, variants.size(), bad);
  std::fflush(stdout);
  return bad;
}

void write(const std::string& folder, const std::string& name, const std::string& text) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/" + name + ".tsv") << text;
}

}  // namespace

int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    if (std::string(words[i]) == "--help") return std::fputs(usage, stdout), 0;
  }
  Asked asked;
  if (const std::string wrong = read(count, words, asked); !wrong.empty()) return refuse(wrong);
  std::string mistake;
  const std::vector<Rule> rules =
      read_rules(TILESCOPE_SOURCE_DIR "/tests/mutate/equivalent.tsv", mistake);
  if (!mistake.empty()) return refuse(mistake);
  std::vector<Mutant> all;
  std::size_t accused = 0;
  for (const std::string& kernel : asked.kernels) {
    const Outcome<Case> c = case_named(kernel);
    if (!c) return refuse(kernel + ": " + c.error().where + " " + c.error().sentence);
    if (asked.legal) {
      accused += try_legal(*c, asked);
      continue;
    }
    std::vector<Mutant> mutants = drawn(*c, asked.per_kind, asked.seed, asked.kind);
    if (asked.list) {
      fmt::print("{}: {} kinds, {} places, {} instructions\n", kernel, drawn(*c, 1, 0).size(),
                 c->changes.size(), c->instructions);
      continue;
    }
    fmt::print(stderr, "{}: {} changes\n", kernel, mutants.size());
    try_all(*c, mutants, rules, asked.jobs);
    write(asked.out, kernel, tsv(mutants));
    all.insert(all.end(), mutants.begin(), mutants.end());
  }
  if (asked.list) return 0;
  if (asked.legal) return accused ? 1 : 0;
  fmt::print("{}\n{}", table(all, "kind"), table(all, "kernel"));
  Score score;
  for (const Mutant& m : all) score.add(m);
  fmt::print(
      "\nOf {} changes {} are none that PTX has and {} change nothing. Of the other {}: {} named, "
      "{} "
      "only wrong, {} endless, {} only noted, {} missed, {} crashed; named or wrong {:.2f}%.\n"
      "Of the {} named, the change is told at {}, next to {}: {:.1f}%; by the first line alone at "
      "{}, "
      "next to {}.\nEach is in {}/.\n",
      score.tried, score.refused, score.equivalent, score.effective(), score.named, score.wrong,
      score.endless, score.noted, score.missed, score.crashed, 100 * score.seen(), score.named,
      score.here, score.near, 100 * score.blamed(), score.at_here, score.at_near, asked.out);
  return 0;
}
