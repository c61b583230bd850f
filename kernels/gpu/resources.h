// What a run holds on the GPU, each freed when it goes: the context, a module, memory, events.
//
// A kernel that faults takes its context with it: every later call in it answers the same error.
// So a context that has faulted is never asked again; when the last run in it is gone the driver
// destroys it, and the next run gets a new one.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/run/job.h"
#include "kernels/gpu/chip.h"
#include "kernels/gpu/driver.h"

namespace tilescope::gpu {

// The chip's primary context, retained.
class Context {
 public:
  static Outcome<std::shared_ptr<Context>> retain(std::shared_ptr<const Driver> driver,
                                                  const Chip& chip);
  Context(std::shared_ptr<const Driver> driver, CUdevice device, CUcontext context)
      : driver_(std::move(driver)), device_(device), context_(context) {}
  Context(const Context&) = delete;
  ~Context();

  const Driver& driver() const { return *driver_; }
  // Makes it the calling thread's context.
  Result enter() const { return driver_->cuCtxSetCurrent(context_); }
  bool lost = false;     // a kernel faulted in it
  bool endless = false;  // a kernel that nobody waits for any more still runs in it

 private:
  std::shared_ptr<const Driver> driver_;
  CUdevice device_;
  CUcontext context_;
};

// A handle that a function of the driver takes back.
template <class Handle>
class Held {
 public:
  using Release = Result (*)(Handle);
  Held() = default;
  Held(std::shared_ptr<Context> context, Handle handle, Release release)
      : context_(std::move(context)), handle_(handle), release_(release) {}
  Held(Held&& other) noexcept { *this = std::move(other); }
  Held& operator=(Held&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(handle_, other.handle_);
    std::swap(release_, other.release_);
    return *this;
  }
  ~Held() {
    if (context_ && !context_->lost && !context_->endless) release_(handle_);
  }
  Handle get() const { return handle_; }

 private:
  std::shared_ptr<Context> context_;
  Handle handle_ = {};
  Release release_ = nullptr;
};

using Module = Held<CUmodule>;
using Memory = Held<CUdeviceptr>;
using Event = Held<CUevent>;

// PTX made into the chip's own code, its files linked where there are several; `log` gets what the
// driver's assembler says about it.
Result load(const std::shared_ptr<Context>& context, const Program& program, Module& module,
            std::string& log);
Result allocate(const std::shared_ptr<Context>& context, std::size_t bytes, Memory& memory);
Result create(const std::shared_ptr<Context>& context, Event& event);

}  // namespace tilescope::gpu
