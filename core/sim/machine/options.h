// How a run is to go, beyond its inputs. Same inputs and options: same run, bit for bit.
#pragma once

#include <cstdint>
#include <vector>

#include "core/run/device_times.h"

namespace tilescope::sim {

class Executor;
class ProductWatch;
class Recorder;

// A warp that is held back: it executes `at` instructions, and the next one only when nothing else
// of its block can go on.
struct Hold {
  std::uint64_t block = 0;  // x + y * grid.x + z * grid.x * grid.y
  std::uint32_t warp = 0;
  std::uint64_t at = 0;
  bool operator==(const Hold&) const = default;
};

// What becomes of a predicate that hangs on something undefined: it is undefined, and followed; or
// it has a value from then on (core/sim/machine/both_ways.h): that of the bits that are there, the
// other one, true, false, or one that is drawn.
enum class UndefinedPredicates : std::uint8_t { followed, kept, inverted, set, clear, drawn };

struct Options {
  // Blocks that are alive together; more start as these end: a grid larger than that runs in waves.
  // Blocks that wait for each other through global memory need to be resident together, as on a
  // chip. 0: as many as the SMs have room for.
  std::uint32_t resident_blocks = 0;
  // Warp instructions before the next warp of a block, or the next resident block, gets its turn.
  std::uint32_t warp_turn = 4096;
  std::uint32_t block_turn = 1u << 20;
  // The same where blocks wait for each other in a cluster.
  std::uint32_t member_turn = 1u << 16;
  // Instructions that one split of a warp may run while others of its warp could.
  std::uint32_t split_turn = 1024;
  // Local memory of a thread for functions that call themselves, beyond what the program says that
  // it needs: CUDA's own default (cudaLimitStackSize).
  std::uint32_t stack_bytes = 1024;
  // 0: warps and blocks take turns in order. Else the seed of another legal order: who goes on next
  // and for how long is drawn at random, and who is far behind the others: some warps, or a unit.
  std::uint64_t schedule = 0;
  // And these warps are held back, once each (core/sim/machine/search.h looks for the ones that
  // matter).
  std::vector<Hold> holds;
  // Asynchronous work is done as late as is legal, so that a missing wait shows as a wrong result.
  bool lazy = false;
  // tcgen05.alloc takes the first free columns, as chips are seen to, with a schedule too, which
  // draws among all free ones otherwise.
  bool first_columns = false;
  // Tensor cores add as the chip does, bit for bit where that is known
  // (core/numeric/tensor_core.h); or by fused multiply-add, which is faster.
  bool exact = true;
  // Who calculates sums of tensor cores while the machine goes on (core/sim/machine/executor.h), or
  // null; lives longer than the machine.
  Executor* executor = nullptr;
  // Threads of the executor that run clusters beside the caller's, where these cannot tell
  // (core/sim/machine/side_by_side.h): the whole run goes on to its end, and is not looked at
  // before.
  std::uint32_t beside = 0;
  // By the clock: warps and operations go on in the order in which they would on a chip with these
  // times (core/sim/time). Not with a schedule, --lazy or holds: these randomise it.
  bool clocked = false;
  DeviceTimes times;
  // By the clock clusters go on in turns, behind each other by no more than so many cycles: what
  // they share (L2, the links to memory) sees their requests in an order that is wrong by up to as
  // much. Longer turns are quicker, and predict otherwise for kernels that the memory holds up.
  double clock_turn = 64;
  // How many waves of blocks are simulated, as many as are alive together (0: all blocks); and
  // whether products are calculated. If so the blocks are spread over the grid, from the first to
  // the last; else, for the time alone, the first. What is left out makes results meaningless.
  std::uint32_t waves = 0;
  bool calculates = true;
  // What an earlier run has left is still in L2, where that has room for all of it.
  bool warm = false;
  // What happens is written here, or null; lives longer than the machine.
  Recorder* recorder = nullptr;
  // Is told of each product of tensor cores when its sum is there
  // (core/sim/matrix/product_watch.h), or null; lives longer than the machine.
  ProductWatch* products = nullptr;
  // Know of each byte of shared and local memory, too, who wrote it last.
  bool remember_writers = false;
  // Look for accesses of shared and global memory that nothing orders.
  bool races = true;
  // Keep what of the order of the run could have been otherwise (core/sim/order/order_log.h).
  bool logs_order = false;
  // Keep which bytes of global memory it reads and writes (core/sim/order/access_log.h); with
  // races.
  bool logs_accesses = false;
  // Each wait for an mbarrier's phase that finds it complete at once is answered no the first time,
  // as PTX allows (9.7.13.15.16).
  bool first_waits_fail = false;
  // Each clusterlaunchcontrol.try_cancel is answered that nothing was cancelled, as when no cluster
  // is left to begin (9.7.13.17): all of them begin themselves. A schedule draws who is told so.
  bool grants_fail = false;
  UndefinedPredicates undefined_predicates = UndefinedPredicates::followed;
  std::uint32_t true_of_32 = 16;  // of those that are drawn
  // Where one is told of, the launch runs again in ways like these, and is told of only what they
  // do differently. For that a copy of all that it writes is kept of the beginning, where all that
  // it can reach has no more bytes than this. 0: not at all, as where somebody goes to and fro in a
  // run, which is the same each time.
  std::uint64_t both_ways_bytes = std::uint64_t{64} << 20;
  // Use the handlers that every processor can run, even where there are faster ones; the results
  // are the same bits, which is what the tests use this for.
  bool plain_handlers = false;
  // The machine: its SMs, and of each of them how many blocks, threads and bytes of shared
  // memory it has room for, of which each block takes some for itself (CUDA C++ Programming Guide,
  // "Compute Capabilities": 9.0 and 10.0); and the shared memory that one block may have.
  std::uint32_t processors = 148;  // of a B200
  // Its compute capability, 90; where it is newer than the target of the PTX, which a driver
  // compiles for it: where a block's shared memory begins is then as it is there. 0: that of the
  // target.
  std::uint32_t capability = 0;
  std::uint32_t processor_blocks = 32;
  std::uint32_t processor_threads = 2048;
  std::uint32_t processor_shared = 233472;  // 228 KiB
  std::uint32_t block_shared = 1024;
  std::uint32_t shared_limit = 232448;  // 227 KiB
};

}  // namespace tilescope::sim
