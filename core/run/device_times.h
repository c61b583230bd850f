// How long things take on a chip. Cycles are of an SM's clock under load; rates are of one
// SM and cycle unless said otherwise. Each figure comes from a device file, with its source
// there (assets/devices/*.toml); core/sim/time makes a run's time of them.
#pragma once

namespace tilescope {

// Lanes that one SM starts in a cycle, and cycles until a result can be used.
struct PipeTimes {
  double lanes = 0;
  double latency = 0;
};

struct DeviceTimes {
  double clock = 0;         // GHz, under load
  double tensor_clock = 0;  // GHz where tensor cores are kept busy: they draw the most power
  // What the board may draw, and does: watts; 0: not known, and the clock falls with the tensor
  // cores' share of time from one of the above to the other. What its work takes, at the higher
  // clock and in nanojoules, is the less the lower the clock and the voltage are.
  double power_limit = 0;
  double power_idle = 0;    // of a board that runs something, whatever it is
  double power_tensor = 0;  // of one SM's tensor cores in a cycle
  double power_l2 = 0;      // of 1024 bytes between L2 and an SM
  // Until the first block begins, and from the end of the last to that of the kernel: microseconds.
  double launch = 0;
  double block_start = 0;  // cycles from room on an SM to a block's first instruction

  // ---- what a warp executes ----
  double schedulers = 0;  // each issues one warp instruction in a cycle
  PipeTimes integer, floating, half, wide, special, conversion;  // wide: f64
  PipeTimes load_store;  // lanes of loads and stores; latency: until a later one may begin (0)
  PipeTimes shuffle;
  double branch = 0;  // cycles from a taken branch to the next instruction

  // ---- waiting for others ----
  double barrier = 0;       // bar.sync: from the last arrival to the next instruction,
  double barrier_warp = 0;  // and for each warp that takes part
  double mbarrier = 0;      // from the completion of a phase to the instruction after the wait
  double arrive = 0;        // from an arrival of a thread to what it does to the barrier
  double remote = 0;        // the same, in another block's memory
  double cluster = 0;       // barrier.cluster: from the last arrival on, where nothing is released
  double fence = 0;  // what a release to the cluster or the chip costs before it: also a membar.gl

  // ---- memory ----
  double shared_latency = 0;    // ld.shared
  double shared_bytes = 0;      // bandwidth: all of ld, st, copies and tensor cores share it
  double l1_latency = 0;        // ld.global that L1 has
  double l1_bytes = 0;          // what it hands out in a cycle,
  double l1_lanes = 0;          // and to how many lanes at most
  double l1_size = 0;           // bytes at most, with nothing in shared memory
  double l2_latency = 0;        // ld.global that L2 has
  double l2_port = 0;           // bytes that one SM takes from L2
  double l2_bytes = 0;          // bytes that L2 hands out in a cycle, to all SMs together
  double l2_size = 0;           // bytes of a working set that all SMs touch and that stays
  double memory_latency = 0;    // ld.global that L2 does not have
  double memory_bandwidth = 0;  // GB/s, as reached by copies; all SMs together
  // Atomics in L2: a lane for each word of one sector; and a lane that adds a floating point number
  // to a word that others of its warp add to. And how long it takes a lane to do so in shared
  // memory, by a loop, one after the other where they are of one bank.
  double atomic = 0;
  double atomic_float = 0;
  double shared_float = 0;

  // ---- copies between host and device, each way alone ----
  double host_in = 0, host_out = 0;          // GB/s to the device and from it; 0: not known
  double pageable_in = 0, pageable_out = 0;  // of memory that the host has not pinned
  double host_latency = 0;                   // microseconds that a copy takes besides

  // ---- copies (TMA, cp.async.bulk) ----
  double copy_issue = 0;    // cycles between two copies of one SM
  double copy_latency = 0;  // beyond that of a load
  double copy_bytes = 0;    // that one SM's engine moves

  // ---- tensor cores: multiply-adds in a cycle, dense ----
  double tensor_tf32 = 0, tensor_f16 = 0, tensor_f8 = 0, tensor_i8 = 0, tensor_f4 = 0,
         tensor_f64 = 0;
  double tensor_latency = 0;  // from the last product's start to its sum in TMEM or registers
  double tensor_issue = 0;    // cycles from the instruction to its start, where the unit is free
  double commit = 0;          // from the last product to the arrival on the mbarrier
  double mma_latency = 0;     // mma.sync: from its issue to its result
  double mma_share = 1;       // of the rates above that mma.sync reaches

  // ---- TMEM ----
  double tensor_load_bytes = 0, tensor_store_bytes = 0;
  double tensor_load_latency = 0, tensor_store_latency = 0;

  bool known() const { return clock > 0; }
};

}  // namespace tilescope
