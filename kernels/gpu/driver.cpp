#include "kernels/gpu/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace tilescope::gpu {
namespace {

constexpr std::string_view instead = "Use --on sim.";

Error no_driver(std::string sentence) {
  return {ErrorKind::no_device, std::move(sentence), ""};
}

// One after the other from an open library; remembers the first name that it does not have.
class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}

  template <class Function>
  void get(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(library_, name));
    if (!function && missing_.empty()) missing_ = name;
  }
  // null where the library has it not
  template <class Function>
  void get_newer(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(library_, name));
  }
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

std::string find_functions(void* library, Driver& d) {
  Symbols from(library);
  from.get(d.cuInit, "cuInit");
  from.get(d.cuDriverGetVersion, "cuDriverGetVersion");
  from.get(d.cuGetErrorName, "cuGetErrorName");
  from.get(d.cuGetErrorString, "cuGetErrorString");
  from.get(d.cuDeviceGetCount, "cuDeviceGetCount");
  from.get(d.cuDeviceGet, "cuDeviceGet");
  from.get(d.cuDeviceGetName, "cuDeviceGetName");
  from.get(d.cuDeviceGetAttribute, "cuDeviceGetAttribute");
  from.get(d.cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  from.get(d.cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
  from.get(d.cuCtxSetCurrent, "cuCtxSetCurrent");
  from.get(d.cuModuleLoadDataEx, "cuModuleLoadDataEx");
  from.get(d.cuModuleUnload, "cuModuleUnload");
  from.get(d.cuLinkCreate, "cuLinkCreate_v2");
  from.get(d.cuLinkAddData, "cuLinkAddData_v2");
  from.get(d.cuLinkComplete, "cuLinkComplete");
  from.get(d.cuLinkDestroy, "cuLinkDestroy");
  from.get(d.cuModuleGetFunction, "cuModuleGetFunction");
  from.get(d.cuFuncSetAttribute, "cuFuncSetAttribute");
  from.get(d.cuMemAlloc, "cuMemAlloc_v2");
  from.get(d.cuMemFree, "cuMemFree_v2");
  from.get(d.cuMemcpyHtoD, "cuMemcpyHtoD_v2");
  from.get(d.cuMemcpyDtoH, "cuMemcpyDtoH_v2");
  from.get(d.cuMemsetD8, "cuMemsetD8_v2");
  from.get(d.cuLaunchKernelEx, "cuLaunchKernelEx");
  from.get(d.cuEventCreate, "cuEventCreate");
  from.get(d.cuEventDestroy, "cuEventDestroy_v2");
  from.get(d.cuEventRecord, "cuEventRecord");
  from.get(d.cuEventQuery, "cuEventQuery");
  from.get(d.cuEventElapsedTime, "cuEventElapsedTime");
  from.get_newer(d.cuDeviceGetPCIBusId, "cuDeviceGetPCIBusId");
  from.get_newer(d.cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled");
  from.get_newer(d.cuTensorMapEncodeIm2col, "cuTensorMapEncodeIm2col");
  return from.missing();
}

}  // namespace

std::string Driver::name_of(Result error) const {
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(error, &name);
  cuGetErrorString(error, &text);
  if (!name) return fmt::format("CUDA error {}", static_cast<int>(error));
  return text ? fmt::format("{} ({})", name, text) : name;
}

std::string Driver::version_text() const {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Outcome<std::shared_ptr<const Driver>> load_driver(const std::string& path) {
  const std::string name = path.empty() ? "libcuda.so.1" : path;
  // Never closed: threads of the driver may outlive whoever asked.
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = dlerror();
    return no_driver(
        fmt::format("There is no CUDA driver to run on a GPU with: {}. Install NVIDIA's driver, or "
                    "use --on sim.",
                    why ? why : name));
  }
  auto driver = std::make_shared<Driver>();
  const std::string missing = find_functions(library, *driver);
  if (!missing.empty()) {
    return no_driver(fmt::format(
        "The CUDA driver {} has no {}: it is older than CUDA 11.8. Install a newer one, or use "
        "--on sim.",
        name, missing));
  }
  driver->cuDriverGetVersion(&driver->version);
  if (const Result result = driver->cuInit(0); result != Result::success) {
    return no_driver(result == Result::no_device
                         ? fmt::format("The CUDA driver {} (CUDA {}) finds no GPU here. {}", name,
                                       driver->version_text(), instead)
                         : fmt::format("The CUDA driver {} does not start: {}. {}", name,
                                       driver->name_of(result), instead));
  }
  return std::shared_ptr<const Driver>(std::move(driver));
}

}  // namespace tilescope::gpu
