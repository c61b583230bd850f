// The worst elements of a comparison by an error of choice, for tables.
#pragma once

#include <cstddef>
#include <vector>

#include "core/diff/diff.h"
#include "core/diff/measured.h"

namespace tilescope {

// At most so many wrong elements, the worst first, ties in row-major order. By a value (got, want)
// and by the signed difference: the largest absolute errors. The tensors must be fit for
// Differ::start. Writers are not filled in.
std::vector<Mismatch> worst(const Buffer& got, const Buffer& want, const DiffOptions& options,
                            Measured by, std::size_t most);

}  // namespace tilescope
