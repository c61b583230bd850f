// What instructions take: issue slots, lanes, and the scoreboard of results.
#include "core/sim/time/clock.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/record/recorder.h"
#include "core/sim/lanes/lanes.h"
#include "core/sim/machine/model.h"
#include "core/sim/time/banks.h"

namespace tilescope::sim {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// What all SMs share is asked for far ahead where it is short: buckets of so many cycles.
constexpr double shared_bucket = 128;
constexpr std::size_t shared_buckets = 2048;

// A fence of memory waits until what was written before can be seen by all: as far as L2.
bool is_proxy_fence(const ptx::Instruction& i) {
  return i.modifiers.has(ptx::Field::proxy);
}

// That nanosleep is asked for: of the lane that asks for most. A chip takes 0 to twice as long (PTX
// ISA 9.7.19.2), and a millisecond at most.
double nanoseconds(const Core& x, Mask m) {
  constexpr u32 most = 1'000'000;
  const ptx::Program& p = x.machine->program();
  const ptx::Operand& o = p.operands_of(p.code[x.pc])[0];
  const Reference at =
      o.kind == ptx::Operand::Kind::constant ? o.index | constant_bit : p.registers[o.index].place;
  u32 longest = 0;
  for (Mask rest = m; rest; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(__builtin_ctz(rest));
    longest = std::max(longest, base::lane_array<u32>(x, at)[lane]);
  }
  return std::min(longest, most);
}

}  // namespace

void Agenda::fit(std::size_t clusters, std::size_t warps) {
  warps_ = warps;
  clusters_.resize(clusters);
  slots_.resize(clusters * warps);
}

void Agenda::forget_all() {
  for (Cluster& c : clusters_) c.known = false;
}

Clock::Clock(const DeviceTimes& times, const ptx::Program& program, u32 processors,
             u64 level1_bytes, u32 spare_registers, Recorder* recorder)
    : times_(std::make_shared<const DeviceTimes>(times)),
      costs_(std::make_shared<const Costs>(costs_of(program, times))),
      recorder_(recorder),
      level1_bytes_(level1_bytes),
      spare_registers_(spare_registers),
      used_(processors),
      schedulers_(std::clamp<std::size_t>(static_cast<std::size_t>(times.schedulers), 1,
                                          Processor::most_schedulers)),
      l2_(times.l2_bytes, shared_bucket, shared_buckets),
      memory_(times.clock > 0 ? times.memory_bandwidth / times.clock : 0, shared_bucket,
              shared_buckets),
      level2_(static_cast<u64>(times.l2_size)) {}

void Clock::make_processor(u32 number) {
  used_[number] = true;
  if (processors_.size() <= number) processors_.resize(number + 1);
  processors_[number] = Processor(*times_, level1_bytes_);
}

LineCounters* Clock::counters(u32 pc) {
  return recorder_ ? &recorder_->counters(pc) : &unseen_;
}

// The warp stands where it is until the latest instruction of the straight run is issued.
void Clock::catch_up(Core& x, WarpTime& t) {
  t.late_step = 0;
  if (t.late <= t.slot) return;
  const double stalled = t.late - t.slot;
  counters(t.late_pc)->stalled[static_cast<std::size_t>(t.late_stall)] += static_cast<u64>(stalled);
  x.machine->recording.record_stall(*x.block, *x.warp, t.late_stall, t.late_pc, t.slot, t.late);
  t.slot = t.late;
}

void Clock::await_operands(Core& x, const Cost& cost, WarpTime& t) {
  const u16* slot = costs_->slots.data() + cost.first;
  for (u32 k = 0; k < cost.reads; ++k) {
    const double reached = std::max(t.late, t.slot), ready = t.ready[slot[k]];
    if (ready <= reached) continue;
    t.late = ready;
    if (ready - reached < t.late_step) continue;
    t.late_step = ready - reached;
    t.late_pc = x.pc;
    t.late_stall = t.why[slot[k]];
  }
  catch_up(x, t);
}

