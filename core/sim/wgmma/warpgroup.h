// What a warpgroup's tensor cores have to do: four warps with successive ranks, the first a
// multiple of 4, issue each wgmma.mma_async together (PTX ISA 9.7.15).
//
// A warp executes the instruction and goes on; the product begins once all four have, with what the
// first of them said (on an H100 three warps wait at their wgmma.wait_group for a fourth that comes
// 0.4 ms late, and the product has what the fourth stored just before, without a barrier; another
// descriptor or scale-d in two of the warps counts for nothing; in a warpgroup of three warps, or
// without one that has exited, it is an illegal instruction). It is an
// AsyncOperation (core/sim/async/operation.h) in a pipe of its warpgroup: it reads A and B at one
// moment and writes D, in the registers of the four warps, at another. Until a wgmma.wait_group
// that covers it, its registers are in use. Who touches one of them earlier waits for the product:
// ptxas 13 puts such a wait there itself where it sees the access (its messages C7510 to C7515),
// and the PTX ISA promises nothing (9.7.15.7.3): a hazard.
//
// wgmma.fence orders a warp's accesses of these registers before a product that uses them
// (9.7.15.7.1). A product whose register was touched since the last fence, or that adds to what a
// product of another shape wrote, is a hazard too.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/sim/async/shared_tiles.h"
#include "core/sim/order/block_order.h"
#include "core/sim/wgmma/rows.h"

namespace tilescope::sim {

struct Core;

// A wgmma.mma_async that at least one warp has executed, and one has still to wait for.
struct GroupProduct {
  std::uint32_t arrived = 0;          // warps, a bit each
  std::array<std::uint32_t, 4> pc{};  // where each executed it
  std::uint64_t a = 0, b = 0;         // descriptors, of the warp that came first; a: 0 in registers
  bool accumulate = false;            // scale-d
  bool complete = false;
  std::vector<std::uint32_t> metadata;  // of .sp: of the 128 threads, as they issued it
  std::vector<std::uint64_t> rows;      // of A in registers: as in GroupSource
  View view;  // what the warps had done and seen as they issued it: it begins after that
};

// What one of the four warps has done.
struct GroupWarp {
  std::uint64_t issued = 0;          // products
  std::deque<std::uint64_t> groups;  // committed and not waited for: products up to the end of each
  std::uint64_t waited = 0;          // products that it has waited for
  bool fenced = false;               // it has executed a wgmma.fence
  std::uint64_t told = 0;  // the product that it waits for because of a register, and was told so
  // Of each register that some product of the program uses (Bound::group_registers): the last
  // product that does, from 1 on, as D and as A; and since the last wgmma.fence whether it was
  // touched, and the shape of the product that wrote it.
  struct Use {
    std::uint64_t as_d = 0, as_a = 0;
    std::uint32_t touched_at = 0;  // instruction
    std::uint32_t shape = 0;       // N and K; 0: none
    bool touched = false, written = false;
    // How many products the warp had issued, and one more, when another instruction last wrote it.
    std::uint64_t changed_after = 0;
    std::uint64_t product() const { return as_d > as_a ? as_d : as_a; }
  };
  std::vector<Use> uses;
  std::vector<RowsFrom> rows;  // of each register that is followed (core/sim/wgmma/rows.h)
};

// What an instruction's last product took: of shared memory the tiles that TMA had brought there
// when all four warps had issued it, and of A in registers where each of the 64 rows came from, 0
// where that is not known. For views: they say of which tensors' rows D is.
struct GroupSource {
  std::uint32_t pc = 0;       // of the first warp
  std::uint64_t product = 0;  // its number
  std::uint64_t a = 0, b = 0;
  std::vector<SharedTile> tiles;
  std::vector<std::uint64_t> rows;  // addresses in global memory; empty: none is known
};

struct Warpgroup {
  std::uint64_t first = 0;  // the number of products[0]; those before it are complete
  std::deque<GroupProduct> products;
  std::array<GroupWarp, 4> warps;
  std::vector<GroupSource> sources;  // one for each instruction that has multiplied

  bool is_complete(std::uint64_t product) const {
    return product < first ||
           (product - first < products.size() && products[product - first].complete);
  }
  bool are_complete(std::uint64_t end) const;  // those before `end`
};

// The warpgroup of the warp at hand; made where it is the first to ask.
Warpgroup& warpgroup_of(Core& x);

}  // namespace tilescope::sim
