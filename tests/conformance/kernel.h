// A kernel around one instruction: each lane loads its operands, executes it, stores what it wrote.
//
//   operands   8 bytes each at  in + (operand * lanes + lane) * 8
//   results    8 bytes each at  out + (result * lanes + lane) * 8, zero-extended; a predicate is
//              0 or 1
//   memory     slot_bytes a lane, for instructions that have an address: the lane's own place, in
//              the state space of the instruction. What it holds before and after is told.
//
// Blocks of 128 threads; all lanes take part.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/run/job.h"
#include "tests/conformance/operands.h"
#include "tests/conformance/spellings.h"

namespace tilescope::conformance {

constexpr std::uint32_t slot_bytes = 32;

struct Kernel {
  std::string key;
  std::string ptx;
  std::vector<Source> operands;
  std::vector<ptx::Type> results;
  std::vector<ptx::Type> memory;  // the elements of a slot; empty: no address

  Job job() const;
  // Of one lane, after a run: the results, then the elements of its slot.
  std::vector<std::uint64_t> values(const std::vector<Buffer>& buffers, std::uint32_t lane) const;
  // Bytes of each of values(): 1 for predicates.
  std::vector<int> widths() const;
};

// The kernel for a spelling; nothing where there is no generator for this opcode or form.
std::optional<Kernel> kernel_for(const Spelling& spelling);

}  // namespace tilescope::conformance
