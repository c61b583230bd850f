// Where the sums go that warpgroups hold in registers: which element of the output each element of
// a wgmma.mma_async's accumulator is.
//
// Exact, by what its last product read of shared memory: TMA says of which rows of which tensors
// those bytes are, and the names of the kernel's sizes which of them number the rows of the output
// and which its columns (A (m, k), B (n, k) or (k, n), D (m, n)); where they are not named, the
// extents do. A in registers is followed there from where it was loaded (core/sim/wgmma/rows.h).
// Nothing is said where other than TMA brought the operands into shared memory, where A has been
// calculated, and before the first product of new sums has written them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/sim/stepping/inspect.h"
#include "viz/matrix/matrices_view.h"

namespace tilescope {

struct LiveRun;

// The buffer that the kernel writes as a matrix, the first of them. Nothing: there is none.
std::optional<std::size_t> output_buffer(const sim::Machine& machine);

struct AccumulatorPlace {
  std::size_t output = 0;  // the buffer
  // Of each row and column of the accumulator the row and column of the output; -1: not known, or
  // outside of it.
  std::vector<std::int64_t> rows, columns;
  bool turned = false;  // its rows are the output's columns

  std::optional<Element> element(std::uint32_t row, std::uint32_t column) const;
};
// `inputs`: what is known of how the matrices belong together; null: nothing.
std::optional<AccumulatorPlace> place_of(const sim::Machine& machine, const MatricesView* inputs,
                                         const sim::GroupAccumulator& accumulator);

// "D [130, 7]", the element of the output that one of an accumulator goes to; and all of it,
// "D [128:192, 0:256]". Empty: not known.
std::string output_element(const sim::Machine& machine, const AccumulatorPlace& place,
                           std::uint32_t row, std::uint32_t column);
std::string output_extent(const sim::Machine& machine, const AccumulatorPlace& place);

// The sums of a block's warpgroups for the elements of the output that nobody has written. Null:
// there are none, or it is not known where they go.
std::shared_ptr<const RegisterSums> register_sums(const LiveRun& run, std::uint64_t block,
                                                  const MatricesView* inputs, std::size_t output);

}  // namespace tilescope
