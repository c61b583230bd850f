// Virtual time. A Machine with a clock (Options::clocked) lets its warps and operations go on in
// the order in which they would on a chip with the times of a device description, and knows when
// each thing happens.
//
// How it goes (clocked.cpp). In a cluster whoever is earliest has the next turn: a warp that is
// ready, or an operation in flight whose next moment is due. A warp runs on until it comes to an
// instruction that others can tell (Cost::meets) and is not the earliest any more, so what blocks
// do to each other happens in the order of time; between these points warps are a little ahead of
// each other. Clusters that do not meet go on by turns of one window of time.
//
// What an instruction costs (costs.h). It is issued when its scheduler has a slot and what it reads
// is there; the result is there a latency later. Within a straight run of instructions nobody waits
// for another's operands, as an assembler would order them; at its end, and where others can tell,
// the warp has caught up with the latest of them, and what it waited for there is what it was
// stalled by.
//
// What units take (processor.h). Schedulers, lanes, load/store, shared memory, tensor cores, TMEM,
// the engine of copies and the port to L2 are an SM's; L2 and memory are shared by all. Each
// does so much in a cycle, and no more. Latencies come on top.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/record/own_recorder.h"
#include "core/record/record.h"
#include "core/sim/async/operation.h"
#include "core/sim/machine/code.h"
#include "core/sim/machine/state.h"
#include "core/sim/time/costs.h"
#include "core/sim/time/processor.h"

namespace tilescope::sim {

class Model;
class Recorder;

// Whose turn it is in the current cluster, and how far it may go. Kept, so that a run does not
// depend on how it is cut into calls.
struct ClockTurn {
  static constexpr std::size_t none = ~std::size_t{0};
  bool goes_on = false;
  bool ran = false;   // something has been executed in it
  bool alone = true;  // and concerned no other warp
  std::uint32_t rank = 0, warp = 0;
  std::size_t operation = none;  // of the block's flight; else it is the warp's turn
  double time = 0;
  double horizon = 0;  // when the next one would have its turn
};

// When the warps of each resident cluster can go on, so that not all are looked at for each turn:
// only the one that had it, where no other was concerned (Cost::alone). What is forgotten is looked
// at again, so that may be more than had to be.
class Agenda {
 public:
  static constexpr std::uint32_t nobody = ~0u;
  struct Cluster {
    bool known = false;
    bool in_flight = false;      // operations are
    std::uint32_t ran = nobody;  // the warp to look at again, among those of the cluster
    double earliest = 0;         // where it is settled: when its next turn is
    bool is_settled() const { return known && ran == nobody; }
  };

  // There are so many clusters, each of so many warps.
  void fit(std::size_t clusters, std::size_t warps);
  void forget_all();
  void forget(std::size_t cluster) {
    if (cluster < clusters_.size()) clusters_[cluster].known = false;
  }
  Cluster& cluster(std::size_t number) { return clusters_[number]; }
  // When each warp of a cluster can go on, block by block; infinity: it cannot.
  double* slots(std::size_t number) { return slots_.data() + number * warps_; }

 private:
  std::size_t warps_ = 0;
  std::vector<Cluster> clusters_;
  std::vector<double> slots_;
};

// What works on an operation.
Unit unit_of(const AsyncOperation& operation);

// What a tcgen05.commit waits for that is issued now: of the products and transfers of its thread's
// pipe the last to be complete (PTX ISA: it arrives when all of them are). Null: all are complete.
const AsyncOperation* awaited_by_commit(const Block& block, std::uint32_t pipe);

class Clock {
 public:
  Clock(const DeviceTimes& times, const ptx::Program& program, std::uint32_t processors,
        std::uint64_t level1_bytes, std::uint32_t spare_registers, Recorder* recorder);

  // A copy of one that wrote a record goes on with it.
  void record(Recorder* to) { recorder_ = OwnRecorder(to); }
  const DeviceTimes& times() const { return *times_; }
  const Costs& costs() const { return *costs_; }
  double now() const { return now_; }
  void set_now(double now) {
    now_ = now;
    if (now >= next_look_) look_at_power();
  }
  Level2& level2() { return level2_; }
  const Level2& level2() const { return level2_; }

  // ---- a warp executes ----
  // Lanes m are about to execute the instruction at x.pc: when it is issued. `meets` and the end of
  // a straight run first wait for all before it.
  double execute(Core& x, const Code& c, const Cost& cost, Mask m);
  void catch_up(Core& x, WarpTime& t);
  // The warp waits for what the instruction at x.pc reads.
  void await_operands(Core& x, const Cost& cost, WarpTime& t);
  // A warp will have a turn soon: the units of its SM that its next instructions are likely to take
  // come into the processor's caches; then, where in each of them.
  void fetch_units(const Block& block, std::uint32_t warp) const;
  void fetch_room(const Block& block, std::uint32_t warp) const;
  // That the warp of this number among those of an SM belongs to.
  std::uint32_t scheduler_of(std::uint32_t warp) const {
    return warp % static_cast<std::uint32_t>(schedulers_);
  }

