// Blocks of a cluster (PTX ISA 5.2): they run together and reach each other's shared memory. An
// address of shared memory says whose it is: the block's rank is in its upper bits.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "kernels/device/mbarrier.h"

namespace tilescope::device {

__device__ inline int cluster_rank() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ inline int cluster_blocks() {
  int blocks;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}

// All threads of the cluster meet here. What they did before is seen by all after it. Not
// .aligned: threads of a warp may come from different roles.
__device__ inline void sync_cluster() {
  asm volatile(
      "barrier.cluster.arrive.release;\n"
      "barrier.cluster.wait.acquire;" ::
          : "memory");
}

// They meet here, and that is all: nobody goes on, or leaves, before all are there. For barriers
// that fence_init() has released, and for reads that are complete. A release makes a thread wait
// for all that its SM has under way.
__device__ inline void meet_cluster() {
  asm volatile(
      "barrier.cluster.arrive.relaxed;\n"
      "barrier.cluster.wait.acquire;" ::
          : "memory");
}

// 16 bytes of shared memory at the same place in the block with this rank.
__device__ inline float4 load_from(const float4* place, int rank) {
  float4 v;
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %4, %5;\n"
      "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there];\n"
      "}"
      : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
      : "r"(shared_address(place)), "r"(rank)
      : "memory");
  return v;
}

// The same place in the even block of a pair: bit 24 is the last bit of the rank.
constexpr std::uint32_t leader_mask = 0xfeffffff;

__device__ inline std::uint32_t leaders(const Barrier& barrier) {
  return shared_address(&barrier) & leader_mask;
}

// This thread arrives at the barrier of the even block of its pair.
__device__ inline void arrive_at_leader(Barrier& barrier) {
  asm volatile(
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(leaders(barrier))
      : "memory");
}

// This thread arrives at the barrier of the block with this rank, to say that what it and those it
// has waited for read is free. Released to its own block only: no data are handed over, and a read
// that is complete cannot see what is written after the arrival. To release to the cluster, a
// thread waits for all that its SM has under way: with .cluster wgmma_v8 has 0.8 times its speed
// (H100, 4096^3).
__device__ inline void arrive_at(Barrier& barrier, int rank) {
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.release.cta.shared::cluster.b64 _, [there];\n"
      "}" ::"r"(shared_address(&barrier)),
      "r"(rank)
      : "memory");
}

// As wait(), where those who arrive are in other blocks of the cluster too.
__device__ inline void wait_cluster(Barrier& barrier, int parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
}

namespace tma {

// Into this block's shared memory; the barrier of the pair's even block gets the bytes (PTX
// ISA 9.7.9.25.5.2, .cta_group::2).
__device__ inline void load_for_pair(void* to, const CUtensorMap& map, int column, int row,
                                     Barrier& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".cta_group::2 [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
      "l"(&map), "r"(column), "r"(row), "r"(leaders(barrier))
      : "memory");
}

// Into the same place of the first `blocks` blocks of the cluster; the barrier at the same place in
// each of them gets the box's bytes (9.7.9.25.5.2, .multicast::cluster).
template <int blocks>
__device__ inline void load_for_all(void* to, const CUtensorMap& map, int column, int row,
                                    Barrier& barrier) {
  constexpr std::uint16_t mask = (1 << blocks) - 1;
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
      "l"(&map), "r"(column), "r"(row), "r"(shared_address(&barrier)), "h"(mask)
      : "memory");
}

}  // namespace tma
}  // namespace tilescope::device
