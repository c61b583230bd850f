// What the CUDA runtime answers where arrays of layers and cubes are concerned, and what kernels
// read of them: as answers.cu, whose answers stand in the same file.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <string>

#ifndef D
#define D(call) std::printf("%s %d\n", #call, static_cast<int>(call))
#endif

namespace of_layers {

__global__ void layer_1d(cudaTextureObject_t t, const float* x, int layer, float* to) {
  to[threadIdx.x] = tex1DLayered<float>(t, x[threadIdx.x], layer);
}
__global__ void layer_2d(cudaTextureObject_t t, const float* x, const float* y, int layer,
                         float* to) {
  to[threadIdx.x] = tex2DLayered<float>(t, x[threadIdx.x], y[threadIdx.x], layer);
}
__global__ void cube(cudaTextureObject_t t, const float3* d, float* to) {
  const float3 at = d[threadIdx.x];
  to[threadIdx.x] = texCubemap<float>(t, at.x, at.y, at.z);
}
__global__ void cubes(cudaTextureObject_t t, const float3* d, int layer, float* to) {
  const float3 at = d[threadIdx.x];
  to[threadIdx.x] = texCubemapLayered<float>(t, at.x, at.y, at.z, layer);
}
__global__ void surfaces(cudaSurfaceObject_t row, cudaSurfaceObject_t plane,
                         cudaSurfaceObject_t faces, cudaSurfaceObject_t several, float* to) {
  surf1DLayeredwrite(100.0f, row, 4, 1);
  surf2DLayeredwrite(200.0f, plane, 8, 1, 2);
  surfCubemapwrite(300.0f, faces, 4, 2, 5);
  surfCubemapLayeredwrite(400.0f, several, 0, 3, 7);
  surf1DLayeredwrite(1.0f, row, 4, 3, cudaBoundaryModeZero);
  to[0] = surf1DLayeredread<float>(row, 4, 1);
  to[1] = surf2DLayeredread<float>(plane, 8, 1, 2);
  to[2] = surfCubemapread<float>(faces, 4, 2, 5);
  to[3] = surfCubemapLayeredread<float>(several, 0, 3, 7);
  to[4] = surf1DLayeredread<float>(row, 4, 3, cudaBoundaryModeZero);
  to[5] = surf1DLayeredread<float>(row, 4, 3, cudaBoundaryModeClamp);
  to[6] = surf2DLayeredread<float>(plane, 0, 0, 9, cudaBoundaryModeClamp);
  to[7] = surf2DLayeredread<float>(plane, 0, 0, -1, cudaBoundaryModeClamp);
  to[8] = surf2DLayeredread<float>(plane, 0, 0, 9, cudaBoundaryModeZero);
}

constexpr int most = 4096;

template <class T>
T* pinned(int count) {
  void* out = nullptr;
  cudaMallocHost(&out, static_cast<std::size_t>(count) * sizeof(T));
  std::memset(out, 0, static_cast<std::size_t>(count) * sizeof(T));
  return static_cast<T*>(out);
}

void show(const char* what, const float* values, int count) {
  const cudaError_t ended = cudaDeviceSynchronize();
  if (ended) std::printf("(%d) ", static_cast<int>(ended));
  std::printf("%s", what);
  for (int i = 0; i < count; ++i) std::printf(" %.9g", static_cast<double>(values[i]));
  std::printf("\n");
}

cudaResourceDesc of(cudaArray_t array) {
  cudaResourceDesc out{};
  out.resType = cudaResourceTypeArray;
  out.res.array.array = array;
  return out;
}

cudaArray_t filled(int width, int height, int depth, unsigned flags) {
  static float values[most];
  for (int i = 0; i < most; ++i) values[i] = static_cast<float>(i);
  const cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
  cudaArray_t out = nullptr;
  const auto size = [](int n) { return static_cast<std::size_t>(n); };
  cudaMalloc3DArray(&out, &f, make_cudaExtent(size(width), size(height), size(depth)), flags);
  cudaMemcpy3DParms p{};
  const int rows = height ? height : 1;
  p.srcPtr = make_cudaPitchedPtr(values, size(width) * 4, size(width), size(rows));
  p.dstArray = out, p.kind = cudaMemcpyHostToDevice;
  p.extent = make_cudaExtent(size(width), size(rows), size(depth ? depth : 1));
  std::printf("copy %d\n", static_cast<int>(cudaMemcpy3D(&p)));
  return out;
}

cudaTextureObject_t texture(cudaArray_t array, int mode, int linear, int normalized) {
  cudaTextureDesc how{};
  for (auto& each : how.addressMode) each = static_cast<cudaTextureAddressMode>(mode);
  how.filterMode = static_cast<cudaTextureFilterMode>(linear);
  how.normalizedCoords = normalized;
  for (float& each : how.borderColor) each = 1000;
  const cudaResourceDesc what = of(array);
  cudaTextureObject_t out = 0;
  const int made = cudaCreateTextureObject(&out, &what, &how, nullptr);
  if (made) std::printf("texture %d\n", made);
  return out;
}

void arrays_of_layers() {
  const cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
  cudaArray_t a = nullptr;
  const auto make = [&](std::size_t w, std::size_t h, std::size_t d, unsigned flags) {
    return cudaMalloc3DArray(&a, &f, make_cudaExtent(w, h, d), flags);
  };
  D(make(8, 0, 3, cudaArrayLayered));
  cudaExtent extent{};
  unsigned flags = 0;
  cudaChannelFormatDesc got{};
  D(cudaArrayGetInfo(&got, &extent, &flags, a));
  std::printf("%zu %zu %zu %u\n", extent.width, extent.height, extent.depth, flags);
  D(make(8, 4, 3, cudaArrayLayered));
  D(make(8, 4, 0, cudaArrayLayered));
  D(make(8, 0, 0, cudaArrayLayered));
  D(make(8, 0, 3, 0));
  D(make(32768, 0, 1, cudaArrayLayered));
  D(make(32769, 0, 1, cudaArrayLayered));
  D(make(8, 0, 2048, cudaArrayLayered));
  D(make(8, 0, 2049, cudaArrayLayered));
  D(make(8, 8, 6, cudaArrayCubemap));
  D(cudaArrayGetInfo(&got, &extent, &flags, a));
  std::printf("%zu %zu %zu %u\n", extent.width, extent.height, extent.depth, flags);
  D(make(8, 4, 6, cudaArrayCubemap));
  D(make(8, 8, 5, cudaArrayCubemap));
  D(make(8, 8, 12, cudaArrayCubemap));
  D(make(8, 8, 0, cudaArrayCubemap));
  D(make(8, 8, 12, cudaArrayCubemap | cudaArrayLayered));
  D(make(8, 8, 13, cudaArrayCubemap | cudaArrayLayered));
  D(make(8, 8, 2046, cudaArrayCubemap | cudaArrayLayered));
  D(make(8, 8, 2052, cudaArrayCubemap | cudaArrayLayered));
  D(make(8, 4, 3, cudaArrayLayered | cudaArraySurfaceLoadStore));
}

void layers() {
  constexpr int n = 12;
  float *const x = pinned<float>(n), *const y = pinned<float>(n), *const to = pinned<float>(n);
  cudaArray_t row = filled(8, 0, 4, cudaArrayLayered), plane = filled(8, 4, 4, cudaArrayLayered);
  for (int mode = 0; mode < 4; ++mode) {
    for (int linear = 0; linear < 2; ++linear) {
      const int normalized = mode == 0 || mode == 2;
      for (int i = 0; i < n; ++i) {
        x[i] = static_cast<float>(i - 2) * 1.375f / (normalized ? 8 : 1);
        y[i] = (i == 5 ? -0.25f : static_cast<float>(i) * 0.40625f) / (normalized ? 4 : 1);
      }
      std::printf("mode %d linear %d\n", mode, linear);
      for (const int layer : {0, 2, 7, -1}) {
        layer_1d<<<1, n>>>(texture(row, mode, linear, normalized), x, layer, to);
        show("1d", to, n);
        layer_2d<<<1, n>>>(texture(plane, mode, linear, normalized), x, y, layer, to);
        show("2d", to, n);
      }
    }
  }
}

void cubes_of() {
  constexpr int n = 96;
  float* const to = pinned<float>(n);
  auto* const d = pinned<float3>(n);
  int k = 0;
  for (const float sign : {1.0f, -1.0f}) {
    for (int axis = 0; axis < 3; ++axis) {
      for (const float a : {-0.75f, 0.25f}) {
        for (const float b : {-0.25f, 0.5f}) {
          const float v[3] = {sign, a, b};
          d[k++] = make_float3(v[axis % 3 == 0 ? 0
                                 : axis == 1   ? 1
                                               : 2],
                               v[axis == 0   ? 1
                                 : axis == 1 ? 0
                                             : 1],
                               v[axis == 0   ? 2
                                 : axis == 1 ? 2
                                             : 0]);
        }
      }
    }
  }
  // Edges, corners, no direction, and long ones.
  const float3 more[] = {
      {1, 1, 0.5f},          {1, -1, 0.5f},      {1, 0.5f, 1},        {0.5f, 1, 1},
      {0.5f, 1, -1},         {1, 1, 1},          {-1, -1, -1},        {-1, 1, 0.3f},
      {-1, 0.3f, 1},         {0.3f, -1, 1},      {0, 0, 0},           {10, 3, -2},
      {-0.1f, 0.02f, 0.03f}, {0, 0, 1e-30f},     {0, -5, 0},          {0, 0, -2},
      {1, 0.97f, 0.2f},      {1, -0.98f, 0.99f}, {-1, 0.99f, -0.97f}, {0.2f, 1, 0.97f},
      {-0.99f, -1, 0.99f},   {0.97f, 0.1f, -1},  {0.1f, 0.99f, 1},    {-0.0f, 0.5f, -0.0f}};
  for (const float3& one : more) d[k++] = one;
  cudaArray_t one = filled(4, 4, 6, cudaArrayCubemap),
              three = filled(4, 4, 18, cudaArrayCubemap | cudaArrayLayered);
  for (int mode = 0; mode < 4; ++mode) {
    for (int linear = 0; linear < 2; ++linear) {
      std::printf("mode %d linear %d\n", mode, linear);
      cube<<<1, static_cast<unsigned>(k)>>>(texture(one, mode, linear, 1), d, to);
      show("cube", to, k);
      for (const int layer : {1, 5, -1}) {
        cubes<<<1, static_cast<unsigned>(k)>>>(texture(three, mode, linear, 1), d, layer, to);
        show("cubes", to, k);
      }
    }
  }
  cube<<<1, static_cast<unsigned>(k)>>>(texture(one, 1, 0, 0), d, to);
  show("not normalized", to, k);
}

void layer_surfaces() {
  float* const to = pinned<float>(16);
  constexpr unsigned stores = cudaArraySurfaceLoadStore;
  cudaArray_t all[] = {filled(8, 0, 3, cudaArrayLayered | stores),
                       filled(8, 4, 3, cudaArrayLayered | stores),
                       filled(4, 4, 6, cudaArrayCubemap | stores),
                       filled(4, 4, 12, cudaArrayCubemap | cudaArrayLayered | stores)};
  cudaSurfaceObject_t s[4] = {};
  for (int k = 0; k < 4; ++k) {
    const cudaResourceDesc what = of(all[k]);
    D(cudaCreateSurfaceObject(&s[k], &what));
  }
  surfaces<<<1, 1>>>(s[0], s[1], s[2], s[3], to);
  show("surfaces", to, 9);
  float back[96] = {};
  cudaMemcpy3DParms p{};
  p.srcArray = all[1], p.srcPos = make_cudaPos(0, 0, 1), p.kind = cudaMemcpyDeviceToHost;
  p.dstPtr = make_cudaPitchedPtr(back, 32, 8, 4), p.extent = make_cudaExtent(8, 4, 2);
  D(cudaMemcpy3D(&p));
  show("layers 1 and 2", back, 64);
  p.srcPos = make_cudaPos(0, 0, 2);
  D(cudaMemcpy3D(&p));
  D(cudaDeviceSynchronize());
}

}  // namespace of_layers

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  if (what == "arrays_of_layers") return of_layers::arrays_of_layers(), 0;
  if (what == "layers") return of_layers::layers(), 0;
  if (what == "cubes") return of_layers::cubes_of(), 0;
  if (what == "layer_surfaces") return of_layers::layer_surfaces(), 0;
  std::printf("answers_layers arrays_of_layers|layers|cubes|layer_surfaces\n");
  return 2;
}
