#include "core/sim/machine/dispatcher.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/sim/checks/undefined.h"
#include "core/sim/machine/model.h"

namespace tilescope::sim {
namespace {

// The compute capability of the chip: that of the PTX's target, where no newer one is asked for.
int chip_of(const Model& machine) {
  return std::max(machine.program().capability, static_cast<int>(machine.options.capability));
}

Mask lanes_below(std::uint32_t n) {
  return n >= 32 ? ~Mask{0} : (Mask{1} << n) - 1;
}

// What the program declares and the launch asks for, in bytes.
std::uint32_t declared_shared(const Model& machine) {
  const ptx::Program& p = machine.program();
  const std::uint32_t align = p.dynamic_shared_align, dynamic = machine.launch.dynamic_shared;
  if (!p.wants_dynamic_shared && !dynamic) return p.shared_bytes;
  return (p.shared_bytes + align - 1) / align * align + dynamic;
}
// The same in whole units of allocation (10.30).
std::uint32_t own_shared(const Model& machine) {
  constexpr std::uint32_t unit = 128;
  return (declared_shared(machine) + unit - 1) / unit * unit;
}

void fill_specials(const Model& machine, Block& block, Warp& warp) {
  using ptx::Special;
  const Dim3 n = machine.launch.block, grid = machine.launch.grid;
  const auto threads = static_cast<std::uint32_t>(n.count());
  std::byte* file = block.registers.data() + warp.index * machine.register_stride();
  for (const auto& [special, reg] : machine.program().specials) {
    const std::uint32_t place = machine.program().registers[reg].place;
    if (place == ptx::no_register) continue;
    for (std::uint32_t l = 0; l < lanes; ++l) {
      const std::uint32_t t = warp.index * 32 + l;
      std::uint32_t v = 0;
      switch (special) {
        case Special::tid_x:
          v = t % n.x;
          break;
        case Special::tid_y:
          v = t / n.x % n.y;
          break;
        case Special::tid_z:
          v = t / n.x / n.y;
          break;
        case Special::ntid_x:
          v = n.x;
          break;
        case Special::ntid_y:
          v = n.y;
          break;
        case Special::ntid_z:
          v = n.z;
          break;
        case Special::ctaid_x:
          v = block.index.x;
          break;
        case Special::ctaid_y:
          v = block.index.y;
          break;
        case Special::ctaid_z:
          v = block.index.z;
          break;
        case Special::nctaid_x:
          v = grid.x;
          break;
        case Special::nctaid_y:
          v = grid.y;
          break;
        case Special::nctaid_z:
          v = grid.z;
          break;
        case Special::laneid:
          v = l;
          break;
        case Special::warpid:
          v = warp.index;
          break;
        case Special::nwarpid:
          v = (threads + 31) / 32;
          break;
        case Special::smid:
          v = block.processor;
          break;
        case Special::nsmid:
          v = machine.options.processors;
          break;
        case Special::warpsize:
          v = 32;
          break;
        case Special::lanemask_eq:
          v = 1u << l;
          break;
        case Special::lanemask_lt:
          v = (1u << l) - 1;
          break;
        case Special::lanemask_le:
          v = (2u << l) - 1;
          break;
        case Special::lanemask_gt:
          v = ~((2u << l) - 1);
          break;
        case Special::lanemask_ge:
          v = ~((1u << l) - 1);
          break;
        case Special::dynamic_smem_size:
          v = machine.launch.dynamic_shared;
          break;
        case Special::clusterid_x:
          v = block.index.x / machine.cluster.x;
          break;
        case Special::clusterid_y:
          v = block.index.y / machine.cluster.y;
          break;
        case Special::clusterid_z:
          v = block.index.z / machine.cluster.z;
          break;
        case Special::nclusterid_x:
          v = grid.x / machine.cluster.x;
          break;
        case Special::nclusterid_y:
          v = grid.y / machine.cluster.y;
          break;
        case Special::nclusterid_z:
          v = grid.z / machine.cluster.z;
          break;
        case Special::cluster_ctaid_x:
          v = block.index.x % machine.cluster.x;
          break;
        case Special::cluster_ctaid_y:
          v = block.index.y % machine.cluster.y;
          break;
        case Special::cluster_ctaid_z:
          v = block.index.z % machine.cluster.z;
          break;
        case Special::cluster_nctaid_x:
          v = machine.cluster.x;
          break;
        case Special::cluster_nctaid_y:
          v = machine.cluster.y;
          break;
        case Special::cluster_nctaid_z:
          v = machine.cluster.z;
          break;
        case Special::cluster_ctarank:
          v = block.rank;
          break;
        case Special::cluster_nctarank:
          v = machine.cluster_size;
          break;
        case Special::total_smem_size:
          v = own_shared(machine);
          break;
        case Special::aggr_smem_size:  // not rounded, on an H100
          v = declared_shared(machine) + ptx::system_shared;
          break;
        // As ptxas 13.0 compiles them: from sm_90 on constants, before behind the block's own.
        // The system uses 288 bytes (an H100, driver 580); where the part of libraries begins, the
        // driver says; not known.
        case Special::reserved_smem_offset_begin:
          v = machine.program().shared_start ? 0 : own_shared(machine);
          break;
        case Special::reserved_smem_offset_0:
          v = !machine.program().shared_start ? own_shared(machine)
              : chip_of(machine) >= 100       ? 64
                                              : 0;
          break;
        case Special::reserved_smem_offset_end:
          v = machine.program().shared_start ? 288 : own_shared(machine) + ptx::system_shared;
          break;
        case Special::reserved_smem_offset_cap:
          v = (machine.program().shared_start ? 0 : own_shared(machine)) + ptx::system_shared;
          break;
        case Special::reserved_smem_offset_1:
          v = (block.rank << ptx::rank_shift) + machine.program().shared_start +
              own_shared(machine);
          break;
        default:
          break;  // %gridid is 0: one grid
      }
      if (ptx::bits_of(special) == 64) {
        const std::uint64_t wide = v;
        std::memcpy(file + place + l * 8, &wide, 8);
      } else {
        std::memcpy(file + place + l * 4, &v, 4);
      }
    }
  }
}

// Which clusters run of a launch that some stand for: the first, the last and others evenly
// between. All others never begin, and nothing is known of what they would have done.
struct Spread {
  std::uint64_t run = 0, all = 0;  // clusters
  std::uint64_t cluster_at(std::uint64_t place) const {
    if (run == all) return place;
    return run > 1 ? place * (all - 1) / (run - 1) : 0;
  }
  // Where it is among those that run; nothing: it is none.
  std::optional<std::uint64_t> place_of(std::uint64_t cluster) const {
    if (run == all) return cluster;
    const std::uint64_t place = run > 1 ? (cluster * (run - 1) + all - 2) / (all - 1) : 0;
    if (place >= run || cluster_at(place) != cluster) return std::nullopt;
    return place;
  }
};
Spread spread_of(const Model& machine, std::uint64_t total) {
  return {total / machine.cluster_size, machine.launch.grid.count() / machine.cluster_size};
}

}  // namespace

// Clusters are counted as the blocks of a grid of clusters would be, and in each its blocks by
// rank: x first. `number` is of those that run.
void Dispatcher::place_in_grid(Block& block, std::uint64_t number) const {
  const Dim3 grid = model_->launch.grid, inside = model_->cluster;
  const auto rank = static_cast<std::uint32_t>(number % model_->cluster_size);
  const std::uint64_t cluster =
      spread_of(*model_, total_).cluster_at(number / model_->cluster_size);
  const std::uint64_t columns = grid.x / inside.x, rows = grid.y / inside.y;
  block.rank = rank;
  block.index = {
      static_cast<std::uint32_t>(cluster % columns * inside.x + rank % inside.x),
      static_cast<std::uint32_t>(cluster / columns % rows * inside.y + rank / inside.x % inside.y),
      static_cast<std::uint32_t>(cluster / columns / rows * inside.z + rank / inside.x / inside.y)};
  block.number = block.index.x +
                 std::uint64_t{grid.x} * (block.index.y + std::uint64_t{grid.y} * block.index.z);
}

void Dispatcher::start_block(Block& block, std::uint64_t number) {
  const ptx::Program& p = model_->program();
  const auto threads = static_cast<std::uint32_t>(model_->launch.block.count());
  const std::uint32_t warps = (threads + 31) / 32;
  place_in_grid(block, number);
  block.ended = false;
  block.heard = 1u << block.rank;
  block.cluster_arriving = block.cluster_completed = {};
  block.processor = least_busy_processor(block);
  ++on_processor_[block.processor];
  block.live_threads = threads;
  // The room of TMEM is kept for the next block, as registers are: nothing is allocated in it.
  TensorUnit tensor;
  tensor.memory = std::move(block.tensor.memory);
  block.tensor = std::move(tensor);
  block.tensor.memory.start();
  block.registers_free = {};
  block.cancelled_nothing = block.lets_dependents_begin = false;
  block.next_warp = 0;
  block.warp_turn_left = 0;
  block.idle = 0;
  block.slow = {};
  block.barriers = {};
  // Registers keep what earlier blocks left: whatever may be read before it is written is
  // undefined.
  block.registers.resize(warps * model_->register_stride());
  block.predicates.assign(std::size_t{warps} * p.predicate_count, 0);
  block.undefined.clear();
  block.undefined_units.clear();
  block.undefined_predicates.clear();
  constexpr std::uint32_t scratch = 288;
  block.shared = Region(Region::Kind::shared, "shared", 0,
                        std::vector<std::byte>(p.wants_scratch ? own_shared(*model_) + scratch
                                                               : declared_shared(*model_)));
  block.shared.make_undefined();
  // Words of libraries, of which each warp has bits of its own and clears them alone
  // (cooperative_groups' barriers of several warps): memory is undefined by bytes here.
  if (p.wants_scratch) block.shared.define(own_shared(*model_), scratch);
  if (model_->options.remember_writers || model_->global_watch.tells_lanes_apart()) {
    block.shared.remember_writers(p.smallest_store);
  }
  const Home home{static_cast<std::uint32_t>(block.number),
                  static_cast<std::uint32_t>(model_->cluster_number(block.number))};
  const Meetings meetings = p.cta_group == 0   ? Meetings::none
                            : p.cta_group == 1 ? Meetings::of_cta
                                               : Meetings::of_pair;
  block.order.start(home, model_->options.races ? warps : 0, block.shared.size(), meetings);
  if (model_->cluster_size == 1) block.order.shared.gather_reads();
  block.meetings = block.plain_meetings = 0;
  block.met_at = {};
  block.mbarriers.clear();
  block.flight = {};
  block.tiles = {};
  block.warpgroups.clear();
  block.timed_out_at = block.time_outs = 0;
  if (model_->compares_stores) block.shared.compare_stores();
  if (const std::uint32_t local = model_->local_bytes()) {
    block.local = Region(Region::Kind::local, "local", 0,
                         std::vector<std::byte>(std::size_t{warps} * lanes * local));
    block.local.make_undefined();
    if (model_->options.remember_writers) block.local.remember_writers(p.smallest_store);
    if (model_->compares_stores) block.local.compare_stores();
  }
  if (model_->stops.asked()) model_->watcher.watch_regions();
  block.warps.assign(warps, {});
  for (std::uint32_t w = 0; w < warps; ++w) {
    Warp& warp = block.warps[w];
    warp.index = w;
    warp.held_at = model_->scheduler.next_hold(block, w, 0);
    warp.live = lanes_below(threads - w * 32);
    warp.registers = registers_at_entry(p);
    Split all;
    all.mask = warp.live;
    warp.splits.push_back(all);
    block.predicates[std::size_t{w} * p.predicate_count] = ~Mask{0};
    fill_specials(*model_, block, warp);
    Core x = model_->core_of(block, warp);
    warp.calls.top.fill(p.routines[0].frame_bytes);
    undefine_registers(x, p.routines[0], ~Mask{0});
  }
  model_->recording.start_time(block);
}

void Dispatcher::start_cluster(std::size_t first) {
  std::uint64_t number = started_;
  if (to_begin_.empty()) {
    started_ += model_->cluster_size;
  } else {
    number = to_begin_.front();
    to_begin_.erase(to_begin_.begin());
  }
  for (std::uint32_t r = 0; r < model_->cluster_size; ++r)
    start_block(model_->blocks[first + r], number + r);
}

// How many CTAs the SMs have room for. How many registers a thread comes to PTX does not
// say, unless the kernel bounds them (.maxnreg, .minnctapersm); and there are no more than fit into
// a few gigabytes here.
Dispatcher::Room Dispatcher::room_of_processor() const {
  const std::uint32_t threads =
      static_cast<std::uint32_t>((model_->launch.block.count() + 31) / 32 * 32);
  const std::uint64_t shared =
      model_->program().shared_bytes + std::uint64_t{model_->launch.dynamic_shared};
  Room room{model_->options.processor_blocks, "CTAs per SM"};
  const auto limit = [&](std::uint64_t blocks, std::string_view by) {
    if (blocks < room.blocks) room = {blocks, by};
  };
  limit(model_->options.processor_threads / threads, "threads");
  limit(model_->options.processor_shared / (shared + model_->options.block_shared),
        "shared memory");
  std::uint64_t each = registers_at_entry(model_->program());
  if (!each && model_->clock) each = registers_of(model_->program(), threads);
  if (each) limit(registers_of_processor / (threads * each), "registers");
  return room;
}

std::uint64_t Dispatcher::room() const {
  const std::uint64_t threads = (model_->launch.block.count() + 31) / 32 * 32;
  const std::uint64_t shared =
      model_->program().shared_bytes + std::uint64_t{model_->launch.dynamic_shared};
  constexpr std::uint64_t memory = std::uint64_t{4} << 30,
                          watched = 8;  // bytes for each shared one
  const std::uint64_t bytes =
      threads / 32 * model_->register_stride() + shared * watched + threads * model_->local_bytes();
  const std::uint64_t all =
      std::max<std::uint64_t>(room_of_processor().blocks, 1) * model_->options.processors;
  return std::max<std::uint64_t>(std::min(all, memory / bytes), model_->options.processors);
}

// A CTA that has just come takes the SM that fewest others are on; the odd one of a pair
// another one than the even one's, which it shares columns with. Without a clock CTAs that end at
// once leave all SMs free: then each has its turn, as on a chip, where no more than one is there at
// a time.
std::uint32_t Dispatcher::least_busy_processor(const Block& block) const {
  const std::size_t all = on_processor_.size();
  const bool odd = all > 1 && model_->cluster_size > 1 && block.rank % 2 == 1;
  const std::size_t taken = odd ? model_->member(block, block.rank - 1)->processor : all;
  std::size_t at = model_->clock ? 0 : block.number % all, best = at;
  std::uint32_t least = ~0u;
  for (std::size_t n = 0; n < all && least; ++n, at = at + 1 == all ? 0 : at + 1) {
    if (at == taken || on_processor_[at] >= least) continue;
    best = at;
    least = on_processor_[at];
  }
  return static_cast<std::uint32_t>(best);
}

// Its place is another's as soon as all of it have. Of one that does not run nothing will ever
// come.
bool Dispatcher::has_exited(std::uint64_t cluster) const {
  for (const Block& b : model_->blocks) {
    if (model_->cluster_number(b.number) == cluster) return false;
  }
  const auto place = spread_of(*model_, total_).place_of(cluster);
  if (!place) return true;
  const std::uint64_t first = *place * model_->cluster_size;
  return first < started_ &&
         std::find(to_begin_.begin(), to_begin_.end(), first) == to_begin_.end();
}

void Dispatcher::begin() {
  total_ = model_->launch.grid.count();
  on_processor_.assign(model_->options.processors, 0);
  resident_ = model_->options.resident_blocks ? model_->options.resident_blocks : room();
  if (model_->options.waves && model_->options.calculates) {
    const std::uint64_t clusters = model_->options.waves * resident_ / model_->cluster_size;
    total_ = std::min(total_, std::max<std::uint64_t>(1, clusters) * model_->cluster_size);
  }
  until_ = end_ = total_;
}

void Dispatcher::take(std::uint64_t first_cluster, std::uint64_t clusters) {
  is_share_ = true;
  started_ = first_cluster * model_->cluster_size;
  until_ = started_ + clusters * model_->cluster_size;
  end_ = finished_ + clusters * model_->cluster_size;
}

std::uint64_t Dispatcher::waiting() const {
  return total_ - started_ + to_begin_.size() * model_->cluster_size;
}

}  // namespace tilescope::sim
