// Stands in for CUDA's runtime (libcudart.so.13), so that an unmodified program runs with no GPU:
// each kernel launch becomes a launch file that tilescope runs, and what the kernel wrote is back
// in the program's memory when the launch returns, so the program's own check decides.
//
// Programs are built with `nvcc -cudart shared -gencode arch=compute_90a,code=compute_90a
// --compress-mode none`: PTX alone, not compressed. Streams do one thing after another; what is not
// here answers cudaErrorNotSupported and is named once on stderr (stubs.cpp, written by build.py).
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <chrono>
#include <functional>
#include <utility>

#include "arena.h"
#include "core/run/tensor_map.h"
#include "core/sim/async/map_bits.h"

namespace recorder {
namespace {

struct Variable {
  Module* module = nullptr;
  std::string name;
  std::size_t bytes = 0;
  bool constant = false;
  std::uint64_t address = 0;  // of one that is a buffer
};

struct Registered {
  std::vector<Module*> modules;  // of the image that it was registered with
  std::string name;
  Module* module = nullptr;  // that has it
  const Entry* entry = nullptr;
  std::size_t most_dynamic = 48 * 1024;
};

struct Event {
  std::chrono::steady_clock::time_point at;
};

struct Graph {
  std::vector<std::function<cudaError_t()>> work;
};

struct Call {
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
};

struct State {
  Arena arena;
  Runner runner{arena};
  std::vector<std::unique_ptr<std::vector<Module*>>> images;
  std::vector<std::unique_ptr<Module>> modules;
  std::map<const void*, Registered> kernels;
  std::map<const void*, Variable> variables;
  std::vector<Call> calls;
  std::optional<Graph> capture;
  cudaError_t sticky = cudaSuccess, last = cudaSuccess;
  bool moved = false;  // variables are buffers from the first launch or copy on
};

State& state() {
  static auto* all = new State;  // programs call until their very end
  return *all;
}

cudaError_t answer(cudaError_t error) {
  if (error != cudaSuccess) state().last = error;
  return error;
}

// ---- images ----

template <class T>
T word(const unsigned char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// A fatbin: a header of 16 bytes (magic, version, size of the header, size of the rest), then
// entries, each with a header that says its kind (1: PTX), the header's size, and the size.
std::vector<Module*>* read_image(const unsigned char* fatbin) {
  auto& image = state().images.emplace_back(std::make_unique<std::vector<Module*>>());
  constexpr std::uint32_t magic = 0xba55ed50;
  constexpr std::uint64_t compressed = 0x2000 | 0x8000;
  while (word<std::uint32_t>(fatbin) == magic) {
    const unsigned char* at = fatbin + word<std::uint16_t>(fatbin + 6);
    const unsigned char* end = at + word<std::uint64_t>(fatbin + 8);
    while (at < end) {
      const auto head = word<std::uint32_t>(at + 4);
      const auto bytes = word<std::uint64_t>(at + 8);
      if (word<std::uint16_t>(at) != 1) {
        once("an image holds machine code, which is left out; only its PTX can run");
      } else if (word<std::uint64_t>(at + 40) & compressed) {
        once("an image's PTX is compressed; nvcc --compress-mode none would work");
      } else {
        const char* text = reinterpret_cast<const char*>(at + head);
        state().modules.push_back(
            std::make_unique<Module>(std::string(text, strnlen(text, bytes))));
        image->push_back(state().modules.back().get());
      }
      at += head + bytes;
    }
    fatbin = end;
    if (word<std::uint32_t>(fatbin) != magic) break;
    if (word<std::uint64_t>(fatbin + 8) == 0) break;
  }
  return image.get();
}

Registered* kernel_of(const void* function) {
  const auto found = state().kernels.find(function);
  if (found == state().kernels.end()) return nullptr;
  Registered& kernel = found->second;
  for (Module* module : kernel.modules) {
    if (kernel.entry) break;
    kernel.entry = module->entry(kernel.name);
    kernel.module = module;
  }
  return kernel.entry ? &kernel : nullptr;
}

void move_variables() {
  if (std::exchange(state().moved, true)) return;
  for (auto& [host, variable] : state().variables) {
    if (variable.constant || !variable.module) continue;
    variable.address = variable.module->move_variable(variable.name, variable.bytes, state().arena);
    if (variable.address) state().runner.always(variable.address);
  }
}

// ---- the chip ----

struct Chip {
  int major, minor, processors, shared_optin, shared_processor, threads_processor, l2;
  const char* name;
};

// The newest that the program was built for. RECORDER_PROCESSORS: as if it had so many
// multiprocessors, for programs that launch as many blocks as there is room for, and a MiB of L2,
// for those that measure with more copies of their data than it holds.
const Chip& chip() {
  static Chip chips[] = {
      {8, 0, 108, 163 << 10, 164 << 10, 2048, 40 << 20, "NVIDIA A100 (simulated)"},
      {9, 0, 132, 227 << 10, 228 << 10, 2048, 50 << 20, "NVIDIA H100 (simulated)"},
      {10, 0, 148, 227 << 10, 228 << 10, 2048, 126 << 20, "NVIDIA B200 (simulated)"},
      {12, 0, 170, 99 << 10, 100 << 10, 1536, 96 << 20, "NVIDIA RTX 5090 (simulated)"}};
  int newest = 0;
  for (const auto& module : state().modules) newest = std::max(newest, module->architecture());
  Chip& one =
      *std::find_if(chips, chips + 3, [&](const Chip& c) { return newest <= 10 * c.major + 9; });
  if (const std::string few = text_of("RECORDER_PROCESSORS"); !few.empty()) {
    one.processors = std::stoi(few);
    one.l2 = 1 << 20;
  }
  return one;
}

// ---- launches ----

cudaError_t run(const void* function, const Shape& shape,
                const std::vector<std::vector<unsigned char>>& arguments) {
  Registered* kernel = kernel_of(function);
  if (state().sticky != cudaSuccess) return answer(state().sticky);
  switch (state().runner.run(*kernel->module, kernel->name, shape, arguments)) {
    case Ran::well:
      return cudaSuccess;
    case Ran::faulted:
      state().sticky = cudaErrorLaunchFailure;
      break;
    case Ran::refused:
      state().sticky = cudaErrorNotSupported;
      break;
  }
  return answer(state().sticky);
}

cudaError_t begin(const void* function, dim3 grid, dim3 block, dim3 cluster, std::size_t shared,
                  void** args, bool cooperative = false) {
  move_variables();
  Registered* kernel = kernel_of(function);
  if (!kernel) {
    once("a kernel is launched that no image has as PTX");
    return answer(cudaErrorInvalidDeviceFunction);
  }
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > kernel->entry->most_threads || shared > kernel->most_dynamic ||
      grid.x == 0 || grid.y == 0 || grid.z == 0) {
    once(kernel->name + ": a configuration that a chip refuses: " + std::to_string(threads) +
         " threads, " + std::to_string(shared) + " bytes of dynamic shared memory");
    return answer(cudaErrorInvalidConfiguration);
  }
  Shape shape{{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, {}, shared, cooperative};
  if (cluster.x) shape.cluster = {cluster.x, cluster.y, cluster.z};
  std::vector<std::vector<unsigned char>> arguments;
  for (std::size_t i = 0; i < kernel->entry->parameters.size(); ++i) {
    const auto* at = static_cast<const unsigned char*>(args[i]);
    arguments.emplace_back(at, at + kernel->entry->parameters[i].bytes);
  }
  const auto work = [=] { return run(function, shape, arguments); };
  if (!state().capture) return work();
  state().capture->work.push_back(work);
  return cudaSuccess;
}

// What a stream does: now, or when the graph that is being captured runs.
cudaError_t then(std::function<cudaError_t()> work) {
  if (state().sticky != cudaSuccess) return answer(state().sticky);
  if (!state().capture) return answer(work());
  state().capture->work.push_back(std::move(work));
  return cudaSuccess;
}

cudaError_t copy(void* to, const void* from, std::size_t bytes) {
  return then([=] {
    move_variables();
    std::memmove(to, from, bytes);
    state().arena.wrote(to);
    return cudaSuccess;
  });
}

cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height) {
  return then([=] {
    for (std::size_t row = 0; row < height; ++row) {
      std::memcpy(static_cast<char*>(to) + row * to_pitch,
                  static_cast<const char*>(from) + row * from_pitch, width);
    }
    state().arena.wrote(to);
    return cudaSuccess;
  });
}

cudaError_t fill(void* to, int value, std::size_t bytes) {
  return then([=] {
    std::memset(to, value, bytes);
    state().arena.wrote(to);
    return cudaSuccess;
  });
}

cudaError_t allocate(void** to, std::size_t bytes) {
  *to = bytes ? state().arena.take(bytes) : nullptr;
  return answer(*to || !bytes ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t release(void* p) {
  if (!p || state().arena.give_back(p)) return cudaSuccess;
  once("memory is freed that was not allocated");
  return answer(cudaErrorInvalidValue);
}

Variable* variable_of(const void* symbol) {
  move_variables();
  const auto found = state().variables.find(symbol);
  return found == state().variables.end() ? nullptr : &found->second;
}

cudaError_t to_variable(const void* symbol, const void* from, std::size_t bytes,
                        std::size_t offset) {
  Variable* v = variable_of(symbol);
  if (!v || offset + bytes > v->bytes) return answer(cudaErrorInvalidSymbol);
  if (v->address) return copy(Arena::at(v->address) + offset, from, bytes);
  std::optional<std::vector<unsigned char>> all = v->module->constant(v->name, v->bytes);
  if (!all) return answer(cudaErrorInvalidSymbol);
  std::memcpy(all->data() + offset, from, bytes);
  return answer(v->module->set_constant(v->name, *all) ? cudaSuccess : cudaErrorInvalidSymbol);
}

cudaError_t from_variable(void* to, const void* symbol, std::size_t bytes, std::size_t offset) {
  Variable* v = variable_of(symbol);
  if (!v || offset + bytes > v->bytes) return answer(cudaErrorInvalidSymbol);
  if (v->address) return copy(to, Arena::at(v->address) + offset, bytes);
  const std::optional<std::vector<unsigned char>> all = v->module->constant(v->name, v->bytes);
  if (!all) return answer(cudaErrorInvalidSymbol);
  std::memcpy(to, all->data() + offset, bytes);
  return cudaSuccess;
}

int attribute(cudaDeviceAttr what) {
  const Chip& c = chip();
  switch (what) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return 1024;
    case cudaDevAttrMaxBlockDimZ:
      return 64;
    case cudaDevAttrMaxGridDimX:
      return 0x7fffffff;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return 65535;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return 48 << 10;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return c.shared_optin;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return c.shared_processor;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return 1024;
    case cudaDevAttrWarpSize:
      return 32;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return 65536;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return c.threads_processor;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return 32;
    case cudaDevAttrMultiProcessorCount:
      return c.processors;
    case cudaDevAttrL2CacheSize:
      return c.l2;
    case cudaDevAttrComputeCapabilityMajor:
      return c.major;
    case cudaDevAttrComputeCapabilityMinor:
      return c.minor;
    case cudaDevAttrClockRate:
      return 1800000;
    case cudaDevAttrMemoryClockRate:
      return 2600000;
    case cudaDevAttrGlobalMemoryBusWidth:
      return 5120;
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrMemoryPoolsSupported:
      return 1;
    default:
      return 0;
  }
}

// Blocks that fit a multiprocessor, by threads and shared memory; registers are not known.
int resident(const Registered* kernel, int threads, std::size_t dynamic) {
  if (!kernel || threads <= 0) return 0;
  const auto shared = static_cast<int>(dynamic) + 1024;
  return std::min({chip().threads_processor / threads, chip().shared_processor / shared, 32});
}

// ---- tensor maps ----

std::optional<tilescope::MapFields> fields(CUtensorMapDataType type, cuuint32_t rank, void* address,
                                           const cuuint64_t* dims, const cuuint64_t* strides,
                                           const cuuint32_t* steps,
                                           CUtensorMapInterleave interleave,
                                           CUtensorMapSwizzle swizzle,
                                           CUtensorMapFloatOOBfill fill) {
  using tilescope::DType;
  tilescope::MapFields map;
  constexpr DType types[] = {DType::u8,  DType::u16, DType::u32, DType::i32, DType::u64,
                             DType::i64, DType::f16, DType::f32, DType::f64, DType::bf16,
                             DType::f32, DType::f32, DType::f32};
  using tilescope::MapFloat;
  constexpr MapFloat floats[] = {MapFloat::f32_ftz, MapFloat::tf32, MapFloat::tf32_ftz};
  if (type < std::size(types)) {
    map.dtype = types[type];
    if (type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ) {
      map.floats = floats[type - CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ];
    }
  } else {
    map.dtype = DType::u8;
    if (type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B) {
      map.packing = tilescope::MapPacking::b4x16;
    } else if (type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B) {
      map.packing = tilescope::MapPacking::b4x16_p64;
    } else if (type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B) {
      map.packing = tilescope::MapPacking::b6x16_p32;
    } else {
      once("a tensor map of type " + std::to_string(type) +
           " is asked for, which is not simulated");
      return std::nullopt;
    }
  }
  if (rank < 1 || rank > tilescope::most_map_dims) return std::nullopt;
  map.address = reinterpret_cast<std::uint64_t>(address);
  map.rank = rank;
  map.strides[0] = map.element_bytes();
  for (std::uint32_t d = 0; d < rank; ++d) {
    map.dims[d] = dims[d];
    if (d > 0) map.strides[d] = strides[d - 1];
    map.steps[d] = steps[d];
  }
  map.interleave = static_cast<tilescope::MapInterleave>(interleave);
  map.swizzle = static_cast<tilescope::MapSwizzle>(swizzle);
  map.nan_fill = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  return map;
}

CUresult keep(CUtensorMap* to, const std::optional<tilescope::MapFields>& map) {
  if (!map) return CUDA_ERROR_INVALID_VALUE;
  if (const auto wrong = tilescope::objection(*map)) {
    once("cuTensorMapEncode: " + *wrong);
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto bits = tilescope::sim::encode(*map);
  static_assert(sizeof bits == sizeof *to);
  std::memcpy(to, bits.data(), sizeof bits);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace recorder

using namespace recorder;

extern "C" {

// Named once by the stubs of what is not here.
int recorder_missing(const char* name) {
  once(std::string(name) + " is not there");
  return answer(cudaErrorNotSupported);
}

// ---- what nvcc's code calls ----

void** __cudaRegisterFatBinary(void* wrapper) {
  struct Wrapper {
    int magic, version;
    const unsigned char* data;
    void* other;
  };
  return reinterpret_cast<void**>(read_image(static_cast<Wrapper*>(wrapper)->data));
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) {
  return 1;
}
void __cudaRegisterFunction(void** image, const char* host, char*, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  Registered& kernel = state().kernels[host];
  kernel.modules = *reinterpret_cast<std::vector<Module*>*>(image);
  kernel.name = name;
}
void __cudaRegisterVar(void** image, char* host, char*, const char* name, int, std::size_t bytes,
                       int constant, int) {
  Variable& variable = state().variables[host];
  variable.name = name;
  variable.bytes = bytes;
  variable.constant = constant;
  const auto& modules = *reinterpret_cast<std::vector<Module*>*>(image);
  if (!modules.empty()) variable.module = modules.back();
}
void __cudaRegisterManagedVar(void** image, void** host, char* address, const char* name, int ext,
                              std::size_t bytes, int constant, int global) {
  once(std::string("the managed variable ") + name + " is no more than a device variable here");
  __cudaRegisterVar(image, reinterpret_cast<char*>(host), address, name, ext, bytes, constant,
                    global);
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                     cudaStream_t stream) {
  state().calls.push_back({grid, block, shared, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  if (state().calls.empty()) return answer(cudaErrorMissingConfiguration);
  const Call call = state().calls.back();
  state().calls.pop_back();
  *grid = call.grid;
  *block = call.block;
  *shared = call.shared;
  *static_cast<cudaStream_t*>(stream) = call.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(host));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                               std::size_t shared, cudaStream_t) {
  return begin(kernel, grid, block, dim3(0, 0, 0), shared, args);
}

// ---- launches ----

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** args,
                             std::size_t shared, cudaStream_t) {
  return begin(function, grid, block, dim3(0, 0, 0), shared, args);
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** args,
                                        std::size_t shared, cudaStream_t) {
  return begin(function, grid, block, dim3(0, 0, 0), shared, args, true);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** args) {
  dim3 cluster(0, 0, 0);
  bool cooperative = false;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    if (config->attrs[i].id == cudaLaunchAttributeCooperative) {
      cooperative = config->attrs[i].val.cooperative;
    }
    if (config->attrs[i].id != cudaLaunchAttributeClusterDimension) continue;
    const auto& dim = config->attrs[i].val.clusterDim;
    cluster = dim3(dim.x, dim.y, dim.z);
  }
  return begin(function, config->gridDim, config->blockDim, cluster, config->dynamicSmemBytes, args,
               cooperative);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
  return then([=] {
    function(data);
    return cudaSuccess;
  });
}
cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  *function = reinterpret_cast<cudaFunction_t>(const_cast<void*>(symbol));
  return answer(kernel_of(symbol) ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}
cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute what, int value) {
  Registered* kernel = kernel_of(function);
  if (!kernel) return answer(cudaErrorInvalidDeviceFunction);
  if (what != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || value > chip().shared_optin) return answer(cudaErrorInvalidValue);
  kernel->most_dynamic = static_cast<std::size_t>(value);
  return cudaSuccess;
}
cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) {
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* to, const void* function) {
  const Registered* kernel = kernel_of(function);
  if (!kernel) return answer(cudaErrorInvalidDeviceFunction);
  *to = {};
  to->maxThreadsPerBlock = static_cast<int>(kernel->entry->most_threads);
  to->maxDynamicSharedSizeBytes = static_cast<int>(kernel->most_dynamic);
  to->numRegs = 65536 / std::max(1024, to->maxThreadsPerBlock);
  to->ptxVersion = to->binaryVersion = kernel->module->architecture();
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* count, const void* function,
                                                          int threads, std::size_t dynamic) {
  *count = resident(kernel_of(function), threads, dynamic);
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* count, const void* function,
                                                                   int threads, std::size_t dynamic,
                                                                   unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(count, function, threads, dynamic);
}
cudaError_t cudaOccupancyMaxActiveClusters(int* count, const void* function,
                                           const cudaLaunchConfig_t* config) {
  unsigned blocks = 1;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    if (config->attrs[i].id != cudaLaunchAttributeClusterDimension) continue;
    const auto& dim = config->attrs[i].val.clusterDim;
    blocks = dim.x * dim.y * dim.z;
  }
  const int each =
      resident(kernel_of(function),
               static_cast<int>(config->blockDim.x * config->blockDim.y * config->blockDim.z),
               config->dynamicSmemBytes);
  *count = each * chip().processors / static_cast<int>(blocks);
  return cudaSuccess;
}

// ---- memory ----

cudaError_t cudaMalloc(void** to, std::size_t bytes) {
  return allocate(to, bytes);
}
cudaError_t cudaMallocAsync(void** to, std::size_t bytes, cudaStream_t) {
  return allocate(to, bytes);
}
cudaError_t cudaMallocManaged(void** to, std::size_t bytes, unsigned) {
  const cudaError_t error = allocate(to, bytes);
  if (error == cudaSuccess) state().arena.wrote(*to);  // the host writes it with no call
  return error;
}
cudaError_t cudaHostAlloc(void** to, std::size_t bytes, unsigned) {
  return cudaMallocManaged(to, bytes, 0);
}
cudaError_t cudaMallocHost(void** to, std::size_t bytes) {
  return cudaMallocManaged(to, bytes, 0);
}
cudaError_t cudaMallocPitch(void** to, std::size_t* pitch, std::size_t width, std::size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return allocate(to, *pitch * height);
}
cudaError_t cudaFree(void* p) {
  return release(p);
}
cudaError_t cudaFreeAsync(void* p, cudaStream_t) {
  return release(p);
}
cudaError_t cudaFreeHost(void* p) {
  return release(p);
}
cudaError_t cudaHostRegister(void*, std::size_t, unsigned) {
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void*) {
  return cudaSuccess;
}
cudaError_t cudaHostGetDevicePointer(void** to, void* host, unsigned) {
  *to = host;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  *total = std::size_t{80} << 30;
  *available = *total / 2;
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return copy(to, from, bytes);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
  return copy(to, from, bytes);
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind, cudaStream_t) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height);
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return fill(to, value, bytes);
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  return fill(to, value, bytes);
}
cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  for (std::size_t row = 0; row < height; ++row)
    fill(static_cast<char*>(to) + row * pitch, value, width);
  return cudaSuccess;
}
cudaError_t cudaMemPrefetchAsync(const void*, std::size_t, cudaMemLocation, unsigned,
                                 cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                               std::size_t offset, cudaMemcpyKind) {
  return to_variable(symbol, from, bytes, offset);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind, cudaStream_t) {
  return to_variable(symbol, from, bytes, offset);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes,
                                 std::size_t offset, cudaMemcpyKind) {
  return from_variable(to, symbol, bytes, offset);
}
cudaError_t cudaGetSymbolAddress(void** to, const void* symbol) {
  const Variable* v = variable_of(symbol);
  if (!v || !v->address) return answer(cudaErrorInvalidSymbol);
  *to = Arena::at(v->address);
  return cudaSuccess;
}
cudaError_t cudaGetSymbolSize(std::size_t* to, const void* symbol) {
  const Variable* v = variable_of(symbol);
  if (!v) return answer(cudaErrorInvalidSymbol);
  *to = v->bytes;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* to, const void* p) {
  *to = {};
  const bool ours = state().arena.find(reinterpret_cast<std::uint64_t>(p));
  to->type = ours ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
  to->devicePointer = ours ? const_cast<void*>(p) : nullptr;
  return cudaSuccess;
}

