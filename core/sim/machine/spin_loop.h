// A loop of a thread that does nothing but ask the same again and again, until it is answered
// otherwise: whether a phase of an mbarrier is complete, or what is in a place of memory. How often
// it asks means nothing then.
//
// Followed as far as it is certain: what the answer, constants and registers that the loop leaves
// alone come to, and branches. Nothing that the loop does before it asks again may be known to who
// leaves it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/ptx/program.h"

namespace tilescope::sim {

// Does the instruction ask whether a phase is complete?
bool waits_for_phase(const ptx::Instruction& i);

class SpinLoop {
 public:
  // What a register holds that the loop does not write; none: it is not known.
  using Held = std::function<std::optional<std::uint64_t>(std::uint32_t reg)>;

  // `ask`: the instruction that is answered.
  SpinLoop(const ptx::Program& program, std::uint32_t ask, Held held = {});

  // Does the thread that is answered `again` come back to ask the same, so that one which is
  // answered `other` next does not find a trace of it?
  bool goes_round(std::uint64_t again, std::uint64_t other);

  // A load whose value a branch behind it may bring back to it.
  static bool may_be_one(const ptx::Program& program, std::uint32_t load);

 private:
  struct Way {
    bool back = false;              // it leads to where it is asked
    std::vector<std::uint32_t> at;  // instructions, as they are executed
    std::vector<std::pair<std::size_t, std::uint32_t>> written;  // which of these, registers
    std::vector<std::uint32_t> held;                             // registers that it found
  };
  Way follow(std::uint64_t answer);
  std::optional<std::uint64_t> value(std::uint32_t reg, Way& way) const;
  std::optional<std::uint64_t> value(const ptx::Operand& o, Way& way) const;
  bool execute(const ptx::Instruction& i, Way& way);
  bool is_read(std::uint32_t reg) const;

  const ptx::Program& program_;
  std::uint32_t ask_;
  Held held_;
  std::map<std::uint32_t, std::uint64_t> known_;
};

}  // namespace tilescope::sim
