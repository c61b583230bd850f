// What accesses of memory take: loads, stores and atomics of a warp, copies by cp.async, and moves
// between registers and TMEM.
#include <algorithm>
#include <array>

#include "core/sim/lanes/lanes.h"
#include "core/sim/machine/model.h"
#include "core/sim/matrix/fragments.h"
#include "core/sim/tcgen05/handlers.h"
#include "core/sim/time/banks.h"
#include "core/sim/time/clock.h"

namespace tilescope::sim {
namespace {

using base::lane_array;
using Addresses = std::array<std::uint64_t, lanes>;

void find_addresses(const Core& x, const Code& c, Reference from, bool narrow, Addresses& out) {
  const std::uint64_t by = c.immediate;
  if (from == nothing) return out.fill(by);
  if (narrow) {
    const auto* at = lane_array<std::uint32_t>(x, from);
    for (std::size_t l = 0; l < lanes; ++l) out[l] = at[l] + static_cast<std::uint32_t>(by);
  } else {
    const auto* at = lane_array<std::uint64_t>(x, from);
    for (std::size_t l = 0; l < lanes; ++l) out[l] = at[l] + by;
  }
}

// How far a warp may be ahead of what it has asked for and nobody has taken yet, in cycles: the
// load/store unit's queue, and what is on its way to L2. Round figures; what they are on a chip is
// not published.
constexpr double queued_passes = 64, queued_writes = 2048;

WarpAccess access_of(const Cost& cost, Mask m, WarpAccess::Of of, std::uint32_t bytes) {
  WarpAccess out;
  out.kind = cost.kind == Cost::Kind::copy ? WarpAccess::Kind::copy
             : cost.atomic                 ? WarpAccess::Kind::atomic
             : cost.writes_memory          ? WarpAccess::Kind::store
                                           : WarpAccess::Kind::load;
  out.of = of;
  out.mask = m;
  out.bytes = static_cast<std::uint8_t>(bytes);
  return out;
}

constexpr bool in_window(std::uint64_t address, std::uint64_t base) {
  return address - base < ptx::window_bytes;
}

}  // namespace

double Clock::access_memory(Core& x, const Code& c, const Cost& cost, Mask m, double issued) {
  Addresses at;
  find_addresses(x, c, c.a, c.narrow_address, at);
  if (cost.kind == Cost::Kind::fragments) {
    // A row of 16 bytes for each lane that names one: eight for each matrix.
    const Mask rows =
        cost.bytes == 1 || cost.bytes == 2 ? m & ((Mask{1} << 8 * cost.bytes) - 1) : m;
    return access_shared(x, cost, at.data(), rows ? rows : m, issued);
  }
  ptx::Space space = c.space;
  const std::uint64_t first = at[static_cast<std::size_t>(__builtin_ctz(m))];
  if (space == ptx::Space::generic) {
    if (in_window(first, ptx::shared_base)) space = ptx::Space::shared;
    if (in_window(first, ptx::local_base)) space = ptx::Space::local;
    if (in_window(first, ptx::parameters_base)) return issued + times_->l1_latency;
  }
  if (space == ptx::Space::local) {  // side by side for the lanes of a warp, and in L1
    WarpTime& t = x.block->time.warps[x.warp->index];
    const double done = processor_of(*x.block).load_store.take(issued, (cost.bytes + 3) / 4);
    t.written = std::max(t.written, done);
    return done + times_->l1_latency;
  }
  return space == ptx::Space::shared ? access_shared(x, cost, at.data(), m, issued)
                                     : access_global(x, cost, at.data(), m, issued);
}

// wmma.load and wmma.store: the lines of the matrix, 16 bytes a lane, in as many accesses as that
// takes. How a chip cuts them is not published.
double Clock::access_matrix(Core& x, const Code& c, const Cost& cost, Mask m, double issued) {
  const MatrixAccess& access = matrix_accesses()[c.e];
  Addresses first;
  find_addresses(x, c, c.a, c.narrow_address, first);
  const auto lane = static_cast<std::size_t>(__builtin_ctz(m));
  const auto element = static_cast<std::uint64_t>(access.fragment.bits) / 8;
  const auto lines = static_cast<std::uint64_t>(access.by_columns ? access.columns : access.rows);
  const auto along = static_cast<std::uint64_t>(access.by_columns ? access.rows : access.columns);
  const std::uint64_t pitch =
      element * (c.b == nothing ? along : lane_array<std::uint32_t>(x, c.b)[lane]);
  const std::uint64_t bytes = along * element, chunk = std::min<std::uint64_t>(bytes, 16);
  Cost part = cost;
  part.kind = Cost::Kind::access;
  part.bytes = static_cast<std::uint8_t>(chunk);
  const bool shared = c.space == ptx::Space::shared ||
                      (c.space == ptx::Space::generic && in_window(first[lane], ptx::shared_base));
  double done = issued;
  Addresses at;
  Mask asked = 0;
  const auto flush = [&] {
    if (!asked) return;
    done = std::max(done, shared ? access_shared(x, part, at.data(), asked, issued)
                                 : access_global(x, part, at.data(), asked, issued));
    asked = 0;
  };
  std::size_t l = 0;
  for (std::uint64_t line = 0; line < lines; ++line) {
    for (std::uint64_t from = 0; from < bytes; from += chunk) {
      at[l] = first[lane] + line * pitch + from;
      asked |= Mask{1} << l;
      if (++l < lanes) continue;
      flush();
      l = 0;
    }
  }
  flush();
  return done;
}

double Clock::access_shared(Core& x, const Cost& cost, const std::uint64_t* at, Mask m,
                            double issued) {
  Processor& p = processor_of(*x.block);
  WarpTime& t = x.block->time.warps[x.warp->index];
  const std::uint32_t bytes = cost.kind == Cost::Kind::fragments ? 16 : cost.bytes;
  const std::uint32_t passes = wavefronts(at, m, bytes), ideal = ideal_wavefronts(m, bytes);
  LineCounters& count = *counters(x.pc);
  count.wavefronts += passes;
  count.ideal_wavefronts += ideal;
  count.shared_bytes += std::uint64_t{bytes} * count_lanes(m);
  const std::uint64_t first = at[__builtin_ctz(m)] & (ptx::window_bytes - 1);
  const bool remote = first - x.window >= x.block->shared.size();
  const double sent = p.load_store.take(issued, passes);
  const double done = p.shared.take(issued, passes * 128.0);
  const double end = std::max(sent, done) + (remote ? times_->remote : 0);
  if (x.machine->recording.keeps_accesses(x)) {
    WarpAccess access = access_of(cost, m, WarpAccess::Of::shared, bytes);
    access.passes = passes;
    access.ideal = ideal;
    x.machine->recording.record_access(x, access, at, issued, end + times_->shared_latency);
  }
  if (cost.adds_floats) {  // a loop of the warp: nothing behind it begins before
    const double looped = end + times_->shared_float * lanes_of_a_bank(at, m);
    t.written = std::max(t.written, looped);
    t.slot = std::max(t.slot, looped);
    return looped;
  }
  t.written = std::max(t.written, end);
  // It is the unit that may be behind, not what is stored.
  t.slot += std::max(0.0, sent - issued - queued_passes);
  return end - 1 + times_->shared_latency + (remote ? times_->remote : 0);
}

// Lines of 128 bytes, in sectors of 32: a pass through L1 for each line; what it does not have
// comes from L2, and what that does not have from memory.
double Clock::access_global(Core& x, const Cost& cost, const std::uint64_t* at, Mask m,
                            double issued) {
  Processor& p = processor_of(*x.block);
  WarpTime& t = x.block->time.warps[x.warp->index];
  Sectors sectors;
  find_sectors(at, m, cost.bytes, sectors);
  LineCounters& count = *counters(x.pc);
  count.sectors += sectors.count;
  const std::uint32_t on = count_lanes(m), asked = on * cost.bytes;
  count.ideal_sectors += std::min(sectors.ideal, sectors.count);
  const bool reads = !cost.writes_memory && !cost.atomic;
  std::bitset<128> partly;
  if (!reads && !cost.atomic) partly = partly_written(at, m, cost.bytes, sectors);
  // L1 takes so many lanes in a cycle, and a line at a time.
  const auto lines = static_cast<double>(sectors.lines());
  const double lanes_each = times_->l1_lanes > 0 ? times_->l1_lanes : lanes;
  const double passes =
      std::max({lines, on / lanes_each, times_->l1_bytes > 0 ? asked / times_->l1_bytes : 0});
  double done = issued, behind = 0;
  WarpAccess access = access_of(cost, m, WarpAccess::Of::global, cost.bytes);
  double taken = issued;  // of what is written: when it was
  for (std::uint32_t k = 0; k < sectors.count;) {
    const std::uint64_t line = sectors.number[k] / 4;
    const std::uint32_t first = k;
    std::uint32_t wanted = 0;
    for (; k < sectors.count && sectors.number[k] / 4 == line; ++k) {
      wanted |= 1u << sectors.number[k] % 4;
    }
    const double sent = p.load_store.take(issued, passes / lines);
    std::uint32_t there = 0;
    double* arrives = nullptr;
    if (reads && !cost.past_l1) {
      there = p.level1.fetch(line, wanted, arrives);
    } else {
      p.level1.drop(line, wanted);
    }
    const std::uint32_t missing = wanted & ~there;
    if (missing == 0) {
      // What another warp has asked for may still be on its way.
      done = std::max(done, std::max(sent, arrives ? *arrives : 0.0) + times_->l1_latency);
      continue;
    }
    Fetched what{static_cast<std::uint64_t>(__builtin_popcount(missing)) * 32, 0, 0};
    look_up(line, missing, reads, sent, what);
    count.global_bytes += what.bytes;
    count.memory_bytes += what.missed;
    access.from_l2 += static_cast<std::uint32_t>(what.bytes);
    access.from_memory += static_cast<std::uint32_t>(what.missed);
    if (reads) {
      const double fetched = fetch(p, what, sent);
      if (arrives) *arrives = std::max(*arrives, fetched - times_->l1_latency);
      done = std::max(done, fetched);
    } else {
      double there_at = write_back(p, what, sent) + times_->l2_latency / 2;
      double cycles = 0;
      if (cost.atomic) {
        for (std::uint64_t s = 4 * line; s < 4 * line + 4; ++s) {
          if (!(wanted >> s % 4 & 1)) continue;
          const std::uint32_t goes = lanes_of_a_word(at, m, s);
          cycles += goes * (cost.adds_floats && goes > 1 ? times_->atomic_float : times_->atomic);
        }
      } else {
        // A sector of which a part is written is read, changed and written there, as by an atomic.
        for (std::uint32_t s = first; s < k; ++s) cycles += partly[s] ? times_->atomic : 0;
      }
      if (cycles > 0) there_at = slice_of(line).take(there_at, cycles * pace_);
      t.written = std::max(t.written, there_at);
      taken = std::max(taken, there_at);
      behind = std::max(behind, there_at - issued - queued_writes);
      done = std::max(done, there_at + (cost.writes_memory ? 0 : times_->l2_latency / 2));
    }
  }
  t.slot += behind;
  if (x.machine->recording.keeps_accesses(x)) {
    access.passes = sectors.count;
    access.ideal = std::min(sectors.ideal, sectors.count);
    x.machine->recording.record_access(x, access, at, issued, std::max(done, taken));
  }
  return done;
}

// Which lines share a slice is not published. Atomics of 132 SMs on lines of their own reach
// what 60 slices would (measured on an H200); there are about as many on other chips.
Calendar& Clock::slice_of(std::uint64_t line) {
  constexpr std::size_t count = 64, buckets = 512;
  constexpr double width = 32;
  if (slices_.empty()) slices_.assign(count, Calendar(1, width, buckets));
  return slices_[(line * 0x9e3779b97f4a7c15u >> 32) % count];
}

// Memory is read by two sectors, as a chip does that nobody has told otherwise (assumed:
// cudaLimitMaxL2FetchGranularity is 64 bytes). What is written needs nothing of it until it goes
// there.
void Clock::look_up(std::uint64_t line, std::uint32_t sectors, bool reads, double from,
                    Fetched& what) {
  double* arrives = nullptr;
  std::uint32_t absent = sectors & ~level2_.fetch(line, sectors, arrives);
  if (reads && absent) {
    const std::uint32_t beside = ((absent & 5) << 1 | (absent & 10) >> 1) & ~sectors;
    if (beside) absent |= beside & ~level2_.fetch(line, beside, arrives);
  }
  const auto missed = static_cast<std::uint64_t>(__builtin_popcount(absent)) * 32;
  what.missed += missed;
  if (!reads) return;
  if (missed) {
    const double there =
        memory_.take(from, static_cast<double>(missed) * pace_) + times_->memory_latency;
    what.arrives = std::max(what.arrives, there);
    if (arrives) *arrives = std::max(*arrives, there);
  } else if (arrives) {
    // Who has asked for it may be ahead in time; nobody waits longer than if he had asked himself.
    *arrives = std::min(*arrives, from + times_->memory_latency);
    what.arrives = std::max(what.arrives, *arrives);
  }
}

double Clock::fetch(Processor& p, const Fetched& what, double from) {
  const auto bytes = static_cast<double>(what.bytes);
  l2_bytes_ += bytes;
  const double end =
      std::max(p.in.take(from, bytes), l2_.take(from, bytes * pace_)) + times_->l2_latency;
  return std::max(end, what.arrives);
}

double Clock::write_back(Processor& p, const Fetched& what, double from) {
  const auto bytes = static_cast<double>(what.bytes);
  l2_bytes_ += bytes;
  const double end = std::max(p.out.take(from, bytes), l2_.take(from, bytes * pace_));
  return std::max(end, memory_.take(from, static_cast<double>(what.missed) * pace_));
}

// cp.async: the source is an address of global memory (core/sim/handlers/copy.cpp).
double Clock::begin_copy(Core& x, const Code& c, const Cost& cost, Mask m, double issued) {
  WarpTime& t = x.block->time.warps[x.warp->index];
  Addresses from;
  find_addresses(x, c, c.a, c.narrow_address, from);
  const double brought = access_global(x, cost, from.data(), m, issued);
  const double bytes = static_cast<double>(count_lanes(m)) * cost.bytes;
  counters(x.pc)->shared_bytes += static_cast<std::uint64_t>(bytes);
  const double there = std::max(brought, processor_of(*x.block).shared.take(brought, bytes));
  t.open_copies = std::max(t.open_copies, there + times_->shared_latency);
  if (x.machine->recording.keeps_accesses(x)) {
    // Where it goes to: as core/sim/handlers/copy.cpp has it.
    Code target = c;
    target.immediate = x.elements[c.target + 1];
    Addresses to;
    find_addresses(x, target, c.b, x.elements[c.target] != 0, to);
    WarpAccess access = access_of(cost, m, WarpAccess::Of::shared, cost.bytes);
    access.passes = wavefronts(to.data(), m, cost.bytes);
    access.ideal = ideal_wavefronts(m, cost.bytes);
    x.machine->recording.record_access(x, access, to.data(), brought, there);
  }
  return issued;
}

// The last `left` groups may still be on their way.
double Clock::wait_for_copies(Core& x, const Code& c, Mask m, double issued) {
  WarpTime& t = x.block->time.warps[x.warp->index];
  const bool all =
      x.machine->program().code[x.pc].modifiers.operation() == ptx::Operation::wait_all;
  double done = issued;
  if (all) done = std::max(done, t.open_copies);
  const auto lane = static_cast<std::size_t>(__builtin_ctz(m));
  const std::uint32_t left = all || c.a == nothing ? 0 : lane_array<std::uint32_t>(x, c.a)[lane];
  const std::uint32_t committed = x.warp->copies.committed[lane];
  for (const auto& [group, when] : t.copies) {
    if (group + left < committed) done = std::max(done, when);
  }
  t.copies.erase(std::remove_if(t.copies.begin(), t.copies.end(),
                                [&](const auto& g) { return g.second <= done; }),
                 t.copies.end());
  return done;
}

void Clock::close_group(Core& x, Mask m) {
  WarpTime& t = x.block->time.warps[x.warp->index];
  const auto lane = static_cast<std::size_t>(__builtin_ctz(m));
  t.copies.emplace_back(x.warp->copies.committed[lane], t.open_copies);
  t.open_copies = 0;
}

// A warp reaches 32 lanes of TMEM: a register of each is 128 bytes.
double Clock::move_tensor(Core& x, const Code& c, const Cost& cost, double issued) {
  Processor& p = processor_of(*x.block);
  WarpTime& t = x.block->time.warps[x.warp->index];
  const bool load = cost.kind == Cost::Kind::tensor_load;
  const double bytes = 128.0 * c.count;
  counters(x.pc)->tensor_bytes += static_cast<std::uint64_t>(bytes);
  const double done = (load ? p.tensor_out : p.tensor_in).take(issued, bytes) +
                      (load ? times_->tensor_load_latency : times_->tensor_store_latency);
  (load ? t.loads : t.stores) = std::max(load ? t.loads : t.stores, done);
  x.machine->recording.record_move(x, load ? Unit::tensor_load : Unit::tensor_store,
                                   static_cast<std::uint64_t>(bytes), cells_of_move(x, c), issued,
                                   done);
  return done;
}

}  // namespace tilescope::sim
