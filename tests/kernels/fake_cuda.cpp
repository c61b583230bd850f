// A CUDA driver without a GPU, for tests: memory is the host's, and the one kernel that it knows is
// elementwise_add of f32. What it is asked is written to the file FAKE_CUDA_LOG, a line a call.
//
// FAKE_CUDA says what goes wrong, words apart by commas:
//   no_device    there is a driver, but no GPU
//   sm=100       the chip's compute capability, 10.0 (else 9.0)
//   load=218     loading a module ends with this CUresult, and a log
//   fault=700    the kernel ends with this CUresult, and so does everything after it
//   wrong        the kernel adds 1 to its first element
//   print        the kernel prints a line
//   nothing      the kernel does nothing
//   endless      the kernel never ends
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "tests/kernels/fake_driver.h"

namespace {

using namespace tilescope::gpu;

int fault = 0;       // of this context
std::string linked;  // the texts of a program of several files

std::string says(const std::string& key) {
  const char* all = std::getenv("FAKE_CUDA");
  std::string rest = all ? all : "";
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.size(), rest.find(','));
    const std::string word = rest.substr(0, comma);
    rest.erase(0, comma + 1);
    if (word == key) return "1";
    if (word.rfind(key + "=", 0) == 0) return word.substr(key.size() + 1);
  }
  return "";
}

// What a device holds goes with its context: a program that ends after a fault need not free it, so
// here it stays reachable.
std::set<void*>& device_memory() {
  static auto* held = new std::set<void*>;
  return *held;
}

template <class... Values>
void log(const char* format, Values... values) {
  const char* path = std::getenv("FAKE_CUDA_LOG");
  if (!path) return;
  if (std::FILE* file = std::fopen(path, "a")) {
    std::fprintf(file, format, values...);
    std::fclose(file);
  }
}

Result now() {
  return static_cast<Result>(fault);
}

template <class T>
T parameter(void** parameters, int index) {
  T value;
  std::memcpy(&value, parameters[index], sizeof value);
  return value;
}

void add(void** parameters) {
  const auto* a = reinterpret_cast<const float*>(parameter<CUdeviceptr>(parameters, 0));
  const auto* b = reinterpret_cast<const float*>(parameter<CUdeviceptr>(parameters, 1));
  auto* c = reinterpret_cast<float*>(parameter<CUdeviceptr>(parameters, 2));
  const int count = parameter<int>(parameters, 3) * parameter<int>(parameters, 4);
  for (int i = 0; i < count; ++i) c[i] = a[i] + b[i];
  if (!says("wrong").empty()) c[0] += 1;
  if (!says("print").empty()) std::puts("printed by the kernel");
}

}  // namespace

extern "C" {

Result cuInit(unsigned) {
  return says("no_device").empty() ? Result::success : Result::no_device;
}
Result cuGetErrorName(Result error, const char** name) {
  *name = error == Result::illegal_address ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OF_A_TEST";
  return Result::success;
}
Result cuDeviceGetName(char* name, int length, CUdevice) {
  std::snprintf(name, static_cast<std::size_t>(length), "Fake GPU");
  return Result::success;
}
Result cuDeviceGetAttribute(int* value, int attribute, CUdevice) {
  const std::string sm = says("sm");
  const int capability = sm.empty() ? 90 : std::stoi(sm);
  *value = attribute == capability_major   ? capability / 10
           : attribute == capability_minor ? capability % 10
                                           : 4;
  return Result::success;
}
Result cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  fault = 0;
  *context = reinterpret_cast<CUcontext>(&fault);
  log("retain\n");
  return Result::success;
}
Result cuDevicePrimaryCtxRelease_v2(CUdevice) {
  log("release\n");
  return Result::success;
}
Result cuCtxSetCurrent(CUcontext) {
  return Result::success;
}
Result cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, int* options,
                          void** values) {
  const std::string code = says("load");
  for (unsigned i = 0; i < count && !code.empty(); ++i) {
    if (options[i] == jit_error_log) {
      std::strcpy(static_cast<char*>(values[i]), "ptxas fatal: nothing fits here\n");
    }
  }
  *module = static_cast<CUmodule>(const_cast<void*>(image));
  log("load %zu bytes\n", std::strlen(static_cast<const char*>(image)));
  return code.empty() ? now() : static_cast<Result>(std::stoi(code));
}
Result cuLinkCreate_v2(unsigned, int*, void**, CUlinkState* state) {
  *state = nullptr;
  return Result::success;
}
Result cuLinkAddData_v2(CUlinkState, int, void* data, std::size_t, const char* name, unsigned, int*,
                        void**) {
  log("link %s\n", name);
  linked += static_cast<const char*>(data);
  return Result::success;
}
Result cuLinkComplete(CUlinkState, void** image, std::size_t* bytes) {
  *image = linked.data();
  *bytes = linked.size();
  return Result::success;
}
Result cuLinkDestroy(CUlinkState) {
  return Result::success;
}
Result cuModuleUnload(CUmodule) {
  log("unload\n");
  return now();
}
Result cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  *function = reinterpret_cast<CUfunction>(&fault);
  log("entry %s\n", name);
  return now();
}
Result cuFuncSetAttribute(CUfunction, int attribute, int value) {
  log("attribute %d = %d\n", attribute, value);
  return attribute == max_dynamic_shared && value > 232448 ? Result::invalid_value : now();
}
Result cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  void* memory = std::malloc(bytes);
  device_memory().insert(memory);
  *address = reinterpret_cast<CUdeviceptr>(memory);
  log("allocate %zu\n", bytes);
  return now();
}
Result cuMemFree_v2(CUdeviceptr address) {
  device_memory().erase(reinterpret_cast<void*>(address));
  std::free(reinterpret_cast<void*>(address));
  log("free\n");
  return now();
}
Result cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return now();
}
Result cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return now();
}
Result cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t bytes) {
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  log("fill 0x%02X\n", value);
  return now();
}
Result cuLaunchKernelEx(const LaunchConfig* config, CUfunction, void** parameters, void**) {
  log("launch grid %u %u %u block %u %u %u shared %u\n", config->grid[0], config->grid[1],
      config->grid[2], config->block[0], config->block[1], config->block[2], config->shared_bytes);
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    const LaunchAttribute& a = config->attributes[i];
    log("launch attribute %d = %u %u %u\n", a.id, a.value.cluster[0], a.value.cluster[1],
        a.value.cluster[2]);
  }
  if (const std::string code = says("fault"); !code.empty()) {
    fault = std::stoi(code);
    return Result::success;
  }
  if (says("nothing").empty()) add(parameters);
  return Result::success;
}
Result cuEventCreate(CUevent* event, unsigned) {
  *event = reinterpret_cast<CUevent>(&fault);
  return now();
}
Result cuEventDestroy_v2(CUevent) {
  return now();
}
Result cuEventRecord(CUevent, CUstream) {
  return Result::success;
}
Result cuEventQuery(CUevent) {
  return says("endless").empty() ? now() : Result::not_ready;
}
Result cuEventElapsedTime(float* milliseconds, CUevent, CUevent) {
  *milliseconds = 0.125f;
  return now();
}

}  // extern "C"
