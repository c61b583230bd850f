// What the CUDA driver and runtime answer where arrays, textures and surfaces are concerned, and
// what kernels read through them: as answers.cu, whose answers stand in the same file.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#ifndef D
#define D(call) std::printf("%s %d\n", #call, static_cast<int>(call))
#endif

__global__ void sample_1d(cudaTextureObject_t t, const float* x, float* to) {
  to[threadIdx.x] = tex1D<float>(t, x[threadIdx.x]);
}
__global__ void sample_2d(cudaTextureObject_t t, const float* x, const float* y, float* to) {
  to[threadIdx.x] = tex2D<float>(t, x[threadIdx.x], y[threadIdx.x]);
}
__global__ void sample_3d(cudaTextureObject_t t, const float* x, float* to) {
  to[threadIdx.x] = tex3D<float>(t, x[threadIdx.x], 1.f, 0.5f);
}
template <class T>
__global__ void elements(cudaTextureObject_t t, int first, int y, T* to) {
  const int x = first + static_cast<int>(threadIdx.x);
  to[threadIdx.x] = y < 0 ? tex1Dfetch<T>(t, x) : tex2D<T>(t, x, y);
}
__global__ void turn(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width) {
  const int x = threadIdx.x, y = blockIdx.x;
  const float v = surf2Dread<float>(from, x * 4, y, cudaBoundaryModeZero);
  surf2Dwrite(v + 1, to, (width - 1 - x) * 4, y);
}
__global__ void beside(cudaSurfaceObject_t s, float* to) {
  to[0] = surf2Dread<float>(s, -4, 0, cudaBoundaryModeZero);
  to[1] = surf2Dread<float>(s, -4, 0, cudaBoundaryModeClamp);
  to[2] = surf2Dread<float>(s, 400, 9, cudaBoundaryModeClamp);
}