  // ---- operations ----
  // One is about to be in flight in `block`, issued now: when its moments come.
  void schedule(Model& machine, const Core& x, Block& block, AsyncOperation& o);

  // Cycles of tensor cores, of all SMs together.
  double tensor_cycles() const;
  // GHz, where in so many cycles there was so much work.
  double frequency(double cycles, double tensor_cycles, double l2_bytes) const;
  // What the run takes on the chip, launch and all.
  double seconds() const;
  // The share of the run in which memory is busy, 0 to 1.
  double memory_share() const;
  // What has been busy for how long, of all SMs together.
  void tell_pipes(Recorder& recorder) const;

  ClockTurn turn;
  Agenda agenda;
  double window_end = 0;
  std::uint64_t begun = 0;        // blocks
  double start_at = 0;            // when the next cluster begins
  mutable std::size_t early = 0;  // a block that was behind a cycle that was asked for
  double ended_at = 0;            // when the last block was over
  std::vector<double> waves;      // and the last of each wave, where only some are simulated
  double predicted = 0;           // then: when all of them would be,
  double uncertain = 0;           // and the share of it by which that may be wrong

 private:
  void look_at_power();
  Processor& processor_of(const Block& block) {
    if (!used_[block.processor]) make_processor(block.processor);
    return processors_[block.processor];
  }
  void make_processor(std::uint32_t number);

  void hold_registers(const Core& x, const Cost& cost, WarpTime& t, double begin);
  double access(Core& x, const Code& c, const Cost& cost, Mask m, double issued);
  double access_memory(Core& x, const Code& c, const Cost& cost, Mask m, double issued);
  double access_matrix(Core& x, const Code& c, const Cost& cost, Mask m, double issued);
  double access_shared(Core& x, const Cost& cost, const std::uint64_t* addresses, Mask m,
                       double issued);
  double access_global(Core& x, const Cost& cost, const std::uint64_t* addresses, Mask m,
                       double issued);
  double begin_copy(Core& x, const Code& c, const Cost& cost, Mask m, double issued);
  void close_group(Core& x, Mask m);
  double wait_for_copies(Core& x, const Code& c, Mask m, double issued);
  double move_tensor(Core& x, const Code& c, const Cost& cost, double issued);

  // What is asked of L2: bytes, of these what it does not have, and when what it waits for is there
  // that comes from memory, for this one or for another.
  struct Fetched {
    std::uint64_t bytes = 0, missed = 0;
    double arrives = 0;
  };
  void look_up(std::uint64_t line, std::uint32_t sectors, bool reads, double from, Fetched& what);
  Fetched look_up(const AsyncOperation& o, double from);
  double fetch(Processor& p, const Fetched& what, double from);
  double write_back(Processor& p, const Fetched& what, double from);

  void schedule_copy(const Core& x, Block& block, AsyncOperation& o, double from);
  void schedule_group_product(const Model& machine, Block& block, AsyncOperation& o, double from);
  void schedule_product(Model& machine, Block& block, AsyncOperation& o, double from);
  void schedule_tensor_copy(Block& block, AsyncOperation& o, double from);
  double& pipe_of(Block& block, std::uint32_t pipe);

  LineCounters* counters(std::uint32_t pc);

  std::shared_ptr<const DeviceTimes> times_;
  std::shared_ptr<const Costs> costs_;
  OwnRecorder recorder_;
  LineCounters unseen_;                // of runs that nobody records
  std::vector<Processor> processors_;  // those that have had a block, and those before them
  std::uint64_t level1_bytes_ = 0;
  std::uint32_t spare_registers_ = 0;  // of a thread, beside those that are alive together
  std::vector<std::uint8_t> used_;     // has it had a block?
  std::size_t schedulers_ = Processor::most_schedulers;
  // The slice of L2 that has this line, as atomics occupy it.
  Calendar& slice_of(std::uint64_t line);

  Calendar l2_, memory_;
  std::vector<Calendar> slices_;  // empty until there is an atomic
  Level2 level2_;
  double now_ = 0;
  double l2_bytes_ = 0;  // that L2 has handed out or taken in
  // The clock of SMs falls under the limit of power, those of L2 and of memory do not: in a cycle
  // of the SMs they do the more. The clock now, as a share of the highest.
  double pace_ = 1;
  double next_look_ = 0;                     // when it is looked at again
  double worked_from_ = -1, l2_before_ = 0;  // since the first product
};

}  // namespace tilescope::sim
