// What a register of a warp holds wherever it holds anything: of those that are computed from
// special registers, parameters and constants alone, by instructions that are the only ones to
// write what they write, or the last to do so before its use in a straight run of instructions. The
// index of a warp, "is it thread 0", the address of an mbarrier that is no element of an array are
// so; loop counters and what is loaded are not, and nothing is said of them.
//
// The instructions are executed again by their own handlers, on registers of their own: in the
// order of the program, in which places that registers share are free (core/ptx/lives.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/sim/machine/model.h"

namespace tilescope::sim {

class Derivation {
 public:
  explicit Derivation(Model& machine);

  const ptx::Program& program() const { return machine_.program(); }

  using Values = std::array<std::uint64_t, 32>;  // of each lane
  // Of a register; of an address, register and offset together; of a constant. Nothing: not so.
  // `at`: the instruction that reads it.
  std::optional<Values> value(Block& block, Warp& warp, const ptx::Operand& operand,
                              std::uint32_t at);
  // Lanes in which a predicate register is true, as if all of the warp executed what it comes from.
  std::optional<Mask> predicate(Block& block, Warp& warp, std::uint32_t reg, std::uint32_t at);
  // Lanes that take a guarded instruction: a branch, where it goes to its label.
  std::optional<Mask> guard(Block& block, Warp& warp, std::uint32_t pc);
  // "%p3 is false (setp.ne.s32 %p3, %r5, 1, PTX line 44, with %r5 = 2)": of the guard of an
  // instruction, as lanes of a warp have it. Where it is not derived, its name alone: "%p3".
  std::string guard_text(Block& block, Warp& warp, std::uint32_t pc, Mask lanes);

 private:
  struct Slice {
    bool pure = false;
    std::vector<std::uint32_t> code;  // instructions, in the order of the program
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t writer(std::uint32_t reg, std::uint32_t at) const;
  const Slice& slice(std::uint32_t writer);
  bool add(std::uint32_t writer, std::vector<std::uint32_t>& code, int depth);
  bool run(Block& block, Warp& warp, const Slice& slice);
  bool execute(Core& x, std::uint32_t pc);
  std::uint64_t lane_value(std::uint32_t reg, int lane) const;
  std::string source_of(std::uint32_t reg, std::uint32_t at) const;
  Core scratch_of(Block& block, Warp& warp);
  std::optional<Values> read(Block& block, Warp& warp, std::uint32_t reg, std::uint32_t at);

  Model& machine_;
  std::vector<std::vector<std::uint32_t>> writers_;  // of each register: instructions
  std::vector<std::uint32_t> positions_;             // of each instruction
  std::map<std::uint32_t, Slice> slices_;            // by the last instruction of each
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>,
           std::optional<Mask>>
      known_;
  std::vector<std::byte> registers_;
  std::vector<std::uint32_t> predicates_;
  const Warp* of_ = nullptr;  // whose these are
};

}  // namespace tilescope::sim
