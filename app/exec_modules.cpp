// Modules and functions of a program under `tilescope exec`: what its functions need.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/exec_calls.h"
#include "app/program_images.h"
#include "core/ptx/pressure.h"
#include "core/ptx/targets.h"
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

DriverResult result_of(const ReadImages& read) {
  return read.is_nothing ? DriverResult::invalid_image
         : read.is_new   ? DriverResult::unsupported_ptx_version
         : read.is_ptx   ? DriverResult::invalid_ptx
                         : DriverResult::no_binary_for_gpu;
}

// What is wrong with PTX, and no compiler takes: by what the decoder says of it (core/ptx). What
// the simulator alone does not know is no mistake: it is told where it is launched.
enum class Mistake { none, wrong, unresolved };
Mistake mistake_in(std::string_view sentence) {
  constexpr std::string_view wrong[] = {"the opcode '",
                                        "' is not declared",
                                        "there is no label '",
                                        "' is a label, not an operand",
                                        "' is no predicate register",
                                        "' cannot be written",
                                        ": this needs ",
                                        " register, but ",
                                        " bits, but "};
  const auto says = [&](std::string_view part) { return sentence.find(part) != sentence.npos; };
  if (says("is called, but only declared here")) return Mistake::unresolved;
  return std::any_of(std::begin(wrong), std::end(wrong), says) ? Mistake::wrong : Mistake::none;
}

}  // namespace

ReadImages ExecCalls::read(const std::vector<std::string_view>& images) {
  return read_images(images, device_.description(), [this] {
    return ++modules_ == 1 ? program_ : fmt::format("{}.{}", program_, modules_);
  });
}

ExecCalls::Objection ExecCalls::look_at(sim::Module& module, bool all) {
  for (const ptx::FilePart& part : module.text().parts) {
    if (std::string wrong = ptx::missing_target(part.target, part.version); !wrong.empty()) {
      return {DriverResult::invalid_ptx, std::string(part.name) + ": " + wrong};
    }
  }
  for (const ptx::Function& f : module.text().functions) {
    if (!f.entry) continue;
    const auto error = device_.objection(module, f);
    if (!error) continue;
    const Mistake mistake = mistake_in(error->sentence);
    if (mistake == Mistake::none || (mistake == Mistake::unresolved && !all)) continue;
    const auto unknown = static_cast<DriverResult>(999);  // what cuLinkComplete answers then
    return {mistake == Mistake::unresolved ? unknown : DriverResult::invalid_ptx,
            error->where + ": " + error->sentence};
  }
  return {};
}

DriverResult ExecCalls::module_load(wire::Reader& in, CallAnswer& answer) {
  in.text();
  const bool is_contexts = in.get<bool>();
  const auto count = in.get<std::uint32_t>();
  std::vector<std::string_view> images;
  for (std::uint32_t i = 0; i < count && !in.failed(); ++i) images.push_back(in.text());
  if (in.failed()) return DriverResult::invalid_value;
  ReadImages read = this->read(images);
  const auto refuse = [&](DriverResult result, const std::string& why) {
    // A library that is refused has many modules, mostly with one reason.
    if (refused_.insert(why).second) {
      terminal_.say(fmt::format("tilescope: a module of {} was not loaded: {}", program_, why));
    }
    answer.out.put(std::uint64_t{0}).put_text(why);
    return result;
  };
  if (!read.program) return refuse(result_of(read), read.wrong);
  const SimulatedDevice::Loading loading = device_.load(std::move(*read.program));
  if (loading.result != DriverResult::success) return refuse(loading.result, loading.sentence);
  // What is in a fat binary is compiled when a kernel of it is asked for, if ever.
  if (read.is_text) {
    const Objection wrong = look_at(*device_.module(loading.module), true);
    if (wrong.result != DriverResult::success) {
      device_.unload(loading.module);
      return refuse(DriverResult::invalid_ptx, wrong.sentence);
    }
  }
  ModuleFacts& facts = module_facts_[loading.module];
  facts.context = is_contexts ? context_ : 0;
  if (!is_contexts) {
    for (const ptx::Placed& placed : device_.module(loading.module)->variables()) {
      const sim::Region* const region = device_.memory().find(placed.address);
      if (region && !region->read_only) facts.variables.push_back(*region);
    }
  }
  answer.out.put(loading.module).put_text("").put_text(device_.take_printed());
  return DriverResult::success;
}

DriverResult ExecCalls::link_check(wire::Reader& in, CallAnswer& answer) {
  const bool all = in.get<bool>();
  const auto count = in.get<std::uint32_t>();
  std::vector<std::string_view> images;
  for (std::uint32_t i = 0; i < count && !in.failed(); ++i) images.push_back(in.text());
  if (in.failed()) return DriverResult::invalid_value;
  ReadImages read = this->read(images);
  Objection wrong;
  if (!read.program) {
    // A library of machine code alone is left out, as far as the others do without.
    const bool is_code = !read.is_ptx && !read.is_nothing && !read.is_new;
    wrong = {is_code && !all ? DriverResult::success : result_of(read), read.wrong};
  } else {
    const SimulatedDevice::Loading loading = device_.load(std::move(*read.program));
    wrong = {loading.result, loading.sentence};
    if (wrong.result == DriverResult::success) {
      if (read.is_text) wrong = look_at(*device_.module(loading.module), all);
      device_.unload(loading.module);
    } else if (all) {
      wrong.result = static_cast<DriverResult>(999);
    }
  }
  answer.out.put_text(wrong.result == DriverResult::success ? "" : wrong.sentence);
  return wrong.result;
}

