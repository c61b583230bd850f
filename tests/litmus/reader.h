// A litmus test in one text file: a few threads, what they execute as PTX, which outcomes PTX
// allows, and whether there is a data race. The format is described in README.md beside this.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.h"

namespace tilescope::litmus {

// A variable of 16 bytes, of which the first 4 are observed: bulk copies move all of them.
inline constexpr std::uint32_t variable_bytes = 16;

struct Variable {
  enum class Kind : std::uint8_t { global, shared, mbarrier };
  std::string name;
  Kind kind = Kind::global;
  int cta = 0;                // whose shared memory it is in
  std::uint32_t initial = 0;  // of an mbarrier: its count; 0: the test initialises it itself
};

struct Operand {
  enum class Kind : std::uint8_t { number, reg, address };
  Kind kind = Kind::number;
  std::uint32_t value = 0;  // the number; or which register; or which variable
};

struct Instruction {
  std::string opcode;              // "st.release.gpu.u32"
  std::vector<std::string> parts;  // "st", "release", "gpu", "u32"
  std::vector<Operand> operands;   // without a `_` for no result
  // Executed only if register `first` has the value `second`.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> only_if;
  int line = 0;
  bool has(std::string_view part) const;
  // Begins with these parts: is("cp.async.bulk").
  bool is(std::string_view begin) const;
};

struct Thread {
  std::string name;
  int cta = 0;
  std::uint32_t registers = 0;  // r0 up to this one
  std::vector<Instruction> instructions;
};

// What an outcome consists of: a register at the end of its thread, or memory at the end of all.
struct Observed {
  int thread = -1;  // negative: memory
  std::uint32_t index = 0;
};

struct Place {
  int thread = 0, instruction = 0;
  auto operator<=>(const Place&) const = default;
};
struct Race {
  std::string variable;
  Place first, second;  // first < second
  bool operator<(const Race& o) const {
    return std::tie(variable, first, second) < std::tie(o.variable, o.first, o.second);
  }
  bool operator==(const Race& o) const { return !(*this < o) && !(o < *this); }
};

using Values = std::vector<std::uint32_t>;  // of what is observed, in its order

struct Test {
  std::string name;     // of the file, without .litmus
  std::string comment;  // the lines before the first one that is not a comment
  int cluster = 1;      // CTAs of a cluster; CTA c belongs to cluster c / cluster
  bool on_chip = true;  // false: a chip is not asked, as the file says why
  std::vector<Variable> variables;
  std::vector<Thread> threads;
  std::vector<Observed> observed;
  std::set<Values> allowed, forbidden;
  std::set<Race> races;

  int ctas() const;
  int threads_of(int cta) const;
  int find(std::string_view variable) const;  // -1: there is none
};

// Names file, line, and what is wrong with it.
Outcome<Test> read_test(std::string_view text, std::string name);
Outcome<Test> read_file(const std::string& path);
// All tests of tests/litmus/files, sorted.
std::vector<std::string> files_in(const std::string& folder);

std::string text(const Test& test, const Values& values);  // "P1.r0=1 P1.r1=0"
std::string text(const Test& test, const Race& race);      // "x between P0:0 and P1:1"

}  // namespace tilescope::litmus
