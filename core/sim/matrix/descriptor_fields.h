// The bits of descriptors, field by field, with what each says: for people who write them by hand.
// What the whole means, and what is wrong with it, is for decode() of shared_matrix.h and
// tcgen05/instruction_descriptor.h to say, which the simulator runs by.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/sim/matrix/shared_matrix.h"
#include "core/sim/tcgen05/instruction_descriptor.h"

namespace tilescope::sim {

struct BitField {
  int low = 0, count = 0;  // the lowest bit, and how many
  std::string name;
  std::uint64_t value = 0;
  std::string meaning;
};

// Of the 64 bits of a shared-memory descriptor (PTX ISA 9.7.15.5.1.2.2 for wgmma, 9.7.16.4.1 for
// tcgen05), from bit 0 on; what is in no field is left out where it is 0.
std::vector<BitField> wgmma_matrix_fields(std::uint64_t bits);
std::vector<BitField> tcgen05_matrix_fields(std::uint64_t bits);

// Of the 32 bits of an instruction descriptor (9.7.16.4.2). Types have names of a kind each: with
// MmaKind::none those of all kinds of table 42.
std::vector<BitField> instruction_fields(std::uint32_t bits, MmaKind kind);

// What would come of another value in a field that wgmma_matrix_fields() or
// tcgen05_matrix_fields() gives, for the matrix that the descriptor says; and of an instruction
// descriptor's.
std::string otherwise(const BitField& field, const SharedMatrix& matrix);
std::string otherwise(const BitField& field);

std::string_view name_of(MmaKind kind);  // "f16", ..., "mxf4nvf4"; none: ""
std::string_view name_of(ElementType type);

// Where the matrix has its pieces, as an expression of the layout language for elements of so many
// bits (8, 16 or 32): (rows, elements along K) to elements from its address, rows by 8; of a tile
// of `rows` rows and `row_bytes` of K. Empty where it is none: an absolute leading address.
std::string layout_expression(const SharedMatrix& matrix, std::uint32_t rows,
                              std::uint32_t row_bytes, std::uint32_t element_bits);

}  // namespace tilescope::sim