void Clock::fetch_units(const Block& block, u32 warp) const {
  if (!used_[block.processor]) return;
  const Processor& p = processors_[block.processor];
  const u32 scheduler = scheduler_of(block.time.first_warp + warp);
  __builtin_prefetch(&p.issue[scheduler]);
  __builtin_prefetch(&p.load_store);
  __builtin_prefetch(&p.lanes[scheduler][static_cast<std::size_t>(Lanes::integer)]);
  __builtin_prefetch(&p.lanes[scheduler][static_cast<std::size_t>(Lanes::floating)]);
}

void Clock::fetch_room(const Block& block, u32 warp) const {
  if (!used_[block.processor]) return;
  const Processor& p = processors_[block.processor];
  const WarpTime& t = block.time.warps[warp];
  const auto& lanes = p.lanes[t.scheduler];
  __builtin_prefetch(p.issue[t.scheduler].place_of(t.slot));
  __builtin_prefetch(p.load_store.place_of(t.slot));
  __builtin_prefetch(lanes[static_cast<std::size_t>(Lanes::integer)].place_of(t.slot));
  __builtin_prefetch(lanes[static_cast<std::size_t>(Lanes::floating)].place_of(t.slot));
}

// An assembler has what is loaded in one straight run come together, as far as there are registers
// for it: `begin` is when the instruction at x.pc has what it reads, and later ones go before it.
void Clock::hold_registers(const Core& x, const Cost& cost, WarpTime& t, double begin) {
  const u16* slot = costs_->slots.data() + cost.first;
  u32 count = 0;
  for (u32 k = 0; k < cost.reads; ++k) {
    count += t.why[slot[k]] == Stall::global && t.ready[slot[k]] > t.slot;
  }
  if (count == 0) return;
  const double stood = t.slot;
  for (;;) {
    u32 all = 0;
    double first = std::numeric_limits<double>::infinity();
    t.held.erase(std::remove_if(t.held.begin(), t.held.end(),
                                [&](const auto& h) { return h.first <= t.slot; }),
                 t.held.end());
    for (const auto& [until, registers] : t.held) {
      all += registers;
      first = std::min(first, until);
    }
    if (all + count <= spare_registers_ || t.held.empty()) break;
    t.slot = std::max(t.slot, first);
  }
  t.held.emplace_back(begin, count);
  if (t.slot == stood) return;
  counters(x.pc)->stalled[static_cast<std::size_t>(Stall::global)] +=
      static_cast<u64>(t.slot - stood);
  x.machine->recording.record_stall(*x.block, *x.warp, Stall::global, x.pc, stood, t.slot);
}

double Clock::execute(Core& x, const Code& c, const Cost& cost, Mask m) {
  WarpTime& t = x.block->time.warps[x.warp->index];
  const u16* slot = costs_->slots.data() + cost.first;
  if (cost.meets) catch_up(x, t);
  double begin = t.slot;
  Stall why = Stall::none;
  for (u32 k = 0; k < cost.reads; ++k) {
    if (t.ready[slot[k]] <= begin) continue;
    begin = t.ready[slot[k]];
    why = t.why[slot[k]];
  }
  const u16* written = slot + cost.reads;
  if (cost.slots == 0) {  // the assembler makes nothing of it
    for (u32 k = 0; k < cost.writes; ++k) {
      t.ready[written[k]] = begin;
      t.why[written[k]] = why;
    }
    return begin;
  }
  Processor& p = processor_of(*x.block);
  const double issued = p.issue[t.scheduler].take(begin, cost.slots) - cost.slots;
  double started = issued;
  if (cost.busy > 0) {
    Calendar& executes = p.lanes[t.scheduler][static_cast<std::size_t>(cost.lanes)];
    started = std::max(issued, executes.take(issued, cost.busy) - cost.busy);
  }
  LineCounters& count = *counters(x.pc);
  ++count.issued;
  count.lanes += count_lanes(m);
  ++t.run_instructions;
  // Where the slots are taken, or its lanes, those behind it are late too.
  if (begin == t.slot) {
    const double behind = started - begin;
    if (behind > 0) {
      const Stall stall = issued > begin ? Stall::issue : Stall::pipe;
      count.stalled[static_cast<std::size_t>(stall)] += static_cast<u64>(behind);
      t.stall_in_run(stall, behind);
    }
    t.slot = started + cost.slots;
  } else {
    t.slot += cost.slots;
    hold_registers(x, cost, t, begin);
    // Of those that wait for each other it is the one that waited longest.
    const double reached = std::max(t.late, t.slot);
    if (started > reached && started - reached >= t.late_step) {
      t.late_step = started - reached;
      t.late_pc = x.pc;
      t.late_stall = why;
    }
    t.late = std::max(t.late, started);
  }
  double result = started + std::max<double>(cost.latency, cost.slots);
  if (cost.kind != Cost::Kind::plain && m) result = access(x, c, cost, m, started);
  if (cost.shuffles && m && recorder_)
    x.machine->recording.record_shuffle(x, c, m, started, result);
  for (u32 k = 0; k < cost.writes; ++k) {
    t.ready[written[k]] = result;
    t.why[written[k]] = cost.stall;
  }
  if (cost.meets) {
    // It has happened, and so has all that it waited for.
    t.slot = std::max(t.slot, started + cost.slots);
    catch_up(x, t);
  }
  return started;
}