// ---- devices ----

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return answer(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaSetDeviceFlags(unsigned) {
  return cudaSuccess;
}
cudaError_t cudaDeviceReset() {
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  return state().sticky;
}
cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t) {
  return cudaSuccess;
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr what, int) {
  *value = attribute(what);
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* to, int) {
  *to = {};
  const Chip& c = chip();
  std::snprintf(to->name, sizeof to->name, "%s", c.name);
  to->totalGlobalMem = std::size_t{80} << 30;
  to->sharedMemPerBlock = 48 << 10;
  to->sharedMemPerBlockOptin = static_cast<std::size_t>(c.shared_optin);
  to->sharedMemPerMultiprocessor = static_cast<std::size_t>(c.shared_processor);
  to->reservedSharedMemPerBlock = 1024;
  to->regsPerBlock = to->regsPerMultiprocessor = 65536;
  to->warpSize = 32;
  to->maxThreadsPerBlock = 1024;
  to->maxThreadsPerMultiProcessor = c.threads_processor;
  to->maxBlocksPerMultiProcessor = 32;
  to->maxThreadsDim[0] = to->maxThreadsDim[1] = 1024;
  to->maxThreadsDim[2] = 64;
  to->maxGridSize[0] = 0x7fffffff;
  to->maxGridSize[1] = to->maxGridSize[2] = 65535;
  to->totalConstMem = 64 << 10;
  to->major = c.major;
  to->minor = c.minor;
  to->multiProcessorCount = c.processors;
  to->l2CacheSize = c.l2;
  to->persistingL2CacheMaxSize = c.l2 / 2;
  to->memoryBusWidth = 5120;
  to->unifiedAddressing = to->managedMemory = to->concurrentKernels = to->cooperativeLaunch = 1;
  to->clusterLaunch = c.major >= 9;
  to->asyncEngineCount = 2;
  return cudaSuccess;
}
// A driver after 13.1: for older ones CuTe clears a bit of a small tensor's map, which stands for
// something in the chip's own form of it, and is an address's here.
constexpr int driver_version = 13020;
cudaError_t cudaDriverGetVersion(int* version) {
  *version = driver_version;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  return state().sticky != cudaSuccess ? state().sticky : std::exchange(state().last, cudaSuccess);
}
cudaError_t cudaPeekAtLastError() {
  return state().sticky != cudaSuccess ? state().sticky : state().last;
}
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidDeviceFunction:
      return "cudaErrorInvalidDeviceFunction";
    case cudaErrorInvalidSymbol:
      return "cudaErrorInvalidSymbol";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
    case cudaErrorNotSupported:
      return "cudaErrorNotSupported";
    default:
      return "cudaError";
  }
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorLaunchFailure  ? "the kernel faulted on the simulator"
         : error == cudaErrorNotSupported ? "not there in the recorder, or refused by the simulator"
         : error == cudaSuccess           ? "no error"
                                          : cudaGetErrorName(error);
}

