// The score: which changes are tried, what their trials amount to, and which of those that nothing
// came of change nothing by PTX's own rules (equivalent.tsv).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/mutate/trial.h"

namespace tilescope::test {

// A line of equivalent.tsv: kind and kernel are patterns of the shell (fnmatch), places numbers
// among the changes of that kind in that kernel, "0,2", or "*".
struct Mutant;
struct Rule {
  std::string kind, kernel, places, reason, source;
  bool is_of(const Mutant& m) const;
};
// Empty, and a sentence in `mistake`, where the file is not what it should be.
std::vector<Rule> read_rules(const std::string& path, std::string& mistake);

// A change that is tried, and what came of it.
struct Mutant {
  std::string kernel;
  Mutation change;
  std::size_t place = 0;  // which of its kind in the kernel, from 0
  Trial trial;
  const Rule* rule = nullptr;  // why nothing comes of it; null: none says so
  bool missed() const;
};

// Of each kind up to `per_kind` places (0: all), drawn by the seed: the same each time, whatever
// else is drawn. `kind`: a pattern.
std::vector<Mutant> drawn(const Case& c, std::size_t per_kind, std::uint64_t seed,
                          const std::string& kind = "*");
// `count` of all changes of a kernel, each kind as often.
std::vector<Mutant> sampled(const Case& c, std::size_t count, std::uint64_t seed);
void try_all(const Case& c, std::vector<Mutant>& mutants, const std::vector<Rule>& rules,
             std::size_t jobs);

struct Score {
  std::size_t tried = 0, refused = 0, named = 0, wrong = 0, endless = 0, crashed = 0,
              equivalent = 0, noted = 0, missed = 0;
  std::size_t here = 0, near = 0;        // of `named`, with all lines that are told
  std::size_t at_here = 0, at_near = 0;  // with the line at which it is told alone
  void add(const Mutant& m);
  // Refused ones are none that a chip would run, equivalent ones do nothing.
  std::size_t effective() const { return tried - refused - equivalent; }
  double seen() const;    // of the effective ones: named, or a wrong result; 0 to 1
  double blamed() const;  // of the named ones: on the changed line or next to it
};

std::string table(const std::vector<Mutant>& mutants, const std::string& by);
// A line for each, with a head.
std::string tsv(const std::vector<Mutant>& mutants);

}  // namespace tilescope::test
