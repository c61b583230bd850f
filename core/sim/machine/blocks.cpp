// How a block starts: its threads' special registers, undefined registers and memory; and how its
// barriers complete.
#include <algorithm>
#include <cstring>

#include "core/sim/checks/undefined.h"
#include "core/sim/machine/machine.h"
#include "core/sim/machine/together.h"

namespace tilescope::sim {
namespace {

constexpr std::uint32_t sink_bytes =
    16 * lanes;  // where forgotten results go, behind the registers

Mask lanes_below(std::uint32_t n) {
  return n >= 32 ? ~Mask{0} : (Mask{1} << n) - 1;
}

// What a warp did before it arrived is all that it did until now, if all of it waits here or has
// exited: others have seen it up to now.
void stop_clocks(Block& block, std::uint32_t id) {
  for (const Warp& w : block.warps) {
    const bool stands = std::all_of(w.splits.begin(), w.splits.end(), [&](const Split& s) {
      return s.wait == Wait::barrier && s.barrier == id;
    });
    if (stands) block.barriers[id].clock[w.index] = block.races.now();
  }
}

}  // namespace

std::size_t Machine::register_stride() const {
  return (program().register_bytes + sink_bytes + 63) / 64 * 64;
}

void Machine::fill_specials(Block& block, Warp& warp) {
  using ptx::Special;
  const Dim3 n = launch_.block, grid = launch_.grid;
  const auto threads = static_cast<std::uint32_t>(n.count());
  std::byte* file = block.registers.data() + warp.index * register_stride();
  for (const auto& [special, reg] : program().specials) {
    const std::uint32_t place = program().registers[reg].place;
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
          v = options_.processors;
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
          v = launch_.dynamic_shared;
          break;
        case Special::clusterid_x:
          v = block.index.x / cluster_.x;
          break;
        case Special::clusterid_y:
          v = block.index.y / cluster_.y;
          break;
        case Special::clusterid_z:
          v = block.index.z / cluster_.z;
          break;
        case Special::nclusterid_x:
          v = grid.x / cluster_.x;
          break;
        case Special::nclusterid_y:
          v = grid.y / cluster_.y;
          break;
        case Special::nclusterid_z:
          v = grid.z / cluster_.z;
          break;
        case Special::cluster_ctaid_x:
          v = block.index.x % cluster_.x;
          break;
        case Special::cluster_ctaid_y:
          v = block.index.y % cluster_.y;
          break;
        case Special::cluster_ctaid_z:
          v = block.index.z % cluster_.z;
          break;
        case Special::cluster_nctaid_x:
          v = cluster_.x;
          break;
        case Special::cluster_nctaid_y:
          v = cluster_.y;
          break;
        case Special::cluster_nctaid_z:
          v = cluster_.z;
          break;
        case Special::cluster_ctarank:
          v = block.rank;
          break;
        case Special::cluster_nctarank:
          v = cluster_size_;
          break;
        case Special::aggr_smem_size:
        case Special::total_smem_size:
          v = static_cast<std::uint32_t>(block.shared.size());
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

// Clusters are counted as the blocks of a grid of clusters would be, and in each its blocks by
// rank: x first.
void Machine::place_in_grid(Block& block, std::uint64_t number) const {
  const Dim3 grid = launch_.grid, inside = cluster_;
  const auto rank = static_cast<std::uint32_t>(number % cluster_size_);
  const std::uint64_t cluster = number / cluster_size_;
  const std::uint64_t columns = grid.x / inside.x, rows = grid.y / inside.y;
  block.rank = rank;
  block.index = {
      static_cast<std::uint32_t>(cluster % columns * inside.x + rank % inside.x),
      static_cast<std::uint32_t>(cluster / columns % rows * inside.y + rank / inside.x % inside.y),
      static_cast<std::uint32_t>(cluster / columns / rows * inside.z + rank / inside.x / inside.y)};
  block.number = block.index.x +
                 std::uint64_t{grid.x} * (block.index.y + std::uint64_t{grid.y} * block.index.z);
}

void Machine::start_block(Block& block, std::uint64_t number) {
  const ptx::Program& p = program();
  const auto threads = static_cast<std::uint32_t>(launch_.block.count());
  const std::uint32_t warps = (threads + 31) / 32;
  place_in_grid(block, number);
  block.began = block.ended = false;
  block.heard = 1u << block.rank;
  block.cluster_arriving = block.cluster_completed = {};
  block.cluster_meeting = block.cluster_met = {};
  block.tensor_arriving = block.tensor_completed = {};
  block.processor = least_busy_processor(block);
  block.live_threads = threads;
  // The room of TMEM is kept for the next block, as registers are: nothing is allocated in it.
  TensorUnit tensor;
  tensor.memory = std::move(block.tensor.memory);
  tensor.listens = p.cta_group != 0;
  tensor.side = block.rank & 1;
  block.tensor = std::move(tensor);
  block.tensor.memory.start();
  block.registers_free = {};
  block.cancelled_nothing = false;
  block.next_warp = 0;
  block.warp_turn_left = 0;
  block.idle = 0;
  block.slow = {};
  block.barriers = {};
  // Registers keep what earlier blocks left: whatever may be read before it is written is
  // undefined.
  block.registers.resize(warps * register_stride());
  block.predicates.assign(std::size_t{warps} * p.predicate_count, 0);
  block.undefined.clear();
  block.undefined_units.clear();
  block.undefined_predicates.clear();
  const std::uint32_t align = p.dynamic_shared_align;
  const std::uint32_t dynamic_at = p.wants_dynamic_shared || launch_.dynamic_shared
                                       ? (p.shared_bytes + align - 1) / align * align
                                       : p.shared_bytes;
  block.shared = Region(Region::Kind::shared, "shared", 0,
                        std::vector<std::byte>(dynamic_at + launch_.dynamic_shared));
  block.shared.make_undefined();
  // A lane's fence.proxy.async is for what it has written itself.
  if (watches_proxies_ || options_.remember_writers) {
    block.shared.remember_writers(p.smallest_store);
  }
  const bool company = warps > 1 || p.copies || cluster_size_ > 1;
  block.races.start(options_.races && company ? warps : 0, block.shared.size());
  block.meetings = 0;
  block.mbarriers.clear();
  block.flight = {};
  block.timed_out_at = block.time_outs = 0;
  if (compares_stores_) block.shared.compare_stores();
  if (const std::uint32_t local = local_bytes()) {
    block.local = Region(Region::Kind::local, "local", 0,
                         std::vector<std::byte>(std::size_t{warps} * lanes * local));
    block.local.make_undefined();
    if (options_.remember_writers) block.local.remember_writers(p.smallest_store);
    if (compares_stores_) block.local.compare_stores();
  }
  if (stops_.asked()) watch_regions();
  block.warps.assign(warps, {});
  for (std::uint32_t w = 0; w < warps; ++w) {
    Warp& warp = block.warps[w];
    warp.index = w;
    warp.held_at = next_hold(block, w, 0);
    warp.live = lanes_below(threads - w * 32);
    warp.registers = registers_at_entry(p.entry);
    Split all;
    all.mask = warp.live;
    warp.splits.push_back(all);
    block.predicates[std::size_t{w} * p.predicate_count] = ~Mask{0};
    fill_specials(block, warp);
    Core x = core_of(block, warp);
    warp.calls.top.fill(p.routines[0].frame_bytes);
    undefine_registers(x, p.routines[0], ~Mask{0});
  }
  start_time(block);
}

// A barrier is complete when as many threads have arrived as it is for. Threads that have exited
// hold up nobody (PTX ISA 9.7.12.7).
void Machine::finish_barriers(Block& block) {
  for (std::uint32_t id = 0; id < block.barriers.size(); ++id) {
    Barrier& b = block.barriers[id];
    const std::uint32_t wanted = b.expected ? b.expected : block.live_threads;
    if (b.arrived == 0 || b.arrived < wanted) continue;
    if (block.races.on()) stop_clocks(block, id);
    note_phase(block, Unit::barrier, id, 0);
    pass_barrier(block, id);
    for (Warp& w : block.warps) {
      for (Split& s : w.splits) {
        if (s.wait != Wait::barrier || s.barrier != id) continue;
        s.wait = Wait::none;
        stops_.released(block, w, s.pc - 1, s.mask);
        block.tensor.synchronise(w.index, b.tensor);
        if (block.races.on()) block.races.acquire(w.index, b.clock);
        if (b.reduce == ptx::Reduce::none) continue;
        Core x = core_of(block, w);
        finish_reduction(x, x.code[s.pc - 1], s.mask, b);
      }
    }
    Happened done;
    done.what = Happening::barrier;
    done.block = block.number;
    done.warp = Happened::at_hand;
    done.object = id;
    stops_.happened(done);
    b = {};
    ++block.meetings;
  }
  finish_cluster_barrier(block);
}

}  // namespace tilescope::sim
