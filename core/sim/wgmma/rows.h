// Of which rows of a tensor A is, where a wgmma.mma_async has it in registers. For views.
//
// Lane 4 * r of a warp holds the first element of row r lowest in A's first register, and that of
// row r + 8 in its second (PTX ISA 9.7.15.5.1). So these registers are
// followed, and those that mov and cvt bring there: of each, where in global memory the element
// came from that is lowest in it, in these eight lanes. ld says so of global memory; ld and
// ldmatrix say so of shared memory, as they read it, where TMA has brought the byte and nobody has
// written it since. What any other instruction has written came from nowhere that is known: 0.
//
// Registers that no load leads to are not followed: they cost nothing. And only a machine that
// remembers who wrote shared memory follows any, as a Stepper's does.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tilescope::ptx {
struct Instruction;
struct Program;
}  // namespace tilescope::ptx

namespace tilescope::sim {

struct Block;
struct Bound;
struct Code;
struct Core;
struct GroupProduct;
struct RowUse;
struct Touch;
struct Warp;
using Mask = std::uint32_t;

// Of lanes 0, 4, .. 28.
using RowsFrom = std::array<std::uint64_t, 8>;

// Which registers are followed, by the number that stands for all that are one.
using Followed = std::unordered_map<std::uint32_t, std::uint32_t>;
Followed followed_registers(const ptx::Program& program);
// Those of them that an instruction writes.
std::vector<RowUse> row_uses(const ptx::Program& program, const ptx::Instruction& i,
                             const Followed& followed);
// And those that are A's of a product.
std::array<std::uint32_t, 2> rows_of_a(const ptx::Program& program, const ptx::Instruction& product,
                                       const Followed& followed);

// Does this instruction have to be followed in this machine?
bool are_followed(const Core& x, const Touch& touch);
// Before it executes: where what it writes comes from. Then, for the lanes that have executed it:
// it is there.
std::vector<RowsFrom> find_rows(Core& x, const Code& c, const Touch& touch);
void put_rows(Core& x, const Touch& touch, const std::vector<RowsFrom>& from, Mask m);

// A warp issues a product: it takes A's rows, and will write D's registers.
void take_rows(Core& x, const Touch& touch, GroupProduct& product);
// The warp's registers are others: it has come back from a function that was entered again.
void forget_rows(Block& block, const Warp& warp);

}  // namespace tilescope::sim
