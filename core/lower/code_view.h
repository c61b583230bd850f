// One kernel's code with its addresses, as the files of core/lower/code.h share it. Inside
// core/lower.
#pragma once

#include <string>
#include <vector>

#include "core/lower/code.h"
#include "core/ptx/addresses.h"
#include "core/ptx/slice_run.h"

namespace tilescope::lowering {

class CodeView {
 public:
  CodeView(const Lowering& lowering, const Code& code);

  const Lowering& l;
  const Code& code;
  ptx::Addresses addresses;
  std::array<std::uint32_t, 3> threads{};  // of a block that is tried
  std::vector<Filling> fillings;           // at least one
  std::int64_t element = 1;                // bytes of one of the layout's
  std::uint32_t partitioned = 0;           // threads of the layout's partition; 0: it has none
  std::vector<std::uint64_t> rounds;       // blocks of the loops that addresses count

  const ptx::Program& program() const { return *code.program; }
  std::string parameter(std::uint64_t offset) const;  // "A", "param_0+8"
  std::string sum(const ptx::Sum& sum) const;
  // A sum of bytes in elements of so many: "A + (...) * 4 bytes".
  std::string address(const ptx::Sum& sum, std::uint32_t bytes) const;
  std::string place(const ptx::Instruction& i) const;  // "elementwise_add.cu:165", "line 37"
  std::string words(const ptx::Instruction& i) const;  // its text on one line
  // Where pointers are in .param.
  std::vector<std::uint64_t> pointers() const;
  // A thread of a block with a filling's numbers; pointers lie far from each other.
  ptx::ThreadNumbers numbers(const Filling& filling, std::uint64_t thread, std::uint64_t block,
                             std::uint32_t round, std::uint64_t seed) const;
  std::uint64_t base(std::uint64_t pointer) const;
  std::uint64_t thread_count() const;

 private:
  void find_rounds();
  std::string name(const ptx::Atom& atom) const;
};

bool comparable(const Lowering& lowering);  // it answers a tensor of a thread or a block

void compare_sums(CodeView& view, Lowered& out);
void compare_layout(CodeView& view, Lowered& out);
// What each statement of the level came from, by what they come to.
struct Kinship {
  std::map<std::uint32_t, std::vector<int>> from;  // by instruction
};
Kinship kinship(CodeView& view, const std::vector<std::uint32_t>& slice);

}  // namespace tilescope::lowering