namespace {

constexpr int most = 64;

template <class T>
T* pinned() {
  void* out = nullptr;
  cudaMallocHost(&out, most * sizeof(T));
  std::memset(out, 0, most * sizeof(T));
  return static_cast<T*>(out);
}

void show(const char* what, const float* values, int count) {
  cudaDeviceSynchronize();
  std::printf("%s", what);
  for (int i = 0; i < count; ++i) std::printf(" %g", static_cast<double>(values[i]));
  std::printf("\n");
}

template <class T>
cudaChannelFormatDesc format() {
  return cudaCreateChannelDesc<T>();
}

cudaResourceDesc of(cudaArray_t array) {
  cudaResourceDesc out{};
  out.resType = cudaResourceTypeArray;
  out.res.array.array = array;
  return out;
}
cudaResourceDesc of(void* memory, const cudaChannelFormatDesc& what, std::size_t bytes) {
  cudaResourceDesc out{};
  out.resType = cudaResourceTypeLinear;
  out.res.linear.devPtr = memory, out.res.linear.desc = what, out.res.linear.sizeInBytes = bytes;
  return out;
}
cudaResourceDesc of(void* memory, const cudaChannelFormatDesc& what, std::size_t width,
                    std::size_t height, std::size_t pitch) {
  cudaResourceDesc out{};
  out.resType = cudaResourceTypePitch2D;
  out.res.pitch2D.devPtr = memory, out.res.pitch2D.desc = what;
  out.res.pitch2D.width = width, out.res.pitch2D.height = height;
  out.res.pitch2D.pitchInBytes = pitch;
  return out;
}
cudaTextureDesc how(cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool normalized,
                    cudaTextureReadMode read = cudaReadModeElementType) {
  cudaTextureDesc out{};
  for (cudaTextureAddressMode& each : out.addressMode) each = mode;
  out.filterMode = filter, out.normalizedCoords = normalized, out.readMode = read;
  return out;
}

void arrays() {
  const cudaChannelFormatDesc f = format<float>(), f4 = format<float4>();
  const cudaChannelFormatDesc f3 = cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat);
  const cudaChannelFormatDesc odd =
      cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindUnsigned);
  const cudaChannelFormatDesc f8 = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaArray_t a = nullptr, b = nullptr, line = nullptr, box = nullptr, none = nullptr;
  D(cudaMallocArray(&a, &f, 8, 4));
  D(cudaMallocArray(&b, &f, 8, 4, cudaArraySurfaceLoadStore));
  D(cudaMallocArray(&line, &f4, 16));
  D(cudaMalloc3DArray(&box, &f, make_cudaExtent(4, 3, 2)));
  D(cudaMallocArray(&none, &f, 0, 4));
  D(cudaMallocArray(nullptr, &f, 8, 4));
  D(cudaMallocArray(&none, nullptr, 8, 4));
  D(cudaMallocArray(&none, &f, 8, 4, 0x1000));
  D(cudaMallocArray(&none, &f, 131072, 4));
  D(cudaMallocArray(&none, &f, 131073, 4));
  D(cudaMallocArray(&none, &f, 4, 65537));
  D(cudaMallocArray(&none, &f3, 8, 4));
  D(cudaMallocArray(&none, &odd, 8, 4));
  D(cudaMallocArray(&none, &f8, 8, 4));
  D(cudaMalloc3DArray(&none, &f, make_cudaExtent(4, 0, 2)));
  D(cudaMalloc3DArray(&none, &f, make_cudaExtent(4, 4, 20000)));
  D(cudaGetLastError());
  cudaChannelFormatDesc got{};
  cudaExtent extent{};
  unsigned flags = 9;
  D(cudaArrayGetInfo(&got, &extent, &flags, b));
  std::printf("%d %d %d %d of %d, %zu %zu %zu, %u\n", got.x, got.y, got.z, got.w,
              static_cast<int>(got.f), extent.width, extent.height, extent.depth, flags);
  D(cudaArrayGetInfo(&got, &extent, &flags, line));
  std::printf("%d %d %d %d of %d, %zu %zu %zu, %u\n", got.x, got.y, got.z, got.w,
              static_cast<int>(got.f), extent.width, extent.height, extent.depth, flags);
  D(cudaGetChannelDesc(&got, box));

  float values[most] = {}, back[most] = {};
  for (int i = 0; i < most; ++i) values[i] = static_cast<float>(i);
  const auto in = cudaMemcpyHostToDevice, out = cudaMemcpyDeviceToHost;
  D(cudaMemcpy2DToArray(a, 0, 0, values, 32, 32, 4, in));
  D(cudaMemcpy2DToArray(a, 0, 0, values, 32, 36, 4, in));
  D(cudaMemcpy2DToArray(a, 4, 0, values, 32, 32, 4, in));
  D(cudaMemcpy2DToArray(a, 2, 0, values, 32, 4, 1, in));
  D(cudaMemcpy2DToArray(a, 0, 0, values, 32, 6, 1, in));
  D(cudaMemcpy2DToArray(a, 0, 0, values, 16, 32, 4, in));
  D(cudaMemcpy2DToArray(a, 0, 3, values, 32, 32, 2, in));
  D(cudaMemcpy2DToArray(a, 0, 0, values, 32, 0, 4, in));
  D(cudaMemcpy2DToArray(nullptr, 0, 0, values, 32, 32, 4, in));
  D(cudaMemcpy2DToArray(a, 0, 0, values, 32, 32, 4, cudaMemcpyKind(7)));
  D(cudaMemcpy2DToArray(b, 8, 1, values, 32, 16, 2, in));
  D(cudaMemcpy2DFromArray(back, 32, b, 8, 1, 16, 2, out));
  std::printf("%g %g\n", static_cast<double>(back[3]), static_cast<double>(back[8]));
  D(cudaMemcpy2DFromArray(back, 8, b, 8, 1, 16, 2, out));
  D(cudaMemcpy2DArrayToArray(b, 0, 0, a, 4, 1, 28, 3, cudaMemcpyDeviceToDevice));
  D(cudaMemcpy2DArrayToArray(b, 8, 0, a, 4, 1, 28, 3, cudaMemcpyDeviceToDevice));
  D(cudaMemcpy2DFromArray(back, 32, b, 0, 0, 28, 3, out));
  std::printf("%g %g\n", static_cast<double>(back[0]), static_cast<double>(back[22]));
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(values, 16, 4, 3), p.dstArray = box;
  p.extent = make_cudaExtent(4, 3, 2), p.kind = in;
  D(cudaMemcpy3D(&p));
  p.extent.depth = 3;
  D(cudaMemcpy3D(&p));
  p.extent = make_cudaExtent(3, 2, 1), p.dstPos = make_cudaPos(2, 0, 0);
  D(cudaMemcpy3D(&p));
  p.dstPos = make_cudaPos(1, 1, 1);
  D(cudaMemcpy3D(&p));
  p.dstPtr = p.srcPtr;
  D(cudaMemcpy3D(&p));
  cudaMemcpy3DParms q{};
  q.srcArray = box, q.dstPtr = make_cudaPitchedPtr(back, 16, 4, 3);
  q.extent = make_cudaExtent(4, 3, 2), q.kind = out;
  D(cudaMemcpy3D(&q));
  std::printf("%g %g %g\n", static_cast<double>(back[12]), static_cast<double>(back[17]),
              static_cast<double>(back[23]));
  D(cudaGetLastError());
  D(cudaFreeArray(a));
  D(cudaFreeArray(nullptr));
}

