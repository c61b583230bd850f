// Modules and functions of a program under `tilescope exec`: what its functions need.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/exec_calls.h"
#include "app/program_images.h"
#include "core/sim/machine/machine.h"

namespace tilescope {
namespace {

// 80 of "sm_80", 90 of "sm_90a".
std::int32_t capability_of(std::string_view target) {
  std::int32_t value = 0;
  const std::size_t digits = target.find_first_of("0123456789");
  if (digits != target.npos) {
    std::from_chars(target.data() + digits, target.data() + target.size(), value);
  }
  return value;
}

}  // namespace

DriverResult ExecCalls::module_load(wire::Reader& in, CallAnswer& answer) {
  in.text();
  const auto count = in.get<std::uint32_t>();
  std::vector<std::string_view> images;
  for (std::uint32_t i = 0; i < count && !in.failed(); ++i) images.push_back(in.text());
  if (in.failed()) return DriverResult::invalid_value;
  ReadImages read = read_images(images, device_.description(), [this] {
    return ++modules_ == 1 ? program_ : fmt::format("{}.{}", program_, modules_);
  });
  const auto refuse = [&](DriverResult result, const std::string& why) {
    // A library that is refused has many modules, mostly with one reason.
    if (refused_.insert(why).second) {
      terminal_.say(fmt::format("tilescope: a module of {} was not loaded: {}", program_, why));
    }
    answer.out.put(std::uint64_t{0}).put_text(why);
    return result;
  };
  if (!read.program) {
    return refuse(read.is_ptx ? DriverResult::invalid_ptx : DriverResult::no_binary_for_gpu,
                  read.wrong);
  }
  const SimulatedDevice::Loading loading = device_.load(std::move(*read.program));
  if (loading.result != DriverResult::success) return refuse(loading.result, loading.sentence);
  answer.out.put(loading.module).put_text("");
  return DriverResult::success;
}

DriverResult ExecCalls::module_unload(wire::Reader& in, CallAnswer&) {
  const auto handle = in.get<std::uint64_t>();
  const DriverResult result = device_.unload(handle);
  if (result == DriverResult::success) {
    std::erase_if(functions_, [&](const auto& each) { return each.second.module == handle; });
  }
  return result;
}

DriverResult ExecCalls::module_function(wire::Reader& in, CallAnswer& answer) {
  const auto module = in.get<std::uint64_t>();
  const std::string_view name = in.text();
  sim::Module* const from = device_.module(module);
  if (!from) return DriverResult::invalid_handle;
  const auto entry = from->entry(name);
  if (!entry || (*entry)->name != name) return DriverResult::not_found;
  auto found = std::find_if(functions_.begin(), functions_.end(), [&](const auto& each) {
    return each.second.module == module && each.second.entry == *entry;
  });
  if (found == functions_.end()) {
    found = functions_.emplace(new_handle(), Function{module, *entry, {}}).first;
  }
  const auto& parameters = (*entry)->parameters;
  answer.out.put(found->first).put(static_cast<std::uint32_t>(parameters.size()));
  for (const ptx::Parameter& p : parameters) answer.out.put(wire::Parameter{p.offset, p.bytes});
  answer.out.put((*entry)->parameter_bytes);
  return DriverResult::success;
}

DriverResult ExecCalls::module_functions(wire::Reader& in, CallAnswer& answer) {
  const sim::Module* const from = device_.module(in.get<std::uint64_t>());
  if (!from) return DriverResult::invalid_handle;
  const auto names = from->entries();
  answer.out.put(static_cast<std::uint32_t>(names.size()));
  for (const std::string_view name : names) answer.out.put_text(name);
  return DriverResult::success;
}

DriverResult ExecCalls::module_variable(wire::Reader& in, CallAnswer& answer) {
  const sim::Module* const from = device_.module(in.get<std::uint64_t>());
  if (!from) return DriverResult::invalid_handle;
  const ptx::Placed* const placed = from->variable(in.text());
  if (!placed) return DriverResult::not_found;
  answer.out.put(placed->address).put(placed->variable.bytes);
  return DriverResult::success;
}

// ---- functions ----------------------------------------------------------------------------------

ExecCalls::Function* ExecCalls::function(std::uint64_t handle) {
  const auto found = functions_.find(handle);
  return found == functions_.end() ? nullptr : &found->second;
}

std::uint64_t ExecCalls::shared_bytes(const Function& f) {
  const auto program = device_.program(f.module, *f.entry);
  return program ? program->shared_bytes : 0;
}

DriverResult ExecCalls::function_get(wire::Reader& in, CallAnswer& answer) {
  using namespace function_attribute;
  const Function* const f = function(in.get<std::uint64_t>());
  const auto attribute = in.get<std::int32_t>();
  if (!f) return DriverResult::invalid_handle;
  const DeviceDescription& device = device_.description();
  const int version = 10 * device.major + device.minor;
  const auto set = f->attributes.find(attribute);
  std::int32_t value = set == f->attributes.end() ? 0 : set->second;
  const auto& maximum = f->entry->maximum_block;
  const std::uint32_t bound = maximum[0] * std::max(maximum[1], 1u) * std::max(maximum[2], 1u);
  switch (attribute) {
    case max_threads:
      value = static_cast<std::int32_t>(bound ? std::min(bound, 1024u) : 1024u);
      break;
    case shared_size:
      value = static_cast<std::int32_t>(shared_bytes(*f));
      break;
    case local_size:
      if (const auto program = device_.program(f->module, *f->entry)) {
        value = static_cast<std::int32_t>(program->local_bytes);
      }
      break;
    case registers:  // ptxas says it, and there is none here
      value =
          static_cast<std::int32_t>(f->entry->maximum_registers ? f->entry->maximum_registers : 32);
      break;
    case ptx_version:  // of the PTX: CUB chooses its kernels' shapes by it
      if (const sim::Module* const from = device_.module(f->module)) {
        value = capability_of(from->text().parts[f->entry->part].target);
      }
      break;
    case binary_version:
      value = version;
      break;
    case max_dynamic_shared:
      if (set == f->attributes.end()) {
        value = static_cast<std::int32_t>(49152 - std::min<std::uint64_t>(49152, shared_bytes(*f)));
      }
      break;
    case cluster_must_be_set:
      break;
    case cluster_x:
    case cluster_y:
    case cluster_z:
      if (set == f->attributes.end()) {
        value = static_cast<std::int32_t>(
            f->entry->required_cluster[static_cast<std::size_t>(attribute - cluster_x)]);
      }
      break;
    default:
      if (attribute < 0 || attribute >= attributes_end) return DriverResult::invalid_value;
  }
  answer.out.put(value);
  return DriverResult::success;
}

DriverResult ExecCalls::function_set(wire::Reader& in, CallAnswer&) {
  using namespace function_attribute;
  Function* const f = function(in.get<std::uint64_t>());
  const auto attribute = in.get<std::int32_t>(), value = in.get<std::int32_t>();
  if (!f) return DriverResult::invalid_handle;
  if (attribute == max_dynamic_shared) {
    const std::int64_t most = static_cast<std::int64_t>(device_.description().block_shared) -
                              static_cast<std::int64_t>(shared_bytes(*f));
    if (value < 0 || value > most) return DriverResult::invalid_value;
  } else if (attribute < shared_carveout || attribute >= attributes_end) {
    return DriverResult::invalid_value;
  }
  f->attributes[attribute] = value;
  return DriverResult::success;
}

// ---- how many blocks there is room for: by threads, blocks and shared memory; how many registers
// a chip's code takes is not known
// ------------------------------------------------------------------

int ExecCalls::blocks_of_sm(const Function& f, std::uint64_t threads,
                            std::uint64_t dynamic_shared) {
  const DeviceDescription& device = device_.description();
  if (threads == 0 || threads > 1024) return 0;
  const std::uint64_t shared = shared_bytes(f) + dynamic_shared;
  if (shared > device.block_shared) return 0;
  const std::uint64_t whole_warps = (threads + 31) / 32 * 32;
  return static_cast<int>(
      std::min({std::uint64_t{device.blocks}, device.threads / whole_warps,
                device.shared / std::max<std::uint64_t>(1, shared + device.reserved)}));
}

DriverResult ExecCalls::occupancy(wire::Reader& in, CallAnswer& answer) {
  const Function* const f = function(in.get<std::uint64_t>());
  const auto threads = in.get<std::int32_t>();
  const auto dynamic = in.get<std::uint64_t>();
  if (!f) return DriverResult::invalid_handle;
  if (threads <= 0) return DriverResult::invalid_value;
  answer.out.put(
      static_cast<std::int32_t>(blocks_of_sm(*f, static_cast<std::uint64_t>(threads), dynamic)));
  return DriverResult::success;
}

DriverResult ExecCalls::clusters(wire::Reader& in, CallAnswer& answer) {
  struct Shape {
    std::uint32_t of[3];
  };
  const Function* const f = function(in.get<std::uint64_t>());
  const auto shape = in.get<Shape>();
  const auto threads = in.get<std::uint32_t>();
  const auto dynamic = in.get<std::uint64_t>();
  if (!f) return DriverResult::invalid_handle;
  const auto larger = f->attributes.find(function_attribute::larger_clusters);
  const bool may = larger != f->attributes.end() && larger->second;
  const std::int32_t largest = device_.description().major < 9 ? 1 : may ? 16 : 8;
  const std::uint64_t size = std::uint64_t{shape.of[0]} * shape.of[1] * shape.of[2];
  const int blocks = blocks_of_sm(*f, threads, dynamic);
  const std::uint64_t all = static_cast<std::uint64_t>(blocks) * device_.description().processors;
  answer.out.put(blocks ? largest : 0);
  answer.out.put(static_cast<std::int32_t>(
      size == 0 || size > static_cast<std::uint64_t>(largest) ? 0 : all / size));
  return DriverResult::success;
}

}  // namespace tilescope
