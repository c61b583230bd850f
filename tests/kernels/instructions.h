// The instructions of a PTX entry that synchronise or move data, with where they stand: what
// changes of a text (mutator.h, tests/mutate) are made of. Read line by line, one instruction each,
// as compilers and our programs write them; a wait in a loop (try_wait and the branch back to it)
// is one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tilescope::test {

inline bool begins(const std::string& s, const std::string& with) {
  return s.rfind(with, 0) == 0;
}
inline bool has(const std::string& s, const std::string& part) {
  return s.find(part) != std::string::npos;
}
std::string trimmed(const std::string& s);

struct Instruction {
  std::size_t at = 0;  // its line, from 0
  std::size_t first = 0,
              last = 0;  // with what belongs to it: its block of inline assembly, its loop
  std::size_t back = 0;  // the branch back to a wait; 0: none
  std::string guard, opcode, rest;  // "@p ", "mbarrier.init.shared.b64", "[full], 1;"
  std::string name;                 // what kinds call it: "mbarrier.init"
  std::size_t straight = 0;         // the same for those that no label and no branch parts
};

struct EntryText {
  std::vector<Instruction> instructions;
  std::size_t begin = 0, end = 0;  // of the entry: lines
};

// `entry`: its name; empty: the first. `names`: the instructions that are meant, longer names
// before those that they begin with.
EntryText read_entry(const std::vector<std::string>& lines, const std::string& entry,
                     const std::vector<std::string>& names);

std::vector<std::string> lines_of(const std::string& text);

// "mbarrier.init [%r1], 1": its name, with the operands where they are plain.
std::string called(const Instruction& x);
// The last operand of "[full], 1;", and in `before` what stands before it.
std::string last_operand(const std::string& rest, std::string& before);
// `rest` with `by` added to the place in bracket number `n`, counted from 0; empty: it has no such
// bracket, or not a plain place in it.
std::string displaced(const std::string& rest, std::size_t n, int by);

}  // namespace tilescope::test