// By rows and parts of rows.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma nv_diag_suppress 1444
void pieces() {
  const cudaChannelFormatDesc f = format<float>();
  cudaArray_t a = nullptr, b = nullptr;
  cudaMallocArray(&a, &f, 8, 4), cudaMallocArray(&b, &f, 8, 4);
  float values[most] = {}, back[most] = {};
  for (int i = 0; i < most; ++i) values[i] = static_cast<float>(i);
  const auto in = cudaMemcpyHostToDevice, out = cudaMemcpyDeviceToHost;
  D(cudaMemcpyToArray(a, 0, 0, values, 128, in));
  D(cudaMemcpyToArray(a, 0, 0, values, 132, in));
  D(cudaMemcpyToArray(a, 16, 1, values, 64, in));
  D(cudaMemcpyToArray(a, 0, 4, values, 4, in));
  D(cudaMemcpyToArrayAsync(a, 28, 3, values, 4, in, nullptr));
  D(cudaMemcpyFromArray(back, a, 0, 0, 128, out));
  std::printf("%g %g %g %g %g\n", static_cast<double>(back[11]), static_cast<double>(back[12]),
              static_cast<double>(back[16]), static_cast<double>(back[27]),
              static_cast<double>(back[31]));
  D(cudaMemcpyArrayToArray(b, 0, 0, a, 16, 1, 40, cudaMemcpyDeviceToDevice));
  D(cudaMemcpyFromArray(back, b, 0, 0, 40, out));
  std::printf("%g %g\n", static_cast<double>(back[0]), static_cast<double>(back[9]));
  D(cudaGetLastError());
}
#pragma GCC diagnostic pop

