// Does a launch that may begin before the one before it has ended (programmatic stream
// serialization) read what that one has not written yet, where it has no griddepcontrol.wait? PTX
// asks for the wait where the launch before executes griddepcontrol.launch_dependents (9.7.13.13,
// the note there). Where it does not, it may begin once all CTAs of that one have ended.
//
//   nvcc -arch=sm_90 early_launch.cu && ./a.out [ROUNDS]
//   nvcc -gencode arch=compute_80,code=compute_80 early_launch.cu && ./a.out    (PTX without
//   either)
//
// Each round: the first kernel writes the round's number to 16 MiB, the second reads all of it. A
// line for each pair of kernels: rounds, words that were old, and rounds in which the second began
// before the first had ended (by %globaltimer).
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                              \
  do {                                                           \
    const cudaError_t error = (call);                            \
    if (error != cudaSuccess) {                                  \
      std::printf("%s: %s\n", #call, cudaGetErrorString(error)); \
      return 1;                                                  \
    }                                                            \
  } while (false)

struct Times {
  unsigned long long first_ended, second_began;
  unsigned long long old;
};

__device__ unsigned long long now() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

template <bool tells>
__global__ void first(unsigned* data, unsigned words, unsigned round, Times* times) {
#if __CUDA_ARCH__ >= 900
  if (tells) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  // CTAs end at different times.
  const unsigned long long until = clock64() + (blockIdx.x * 37u + round * 11u) % 64 * 200;
  while (clock64() < until) {
  }
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
    data[i] = round;
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(&times->first_ended, now());
}

template <bool waits>
__global__ void second(const unsigned* data, unsigned words, unsigned round, Times* times) {
  if (threadIdx.x == 0) atomicMin(&times->second_began, now());
#if __CUDA_ARCH__ >= 900
  if (waits) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  unsigned old = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
    // Other CTAs than those that wrote it.
    const unsigned at = (i + words / 2) % words;
    old += data[at] != round;
  }
  if (old) atomicAdd(&times->old, old);
}

// Lets the next one begin, before it waits or behind its wait.
template <bool waits_first>
__global__ void between() {
#if __CUDA_ARCH__ >= 900
  if (waits_first) asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

enum class Between { nothing, tells, waits_and_tells };

template <bool tells, bool waits, Between middle = Between::nothing>
int look(const char* name, unsigned rounds) {
  constexpr unsigned words = 4u << 20;
  unsigned* data;
  Times* times;
  CHECK(cudaMalloc(&data, words * sizeof(unsigned)));
  CHECK(cudaMalloc(&times, sizeof(Times)));
  CHECK(cudaMemset(data, 0, words * sizeof(unsigned)));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  unsigned long long old = 0, early = 0, old_rounds = 0;
  for (unsigned round = 1; round <= rounds; ++round) {
    const Times begin{0, ~0ull, 0};
    Times end;
    CHECK(cudaMemcpyAsync(times, &begin, sizeof begin, cudaMemcpyHostToDevice, stream));
    cudaLaunchConfig_t how{};
    how.gridDim = 528;
    how.blockDim = 256;
    how.stream = stream;
    CHECK(cudaLaunchKernelEx(&how, first<tells>, data, words, round, times));
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    how.attrs = &attribute;
    how.numAttrs = 1;
    if (middle == Between::tells) CHECK(cudaLaunchKernelEx(&how, between<false>));
    if (middle == Between::waits_and_tells) CHECK(cudaLaunchKernelEx(&how, between<true>));
    CHECK(cudaLaunchKernelEx(&how, second<waits>, static_cast<const unsigned*>(data), words, round,
                             times));
    CHECK(cudaMemcpyAsync(&end, times, sizeof end, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    old += end.old;
    old_rounds += end.old != 0;
    early += end.second_began < end.first_ended;
  }
  std::printf("%-52s %8u rounds, %12llu old words in %8llu rounds, began early in %8llu\n", name,
              rounds, old, old_rounds, early);
  std::fflush(stdout);
  CHECK(cudaFree(data));
  CHECK(cudaFree(times));
  CHECK(cudaStreamDestroy(stream));
  return 0;
}

int main(int argc, char** argv) {
  const unsigned rounds = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 100000;
  int driver = 0;
  cudaDeviceProp chip{};
  CHECK(cudaDriverGetVersion(&driver));
  CHECK(cudaGetDeviceProperties(&chip, 0));
  std::printf("%s, driver %d\n", chip.name, driver);
  return look<false, false>("neither tells nor waits", rounds) ||
         look<false, true>("the second waits", rounds) ||
         look<true, false>("the first tells", rounds / 10) ||
         look<true, true>("the first tells and the second waits", rounds / 10) ||
         look<true, false, Between::tells>("one between tells, then waits", rounds / 10) ||
         look<true, false, Between::waits_and_tells>("one between waits, then tells", rounds / 10);
}
