#include "kernels/gpu/resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tilescope::gpu {

Outcome<std::shared_ptr<Context>> Context::retain(std::shared_ptr<const Driver> driver,
                                                  const Chip& chip) {
  CUcontext context = nullptr;
  const Result result = driver->cuDevicePrimaryCtxRetain(&context, chip.device);
  if (result != Result::success) {
    return Error{ErrorKind::no_device,
                 fmt::format("{} cannot be used: {}.", chip.name, driver->name_of(result)), ""};
  }
  return std::make_shared<Context>(std::move(driver), chip.device, context);
}

Context::~Context() {
  // Releasing would wait for a kernel that never ends; the end of the process does not.
  if (endless) return;
  driver_->cuCtxSetCurrent(nullptr);
  driver_->cuDevicePrimaryCtxRelease(device_);
}

Result load(const std::shared_ptr<Context>& context, const std::string& ptx, Module& module,
            std::string& log) {
  std::array<char, 8192> text{};
  int options[] = {jit_error_log, jit_error_log_bytes};
  void* values[] = {text.data(), reinterpret_cast<void*>(text.size())};
  CUmodule handle = nullptr;
  const Driver& driver = context->driver();
  const Result result =
      driver.cuModuleLoadDataEx(&handle, ptx.c_str(), std::size(options), options, values);
  text.back() = 0;
  log = text.data();
  if (result == Result::success) module = {context, handle, driver.cuModuleUnload};
  return result;
}

Result allocate(const std::shared_ptr<Context>& context, std::size_t bytes, Memory& memory) {
  CUdeviceptr address = 0;
  const Driver& driver = context->driver();
  // The driver refuses to allocate nothing; a buffer without elements still has an address.
  const Result result = driver.cuMemAlloc(&address, std::max<std::size_t>(bytes, 1));
  if (result == Result::success) memory = {context, address, driver.cuMemFree};
  return result;
}

Result create(const std::shared_ptr<Context>& context, Event& event) {
  CUevent handle = nullptr;
  const Driver& driver = context->driver();
  const Result result = driver.cuEventCreate(&handle, 0);
  if (result == Result::success) event = {context, handle, driver.cuEventDestroy};
  return result;
}

}  // namespace tilescope::gpu
