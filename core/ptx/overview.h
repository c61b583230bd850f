// What an entry is made of, as far as its text shows: for whoever wants to know it without a
// launch.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/ptx/program.h"

namespace tilescope::ptx {

// Instructions of one kind: "TMA loads", "wgmma".
struct Family {
  std::string_view name;
  std::uint32_t count = 0;
};

// What a parameter, or 8 bytes in one, is used for.
struct ParameterUse {
  enum class Kind : std::uint8_t { value, pointer, tensor_map, structure } kind = Kind::value;
  Type element = Type::none;  // of a pointer: what is loaded or stored there, as far as it is seen
  // Of a structure: its pointers, by their offset in it.
  struct Pointer {
    std::uint32_t offset = 0;
    Type element = Type::none;
  };
  std::vector<Pointer> pointers;
  std::vector<std::uint32_t> maps;  // and its tensor maps
};

struct Overview {
  std::vector<Family> families;          // those that there are, in a fixed order
  std::vector<ParameterUse> parameters;  // of Program::entry, in order
  std::uint32_t mbarriers = 0;           // mbarrier.init instructions
  std::uint32_t registers = 0;  // as the text declares them, in the entry and what it calls
  std::vector<int> chips;       // that have all of its instructions (chips_with)
};

// Of a program that was examined or decoded.
Overview overview_of(const Program& program);

}  // namespace tilescope::ptx
