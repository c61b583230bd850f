// What programs ask of the runtime besides launches: variables of a module, captured graphs, memory
// that the host writes with no call, pointers in memory, printf.
#include "check.h"

__constant__ float factors[4];
__device__ int calls = 40;
__device__ float table[3] = {1, 2, 3};

__global__ void scale(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * factors[i % 4] + table[i % 3];
  if (i == 0) atomicAdd(&calls, 1);
}
__global__ void follow(float* const* lists, float* out) {
  out[threadIdx.x] = lists[threadIdx.x % 2][threadIdx.x];
}
__global__ void say(int number) {
  printf("thread %d says %d\n", threadIdx.x, number);
}

int main() {
  constexpr int n = 1000;
  const std::vector<float> f = {1, 2, 4, 8}, t = {1, 5, 3};
  cudaMemcpyToSymbol(factors, f.data(), 16);
  cudaMemcpyToSymbol(table, &t[1], 4, 4);
  const auto x = check::random<float>(n, 1);
  float* dx = check::upload(x);

  // Twice by a graph that was captured once.
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  scale<<<8, 128, 0, stream>>>(dx, n);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphLaunch(ready, stream);
  cudaGraphLaunch(ready, stream);
  cudaStreamSynchronize(stream);
  std::vector<float> expected = x;
  for (int twice = 0; twice < 2; ++twice) {
    for (int i = 0; i < n; ++i) expected[i] = expected[i] * f[i % 4] + t[i % 3];
  }
  check::compare("scaled", check::download(dx, n), expected, 1e-6);
  int count = 0;
  cudaMemcpyFromSymbol(&count, calls, sizeof count);
  check::compare("launches", std::vector<int>{count}, std::vector<int>{42}, 0);

  // A list of pointers in managed memory.
  float** lists = nullptr;
  cudaMallocManaged(&lists, 2 * sizeof(float*));
  lists[0] = dx;
  lists[1] = dx + 100;
  float* out = check::room<float>(64);
  follow<<<1, 64>>>(lists, out);
  std::vector<float> followed;
  for (int i = 0; i < 64; ++i) followed.push_back(expected[i + i % 2 * 100]);
  check::compare("followed", check::download(out, 64), followed, 1e-6);

  say<<<1, 2>>>(count);
  cudaDeviceSynchronize();
  return check::verdict();
}