void textures() {
  const cudaChannelFormatDesc f = format<float>(), u8 = format<unsigned char>(),
                              i32 = format<int>();
  cudaArray_t a = nullptr, bytes = nullptr, words = nullptr, none = nullptr;
  cudaMallocArray(&a, &f, 8, 4), cudaMallocArray(&bytes, &u8, 16, 2);
  cudaMallocArray(&words, &i32, 8, 4);
  void* memory = nullptr;
  cudaMalloc(&memory, 8192);
  char* const m = static_cast<char*>(memory);
  const auto point = cudaFilterModePoint, linear = cudaFilterModeLinear;
  const auto wrap = cudaAddressModeWrap, clamp = cudaAddressModeClamp;
  const auto as_float = cudaReadModeNormalizedFloat;
  cudaTextureObject_t t = 0;
  cudaResourceDesc what = of(a);
  cudaTextureDesc plain = how(clamp, point, false);
  const auto make = [&](const cudaResourceDesc& w, const cudaTextureDesc& h) {
    return cudaCreateTextureObject(&t, &w, &h, nullptr);
  };
  D(cudaCreateTextureObject(&t, &what, &plain, nullptr));
  D(cudaCreateTextureObject(nullptr, &what, &plain, nullptr));
  D(cudaCreateTextureObject(&t, nullptr, &plain, nullptr));
  D(cudaCreateTextureObject(&t, &what, nullptr, nullptr));
  D(make(of(none), plain));
  D(make(of(a), how(wrap, linear, false)));
  D(make(of(a), how(wrap, linear, true)));
  D(make(of(a), how(cudaTextureAddressMode(7), point, false)));
  D(make(of(a), how(clamp, cudaTextureFilterMode(7), false)));
  D(make(of(a), how(clamp, point, false, as_float)));
  D(make(of(bytes), how(clamp, linear, false)));
  D(make(of(bytes), how(clamp, linear, false, as_float)));
  D(make(of(words), how(clamp, point, false, as_float)));
  D(make(of(words), how(clamp, linear, false)));
  D(make(of(memory, f, 1024), plain));
  D(make(of(memory, f, 1022), plain));
  D(make(of(memory, f, 0), plain));
  D(make(of(memory, f, 1 << 20), plain));
  D(make(of(m + 16, f, 1024), plain));
  D(make(of(m + 512, f, 1024), plain));
  D(make(of(nullptr, f, 1024), plain));
  D(make(of(memory, f, 1024), how(clamp, linear, false)));
  D(make(of(memory, f, 1024), how(wrap, point, true)));
  D(make(of(memory, f, 8, 4, 512), plain));
  D(make(of(memory, f, 8, 4, 32), plain));
  D(make(of(memory, f, 8, 4, 40), plain));
  D(make(of(memory, f, 8, 4, 16), plain));
  D(make(of(m + 256, f, 8, 4, 512), plain));
  D(make(of(m + 512, f, 8, 4, 512), plain));
  D(make(of(memory, f, 8, 64, 512), plain));
  D(make(of(memory, f, 0, 4, 512), plain));
  D(cudaGetLastError());
  cudaResourceDesc got{};
  cudaTextureDesc asked{};
  make(of(bytes), how(wrap, linear, true, as_float));
  D(cudaGetTextureObjectResourceDesc(&got, t));
  D(cudaGetTextureObjectTextureDesc(&asked, t));
  std::printf("%d %d, %d %d %d %d %d\n", static_cast<int>(got.resType),
              got.res.array.array == bytes, static_cast<int>(asked.addressMode[0]),
              static_cast<int>(asked.addressMode[2]), static_cast<int>(asked.filterMode),
              static_cast<int>(asked.readMode), asked.normalizedCoords);
  cudaResourceViewDesc view{};
  D(cudaGetTextureObjectResourceViewDesc(&view, t));
  D(cudaDestroyTextureObject(t));
  D(cudaDestroyTextureObject(t));
  D(cudaGetTextureObjectResourceDesc(&got, t));
  D(cudaDestroyTextureObject(0));
  D(cudaDestroyTextureObject(12345));
  D(cudaGetLastError());
  cudaSurfaceObject_t s = 0;
  cudaArray_t stored = nullptr;
  cudaMallocArray(&stored, &f, 8, 4, cudaArraySurfaceLoadStore);
  const auto surface = [&](const cudaResourceDesc& w) { return cudaCreateSurfaceObject(&s, &w); };
  D(surface(of(stored)));
  D(cudaGetSurfaceObjectResourceDesc(&got, s));
  D(cudaCreateSurfaceObject(nullptr, &got));
  D(cudaCreateSurfaceObject(&s, nullptr));
  D(surface(of(a)));
  D(surface(of(memory, f, 1024)));
  D(surface(of(none)));
  D(cudaDestroySurfaceObject(s));
  D(cudaDestroySurfaceObject(s));
  D(cudaGetLastError());
}