// Of what is not of fixed latency: when its result is there.
double Clock::access(Core& x, const Code& c, const Cost& cost, Mask m, double issued) {
  WarpTime& t = x.block->time.warps[x.warp->index];
  const auto wait_until = [&](double done, Stall why) {
    const double reached = std::max(t.late, t.slot);
    if (done <= reached) return;
    t.late = done;
    if (done - reached < t.late_step) return;
    t.late_step = done - reached;
    t.late_pc = x.pc;
    t.late_stall = why;
  };
  switch (cost.kind) {
    case Cost::Kind::access:
    case Cost::Kind::fragments:
      return access_memory(x, c, cost, m, issued);
    case Cost::Kind::matrix:
      return access_matrix(x, c, cost, m, issued);
    case Cost::Kind::copy:
      return begin_copy(x, c, cost, m, issued);
    case Cost::Kind::copies_commit:
      close_group(x, m);
      return issued;
    case Cost::Kind::copies_wait:
      wait_until(wait_for_copies(x, c, m, issued), Stall::group);
      return issued;
    case Cost::Kind::tensor_load:
    case Cost::Kind::tensor_store:
      return move_tensor(x, c, cost, issued);
    case Cost::Kind::load_wait:
      wait_until(t.loads, Stall::tmem);
      return issued;
    case Cost::Kind::store_wait:
      wait_until(t.stores, Stall::tmem);
      return issued;
    case Cost::Kind::fence:
      wait_until(is_proxy_fence(x.machine->program().code[x.pc])
                     ? issued + times_->shared_latency
                     : std::max(t.written, issued + times_->fence),
                 Stall::fence);
      return issued;
    case Cost::Kind::sleep:
      wait_until(issued + nanoseconds(x, m) * times_->clock, Stall::siblings);
      return issued;
    default:
      return issued;
  }
}

double& Clock::pipe_of(Block& block, u32 pipe) {
  auto& pipes = block.time.pipes;
  const auto found =
      std::find_if(pipes.begin(), pipes.end(), [&](const auto& p) { return p.first == pipe; });
  if (found != pipes.end()) return found->second;
  pipes.emplace_back(pipe, 0.0);
  return pipes.back().second;
}

double Clock::tensor_cycles() const {
  double busy = 0;
  for (std::size_t i = 0; i < processors_.size(); ++i) {
    if (!used_[i]) continue;
    busy += processors_[i].tensor.taken();
    for (const auto& scheduler : processors_[i].lanes) {
      busy +=
          scheduler[static_cast<std::size_t>(Lanes::matrix)].taken() / Processor::most_schedulers;
    }
  }
  return busy;
}

