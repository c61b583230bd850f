// How many registers a chip's code of an entry takes: an estimate. Only ptxas knows, which orders
// instructions anew and keeps what is cheap to have again nowhere; what follows is how many words
// are alive together at most in the order of the PTX, without what code finds in constant memory or
// in uniform registers: parameters, constants, and what is computed of these and of the block's
// coordinates alone.
//
// How far off that is: of 101 kernels (those of assets/ptx and of ten of NVIDIA's samples, against
// ptxas 13.0) half are within 13 %, nine of ten within 30 %; in multiples of 8, in which a chip
// gives them out, 63 % are the same and 90 % at most one more or less.
#pragma once

#include <cstdint>

#include "core/ptx/program.h"

namespace tilescope::ptx {

// Registers of 32 bits of one thread, as ptxas would tell them (`-v`), within what .maxnreg,
// .reqntid and .maxntid with .minnctapersm allow (PTX ISA 11.4). With calls: of the deepest
// nesting.
std::uint32_t estimated_registers(const Program& program);

// Of an SM 65,536 (CUDA C++ Programming Guide, "Compute Capabilities"), given to warps in pieces of
// 256: of a thread a multiple of 8.
constexpr std::uint32_t registers_of_sm = 65536, most_registers = 255;
constexpr std::uint32_t given_registers(std::uint32_t used) {
  return (used + 7) / 8 * 8;
}

}  // namespace tilescope::ptx
