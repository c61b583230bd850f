#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "viz/machine/barrier_card.h"
#include "viz/machine/fault_scene.h"

namespace tilescope {
namespace {

using Of = Evidence::Place::Of;

constexpr std::array findings = {
    // Who waits for whom.
    Finding{"deadlock", "Deadlock: no warp can go on", ViewName::barriers},
    Finding{"divergent_barrier", "Lanes of one warp wait at different places", ViewName::barriers},
    Finding{"barrier_mismatch", "A barrier is asked for different numbers of threads",
            ViewName::barriers},
    Finding{"waiter_left_behind", "A missed phase"},
    Finding{"bytes_not_expected", "A phase expects fewer bytes than were sent"},
    Finding{"phase_too_early", "A phase that may complete too early"},
    Finding{"too_many_arrivals", "More arrivals than the phase waits for"},
    Finding{"tx_count_out_of_range", "More bytes than an mbarrier can count"},
    Finding{"bad_arrival_count", "A count of arrivals that an mbarrier cannot have"},
    Finding{"bad_parity", "A parity that is neither 0 nor 1", ViewName::barriers},
    Finding{"mbarrier_overwritten", "Data was written over an mbarrier"},
    Finding{"mbarrier_not_initialised", "There is no mbarrier at that address"},
    Finding{"mbarrier_not_visible", "An mbarrier is used before its initialisation is visible"},
    Finding{"mbarrier_initialised_twice", "An mbarrier is initialised again"},
    Finding{"mbarrier_in_use", "An mbarrier is invalidated while in use"},
    Finding{"completed_by_no_complete", ".noComplete completed a phase"},
    Finding{"bad_barrier", "A barrier that does not exist"},
    Finding{"barrier_partners", "Warps may meet others at a barrier than they mean to"},
    Finding{"cluster_barrier", "Arrive and wait of barrier.cluster do not alternate"},
    // Shared memory.
    Finding{"operand_overwritten", "Memory of an operation in flight is touched"},
    Finding{"copy_not_awaited", "A copy is used before it was waited for"},
    Finding{"shared_race", "A race in shared memory"},
    Finding{"global_race", "A race in global memory"},
    Finding{"nc_of_written", "What the launch wrote is read as read-only"},
    Finding{"lane_race", "Lanes of a warp that have not met"},
    Finding{"lanes_did_not_wait", "One lane waits for the others of its warp"},
    Finding{"lanes_not_released", "One lane tells what other lanes did"},
    Finding{"lanes_store_one_place", "Lanes store different values at one place"},
    Finding{"stream_race", "A race between two streams"},
    Finding{"host_race", "The host uses memory before it has waited"},
    Finding{"call_refused", "A copy, memset or release that the driver refuses"},
    Finding{"undefined_copied", "A value made of nothing goes to the host"},
    Finding{"same_value", "Several warps store the same value"},
    Finding{"missing_proxy_fence", "A missing proxy fence"},
    Finding{"exit_in_flight", "The CTA exits with work in flight"},
    Finding{"bad_copy", "A copy whose operands do not fit"},
    Finding{"bad_tensor_map", "A tensor map that does not fit the instruction"},
    Finding{"bad_coordinate", "Coordinates that a copy cannot have"},
    Finding{"bad_async_store", "st.async or red.async with CTAs that do not fit"},
    // wgmma.
    Finding{"read_overtaken", "A read that a copy may overtake"},
    Finding{"weak_order", "Memory used again behind an order that is not promised"},
    Finding{"narrow_scope", "Memory freed in a scope that does not include who uses it"},
    Finding{"wgmma_fence", "No wgmma.fence before an MMA that needs one", ViewName::registers},
    Finding{"wgmma_in_use", "A register that an MMA in flight uses", ViewName::registers},
    Finding{"warpgroup", "A warpgroup that is not complete", ViewName::source},
    Finding{"warpgroup_differs", "Warps that ask for different MMAs", ViewName::source},
    Finding{"bad_metadata", "Metadata of a sparse A that name no two places", ViewName::source},
    // TMEM.
    Finding{"tmem_in_use", "TMEM that another operation still uses", {}, true},
    Finding{"tmem_race", "A race in TMEM"},
    Finding{"tcgen05_fence", "An unfenced TMEM access"},
    Finding{"generic_for_shared", "A generic address where one of shared memory is meant"},
    Finding{"pair_not_started", "TMEM for a pair whose other CTA may not have begun"},
    Finding{"tmem_order", "Two tcgen05 operations that nothing orders"},
    Finding{"mma_order", "Two MMAs that nothing orders", ViewName::tmem},
    Finding{"mma_columns", "M 128 with N not a multiple of 16"},
    Finding{"tmem_not_awaited", "TMEM is used without a wait for a load or store"},
    Finding{"tmem_wait_behind_use", "A wait behind the use of what was loaded"},
    Finding{"tmem_out_of_allocation", "TMEM that the CTA has not allocated", ViewName::tmem},
    Finding{"tmem_not_deallocated", "TMEM that was not freed"},
    Finding{"tmem_lane_quarter", "TMEM lanes of another warp"},
    Finding{"tmem_address_bits", "An address that names lanes of another warp"},
    Finding{"tmem_growth", "A larger allocation after a smaller one", ViewName::tmem},
    Finding{"tmem_pair", "The two CTAs of a pair allocate differently", ViewName::tmem},
    Finding{"tmem_pair_order", "Nothing orders the allocations of a pair", ViewName::tmem},
    Finding{"tmem_after_relinquish", "An allocation after relinquish_alloc_permit"},
    Finding{"tmem_columns", "A number of columns that cannot be allocated"},
    Finding{"tmem_address", "Lanes of a warp give different TMEM addresses"},
    Finding{"tmem_lane", "A TMEM lane at which the shape cannot begin"},
    Finding{"tmem_pair_barrier", "dealloc on different sides of a cluster barrier"},
    Finding{"no_pair", ".cta_group::2 without a peer CTA"},
    Finding{"bad_descriptor", "An invalid descriptor"},
    Finding{"unpacked_bits", "4 or 6 bits in bytes of TMEM: bit positions not known"},
    // Global memory, and the result.
    Finding{"unordered_copies", "Two copies in flight use the same elements", ViewName::matrices},
    Finding{"undefined_output", "An undefined value in the result", ViewName::matrices},
    Finding{"tile_not_computed", "A tile that no CTA computes", ViewName::matrices},
    Finding{"tile_computed_twice", "A tile that two CTAs compute", ViewName::matrices},
    Finding{"unwritten", "An output that nobody wrote", ViewName::matrices},
    Finding{"row_tail_written", "A TMA store writes past the end of rows"},
    // Addresses and values.
    Finding{"out_of_bounds", "An access outside every buffer"},
    Finding{"misaligned", "A misaligned address"},
    Finding{"read_only", "A store to constant memory"},
    Finding{"not_shared", "An address that is not in shared memory"},
    Finding{"bad_space", "A vector atomic outside global memory"},
    Finding{"wrong_space", "An address in the wrong state space"},
    Finding{"undefined_address", "An undefined value is used as an address"},
    Finding{"undefined_load", "The address of a load is undefined"},
    Finding{"undefined_operand", "An undefined value decides what a warp does"},
    Finding{"undefined_predicate", "An undefined predicate decides what others see"},
    Finding{"undefined_store", "An undefined predicate decides a store"},
    Finding{"undefined_branch", "An undefined predicate decides a branch or a guard"},
    // Control flow and warps.
    Finding{"trap", "The kernel executed trap"},
    Finding{"breakpoint", "The kernel executed brkpt"},
    Finding{"assert", "An assertion does not hold"},
    Finding{"bad_branch", "brx.idx beyond its list"},
    Finding{"bad_call", "A call to what is no function"},
    Finding{"stack_overflow", "The stack of a thread is full"},
    Finding{"endless_loop", "The launch never ends"},
    Finding{"not_a_member", "A lane that is not in the member mask"},
    Finding{"incomplete_warp", "A warp-wide instruction in an incomplete warp"},
    Finding{"setmaxnreg", "setmaxnreg out of step"},
    Finding{"setmaxnreg_no_effect", "setmaxnreg without a known start"},
    // Clusters.
    Finding{"bad_rank", "A rank that the cluster does not have"},
    Finding{"not_own_memory", "An address in another CTA's shared memory"},
    Finding{"bad_response", "query_cancel of what is no response"},
    Finding{"nothing_cancelled", "get_first_ctaid, and nothing was cancelled"},
    Finding{"cancel_after_failure", "try_cancel after a failure was seen"},
    Finding{"peer_exited", "The other CTA has exited", ViewName::source},
    Finding{"peer_not_started", "The other CTA may not have begun", ViewName::source},
    Finding{"bad_mask", "A multicast mask that names no CTA of the cluster"},
    // Of a GPU: the driver says no more.
    Finding{"cluster_size", "A cluster size that the GPU cannot launch"},
    Finding{"illegal_instruction", "The GPU met an illegal instruction"},
    Finding{"invalid_pc", "The GPU met an invalid program counter"},
    Finding{"launch_failed", "The launch failed on the GPU"},
    Finding{"out_of_resources", "A CTA needs more than an SM has"},
    Finding{"timeout", "The launch took too long on the GPU"},
};

}  // namespace

const Finding* finding_of(const Report& report) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& each) { return each.name == report.kind; });
  return found == findings.end() ? nullptr : &*found;
}

