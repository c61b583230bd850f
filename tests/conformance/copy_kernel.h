// Kernels around what goes on while its thread does: cp.async and its groups, bulk copies and
// reductions, st.async, red.async, and the fences that the async proxy needs. Each lane copies into
// or out of its own 32 bytes, waits as PTX says that one has to, and tells what lies there then.
// Where an instruction reaches another block's shared memory, it does so in a cluster of two.
#pragma once

#include <optional>

#include "tests/conformance/kernel.h"

namespace tilescope::conformance {

// cp, st.async, red.async, fence.proxy.async, fence.mbarrier_init, membar.proxy.async; tensor
// copies are tried by `conformance copies`.
std::optional<Kernel> copy_kernel_for(const Spelling& spelling);

// What a variant of cp.async is: how many bytes, and what says that fewer are read.
struct CopyVariant {
  enum class Less { no, constant, number, ignored } less = Less::no;
  std::uint32_t bytes = 16;
};
CopyVariant copy_variant(std::uint32_t constant);
// All variants of a spelling of cp.
std::vector<std::uint32_t> copy_variants(const ptx::Modifiers& modifiers);

}  // namespace tilescope::conformance
