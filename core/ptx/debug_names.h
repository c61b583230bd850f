// Names of source variables, where a PTX file has them: in the DWARF of its sections .debug_info,
// .debug_abbrev and .debug_loc (PTX ISA 11.5.3), as nvcc -G writes it. -lineinfo writes lines
// alone, and so do Triton and LLVM without full debugging.
//
// A variable is in a register, whose name is spelled in the location itself (DW_OP_regx with the
// letters of "%f1" as a number: seen in nvcc 13.0 and LLVM's NVPTX); at an offset of the function's
// local memory (its depot); or it is a parameter. Where it is may change from line to line.
//
// What is understood is DWARF 2 to 4. All reading is bounded by the bytes that are there; what is
// broken ends the reading with a sentence, and what was read until then stays.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/module.h"

namespace tilescope::ptx {

struct DebugVariable {
  // Where it is before the instructions of PTX lines [from, to), lines as Instruction::line.
  struct Place {
    enum class Of : std::uint8_t { reg, local, parameter };
    Of of = Of::reg;
    std::string name;          // "%f1", "__local_depot1" (empty: of the function), "names_param_0"
    std::uint64_t offset = 0;  // of local: bytes from there
    std::uint32_t from = 0, to = ~std::uint32_t{0};
  };
  std::string name;            // "index"
  std::string type;            // "int", "const float*", "Pair"; empty: not known
  std::uint64_t bytes = 0;     // 0: not known
  std::uint64_t elements = 1;  // of an array, whose elements are of this kind
  // How a scalar's bits are read; other: a struct, not known.
  enum class Kind : std::uint8_t { other, integer, natural, floating, boolean, pointer };
  Kind kind = Kind::other;
  std::uint32_t line = 0;  // of the source; 0: not known
  std::string function;    // as the PTX spells it; empty: outside of functions
  std::uint32_t from = 0, to = ~std::uint32_t{0};  // its scope: PTX lines [from, to)
  std::vector<Place> places;

  // The one in force before an instruction of this PTX line; null: none is.
  const Place* at(std::uint32_t ptx_line) const;
};

struct DebugNames {
  std::vector<DebugVariable> variables;
  std::string wrong;  // what ended the reading; empty: nothing did
  bool empty() const { return variables.empty(); }
};

// Of all files of a module.
DebugNames debug_names(const Module& module);

}  // namespace tilescope::ptx
