// What an operation that is issued will read and write, as the record keeps it.
#pragma once

#include <vector>

#include "core/record/memory_use.h"
#include "core/sim/tcgen05/tensor_memory.h"

namespace tilescope::sim {

class Model;
struct AsyncOperation;
struct Block;
struct Copy;

// `buffers`: those of the record; one without rows takes those of the tensor map that copies from
// it.
std::vector<MemoryUse> uses_by(Model& model, const Block& block, const AsyncOperation& operation,
                               std::vector<RecordedBuffer>& buffers);

// By a cp.async of a warp: a part of each buffer that its lanes read, then the bytes of shared
// memory that they write.
std::vector<MemoryUse> uses_by(Model& model, const Block& block, const Copy& copy,
                               const std::vector<RecordedBuffer>& buffers);

// Cells of the TMEM of the CTA of this rank.
MemoryUse use_of_cells(const CellRange& cells, std::uint32_t rank, bool writes);

}  // namespace tilescope::sim
