// A chip for tests of the clock: round figures near those of assets/devices, so that the tests do
// not change with these.
#pragma once

#include "core/run/device_times.h"

namespace tilescope::test {

inline DeviceTimes chip_times() {
  DeviceTimes t;
  t.clock = t.tensor_clock = 1;  // a cycle is a nanosecond
  t.launch = 1;
  t.block_start = 100;
  t.schedulers = 4;
  t.integer = {64, 4};
  t.floating = {128, 4};
  t.half = {64, 6};
  t.wide = {64, 8};
  t.special = {16, 20};
  t.conversion = {64, 4};
  t.load_store = {32, 0};
  t.shuffle = {32, 24};
  t.branch = 10;
  t.barrier = 20;
  t.mbarrier = 30;
  t.arrive = 15;
  t.remote = 150;
  t.cluster = 80;
  t.fence = 200;
  t.shared_latency = 25;
  t.atomic = 2;
  t.atomic_float = 4;
  t.shared_float = 100;
  t.shared_bytes = 128;
  t.l1_latency = 35;
  t.l1_bytes = 128;
  t.l1_lanes = 32;
  t.l1_size = 262144;
  t.l2_latency = 250;
  t.l2_port = 64;
  t.l2_bytes = 4096;
  t.l2_size = 64e6;
  t.memory_latency = 600;
  t.memory_bandwidth = 4000;
  t.copy_issue = 50;
  t.copy_latency = 20;
  t.copy_bytes = 128;
  t.tensor_tf32 = 2048;
  t.tensor_f16 = 4096;
  t.tensor_f8 = t.tensor_i8 = 8192;
  t.tensor_f4 = 16384;
  t.tensor_f64 = 64;
  t.tensor_latency = 60;
  t.tensor_issue = 16;
  t.commit = 50;
  t.mma_latency = 24;
  t.tensor_load_bytes = 512;
  t.tensor_store_bytes = 512;
  t.tensor_load_latency = 60;
  t.tensor_store_latency = 60;
  return t;
}

}  // namespace tilescope::test