DriverResult ExecCalls::module_unload(wire::Reader& in, CallAnswer& answer) {
  const auto handle = in.get<std::uint64_t>();
  if (!device_.module(handle)) return DriverResult::invalid_handle;
  answer.out.put_text(device_.take_printed());
  unload(handle);
  return DriverResult::success;
}

void ExecCalls::unload(SimulatedDevice::Handle module) {
  for (const ptx::Placed& placed : device_.module(module)->variables())
    shared_.erase(placed.address);
  device_.unload(module);
  module_facts_.erase(module);
  std::erase_if(functions_, [&](const auto& each) { return each.second.module == module; });
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
  const bool managed = placed->variable.managed;
  if (managed && !shared_.count(placed->address)) {
    auto block = SharedMemory::make(placed->address, placed->variable.bytes);
    if (!block) return DriverResult::out_of_memory;
    block->set(device_.memory().find(placed->address)->data());
    shared_[placed->address] = std::move(block);
  }
  if (managed) answer.file = shared_[placed->address]->file();
  answer.out.put(placed->address).put(placed->variable.bytes).put(managed);
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
  Function* const f = function(in.get<std::uint64_t>());
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
    case registers:
      value = static_cast<std::int32_t>(registers_of(*f));
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

// ---- how many blocks there is room for ----------------------------------------------------------

std::uint32_t ExecCalls::registers_of(Function& f) {
  if (!f.registers) {
    if (const auto program = device_.program(f.module, *f.entry)) {
      f.registers = ptx::estimated_registers(*program);
    }
  }
  return f.registers;
}

// Each quarter of an SM gives its registers to whole warps. That a block has room by all else it
// has by its registers, too: they are estimated.
static std::uint64_t blocks_by_registers(std::uint64_t warps, std::uint32_t registers) {
  constexpr std::uint64_t quarters = 4;
  const std::uint64_t of_warp = std::uint64_t{32} * ptx::given_registers(registers);
  const std::uint64_t together = ptx::registers_of_sm / quarters / of_warp * quarters;
  return std::max<std::uint64_t>(1, together / warps);
}

int ExecCalls::blocks_of_sm(const Function& f, std::uint64_t threads, std::uint64_t dynamic_shared,
                            std::uint32_t registers) {
  const DeviceDescription& device = device_.description();
  if (threads == 0 || threads > 1024) return 0;
  const std::uint64_t shared = shared_bytes(f) + dynamic_shared;
  if (shared > device.block_shared) return 0;
  const std::uint64_t warps = (threads + 31) / 32;
  return static_cast<int>(
      std::min({std::uint64_t{device.blocks}, device.threads / (32 * warps),
                device.shared / std::max<std::uint64_t>(1, shared + device.reserved),
                registers ? blocks_by_registers(warps, registers) : std::uint64_t{device.blocks}}));
}

DriverResult ExecCalls::occupancy(wire::Reader& in, CallAnswer& answer) {
  Function* const f = function(in.get<std::uint64_t>());
  const auto threads = in.get<std::int32_t>();
  const auto dynamic = in.get<std::uint64_t>();
  if (!f) return DriverResult::invalid_handle;
  if (threads <= 0) return DriverResult::invalid_value;
  answer.out.put(static_cast<std::int32_t>(
      blocks_of_sm(*f, static_cast<std::uint64_t>(threads), dynamic, registers_of(*f))));
  return DriverResult::success;
}

std::uint64_t ExecCalls::largest_cluster(const Function& f) const {
  const auto larger = f.attributes.find(function_attribute::larger_clusters);
  const bool may = larger != f.attributes.end() && larger->second;
  return device_.description().major < 9 ? 1 : may ? 16 : 8;
}

DriverResult ExecCalls::clusters(wire::Reader& in, CallAnswer& answer) {
  struct Shape {
    std::uint32_t of[3];
  };
  Function* const f = function(in.get<std::uint64_t>());
  const auto shape = in.get<Shape>();
  const auto threads = in.get<std::uint32_t>();
  const auto dynamic = in.get<std::uint64_t>();
  const bool is_launch = in.get<std::uint8_t>() != 0;
  const auto grid = in.get<Shape>();
  if (!f) return DriverResult::invalid_handle;
  const auto largest = static_cast<std::int32_t>(largest_cluster(*f));
  const std::uint64_t size = std::uint64_t{shape.of[0]} * shape.of[1] * shape.of[2];
  const int blocks = blocks_of_sm(*f, threads, dynamic, registers_of(*f));
  const std::uint64_t all = static_cast<std::uint64_t>(blocks) * device_.description().processors;
  if (is_launch) {
    SimulatedDevice::Request request;
    request.cluster = Dim3{shape.of[0], shape.of[1], shape.of[2]};
    request.grid = Dim3{grid.of[0], grid.of[1], grid.of[2]};
    if (size == 0) return DriverResult::invalid_value;
    if (const std::string wrong = wrong_cluster(*f, request); !wrong.empty()) {
      terminal_.say(
          fmt::format("tilescope: no cluster of {} is active: {}", f->entry->name, wrong));
      return DriverResult::invalid_cluster_size;
    }
  }
  answer.out.put(blocks ? largest : 0);
  answer.out.put(static_cast<std::int32_t>(
      size == 0 || size > static_cast<std::uint64_t>(largest) ? 0 : all / size));
  return DriverResult::success;
}

}  // namespace tilescope
