// What kernels of more than one instruction are written with: registers, operands, results, lines.
//
// A lane finds in %thread its number in the block (of 128), in %lane that in the grid, in %slot the
// address of 32 bytes of shared memory that are its own, where the kernel has such (own_slots), in
// %memory that of its 32 bytes of global memory.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "tests/conformance/kernel.h"

namespace tilescope::conformance {

class KernelText {
 public:
  explicit KernelText(const Spelling& spelling)
      : spelling_(spelling), drawn_(mix(hash_of(spelling.key()))) {
    kernel_.key = spelling.key();
  }

  const Spelling& spelling() const { return spelling_; }
  const ptx::Modifiers& modifiers() const { return spelling_.modifiers; }
  std::uint32_t variant() const { return spelling_.constant.value_or(0); }
  // 0 to count - 1, by the spelling's key.
  std::uint32_t draw(std::uint32_t count);

  std::string fresh(ptx::Type type);  // a register
  std::string label();
  template <class... Args>
  void say(fmt::format_string<Args...> line, Args&&... args) {
    body_ += "  " + fmt::format(line, std::forward<Args>(args)...) + ";\n";
  }
  // With the instruction that is tried, and its operands.
  void tried(const std::string& operands, const std::string& guard = "");
  void place(const std::string& label) { body_ += label + ":\n"; }

  // A register that is loaded with the next operand; one with a number from `least` on, of `count`
  // (a power of two), which the operand says.
  std::string read(ptx::Type type, Use use = Use::number);
  std::string number(std::uint32_t least, std::uint32_t count);
  // Stores a register as the next result; predicates as 0 or 1.
  void write(const std::string& name, ptx::Type type);

  // Declares 128 slots in shared memory; fills the lane's own with four operands; stores it as four
  // results.
  void own_slots();
  void fill_slot();
  void write_slot();
  // What the 32 bytes of global memory hold, before and after.
  void tell_memory(ptx::Type type, std::uint32_t count);
  // %policy: how a cache is to treat an access.
  void make_policy();
  // A predicate that is true from the moment on that `condition` says so (it writes %done).
  void spin(const std::string& condition);
  // All blocks of the cluster meet.
  void meet_cluster();

  void module(const std::string& text) { module_ += text; }
  void parameter(const std::string& text) { parameters_ += ", " + text; }
  void directive(const std::string& text) { directives_ += text + "\n"; }
  void cluster(std::uint32_t blocks);
  void variable(const std::string& text) { declared_ += "  " + text + ";\n"; }

  Kernel take();

 private:
  const Spelling& spelling_;
  std::uint64_t drawn_;
  Kernel kernel_;
  std::string module_, parameters_, directives_, declared_, body_;
  int registers_ = 0, labels_ = 0;
};

// Whether an sm_90a has the instruction: the PTX that is made here is for it.
bool on_this_chip(const Spelling& spelling, std::size_t operands);

}  // namespace tilescope::conformance
