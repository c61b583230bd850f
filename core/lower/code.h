// Below the levels of CuTeDSL: the PTX of a kernel, as far as it computes addresses.
//
// The instructions are walked back from each access to global memory (core/ptx/addresses.h), so
// what is shown is what a compiler left, and nothing is guessed. What became of what is found by
// value: an instruction came from the statement of the level above that comes to the same number,
// or to so many bytes for its elements, for every thread, block and choice of the unknown numbers
// that was tried; and from what it is on the way to.
//
// Two ways lead to the bytes of a thread: the instructions, run one by one, and the layout. They
// are compared for every thread, and so are the sums that are shown with the instructions.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/lower/lowering.h"
#include "core/ptx/program.h"

namespace tilescope::lowering {

// A choice of numbers: of the layout's unknown ones, and of what the kernel is called with.
struct Filling {
  std::vector<std::int64_t> unknowns;                 // shape, then stride
  std::map<std::uint64_t, std::uint64_t> parameters;  // by offset in .param; pointers left out
  std::array<std::uint32_t, 3> blocks{1, 1, 1};
};

struct Code {
  std::shared_ptr<const ptx::Program> program;
  std::vector<std::string> names;          // of its parameters, in order; empty: param_0 and so on
  std::array<std::uint32_t, 3> threads{};  // of a block; 0: as the PTX says
  std::vector<Filling> fillings;           // none: numbers that fit the struct of the levels above
  // A line of a source file that .loc names; empty where the file is not there.
  std::function<std::string(std::string_view file, std::uint32_t line)> source{};
};

// Accesses whose addresses differ by what is the same for all threads and blocks.
struct CodeAddress {
  std::string base;                // "A": the pointer, or the tensor map; empty: it has none
  std::string what;                // "20 loads of 4 or 16 bytes"
  std::string sum;                 // "A + ((tid mod 32) * 4 + (tid / 32) * n * 4) * 4 bytes"
  std::vector<std::string> more;   // what each of them adds to that, in bytes
  std::vector<std::string> lines;  // "elementwise_add.cu:129"
};

// What an address is made of, and where.
struct CodePart {
  std::string name;                // "the thread's offset"
  std::vector<std::string> lines;  // of the source; of PTX where there is none
  int instructions = 0;
};

struct Lowered {
  std::vector<CodeAddress> addresses;
  std::vector<CodePart> parts;
  std::vector<std::string> loops;  // "round counts how often the loop at matmul.cu:87 has ..."
  std::vector<std::string> found;  // of each pointer, whether it has the layout's bytes
  bool compared = false;           // with the layout
  bool agrees = true;              // and it has them
  std::string sums;                // whether sums and instructions come to the same
  bool sums_agree = true;
};

// Unknown numbers that a choice has to give: those of the tensor's layout.
int unknown_numbers(const Lowering& lowering);

// Adds the level. A lowering without levels gets it alone, and nothing is compared.
Outcome<Lowered> lower_to(Lowering& lowering, const Code& code);
// Addresses, parts, loops and findings, as a page.
std::string page(const Lowered& lowered);

}  // namespace tilescope::lowering
