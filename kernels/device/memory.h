// Addresses of shared memory as PTX takes them, and the fence between the two ways to it.
#pragma once

#include <cstdint>

namespace tilescope::device {

__device__ inline std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

// What a descriptor takes of an address: where in its own block's shared memory it is. In a cluster
// the block's rank is in the bits above.
constexpr std::uint32_t own_bytes = 0x3ffff;

// In units of 16 bytes, for a descriptor's lowest field.
__device__ inline std::uint64_t descriptor_address(const void* p) {
  return (shared_address(p) & own_bytes) >> 4;
}

// What this thread wrote to shared memory becomes visible to the async proxy: to tcgen05.mma and to
// TMA (PTX ISA 9.7.13.4). For each thread that wrote, before the barrier.
__device__ inline void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// As __syncthreads(), of `threads` threads: those that meet at the barrier of this number, 1 to 15
// (PTX ISA 9.7.13.1; __syncthreads() is barrier 0).
template <int threads>
__device__ inline void sync_threads(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(threads) : "memory");
}
// Counts as one of those that meet there, and does not wait: 32 threads a warp.
template <int threads>
__device__ inline void arrive_threads(int barrier) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(threads) : "memory");
}

}  // namespace tilescope::device
