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
    Finding{"deadlock", "Nobody can go on", ViewName::barriers},
    Finding{"divergent_barrier", "Lanes of one warp wait at different places", ViewName::barriers},
    Finding{"barrier_mismatch", "A barrier is asked for different numbers of threads",
            ViewName::barriers},
    Finding{"waiter_left_behind", "A missed phase"},
    Finding{"too_many_arrivals", "More arrive than the phase waits for"},
    Finding{"tx_count_out_of_range", "More bytes than an mbarrier can count"},
    Finding{"bad_arrival_count", "A number of arrivals that an mbarrier cannot have"},
    Finding{"bad_parity", "A parity that is neither 0 nor 1", ViewName::barriers},
    Finding{"mbarrier_overwritten", "Data was written over an mbarrier"},
    Finding{"mbarrier_not_initialised", "There is no mbarrier"},
    Finding{"mbarrier_not_visible", "An mbarrier is used before it can be seen"},
    Finding{"mbarrier_initialised_twice", "An mbarrier is initialised again"},
    Finding{"mbarrier_in_use", "An mbarrier is invalidated while in use"},
    Finding{"completed_by_no_complete", ".noComplete completed a phase"},
    // Shared memory.
    Finding{"operand_overwritten", "Memory of an operation in flight is touched"},
    Finding{"copy_not_awaited", "A copy that nobody has waited for"},
    Finding{"shared_race", "A race in shared memory"},
    Finding{"missing_proxy_fence", "A missing proxy fence"},
    Finding{"exit_in_flight", "The CTA exits with work in flight"},
    // TMEM.
    Finding{"tmem_in_use", "Cells of TMEM that another still uses", {}, true},
    Finding{"tmem_race", "A race in TMEM"},
    Finding{"tcgen05_fence", "An unfenced TMEM access"},
    Finding{"tmem_order", "Nothing keeps these two in order"},
    Finding{"mma_order", "Nothing keeps these two MMAs in order", ViewName::tmem},
    Finding{"mma_columns", "A shape that CuTe refuses"},
    Finding{"tmem_not_awaited", "TMEM is freed while a load may still read it"},
    Finding{"tmem_out_of_allocation", "Cells that the block has not allocated", ViewName::tmem},
    Finding{"tmem_not_deallocated", "TMEM that was not freed"},
    Finding{"tmem_lane_quarter", "Lanes that are another warp's"},
    Finding{"tmem_address_bits", "An address that names lanes of another warp"},
    Finding{"tmem_growth", "A larger allocation after a smaller one", ViewName::tmem},
    Finding{"tmem_pair", "The two blocks of a pair allocate differently", ViewName::tmem},
    Finding{"tmem_pair_order", "Nothing orders the allocations of a pair", ViewName::tmem},
    Finding{"tmem_after_relinquish", "An allocation after relinquish_alloc_permit"},
    Finding{"tmem_columns", "A number of columns that cannot be allocated"},
    Finding{"bad_descriptor", "An invalid descriptor"},
    // Global memory, and the result.
    Finding{"unordered_copies", "Two copies in flight use the same elements", ViewName::matrices},
    Finding{"undefined_output", "An undefined value in the result", ViewName::matrices},
    Finding{"tile_not_computed", "A tile that no block computes", ViewName::matrices},
    Finding{"tile_computed_twice", "A tile that two blocks compute", ViewName::matrices},
    Finding{"unwritten", "Elements that nobody has written", ViewName::matrices},
    // An instruction alone.
    Finding{"peer_exited", "The block that is reached has exited", ViewName::source},
    Finding{"peer_not_started", "The block that is reached has not begun", ViewName::source},
    Finding{"bad_mask", "A mask that names blocks that there are not"},
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
  return kind ? kind->title : "An instruction that cannot be done";
}

std::string place_words(const Evidence::Place& place, const sim::Machine& machine) {
  const auto of_block = [&](const std::string& what) {
    const bool alone = machine.launch().grid.count() == 1;
    return alone ? what : fmt::format("{}, block {}", what, place.block);
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