// Work draws power in proportion to its rate and to the voltage squared, and the voltage goes with
// the clock: so power is what the board draws anyhow, and the work of a cycle times the third power
// of the clock.
double Clock::frequency(double cycles, double tensor_cycles, double l2_bytes) const {
  const DeviceTimes& t = times();
  if (cycles <= 0) return t.clock;
  if (t.power_limit <= 0) {
    const double busy = std::min(1.0, tensor_cycles / (cycles * static_cast<double>(used_.size())));
    return t.clock + (t.tensor_clock > 0 ? (t.tensor_clock - t.clock) * busy : 0);
  }
  const double nanojoules =
      (tensor_cycles * t.power_tensor + l2_bytes / 1024 * t.power_l2) / cycles;
  const double watts = nanojoules * t.clock, room = std::max(0.0, t.power_limit - t.power_idle);
  return watts <= room ? t.clock : t.clock * std::cbrt(room / watts);
}

// A chip has had the same kernel for long, and knows its clock; here it is known soon after the
// first product.
void Clock::look_at_power() {
  constexpr double interval = 1024;
  next_look_ = (std::floor(now_ / interval) + 1) * interval;
  if (times().power_limit <= 0) return;
  const double busy = tensor_cycles();
  if (busy <= 0) {
    worked_from_ = now_;
    l2_before_ = l2_bytes_;
    return;
  }
  if (now_ - worked_from_ < interval) return;
  pace_ = frequency(now_ - worked_from_, busy, l2_bytes_ - l2_before_) / times().clock;
}

void Clock::tell_pipes(Recorder& recorder) const {
  const auto tell = [&](Pipe pipe, double busy, double copies) {
    PipeCounters& p = recorder.pipe(pipe);
    p.busy += busy;
    p.copies = copies;
  };
  const double count = static_cast<double>(used_.size());
  const double schedulers = count * Processor::most_schedulers;
  for (const Pipe pipe :
       {Pipe::issue, Pipe::integer, Pipe::floating, Pipe::half, Pipe::wide, Pipe::special}) {
    tell(pipe, 0, schedulers);
  }
  for (std::size_t i = 0; i < processors_.size(); ++i) {
    if (!used_[i]) continue;
    const Processor& p = processors_[i];
    for (std::size_t s = 0; s < Processor::most_schedulers; ++s) {
      const auto taken = [&](Lanes l) { return p.lanes[s][static_cast<std::size_t>(l)].taken(); };
      tell(Pipe::issue, p.issue[s].taken(), schedulers);
      tell(Pipe::integer, taken(Lanes::integer), schedulers);
      tell(Pipe::floating, taken(Lanes::floating), schedulers);
      tell(Pipe::half, taken(Lanes::half), schedulers);
      tell(Pipe::wide, taken(Lanes::wide), schedulers);
      tell(Pipe::special, taken(Lanes::special) + taken(Lanes::conversion), schedulers);
      tell(Pipe::tensor, taken(Lanes::matrix) / Processor::most_schedulers, count);
    }
    const auto share = [](const Calendar& c) { return c.rate() > 0 ? c.taken() / c.rate() : 0; };
    tell(Pipe::load_store, p.load_store.taken(), count);
    tell(Pipe::shared, share(p.shared), count);
    tell(Pipe::tensor, p.tensor.taken(), count);
    tell(Pipe::tensor_memory, std::max(share(p.tensor_in), share(p.tensor_out)), count);
    tell(Pipe::copies, p.copies.taken(), count);
  }
  tell(Pipe::l2, l2_.rate() > 0 ? l2_.taken() / l2_.rate() : 0, 1);
  tell(Pipe::memory, memory_.rate() > 0 ? memory_.taken() / memory_.rate() : 0, 1);
}

double Clock::memory_share() const {
  if (memory_.rate() <= 0 || ended_at <= 0) return 0;
  return std::min(1.0, memory_.taken() / memory_.rate() / ended_at);
}

double Clock::seconds() const {
  const DeviceTimes& t = times();
  if (t.clock <= 0) return 0;
  // Between two launches there is nothing to do.
  const double between = t.power_limit > 0 ? t.launch * 1e3 * t.clock : 0;
  const double clock = frequency(ended_at > 0 ? ended_at + between : 0, tensor_cycles(), l2_bytes_);
  return std::max(ended_at, predicted) / (clock * 1e9) + t.launch * 1e-6;
}

}  // namespace tilescope::sim
