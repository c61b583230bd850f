// Two records side by side: where the time went, of one and of the other.
#pragma once

#include <string>
#include <vector>

#include "core/profile/statistics.h"

namespace tilescope::sim {

// One figure of both, in the unit that its table says.
struct Pair {
  std::string name;
  double a = 0, b = 0;
  double change() const { return b - a; }
};

// The same thing in both, with what it is made of. What only one of them has is 0 in the other.
struct PairTable {
  std::string name;
  std::vector<Pair> rows;
};

struct LinePair {
  // Of each: its place ("mma.cu:41", "PTX line 8"), and nothing where the other alone has the line.
  std::string a, b;
  std::string ptx;
  double a_stalls = 0, b_stalls = 0;  // cycles of warps
  double a_issued = 0, b_issued = 0;
  double change() const { return b_stalls - a_stalls; }
};

struct Difference {
  Statistics a, b;
  bool known_time = false;  // of both
  double ratio = 0;         // b's time over a's

  // Cycles: of one copy of each unit; of a warp of each role, by what it did; of stalls by cause,
  // all warps together. And bytes by level, wavefronts, sectors.
  std::vector<Pair> pipes;
  std::vector<PairTable> roles;
  std::vector<Pair> stalls, traffic;
  std::vector<LinePair> lines;  // the largest change first

  // One or two sentences: by how much the times differ, and by what most of all.
  std::string verdict;
};

// Lines are matched by file and line, and what is left by the PTX with its registers' numbers left
// out.
Difference difference_of(Statistics a, Statistics b);

std::string text(const Difference& difference, std::size_t lines = 10);

}  // namespace tilescope::sim
