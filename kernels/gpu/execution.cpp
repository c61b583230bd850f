#include "kernels/gpu/execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "kernels/gpu/device.h"
#include "kernels/gpu/sentences.h"

namespace tilescope::gpu {

Outcome<std::unique_ptr<GpuExecution>> GpuExecution::prepare(std::shared_ptr<Context> context,
                                                             const Chip& chip,
                                                             const ptx::Module& module,
                                                             const ptx::Function& entry, Job job) {
  Outcome<Launcher> launcher =
      Launcher::load(context, chip, module, entry, job.program, job.launch);
  if (!launcher) return launcher.error();
  std::unique_ptr<GpuExecution> run(new GpuExecution(std::move(context), std::move(*launcher),
                                                     std::move(job), std::string(entry.name)));
  if (std::optional<Error> error = run->upload(chip)) return *error;
  std::vector<CUdeviceptr> addresses;
  for (const Memory& memory : run->memory_) addresses.push_back(memory.get());
  if (auto error = run->launcher_.place(run->job_.arguments, run->job_.buffers, addresses)) {
    return *error;
  }
  return run;
}

GpuExecution::~GpuExecution() {
  if (state_ == State::launched) context_->endless = true;
}

std::optional<Error> GpuExecution::upload(const Chip& chip) {
  Result result = Result::success;
  const auto then = [&](auto&& call) {
    if (result == Result::success) result = call();
  };
  for (Buffer& b : job_.buffers) {
    const std::size_t bytes = static_cast<std::size_t>(b.elements()) * bytes_of(b.dtype);
    if (b.undefined && b.bytes.empty()) b.bytes.resize(bytes);
    if (b.bytes.size() != bytes) {
      return Error{
          ErrorKind::mismatch,
          fmt::format("buffer {} {} of {} should have {} bytes, but has {}", b.name,
                      shape_text(b.shape), tilescope::name_of(b.dtype), bytes, b.bytes.size()),
          ""};
    }
    Memory memory;
    then([&] { return allocate(context_, bytes, memory); });
    if (bytes > 0 && b.undefined) {
      then([&] { return driver_.cuMemsetD8(memory.get(), undefined_fill, bytes); });
    } else if (bytes > 0) {
      then([&] { return driver_.cuMemcpyHtoD(memory.get(), b.bytes.data(), bytes); });
    }
    if (result != Result::success) {
      return Error{ErrorKind::mismatch,
                   fmt::format("{} has no room for buffer {} of {} bytes: {}.", chip.name, b.name,
                               bytes, driver_.name_of(result)),
                   ""};
    }
    memory_.push_back(std::move(memory));
  }
  // Addresses of buffers, when all are known.
  for (std::size_t i = 0; i < job_.buffers.size(); ++i) {
    Buffer& b = job_.buffers[i];
    for (const Buffer::Pointer& p : b.pointers) {
      const std::uint64_t to = memory_[p.buffer].get() + static_cast<std::uint64_t>(p.offset);
      std::memcpy(b.bytes.data() + p.at, &to, sizeof to);
    }
    if (b.pointers.empty()) continue;
    then([&] { return driver_.cuMemcpyHtoD(memory_[i].get(), b.bytes.data(), b.bytes.size()); });
  }
  then([&] { return create(context_, begin_); });
  then([&] { return create(context_, end_); });
  if (result == Result::success) return std::nullopt;
  return Error{
      ErrorKind::no_device,
      fmt::format("{} gives no events to measure with: {}.", chip.name, driver_.name_of(result)),
      ""};
}

Result GpuExecution::enqueue() {
  return launcher_.enqueue(job_.launch, job_.arguments);
}

Result GpuExecution::launch() {
  Result result = driver_.cuEventRecord(begin_.get(), nullptr);
  if (result == Result::success) result = enqueue();
  if (result == Result::success) result = driver_.cuEventRecord(end_.get(), nullptr);
  return result;
}

Result GpuExecution::read(std::size_t i, std::vector<std::byte>& out) const {
  out.resize(job_.buffers[i].bytes.size());
  return driver_.cuMemcpyDtoH(out.data(), memory_[i].get(), out.size());
}

Result GpuExecution::elapsed(double& seconds) const {
  float milliseconds = 0;
  const Result result = driver_.cuEventElapsedTime(&milliseconds, begin_.get(), end_.get());
  seconds = static_cast<double>(milliseconds) / 1000;
  return result;
}

Result GpuExecution::measure(double& seconds) {
  context_->enter();
  Result result = launch();
  if (result == Result::success) {
    do {
      result = driver_.cuEventQuery(end_.get());
    } while (result == Result::not_ready);
  }
  if (result == Result::success) result = elapsed(seconds);
  if (result != Result::success) failed(result);
  return result;
}

Result GpuExecution::finish() {
  double seconds = 0;
  Result result = elapsed(seconds);
  seconds_ = seconds;
  for (std::size_t i = 0; i < memory_.size() && result == Result::success; ++i) {
    Buffer& b = job_.buffers[i];
    if (b.bytes.empty()) continue;
    result = driver_.cuMemcpyDtoH(b.bytes.data(), memory_[i].get(), b.bytes.size());
  }
  return result;
}

void GpuExecution::note_unwritten() {
  for (const Buffer& b : job_.buffers) {
    if (!b.undefined) continue;
    const std::size_t width = bytes_of(b.dtype);
    std::uint64_t untouched = 0;
    for (std::size_t at = 0; at + width <= b.bytes.size(); at += width) {
      untouched += std::all_of(&b.bytes[at], &b.bytes[at] + width,
                               [](std::byte x) { return x == std::byte{undefined_fill}; });
    }
    if (untouched == 0) continue;
    Report note;
    note.weight = Weight::note;
    note.kind = "unwritten";
    note.sentence = fmt::format(
        "{} of the {} elements of {} hold the bytes 0x{:02X} that the buffer began with: nobody "
        "seems to have written them",
        untouched, b.elements(), b.name, undefined_fill);
    note.site.kernel = entry_;
    reports_.push_back(std::move(note));
  }
}

RunState GpuExecution::failed(Result result) {
  state_ = State::fault;
  context_->lost = true;
  reports_.push_back(fault_of(driver_, entry_, result));
  return RunState::fault;
}

RunState GpuExecution::advance(std::uint64_t) {
  using namespace std::chrono_literals;
  if (state_ == State::done) return RunState::done;
  if (state_ == State::fault) return RunState::fault;
  context_->enter();
  if (state_ == State::ready) {
    const Result result = launch();
    if (result != Result::success) return failed(result);
    state_ = State::launched;
  }
  const auto until = std::chrono::steady_clock::now() + 50ms;
  Result result = driver_.cuEventQuery(end_.get());
  while (result == Result::not_ready && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(20us);
    result = driver_.cuEventQuery(end_.get());
  }
  if (result == Result::not_ready) return RunState::running;
  if (result == Result::success) result = finish();
  if (result != Result::success) return failed(result);
  state_ = State::done;
  note_unwritten();
  return RunState::done;
}

Progress GpuExecution::progress() const {
  const std::uint64_t blocks = job_.launch.grid.count();
  return {state_ == State::done ? blocks : 0, blocks, 0};
}

}  // namespace tilescope::gpu
