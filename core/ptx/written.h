// Which global memory a program may write: by where the addresses of its stores come from.
//
// A register that holds a pointer holds something that came out of the parameters, out of memory,
// or is the address of a variable, however much is added to it. Whoever follows reads of global
// memory need not do so where no store can go.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ptx/program.h"

namespace tilescope::ptx {

struct WrittenMemory {
  bool anywhere = false;                  // some address comes out of memory, or a tensor map does
  bool by_any_parameter = false;          // by a pointer among the parameters, any of them
  bool by_any_map = false;                // by a tensor map, likewise
  std::vector<std::uint64_t> parameters;  // by the pointers there: byte offsets, ascending
  std::vector<std::uint64_t> maps;        // by tensor maps: there, or in the parameter there
  std::vector<std::uint64_t> addresses;   // of variables, ascending
};

WrittenMemory written_memory(const Program& program);

// Has it a strong store, an atomic or a fence whose scope is the whole system, in memory that
// others have too? With one a thread may hand over to the host what it wrote before, while the
// launch runs (PTX ISA 8.5, "Scope"; volatile is relaxed.sys, 8.4.2).
bool tells_system(const Program& program);

}  // namespace tilescope::ptx