// What kernels read.
void sampled() {
  const cudaChannelFormatDesc f = format<float>(), u8 = format<unsigned char>();
  const cudaChannelFormatDesc i8x2 = format<char2>(), u32 = format<unsigned>();
  float* const x = pinned<float>();
  float* const y = pinned<float>();
  float* const to = pinned<float>();
  float values[most] = {};
  for (int i = 0; i < most; ++i) values[i] = static_cast<float>(i * i % 23);
  cudaArray_t a = nullptr, line = nullptr, box = nullptr, bytes = nullptr, words = nullptr;
  cudaMallocArray(&a, &f, 8, 4), cudaMallocArray(&line, &f, 8);
  cudaMalloc3DArray(&box, &f, make_cudaExtent(4, 4, 4));
  cudaMallocArray(&bytes, &u8, 8, 1), cudaMallocArray(&words, &u32, 8, 1);
  cudaMemcpy2DToArray(a, 0, 0, values, 32, 32, 4, cudaMemcpyHostToDevice);
  cudaMemcpy2DToArray(line, 0, 0, values, 32, 32, 1, cudaMemcpyHostToDevice);
  const unsigned char some[] = {0, 1, 51, 102, 127, 128, 254, 255};
  cudaMemcpy2DToArray(bytes, 0, 0, some, 8, 8, 1, cudaMemcpyHostToDevice);
  const unsigned numbers[] = {5, 4, 3, 2, 1, 1u << 31, 7, 8};
  cudaMemcpy2DToArray(words, 0, 0, numbers, 32, 32, 1, cudaMemcpyHostToDevice);
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(values, 16, 4, 4), p.dstArray = box;
  p.extent = make_cudaExtent(4, 4, 4), p.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&p);
  const char* const modes[] = {"wrap", "clamp", "mirror", "border"};
  constexpr int n = 14;
  for (int mode = 0; mode < 4; ++mode) {
    for (int normalized = 0; normalized < 2; ++normalized) {
      for (int linear = 0; linear < 2; ++linear) {
        cudaTextureDesc desc = how(static_cast<cudaTextureAddressMode>(mode),
                                   static_cast<cudaTextureFilterMode>(linear), normalized);
        for (float& each : desc.borderColor) each = 100;
        desc.addressMode[1] = cudaAddressModeBorder;
        cudaTextureObject_t t = 0;
        cudaResourceDesc what = of(a);
        for (int i = 0; i < n; ++i) {
          x[i] = static_cast<float>(i - 3) * 1.375f / (normalized ? 8 : 1);
          y[i] = (i == 5 ? -0.25f : 2.125f) / (normalized ? 4 : 1);
        }
        std::printf("%s %d %d\n", modes[mode], normalized, linear);
        if (cudaCreateTextureObject(&t, &what, &desc, nullptr)) continue;
        sample_2d<<<1, n>>>(t, x, y, to);
        show("2d", to, n);
        what = of(line);
        cudaCreateTextureObject(&t, &what, &desc, nullptr);
        sample_1d<<<1, n>>>(t, x, to);
        show("1d", to, n);
        what = of(box);
        cudaCreateTextureObject(&t, &what, &desc, nullptr);
        sample_3d<<<1, n>>>(t, x, to);
        show("3d", to, n);
      }
    }
  }
  cudaTextureObject_t t = 0;
  cudaTextureDesc desc =
      how(cudaAddressModeBorder, cudaFilterModePoint, false, cudaReadModeNormalizedFloat);
  for (float& each : desc.borderColor) each = 3;
  cudaResourceDesc what = of(bytes);
  D(cudaCreateTextureObject(&t, &what, &desc, nullptr));
  elements<float><<<1, 10>>>(t, -1, 0, to);
  show("bytes", to, 10);
  desc.readMode = cudaReadModeElementType;
  what = of(words);
  D(cudaCreateTextureObject(&t, &what, &desc, nullptr));
  unsigned* const whole = pinned<unsigned>();
  elements<unsigned><<<1, 10>>>(t, -1, 0, whole);
  cudaDeviceSynchronize();
  for (int i = 0; i < 10; ++i) std::printf("%x ", whole[i]);
  std::printf("\n");

  void* memory = nullptr;
  cudaMalloc(&memory, 4096);
  cudaMemset(memory, 0, 4096);
  cudaMemcpy(memory, values, sizeof values, cudaMemcpyHostToDevice);
  what = of(memory, f, 32);
  desc = how(cudaAddressModeWrap, cudaFilterModePoint, false);
  D(cudaCreateTextureObject(&t, &what, &desc, nullptr));
  elements<float><<<1, 12>>>(t, -2, -1, to);
  show("linear", to, 12);
  char2* const pairs = pinned<char2>();
  what = of(memory, i8x2, 32);
  D(cudaCreateTextureObject(&t, &what, &desc, nullptr));
  elements<char2><<<1, 4>>>(t, 2, -1, pairs);
  cudaDeviceSynchronize();
  std::printf("%d %d, %d %d\n", pairs[1].x, pairs[1].y, pairs[3].x, pairs[3].y);
  what = of(memory, f, 8, 4, 64);
  desc = how(cudaAddressModeClamp, cudaFilterModeLinear, false);
  D(cudaCreateTextureObject(&t, &what, &desc, nullptr));
  sample_2d<<<1, n>>>(t, x, y, to);
  show("rows", to, n);

  cudaArray_t from = nullptr, into = nullptr;
  cudaMallocArray(&from, &f, 8, 4, cudaArraySurfaceLoadStore);
  cudaMallocArray(&into, &f, 8, 4, cudaArraySurfaceLoadStore);
  cudaMemcpy2DToArray(from, 0, 0, values, 32, 32, 4, cudaMemcpyHostToDevice);
  cudaSurfaceObject_t s = 0, d = 0;
  what = of(from);
  D(cudaCreateSurfaceObject(&s, &what));
  what = of(into);
  D(cudaCreateSurfaceObject(&d, &what));
  turn<<<4, 8>>>(s, d, 8);
  float back[most] = {};
  D(cudaMemcpy2DFromArray(back, 32, into, 0, 0, 32, 4, cudaMemcpyDeviceToHost));
  show("turned", back, 32);
  beside<<<1, 1>>>(s, to);
  show("beside", to, 3);
  D(cudaDeviceSynchronize());
}