// ---- streams and events ----

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  static std::uintptr_t number = 0x1000;
  *stream = reinterpret_cast<cudaStream_t>(++number);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return cudaStreamCreate(stream);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return cudaStreamCreate(stream);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* most) {
  *least = *most = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return state().sticky;
}
cudaError_t cudaStreamQuery(cudaStream_t) {
  return state().sticky;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return cudaSuccess;
}
cudaError_t cudaStreamGetDevice(cudaStream_t, int* device) {
  return cudaGetDevice(device);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = state().capture ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = reinterpret_cast<cudaEvent_t>(new Event{std::chrono::steady_clock::now()});
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<Event*>(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  reinterpret_cast<Event*>(event)->at = std::chrono::steady_clock::now();
  return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return state().sticky;
}
cudaError_t cudaEventQuery(cudaEvent_t) {
  return state().sticky;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  const auto time = reinterpret_cast<Event*>(to)->at - reinterpret_cast<Event*>(from)->at;
  *milliseconds = std::chrono::duration<float, std::milli>(time).count();
  return cudaSuccess;
}

// ---- graphs that are captured ----

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  state().capture.emplace();
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  if (!state().capture) return answer(cudaErrorInvalidValue);
  *graph = reinterpret_cast<cudaGraph_t>(new Graph(*state().capture));
  state().capture.reset();
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* to, cudaGraph_t graph, unsigned long long) {
  *to = reinterpret_cast<cudaGraphExec_t>(new Graph(*reinterpret_cast<Graph*>(graph)));
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
  for (const auto& work : reinterpret_cast<Graph*>(graph)->work) {
    if (const cudaError_t error = work(); error != cudaSuccess) return answer(error);
  }
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete reinterpret_cast<Graph*>(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete reinterpret_cast<Graph*>(graph);
  return cudaSuccess;
}

// ---- the driver, as far as programs of the runtime ask for it ----

CUresult cuInit(unsigned) {
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = error == CUDA_SUCCESS ? "no error" : "an error of the driver";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char** text) {
  return cuGetErrorString(error, text);
}
CUresult cuDriverGetVersion(int* version) {
  *version = driver_version;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int) {
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  return cuDeviceGet(device, 0);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream) {
  return then([=] {
           std::fill_n(reinterpret_cast<unsigned*>(to), count, value);
           state().arena.wrote(reinterpret_cast<void*>(to));
           return cudaSuccess;
         }) == cudaSuccess
             ? CUDA_SUCCESS
             : CUDA_ERROR_LAUNCH_FAILED;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute what, CUdevice) {
  *value = attribute(static_cast<cudaDeviceAttr>(what));
  return CUDA_SUCCESS;
}
CUresult cuTensorMapEncodeTiled(CUtensorMap* to, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* dims, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  auto map = fields(type, rank, address, dims, strides, steps, interleave, swizzle, fill);
  for (std::uint32_t d = 0; map && d < rank; ++d) map->box[d] = box[d];
  return keep(to, map);
}
CUresult cuTensorMapEncodeIm2col(CUtensorMap* to, CUtensorMapDataType type, cuuint32_t rank,
                                 void* address, const cuuint64_t* dims, const cuuint64_t* strides,
                                 const int* lower, const int* upper, cuuint32_t channels,
                                 cuuint32_t column, const cuuint32_t* steps,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  auto map = fields(type, rank, address, dims, strides, steps, interleave, swizzle, fill);
  if (map) {
    tilescope::PixelColumns& pixels = map->pixels.emplace();
    pixels.channels = channels;
    pixels.column = column;
    for (std::uint32_t d = 0; d + 2 < rank; ++d)
      pixels.lower[d] = lower[d], pixels.upper[d] = upper[d];
  }
  return keep(to, map);
}
CUresult cuTensorMapReplaceAddress(CUtensorMap* to, void* address) {
  tilescope::sim::MapBits bits;
  std::memcpy(bits.data(), to, sizeof bits);
  auto map = tilescope::sim::decode_map(bits);
  if (map) map->address = reinterpret_cast<std::uint64_t>(address);
  return keep(to, map);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** to, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  const std::map<std::string_view, void*> known = {
      {"cuTensorMapEncodeTiled", reinterpret_cast<void*>(cuTensorMapEncodeTiled)},
      {"cuTensorMapEncodeIm2col", reinterpret_cast<void*>(cuTensorMapEncodeIm2col)},
      {"cuTensorMapReplaceAddress", reinterpret_cast<void*>(cuTensorMapReplaceAddress)},
      {"cuGetErrorString", reinterpret_cast<void*>(cuGetErrorString)},
      {"cuGetErrorName", reinterpret_cast<void*>(cuGetErrorName)},
      {"cuDriverGetVersion", reinterpret_cast<void*>(cuDriverGetVersion)},
      {"cuDeviceGetAttribute", reinterpret_cast<void*>(cuDeviceGetAttribute)}};
  const auto found = known.find(name);
  *to = found == known.end() ? nullptr : found->second;
  if (!*to) once(std::string(name) + " of the driver is not there");
  if (result) *result = *to ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return *to ? cudaSuccess : answer(cudaErrorNotSupported);
}
cudaError_t cudaGetDriverEntryPoint(const char* name, void** to, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* result) {
  return cudaGetDriverEntryPointByVersion(name, to, CUDA_VERSION, flags, result);
}

}  // extern "C"
