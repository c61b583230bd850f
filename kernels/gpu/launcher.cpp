#include "kernels/gpu/launcher.h"

#include <fmt/format.h>

#include <cstring>

#include "core/run/fit_launch.h"
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

int map_type(const MapFields& map) {
  constexpr int floats[] = {7, 10, 11, 12};  // FLOAT32, FLOAT32_FTZ, TFLOAT32, TFLOAT32_FTZ
  switch (map.packing) {
    case MapPacking::none:
      return map.dtype == DType::f32 ? floats[static_cast<std::size_t>(map.floats)]
                                     : map_type(map.dtype);
    case MapPacking::b4x16:
      return 13;  // 16U4_ALIGN8B
    case MapPacking::b4x16_p64:
      return 14;  // 16U4_ALIGN16B
    default:
      return 15;  // 16U6_ALIGN16B
  }
}

}  // namespace

// The corners' order is CuTe's (copy_traits_sm90_im2col.hpp): W first.
Result encode_map(const Driver& driver, const MapFields& map, std::byte* bits) {
  if (map.pixels) {
    // cuTensorMapEncodeIm2colWide: no chip that has it was tried.
    if (map.pixels->wide != MapWide::no) return Result::not_supported;
    return driver.cuTensorMapEncodeIm2col(
        bits, map_type(map), map.rank, reinterpret_cast<void*>(map.address), map.dims.data(),
        map.strides.data() + 1, map.pixels->lower.data(), map.pixels->upper.data(),
        map.pixels->channels, map.pixels->column, map.steps.data(),
        static_cast<int>(map.interleave), static_cast<int>(map.swizzle), 0, map.nan_fill);
  }
  return driver.cuTensorMapEncodeTiled(
      bits, map_type(map), map.rank, reinterpret_cast<void*>(map.address), map.dims.data(),
      map.strides.data() + 1, map.box.data(), map.steps.data(), static_cast<int>(map.interleave),
      static_cast<int>(map.swizzle), 0, map.nan_fill);
}

Outcome<Launcher> Launcher::load(std::shared_ptr<Context> context, const Chip& chip,
                                 const ptx::Module& module, const ptx::Function& entry,
                                 const Program& program, const Launch& launch) {
  const Driver& driver = context->driver();
  Launcher out(std::move(context), std::string(entry.name));
  out.context_->enter();
  out.cluster_ = cluster_of(entry, launch);
  out.begins_early_ = waits_for_launches_before(module, entry);
  out.meets_ = launch.cooperative;
  std::string log;
  const Result result = gpu::load(out.context_, program, out.module_, log);
  if (result != Result::success) return not_loaded(driver, chip, program.name, result, log);
  const Result found =
      driver.cuModuleGetFunction(&out.function_, out.module_.get(), out.entry_.c_str());
  if (found != Result::success) {
    return Error{ErrorKind::unknown,
                 fmt::format("The CUDA driver does not find the entry {}: {}. An entry that is to "
                             "be launched needs .visible before it.",
                             out.entry_, driver.name_of(found)),
                 program.name};
  }
  if (std::optional<Error> error = out.allow(chip, program, launch)) return *error;
  return out;
}

// More than 48 KiB of shared memory, and clusters of more than 8 blocks, have to be asked for (CUDA
// C++ Programming Guide, "Shared Memory" and "Thread Block Clusters").
std::optional<Error> Launcher::allow(const Chip& chip, const Program& program,
                                     const Launch& launch) {
  const Driver& driver = context_->driver();
  const auto set = [&](int attribute, int value) {
    return driver.cuFuncSetAttribute(function_, attribute, value);
  };
  if (launch.dynamic_shared > 0) {
    const Result result = set(max_dynamic_shared, static_cast<int>(launch.dynamic_shared));
    if (result != Result::success) {
      return Error{ErrorKind::mismatch,
                   fmt::format("{} cannot have {} bytes of dynamic shared memory on {}: {}.",
                               entry_, launch.dynamic_shared, chip.name, driver.name_of(result)),
                   program.name};
    }
  }
  if (cluster_.count() > 8) set(larger_clusters_allowed, 1);  // refused at the launch, if at all
  return std::nullopt;
}

std::optional<Error> Launcher::place(std::vector<Argument>& arguments,
                                     const std::vector<Buffer>& buffers,
                                     const std::vector<CUdeviceptr>& addresses) const {
  for (Argument& argument : arguments) {
    for (const Argument::Address& at : argument.addresses) {
      const std::uint64_t address = addresses[at.buffer] + static_cast<std::uint64_t>(at.offset);
      std::memcpy(argument.bytes.data() + at.at, &address, sizeof address);
    }
    if (!argument.handles.empty()) {
      return Error{ErrorKind::mismatch,
                   "A launch with textures or surfaces runs on the simulator alone; --on sim would "
                   "work.",
                   ""};
    }
    for (const Argument::Map& at : argument.maps) {
      if (std::optional<Error> error =
              place_map(argument, at, buffers[at.map.buffer], addresses[at.map.buffer])) {
        return error;
      }
    }
  }
  return std::nullopt;
}

std::optional<Error> Launcher::place_map(Argument& argument, const Argument::Map& at,
                                         const Buffer& buffer, CUdeviceptr address) const {
  const Driver& driver = context_->driver();
  const Outcome<MapFields> map = complete(at.map, buffer, address);
  if (!map) return map.error();
  if (!driver.cuTensorMapEncodeTiled || !driver.cuTensorMapEncodeIm2col) {
    return Error{ErrorKind::no_device,
                 fmt::format("The CUDA driver ({}) makes no tensor maps; one for CUDA 12 or later "
                             "does.",
                             driver.version_text()),
                 ""};
  }
  alignas(64) std::byte bits[map_bytes];
  const Result result = encode_map(driver, *map, bits);
  if (result != Result::success) {
    return Error{ErrorKind::mismatch,
                 fmt::format("The CUDA driver refuses the tensor map over buffer {}: {}.",
                             buffer.name, driver.name_of(result)),
                 ""};
  }
  std::memcpy(argument.bytes.data() + at.at, bits, sizeof bits);
  return std::nullopt;
}

Result Launcher::enqueue(const Launch& l, std::vector<Argument>& arguments) const {
  LaunchConfig config{{l.grid.x, l.grid.y, l.grid.z},
                      {l.block.x, l.block.y, l.block.z},
                      l.dynamic_shared,
                      nullptr,
                      nullptr,
                      0};
  LaunchAttribute attributes[3]{};
  config.attributes = attributes;
  if (const Dim3 cluster = l.cluster.value_or(cluster_); cluster.count() > 1) {
    LaunchAttribute& attribute = attributes[config.attribute_count++];
    attribute.id = cluster_dimension;
    attribute.value.cluster[0] = cluster.x;
    attribute.value.cluster[1] = cluster.y;
    attribute.value.cluster[2] = cluster.z;
  }
  if (meets_) {
    LaunchAttribute& attribute = attributes[config.attribute_count++];
    attribute.id = cooperative;
    attribute.value.allowed = 1;
  }
  if (begins_early_) {
    LaunchAttribute& attribute = attributes[config.attribute_count++];
    attribute.id = programmatic_stream_serialization;
    attribute.value.allowed = 1;
  }
  std::vector<void*> parameters;
  for (Argument& argument : arguments) parameters.push_back(argument.bytes.data());
  return context_->driver().cuLaunchKernelEx(&config, function_, parameters.data(), nullptr);
}

}  // namespace tilescope::gpu