void driver_arrays() {
  CUcontext context = nullptr;
  cuInit(0), cuDevicePrimaryCtxRetain(&context, 0), cuCtxSetCurrent(context);
  CUarray a = nullptr, line = nullptr, none = nullptr;
  CUDA_ARRAY_DESCRIPTOR flat{8, 4, CU_AD_FORMAT_FLOAT, 1},
      row{16, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4};
  CUDA_ARRAY_DESCRIPTOR wrong = flat, got{};
  D(cuArrayCreate(&a, &flat));
  D(cuArrayCreate(&line, &row));
  D(cuArrayCreate(nullptr, &flat));
  D(cuArrayCreate(&none, nullptr));
  wrong.NumChannels = 3;
  D(cuArrayCreate(&none, &wrong));
  wrong.NumChannels = 1, wrong.Format = static_cast<CUarray_format>(0x55);
  D(cuArrayCreate(&none, &wrong));
  wrong = flat, wrong.Width = 0;
  D(cuArrayCreate(&none, &wrong));
  D(cuArrayGetDescriptor(&got, line));
  std::printf("%zu %zu %d %u\n", got.Width, got.Height, static_cast<int>(got.Format),
              got.NumChannels);
  D(cuArrayGetDescriptor(nullptr, line));
  D(cuArrayGetDescriptor(&got, nullptr));
  CUDA_ARRAY3D_DESCRIPTOR deep{4, 3, 2, CU_AD_FORMAT_HALF, 2, 0}, about{};
  CUarray box = nullptr;
  D(cuArray3DCreate(&box, &deep));
  D(cuArray3DGetDescriptor(&about, box));
  std::printf("%zu %zu %zu %d %u %u\n", about.Width, about.Height, about.Depth,
              static_cast<int>(about.Format), about.NumChannels, about.Flags);
  D(cuArray3DGetDescriptor(&about, a));
  std::printf("%zu %zu %zu %u\n", about.Width, about.Height, about.Depth, about.Flags);
  deep.Height = 0;
  D(cuArray3DCreate(&none, &deep));
  D(cuArrayGetDescriptor(&got, box));
  float values[most] = {}, back[most] = {};
  for (int i = 0; i < most; ++i) values[i] = static_cast<float>(i);
  CUdeviceptr memory = 0;
  cuMemAlloc(&memory, 1024), cuMemsetD32(memory, 0, 256);
  D(cuMemcpyHtoA(line, 0, values, 64));
  D(cuMemcpyHtoA(line, 4, values, 64));
  D(cuMemcpyHtoA(line, 2, values, 4));
  D(cuMemcpyHtoA(line, 4, values, 6));
  D(cuMemcpyHtoA(line, 8, values, 0));
  D(cuMemcpyHtoA(nullptr, 0, values, 4));
  D(cuMemcpyAtoH(back, line, 8, 8));
  std::printf("%g %g\n", static_cast<double>(back[0]), static_cast<double>(back[1]));
  D(cuMemcpyAtoD(memory, line, 0, 64));
  D(cuMemcpyDtoA(line, 32, memory, 32));
  D(cuMemcpyAtoA(line, 0, line, 32, 32));
  D(cuMemcpyHtoA(a, 0, values, 32));
  D(cuMemcpyHtoA(a, 0, values, 128));
  D(cuMemcpyHtoA(a, 32, values, 32));
  D(cuMemcpyHtoAAsync(line, 0, values, 16, nullptr));
  D(cuMemcpyAtoHAsync(back, line, 0, 64, nullptr));
  D(cuStreamSynchronize(nullptr));
  std::printf("%g %g %g\n", static_cast<double>(back[3]), static_cast<double>(back[4]),
              static_cast<double>(back[15]));
  CUDA_MEMCPY2D c{};
  c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = values, c.srcPitch = 32;
  c.dstMemoryType = CU_MEMORYTYPE_ARRAY, c.dstArray = a, c.WidthInBytes = 32, c.Height = 4;
  D(cuMemcpy2D(&c));
  c.Height = 5;
  D(cuMemcpy2D(&c));
  c.Height = 1, c.dstY = 4;
  D(cuMemcpy2D(&c));
  c.dstY = 0, c.dstXInBytes = 2, c.WidthInBytes = 4;
  D(cuMemcpy2D(&c));
  c.dstXInBytes = 0, c.dstMemoryType = static_cast<CUmemorytype>(9);
  D(cuMemcpy2D(&c));
  CUDA_RESOURCE_DESC what{};
  CUDA_TEXTURE_DESC how{};
  CUtexObject t = 0;
  CUsurfObject s = 0;
  what.res.array.hArray = a;
  const auto make = [&] { return cuTexObjectCreate(&t, &what, &how, nullptr); };
  D(make());
  std::printf("handle %d\n", t != 0);
  how.filterMode = CU_TR_FILTER_MODE_LINEAR;
  D(make());
  how.flags = 1 << 20;
  D(make());
  how.flags = 0, what.flags = 1;
  D(make());
  what.flags = 0, what.resType = static_cast<CUresourcetype>(9);
  D(make());
  what.resType = CU_RESOURCE_TYPE_ARRAY;
  CUDA_RESOURCE_VIEW_DESC view{};
  D(cuTexObjectGetResourceViewDesc(&view, t));
  D(cuTexObjectCreate(&t, &what, &how, &view));
  D(cuSurfObjectCreate(&s, &what));
  D(cuTexObjectDestroy(t));
  D(cuTexObjectDestroy(t));
  D(cuTexObjectDestroy(0));
  D(cuSurfObjectDestroy(0));
  D(cuArrayDestroy(a));
  D(cuArrayDestroy(nullptr));
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  if (what == "arrays") return arrays(), 0;
  if (what == "pieces") return pieces(), 0;
  if (what == "textures") return textures(), 0;
  if (what == "sampled") return sampled(), 0;
  if (what == "driver_arrays") return driver_arrays(), 0;
  std::printf("answers_textures arrays|pieces|textures|sampled|driver_arrays\n");
  return 2;
}
