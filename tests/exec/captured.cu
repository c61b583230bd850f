// What `tilescope capture` has to keep of launches on a GPU, one kernel for each: run there, then
// here with `tilescope run`, bytes equal (docs/manual/capture.md).
//
//   nvcc -arch=sm_90 -o captured tests/exec/captured.cu
//   tilescope capture -o folders -- ./captured         (with `fault`: the last launch ends it)
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                            \
  do {                                                         \
    const cudaError_t error = (call);                          \
    if (error != cudaSuccess) {                                \
      std::printf("%s: %s\n", #call, cudaGetErrorName(error)); \
      std::exit(1);                                            \
    }                                                          \
  } while (0)

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void sum(const int* in, int n, int* out) {
  __shared__ int part[256];
  int own = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    own += in[i];
  }
  part[threadIdx.x] = own;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

// Variables: one that the host sets, one that points to memory, one in constant memory.
__device__ int scale = 1;
__device__ const float* table;
__constant__ float shift[4];
__global__ void look_up(float* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] = table[i] * static_cast<float>(scale) + shift[i % 4];
  if (i == 0) std::printf("scale is %d\n", scale);
}

// A list of lists: addresses in memory, and in a struct.
struct Lists {
  int count;
  const int* const* rows;
  int* total;
};
__global__ void add_rows(Lists lists) {
  int own = 0;
  for (int i = 0; i < lists.count; ++i) own += lists.rows[i][threadIdx.x];
  lists.total[threadIdx.x] = own;
}

// The address of a variable, given as one.
__global__ void raise(int* word) {
  word[0] += 1;
}

__global__ void copy_words(const int* from, int* to) {
  to[threadIdx.x] = from[threadIdx.x];
}

__global__ void __cluster_dims__(2, 1, 1) name_blocks(unsigned* out) {
  unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  if (threadIdx.x == 0) out[blockIdx.x] = 10 * blockIdx.x + rank;
}

// Beyond what was allocated by far.
__global__ void stray(int* data) {
  data[threadIdx.x + (1u << 28)] = 1;
}

template <class T>
T* on_device(const T* from, std::size_t count) {
  T* out = nullptr;
  CHECK(cudaMalloc(&out, count * sizeof(T)));
  CHECK(cudaMemcpy(out, from, count * sizeof(T), cudaMemcpyHostToDevice));
  return out;
}

int main(int count, char** words) {
  constexpr int n = 1000;
  float a[n], b[n], zeros[n] = {};
  int integers[n];
  for (int i = 0; i < n; ++i) {
    a[i] = 0.1f * static_cast<float>(i);
    b[i] = 1.0f / static_cast<float>(i + 1);
    integers[i] = i * i % 97;
  }
  float *da = on_device(a, n), *db = on_device(b, n), *dc = on_device(zeros, n);
  add<<<4, 256>>>(da, db, dc, n);

  int nothing[64] = {};
  int* const dn = on_device(integers, n);
  int* const total = on_device(nothing, 64);
  sum<<<3, 256>>>(dn, n, total);

  const int seven = 7;
  const float shifts[4] = {0.5f, 1.5f, 2.5f, 3.5f};
  CHECK(cudaMemcpyToSymbol(scale, &seven, sizeof seven));
  CHECK(cudaMemcpyToSymbol(table, &da, sizeof da));
  CHECK(cudaMemcpyToSymbol(shift, shifts, sizeof shifts));
  look_up<<<1, 128>>>(dc, 100);

  const int* rows[3] = {dn, dn + 100, dn + 200};
  const Lists lists{3, on_device(rows, 3), total};
  add_rows<<<1, 64>>>(lists);

  int* address = nullptr;
  CHECK(cudaGetSymbolAddress(reinterpret_cast<void**>(&address), scale));
  raise<<<1, 1>>>(address);

  // From a pool, of the host, of both.
  int *pooled = nullptr, *pinned = nullptr, *managed = nullptr;
  CHECK(cudaMallocAsync(reinterpret_cast<void**>(&pooled), 256, 0));
  CHECK(cudaMallocHost(reinterpret_cast<void**>(&pinned), 256));
  CHECK(cudaMallocManaged(&managed, 256));
  for (int i = 0; i < 64; ++i) pinned[i] = i, managed[i] = 0;
  copy_words<<<1, 64>>>(pinned, pooled);
  copy_words<<<1, 64>>>(pooled, managed);
  CHECK(cudaDeviceSynchronize());

  int major = 0;
  CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  unsigned names[8] = {};
  unsigned* const blocks = on_device(names, 8);
  if (major >= 9) name_blocks<<<8, 32>>>(blocks);
  CHECK(cudaDeviceSynchronize());

  float c[n];
  int sums[64], word = 0;
  CHECK(cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(sums, total, sizeof sums, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpyFromSymbol(&word, scale, sizeof word));
  std::printf("%g %d %d %d\n", c[50], sums[1], word, managed[63]);
  if (count > 1 && std::strcmp(words[1], "fault") == 0) {
    stray<<<1, 32>>>(dn);
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  }
  return 0;
}
