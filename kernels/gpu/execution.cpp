#include "kernels/gpu/execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/run/fit_launch.h"
#include "kernels/gpu/device.h"
#include "kernels/gpu/sentences.h"

namespace tilescope::gpu {

namespace {

// CUtensorMapDataType
int map_type(DType type) {
  switch (type) {
    case DType::u16:
    case DType::i16:
      return 1;
    case DType::u32:
      return 2;
    case DType::i32:
      return 3;
    case DType::u64:
      return 4;
    case DType::i64:
      return 5;
    case DType::f16:
      return 6;
    case DType::f32:
      return 7;
    case DType::f64:
      return 8;
    case DType::bf16:
      return 9;
    default:
      return 0;  // bytes
  }
}

}  // namespace

// The corners' order is CuTe's (copy_traits_sm90_im2col.hpp): W first.
Result encode_map(const Driver& driver, const MapFields& map, std::byte* bits) {
  if (map.pixels) {
    return driver.cuTensorMapEncodeIm2col(
        bits, map_type(map.dtype), map.rank, reinterpret_cast<void*>(map.address), map.dims.data(),
        map.strides.data() + 1, map.pixels->lower.data(), map.pixels->upper.data(),
        map.pixels->channels, map.pixels->column, map.steps.data(),
        static_cast<int>(map.interleave), static_cast<int>(map.swizzle), 0, map.nan_fill);
  }
  return driver.cuTensorMapEncodeTiled(
      bits, map_type(map.dtype), map.rank, reinterpret_cast<void*>(map.address), map.dims.data(),
      map.strides.data() + 1, map.box.data(), map.steps.data(), static_cast<int>(map.interleave),
      static_cast<int>(map.swizzle), 0, map.nan_fill);
}

Outcome<std::unique_ptr<GpuExecution>> GpuExecution::prepare(std::shared_ptr<Context> context,
                                                             const Chip& chip,
                                                             const ptx::Function& entry, Job job) {
  const Dim3 cluster = cluster_of(entry, job.launch);
  std::unique_ptr<GpuExecution> run(
      new GpuExecution(std::move(context), std::move(job), std::string(entry.name), cluster));
  run->context_->enter();
  for (const auto step :
       {&GpuExecution::load_module, &GpuExecution::allow_launch, &GpuExecution::upload}) {
    if (std::optional<Error> error = (run.get()->*step)(chip)) return *error;
  }
  if (std::optional<Error> error = run->place_arguments()) return *error;
  return run;
}

GpuExecution::~GpuExecution() {
  if (state_ == State::launched) context_->endless = true;
}

std::optional<Error> GpuExecution::load_module(const Chip& chip) {
  std::string log;
  const Result result = load(context_, job_.program.ptx, module_, log);
  if (result != Result::success) return not_loaded(driver_, chip, job_.program.name, result, log);
  const Result found = driver_.cuModuleGetFunction(&function_, module_.get(), entry_.c_str());
  if (found == Result::success) return std::nullopt;
  return Error{ErrorKind::unknown,
               fmt::format("The CUDA driver does not find the entry {}: {}. An entry that is to be "
                           "launched needs .visible before it.",
                           entry_, driver_.name_of(found)),
               job_.program.name};
}

std::optional<Error> GpuExecution::allow_launch(const Chip& chip) {
  const auto allow = [&](int attribute, int value) {
    return driver_.cuFuncSetAttribute(function_, attribute, value);
  };
  // More than 48 KiB of shared memory, and clusters of more than 8 blocks, have to be asked for
  // (CUDA C++ Programming Guide, "Shared Memory" and "Thread Block Clusters").
  if (job_.launch.dynamic_shared > 0) {
    const Result result = allow(max_dynamic_shared, static_cast<int>(job_.launch.dynamic_shared));
    if (result != Result::success) {
      return Error{
          ErrorKind::mismatch,
          fmt::format("{} cannot have {} bytes of dynamic shared memory on {}: {}.", entry_,
                      job_.launch.dynamic_shared, chip.name, driver_.name_of(result)),
          job_.program.name};
    }
  }
  if (cluster_.count() > 8) allow(larger_clusters_allowed, 1);  // refused at the launch, if at all
  return std::nullopt;
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
  then([&] { return create(context_, begin_); });
  then([&] { return create(context_, end_); });
  if (result == Result::success) return std::nullopt;
  return Error{
      ErrorKind::no_device,
      fmt::format("{} gives no events to measure with: {}.", chip.name, driver_.name_of(result)),
      ""};
}

// Where arguments hold addresses of buffers, these are now known.
std::optional<Error> GpuExecution::place_arguments() {
  for (Argument& argument : job_.arguments) {
    for (const Argument::Address& at : argument.addresses) {
      const std::uint64_t address =
          memory_[at.buffer].get() + static_cast<std::uint64_t>(at.offset);
      std::memcpy(argument.bytes.data() + at.at, &address, sizeof address);
    }
    for (const Argument::Map& at : argument.maps) {
      if (std::optional<Error> error = place_map(argument, at)) return error;
    }
  }
  return std::nullopt;
}

std::optional<Error> GpuExecution::place_map(Argument& argument, const Argument::Map& at) {
  const Outcome<MapFields> map =
      complete(at.map, job_.buffers[at.map.buffer], memory_[at.map.buffer].get());
  if (!map) return map.error();
  if (!driver_.cuTensorMapEncodeTiled || !driver_.cuTensorMapEncodeIm2col) {
    return Error{ErrorKind::no_device,
                 fmt::format("The CUDA driver ({}) makes no tensor maps; one for CUDA 12 or later "
                             "does.",
                             driver_.version_text()),
                 ""};
  }
  alignas(64) std::byte bits[map_bytes];
  const Result result = encode_map(driver_, *map, bits);
  if (result != Result::success) {
    return Error{ErrorKind::mismatch,
                 fmt::format("The CUDA driver refuses the tensor map over buffer {}: {}.",
                             job_.buffers[at.map.buffer].name, driver_.name_of(result)),
                 ""};
  }
  std::memcpy(argument.bytes.data() + at.at, bits, sizeof bits);
  return std::nullopt;
}

Result GpuExecution::enqueue() {
  const Launch& l = job_.launch;
  LaunchConfig config{{l.grid.x, l.grid.y, l.grid.z},
                      {l.block.x, l.block.y, l.block.z},
                      l.dynamic_shared,
                      nullptr,
                      nullptr,
                      0};
  LaunchAttribute cluster{};
  if (cluster_.count() > 1) {
    cluster.id = cluster_dimension;
    cluster.value.cluster[0] = cluster_.x;
    cluster.value.cluster[1] = cluster_.y;
    cluster.value.cluster[2] = cluster_.z;
    config.attributes = &cluster;
    config.attribute_count = 1;
  }
  std::vector<void*> parameters;
  for (Argument& argument : job_.arguments) parameters.push_back(argument.bytes.data());
  return driver_.cuLaunchKernelEx(&config, function_, parameters.data(), nullptr);
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
