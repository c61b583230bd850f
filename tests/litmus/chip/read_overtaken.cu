// Does a read of shared memory see what a bulk copy writes that is issued only after the reader
// said that it was done? Built and run by hand on a chip with sm_90 or later:
//
//   nvcc -O3 -gencode arch=compute_90a,code=sm_90a -o read_overtaken read_overtaken.cu
//   ./read_overtaken
//
// One thread reads 4 bytes and tells (by an mbarrier, by bar.sync, or in one thread), another fills
// them again by cp.async.bulk, round after round with another value; six more warps keep shared
// memory busy with bank conflicts. "future": reads that gave the value of the next round. On an
// H200 (driver 580) of 105.6 million rounds each: 103 million behind an mbarrier, 103 million
// behind bar.sync, 72 million in one thread where the value was not used before; none where it was,
// none with fence.proxy.async between, none where a store fills them (core/sim/checks/unread.h).
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
__device__ inline uint32_t sh(const void* p) {
  return (uint32_t)__cvta_generic_to_shared(p);
}
__device__ inline void wait(uint64_t* b, int par) {
  asm volatile(
      "{\n.reg .pred p;\nL:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra "
      "L;\n}" ::"r"(sh(b)),
      "r"(par)
      : "memory");
}
enum { future, past, other };
// mode: 0 mbarrier arrive, value not used before; 1 used before; 2 fence.proxy.async before the
// arrive; 3 bar.sync, not used before; 4 bar.sync, used before; 5 bar.sync, fence; 6 same thread,
// not used; 7 same thread, used; 8 same thread, fence; 9 as 0 with a generic store in place of the
// copy (control)
template <int mode>
__global__ void __launch_bounds__(256)
    k(const uint32_t* g, uint32_t* noise, int n, unsigned long long* bad) {
  __shared__ alignas(128) uint32_t x[4];
  __shared__ alignas(8) uint64_t full, empty;
  __shared__ uint32_t busy[2048];
  __shared__ volatile int stop;
  const int t = threadIdx.x, warp = t / 32;
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(sh(&full)));
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(sh(&empty)));
    x[0] = x[1] = x[2] = x[3] = 0;
    stop = 0;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (t == 0 && mode < 6 || t == 0 && mode == 9) {
    for (int i = 1; i <= n; ++i) {
      if (mode >= 3 && mode <= 5)
        asm volatile("bar.sync 1, 64;" ::: "memory");
      else
        wait(&empty, (i - 1) & 1);
      if (mode == 9) {
        *(volatile uint32_t*)x = i;
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(sh(&full)) : "memory");
      } else {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16;" ::"r"(sh(&full))
                     : "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, "
            "[%2];" ::"r"(sh(x)),
            "l"(g + 4 * (i & 4095)), "r"(sh(&full))
            : "memory");
      }
    }
  } else if (t == 32 && mode < 6 || t == 32 && mode == 9) {
    unsigned long long f = 0, p = 0, o = 0;
    for (int i = 1; i <= n; ++i) {
      uint32_t v;
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(sh(x)) : "memory");
      const uint32_t want = mode == 9 ? i - 1 : (i - 1) & 4095, next = mode == 9 ? i : i & 4095;
      if (mode == 1 || mode == 4) {
        if (v == 0xffffffffu) asm volatile("trap;");
      }
      if (mode == 2 || mode == 5) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      if (mode >= 3 && mode <= 5)
        asm volatile("bar.sync 1, 64;" ::: "memory");
      else
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(sh(&empty)) : "memory");
      if (v != want) {
        if (v == next)
          ++f;
        else if (v == (want ? want - 1 : 0))
          ++p;
        else
          ++o;
      }
      wait(&full, (i - 1) & 1);
    }
    if (f) atomicAdd(bad + future, f);
    if (p) atomicAdd(bad + past, p);
    if (o) atomicAdd(bad + other, o);
    stop = 1;
  } else if (t == 0) {
    unsigned long long f = 0, p = 0, o = 0;
    for (int i = 1; i <= n; ++i) {
      uint32_t v;
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(sh(x)) : "memory");
      const uint32_t want = (i - 1) & 4095, next = i & 4095;
      if (mode == 7) {
        if (v == 0xffffffffu) asm volatile("trap;");
      }
      if (mode == 8) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16;" ::"r"(sh(&full)) : "memory");
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, "
          "[%2];" ::"r"(sh(x)),
          "l"(g + 4 * (i & 4095)), "r"(sh(&full))
          : "memory");
      if (v != want) {
        if (v == next)
          ++f;
        else if (v == (want ? want - 1 : 0))
          ++p;
        else
          ++o;
      }
      wait(&full, (i - 1) & 1);
    }
    if (f) atomicAdd(bad + future, f);
    if (p) atomicAdd(bad + past, p);
    if (o) atomicAdd(bad + other, o);
    stop = 1;
  } else if (warp >= 2) {  // noise: conflicts in shared memory, traffic in global
    uint32_t s = t;
    for (int i = 0; !stop; ++i) {
      s += busy[(t * 32 + i * 7) & 2047];
      busy[(t * 32 + i) & 2047] = s;
      if (warp & 1) s += noise[(s * 977 + blockIdx.x * 8191 + i * 4099) & ((1 << 24) - 1)];
      if ((i & 63) == 0) __nanosleep(s & 127);
    }
    if (s == 12345) noise[0] = s;
  }
}
template <int mode>
void go(const char* name, const uint32_t* g, uint32_t* noise, int n, int blocks) {
  unsigned long long* bad;
  cudaMalloc(&bad, 24);
  cudaMemset(bad, 0, 24);
  cudaEvent_t a, b;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  cudaEventRecord(a);
  k<mode><<<blocks, 256>>>(g, noise, n, bad);
  cudaEventRecord(b);
  unsigned long long h[3];
  cudaMemcpy(h, bad, 24, cudaMemcpyDeviceToHost);
  float ms;
  cudaEventElapsedTime(&ms, a, b);
  printf("%-44s runs %.1fM future %llu past %llu other %llu  (%.1f s) %s\n", name,
         1e-6 * n * (double)blocks, h[0], h[1], h[2], ms * 1e-3,
         cudaGetErrorString(cudaGetLastError()));
  fflush(stdout);
  cudaFree(bad);
}
int main() {
  uint32_t *g, *noise, *h = (uint32_t*)malloc(4096 * 16);
  for (int i = 0; i < 4096; ++i)
    for (int j = 0; j < 4; ++j) h[4 * i + j] = i;
  cudaMalloc(&g, 4096 * 16);
  cudaMemcpy(g, h, 4096 * 16, cudaMemcpyHostToDevice);
  cudaMalloc(&noise, 4ull << 24);
  cudaMemset(noise, 0, 4ull << 24);
  const int blocks = 132 * 8, n = 100000;
  for (int r = 0; r < 2; ++r) {
    go<0>("mbarrier, read not used before", g, noise, n, blocks);
    go<1>("mbarrier, read used before", g, noise, n, blocks);
    go<2>("mbarrier, fence.proxy.async before arrival", g, noise, n, blocks);
    go<3>("bar.sync, read not used before", g, noise, n, blocks);
    go<4>("bar.sync, read used before", g, noise, n, blocks);
    go<5>("bar.sync, fence.proxy.async before", g, noise, n, blocks);
    go<6>("same thread, read not used before", g, noise, n, blocks);
    go<7>("same thread, read used before", g, noise, n, blocks);
    go<8>("same thread, fence.proxy.async between", g, noise, n, blocks);
    go<9>("control: mbarrier, generic store", g, noise, n, blocks);
  }
}
