// A tcgen05.mma as an operation in flight: what its words mean, what it touches, what happens at
// its moments.
#pragma once

#include <optional>
#include <vector>

#include "core/sim/async/operation.h"
#include "core/sim/tcgen05/metadata.h"
#include "core/sim/tcgen05/product.h"
#include "core/sim/tcgen05/scales.h"
#include "core/sim/tcgen05/unit.h"
#include "core/sim/tcgen05/zero_columns.h"

namespace tilescope::sim {

struct Multiplication {
  Product product;  // of a pair: the part of one of its blocks; that of the other is alike, but for
  std::uint64_t odd_disabled[2] = {};  // the lanes that are not written in the odd one
  bool pair = false;
  std::uint32_t a_rows = 0, b_rows = 0;  // in one block's shared memory
  bool a_in_tensor_memory = false;
  TensorAddress a_cells;  // where A is in TMEM
  SharedMatrix a, b;
  ZeroColumns zero_columns;         // of .ws
  ScaleFactors a_scales, b_scales;  // of .block_scale; those of one block
  SparseMetadata metadata;          // of .sp
  bool shifts = false;              // A's rows in TMEM, behind the product (.ashift)

  // Rows of B that are read: where it is shifted some more, which are dropped again.
  std::uint32_t b_lines() const;
  std::vector<CellRange> d_range() const;
  std::vector<CellRange> a_range() const;        // empty where A is in shared memory
  std::vector<CellRange> read_range() const;     // A's, those of the scale factors and metadata
  std::vector<CellRange> written_range() const;  // D's, and A's where its rows are shifted
  // What A's or B's bytes in shared memory are read as: elements, or bytes with two in each.
  ElementType stored(ElementType type) const;
};

// What the instruction asked for, as the words of its AsyncOperation.
struct MultiplicationWords {
  std::uint32_t d = 0, instruction = 0;
  std::uint64_t a = 0, b = 0;  // descriptors; a may be an address of TMEM
  MmaForm form;
  bool a_in_tensor_memory = false, accumulate = false, shifts = false;
  std::uint8_t scale = 0;
  std::uint64_t disabled[4] = {};  // of a pair: the even block's lanes, then the odd one's
  std::uint64_t zero_columns = 0;  // the mask's descriptor, of .ws
  std::uint32_t a_scales = 0, b_scales = 0;  // of .block_scale: where the factors are
  std::uint32_t metadata = 0;                // of .sp

  void pack(AsyncOperation& operation) const;
  static MultiplicationWords of(const AsyncOperation& operation);
};
std::optional<DescriptorError> decode(const MultiplicationWords& words, Multiplication& out);

// A product of a pair is in flight in the block that issued it, and guards what it uses of the
// other one: a guard has the same words.
extern const Work multiplication_work, multiplication_guard, commit_work;
bool is_multiplication(const AsyncOperation& operation);  // or a guard

}  // namespace tilescope::sim
