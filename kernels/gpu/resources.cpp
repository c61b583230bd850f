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

namespace {

constexpr unsigned jit_options = 2;

// What the driver's assembler and linker say goes to the options' text.
struct Log {
  std::array<char, 8192> text{};
  std::array<int, jit_options> options = {jit_error_log, jit_error_log_bytes};
  std::array<void*, jit_options> values = {text.data(), reinterpret_cast<void*>(text.size())};
};

Result link(const Driver& driver, const Program& program, CUmodule& module, Log& log) {
  CUlinkState state = nullptr;
  Result result = driver.cuLinkCreate(jit_options, log.options.data(), log.values.data(), &state);
  if (result != Result::success) return result;
  const auto add = [&](const Program& file) {
    if (result != Result::success) return;
    // The driver wants the terminating zero of PTX counted.
    result = driver.cuLinkAddData(state, linked_is_ptx, const_cast<char*>(file.ptx.c_str()),
                                  file.ptx.size() + 1, file.name.c_str(), 0, nullptr, nullptr);
  };
  add(program);
  for (const Program& other : program.linked) add(other);
  void* image = nullptr;
  std::size_t bytes = 0;
  if (result == Result::success) result = driver.cuLinkComplete(state, &image, &bytes);
  if (result == Result::success) {
    result = driver.cuModuleLoadDataEx(&module, image, 0, nullptr, nullptr);
  }
  driver.cuLinkDestroy(state);
  return result;
}

}  // namespace

Result load(const std::shared_ptr<Context>& context, const Program& program, Module& module,
            std::string& log) {
  Log said;
  CUmodule handle = nullptr;
  const Driver& driver = context->driver();
  const Result result = program.linked.empty()
                            ? driver.cuModuleLoadDataEx(&handle, program.ptx.c_str(), jit_options,
                                                        said.options.data(), said.values.data())
                            : link(driver, program, handle, said);
  std::array<char, 8192>& text = said.text;
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
