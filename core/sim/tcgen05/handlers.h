// The handlers of tcgen05 instructions, a file for each kind. Code: a and immediate the address in
// brackets; for what else is where see the files.
#pragma once

#include <optional>

#include "core/sim/machine/code.h"
#include "core/sim/matrix/operand.h"
#include "core/sim/tcgen05/unit.h"

namespace tilescope::sim {

Handler tensor_allocation_handler(ptx::TensorStep step);  // allocation.cpp
Handler tensor_move_handler(const ptx::Instruction& i);   // moves.cpp
Handler multiplication_handler(ptx::TensorStep step);     // handlers.cpp: mma, commit, fence
Handler transfer_handler(ptx::TensorStep step);           // transfers.cpp: cp, shift

// The cells that a tcgen05.ld or st moves, which was right when it was executed (moves.cpp).
std::vector<CellRange> cells_of_move(const Core& x, const Code& c);

// Notes in each instruction that uses registers of a tcgen05.ld which these are (loaded.cpp).
void find_loaded(const ptx::Program& program, Bound& bound);

// Into the pipe of the products, transfers and commits of a thread: they are done one after the
// other, and its commit tells of them.
void join_pipe(Core& x, int lane, AsyncOperation& operation);
std::uint32_t pipe_of(const Core& x, int lane);

// That where elements of 4 and 6 bits are in bytes of TMEM is taken from others than the ISA.
void note_unpacked_bits(Core& x, int lane);

// Are these cells the block's? A fault where they are not; `what` for the sentence.
bool owns_cells(Core& x, int lane, const Block& block, const std::vector<CellRange>& cells,
                std::string_view what);
// ", which the block freed at k, PTX line 9, ...", where it did.
std::string given_back_text(const Core& x, const Block& block, std::uint32_t column,
                            std::uint32_t columns);

// Columns of TMEM (allocation.cpp): where so many are free on the block's processor, and on that of
// `peer`, where there is one; and those who wait for some may look again.
std::optional<std::uint32_t> free_columns(Model& machine, const Block& block, std::uint32_t columns,
                                          const Block* peer = nullptr);
void columns_are_free(Model& machine, const Block& block);
// Behind "the kernel executed trap": that a schedule has drawn another first column than the kernel
// may count on. Empty where not.
std::string moved_base_text(const Core& x);

// Pairs (pair.cpp). Is the instruction at hand of .cta_group::2?
bool is_of_pair(const Core& x);
// The other block of the pair, which must be there and have threads left; null after a fault.
Block* find_peer(Core& x, int lane, std::string_view name, bool may_have_exited = false);
// A step that both blocks of a pair take, each by a warp, is the current warp's. The first to come
// may wait for the other (9.7.16.5): with --lazy it does, with --schedule sometimes. True: it does,
// and comes again.
bool waits_for_peer(Core& x, const Block& peer, bool peer_was_here);
// What the peer's warps wait for has come.
void wake_peer(Block& peer);
// Checks of a warp that gives its columns back, and notes that it does: against the peer's
// allocation, and its release. False after a fault.
bool release_in_pair(Core& x, const Block& peer, std::uint32_t column);

}  // namespace tilescope::sim