std::optional<GlobalElement> element_at(const Evidence::Place& place, const sim::Machine& machine) {
  for (std::size_t i = 0; place.of == Of::global && i < machine.shells().size(); ++i) {
    const sim::Region& region = machine.buffer(i);
    if (place.begin < region.base() || place.begin - region.base() >= region.size()) continue;
    const Buffer& shell = machine.shells()[i];
    const auto width = std::max<std::uint64_t>(1, bytes_of(shell.dtype));
    const auto flat = static_cast<std::int64_t>((place.begin - region.base()) / width);
    const std::int64_t length =
        shell.shape.empty() ? 1 : std::max<std::int64_t>(1, shell.shape.back());
    return GlobalElement{i, flat / length, flat % length};
  }
  return {};
}

std::string_view title_of(const Report& report) {
  const Finding* kind = finding_of(report);
  return kind ? kind->title : std::string_view(report.kind);
}

std::string place_words(const Evidence::Place& place, const sim::Machine& machine) {
  const auto of_block = [&](const std::string& what) {
    const bool alone = machine.launch().grid.count() == 1;
    return alone ? what : fmt::format("{}, CTA {}", what, place.block);
  };
  switch (place.of) {
    case Of::shared:
      return of_block(
          place.end - place.begin == 1
              ? fmt::format("byte {} of shared memory", place.begin)
              : fmt::format("bytes {} to {} of shared memory", place.begin, place.end - 1));
    case Of::tensor:
      return of_block(sim::cells_text({place.lane, place.lanes, place.column, place.columns}));
    case Of::mbarrier:
      return of_block(
          readable(sim::mbarrier_name(machine.model(), static_cast<std::uint32_t>(place.begin))));
    case Of::barrier:
      return of_block(fmt::format("barrier {}", place.begin));
    case Of::global: {
      const auto at = element_at(place, machine);
      if (!at) return "";
      return fmt::format("{} [{}, {}]", machine.shells()[at->buffer].name, at->row, at->column);
    }
    case Of::nothing:
      break;
  }
  return "";
}

}  // namespace tilescope
