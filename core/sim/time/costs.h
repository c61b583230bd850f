// What each instruction of a program costs a warp on a chip: how many instructions the assembler
// makes of it, which of the scheduler's pipes these take and for how long, when their result is
// there, and which registers they wait for.
//
// PTX is not what a chip executes. Moves between registers, parameters (which are in a constant
// bank) and conversions of addresses cost nothing; 64-bit integers cost two instructions or more;
// divisions are short programs. The numbers follow what cuobjdump shows of CUDA 13's ptxas for
// sm_90a; the table is in costs.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ptx/program.h"
#include "core/record/record.h"
#include "core/run/product_type.h"

namespace tilescope::sim {

// The parts of a scheduler that execute, and what else an instruction goes through.
enum class Lanes : std::uint8_t {
  none,
  integer,
  floating,
  half,
  wide,
  special,
  conversion,
  matrix,
  count_
};

struct Cost {
  enum class Kind : std::uint8_t {
    plain,          // of fixed latency
    access,         // ld, st, atom, red: of any space but parameters
    fragments,      // ldmatrix, stmatrix
    matrix,         // wmma.load, wmma.store
    copy,           // cp.async
    copies_commit,  // cp.async.commit_group
    copies_wait,    // cp.async.wait_group, wait_all
    tensor_load,    // tcgen05.ld
    tensor_store,   // tcgen05.st
    load_wait,      // tcgen05.wait::ld
    store_wait,     // tcgen05.wait::st
    fence,          // of memory, for others to see
    sleep,          // nanosleep
  };
  Kind kind = Kind::plain;
  Lanes lanes = Lanes::none;
  Stall stall = Stall::dependency;  // of the waiters for its result
  bool meets = false;               // it matters when others see it executed
  bool alone = false;               // no other warp goes on by it, or has to wait
  bool ends = false;                // of a straight run: nothing after it may begin before it
  std::uint8_t reads = 0;           // slots of the scoreboard, from `first` on
  std::uint16_t writes = 0;         // those after them
  std::uint32_t first = 0;
  std::uint8_t bytes = 0;      // of a lane, of an access
  bool writes_memory = false;  // st, red
  bool atomic = false;         // atom, red
  bool adds_floats = false;    // of atomics
  bool shuffles = false;       // lanes read each other's registers
  bool past_l1 = false;        // an access that others are to see: L2's
  float slots = 1;             // instructions
  float busy = 0;              // cycles that they take of their lanes
  float latency = 0;           // cycles from the last of them to the result
};

struct Costs {
  std::vector<Cost> of;              // by instruction
  std::vector<std::uint16_t> slots;  // of the scoreboard
  std::uint32_t scoreboard = 0;      // how many slots there are, of registers and predicates
};

// What the instruction has tensor cores multiply.
ProductType product_of(const ptx::Instruction& instruction);

Costs costs_of(const ptx::Program& program, const DeviceTimes& times);

// Registers of a thread that the assembler may be expected to take: those that are alive together,
// as many as a block may have, in steps of 8.
std::uint32_t registers_of(const ptx::Program& program, std::uint32_t threads);
// How many more it may take of those that a thread can have.
std::uint32_t spare_registers(const ptx::Program& program, std::uint32_t threads);

}  // namespace tilescope::sim
