#include "app/exec_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "app/host_lines.h"
#include "core/run/fit_launch.h"

namespace tilescope {
namespace {

constexpr std::uint64_t all_streams = ~std::uint64_t{0};
constexpr std::uint32_t non_blocking = 1;           // CU_STREAM_NON_BLOCKING
constexpr std::uint32_t disable_timing = 2;         // CU_EVENT_DISABLE_TIMING
constexpr std::uint64_t shared_by_default = 49152;  // a block's, unless the function asks for more

ExecOptions of_program(ExecOptions options, const std::string& program) {
  options.program = program;
  return options;
}

// Of this machine.
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

ExecCalls::ExecCalls(const ExecOptions& options, std::string program, Terminal& terminal)
    : device_(of_program(options, program), terminal),
      program_(std::move(program)),
      terminal_(terminal),
      wall_time_(options.wall_time) {}

ExecCalls::Row ExecCalls::row_of(wire::Call call) {
  using wire::Call;
  switch (call) {
    case Call::hello:
      return {&ExecCalls::hello, true};
    case Call::missing:
      return {&ExecCalls::missing, true};
    case Call::lost:
      return {&ExecCalls::lost, true};
    case Call::device_name:
      return {&ExecCalls::device_name, true};
    case Call::device_attribute:
      return {&ExecCalls::device_attribute, true};
    case Call::device_memory:
      return {&ExecCalls::device_memory, true};
    case Call::context_current:
      return {&ExecCalls::context_current, true};
    case Call::context_end:
      return {&ExecCalls::context_end, true};
    case Call::synchronize:
      return {&ExecCalls::synchronize};
    case Call::printed:
      return {&ExecCalls::printed, true};
    case Call::host_runs:
      return {&ExecCalls::host_runs, true};
    case Call::host_early:
      return {&ExecCalls::host_early, true};
    case Call::copy_refused:
      return {&ExecCalls::copy_refused, true};
    case Call::module_load:
      return {&ExecCalls::module_load};
    case Call::module_unload:
      return {&ExecCalls::module_unload};
    case Call::link_check:
      return {&ExecCalls::link_check};
    case Call::module_function:
      return {&ExecCalls::module_function};
    case Call::module_functions:
      return {&ExecCalls::module_functions};
    case Call::module_variable:
      return {&ExecCalls::module_variable};
    case Call::function_get:
      return {&ExecCalls::function_get};
    case Call::function_set:
      return {&ExecCalls::function_set};
    case Call::occupancy:
      return {&ExecCalls::occupancy};
    case Call::clusters:
      return {&ExecCalls::clusters};
    case Call::launch:
      return {&ExecCalls::launch};
    case Call::allocate:
      return {&ExecCalls::allocate};
    case Call::allocate_host:
      return {&ExecCalls::allocate_host};
    case Call::release:
      return {&ExecCalls::release};
    case Call::find:
      return {&ExecCalls::find};
    case Call::copy_in:
      return {&ExecCalls::copy_in};
    case Call::copy_out:
      return {&ExecCalls::copy_out};
    case Call::copy_within:
      return {&ExecCalls::copy_within};
    case Call::fill:
      return {&ExecCalls::fill};
    case Call::reserve:
      return {&ExecCalls::reserve};
    case Call::unreserve:
      return {&ExecCalls::unreserve};
    case Call::physical_create:
      return {&ExecCalls::physical_create};
    case Call::physical_release:
      return {&ExecCalls::physical_release};
    case Call::physical_find:
      return {&ExecCalls::physical_find};
    case Call::map:
      return {&ExecCalls::map};
    case Call::unmap:
      return {&ExecCalls::unmap};
    case Call::access_set:
      return {&ExecCalls::access_set};
    case Call::access_get:
      return {&ExecCalls::access_get};
    case Call::retain:
      return {&ExecCalls::retain};
    case Call::stream_create:
      return {&ExecCalls::stream_create};
    case Call::stream_destroy:
      return {&ExecCalls::stream_destroy};
    case Call::event_create:
      return {&ExecCalls::event_create};
    case Call::event_destroy:
      return {&ExecCalls::event_destroy};
    case Call::event_record:
      return {&ExecCalls::event_record};
    case Call::event_wait:
      return {&ExecCalls::event_wait};
    case Call::event_elapsed:
      return {&ExecCalls::event_elapsed};
    case Call::event_query:
      return {&ExecCalls::event_query};
    case Call::value_write:
      return {&ExecCalls::value_write};
    case Call::value_read:
      return {&ExecCalls::value_read};
    case Call::value_wait:
      return {&ExecCalls::value_wait};
    case Call::tensor_map:
      return {&ExecCalls::tensor_map};
    case Call::array_create:
      return {&ExecCalls::array_create};
    case Call::array_destroy:
      return {&ExecCalls::array_destroy};
    case Call::array_find:
      return {&ExecCalls::array_find};
    case Call::texture_create:
      return {&ExecCalls::texture_create};
    case Call::texture_destroy:
      return {&ExecCalls::texture_destroy};
    case Call::texture_find:
      return {&ExecCalls::texture_find};
    case Call::count:
      break;
  }
  return {};
}

CallAnswer ExecCalls::answer(wire::Call call, std::string_view operands) {
  CallAnswer answer;
  const Row row = row_of(call);
  if (!row.handler) {
    answer.result = DriverResult::not_supported;
  } else if (device_.faulted() && !row.after_faults) {
    answer.result = device_.failed();
  } else {
    wire::Reader in(operands);
    answer.result = (this->*row.handler)(in, answer);
    if (in.failed()) answer.result = DriverResult::invalid_value;
  }
  return answer;
}

DriverResult ExecCalls::hello(wire::Reader& in, CallAnswer&) {
  const auto version = in.get<std::uint32_t>();
  in.get<std::uint64_t>();
  return version == wire::version ? DriverResult::success : DriverResult::not_supported;
}

DriverResult ExecCalls::missing(wire::Reader& in, CallAnswer&) {
  is_missing(std::string(in.text()));
  return DriverResult::success;
}

DriverResult ExecCalls::lost(wire::Reader&, CallAnswer&) {
  lost_ = true;
  return DriverResult::success;
}

DriverResult ExecCalls::is_missing(const std::string& name) {
  if (std::find(missed_.begin(), missed_.end(), name) == missed_.end()) {
    missed_.push_back(name);
    terminal_.say(
        fmt::format("tilescope: {} asks for {}, which is not there: it is answered "
                    "CUDA_ERROR_NOT_SUPPORTED.",
                    program_, name));
  }
  return DriverResult::not_supported;
}

DriverResult ExecCalls::no_room(std::uint64_t bytes) {
  if (!std::exchange(told_no_room_, true)) {
    const sim::DeviceMemory& memory = device_.memory();
    const auto gib = [](std::uint64_t n) { return static_cast<double>(n) / (1u << 30); };
    terminal_.say(fmt::format(
        "tilescope: {} asks for {:.3g} GiB of device memory, and {:.3g} of {:.3g} GiB are left: it "
        "is answered CUDA_ERROR_OUT_OF_MEMORY.",
        program_, gib(bytes), gib(memory.limit() - std::min(memory.limit(), memory.used())),
        gib(memory.limit())));
  }
  return DriverResult::out_of_memory;
}

// ---- contexts -----------------------------------------------------------------------------------

DriverResult ExecCalls::context_current(wire::Reader& in, CallAnswer&) {
  context_ = in.get<std::uint64_t>();
  return DriverResult::success;
}

// What it made ends with it; of what is the program's, variables begin anew.
DriverResult ExecCalls::context_end(wire::Reader& in, CallAnswer& answer) {
  const auto ended = in.get<std::uint64_t>();
  answer.out.put_text(device_.take_printed());
  const auto is_its = [&](const auto& each) { return each.second.context == ended; };
  for (const auto& [address, context] : owners_) {
    if (context != ended) continue;
    shared_.erase(address);
    device_.memory().release(address);
  }
  std::erase_if(owners_, [&](const auto& each) { return each.second == ended; });
  std::vector<SimulatedDevice::Handle> modules;
  for (const auto& [handle, facts] : module_facts_) {
    if (facts.context == ended) modules.push_back(handle);
    for (const sim::Region& region : facts.variables) {
      if (sim::Region* const now = device_.memory().find(region.base())) *now = region;
      const auto shared = shared_.find(region.base());
      if (shared != shared_.end()) shared->second->set(region.data());
    }
  }
  for (const SimulatedDevice::Handle module : modules) unload(module);
  for (const auto& [handle, stream] : streams_) {
    if (stream.context == ended) device_.order().remove_stream(handle);
  }
  std::erase_if(streams_, is_its);
  std::erase_if(events_, is_its);
  for (const auto& [handle, array] : arrays_) {
    if (array.context == ended) device_.memory().release(array.address);
  }
  std::erase_if(arrays_, is_its);
  return DriverResult::success;
}

ExecCalls::Context ExecCalls::context_of(std::uint64_t stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() || !found->second.context ? context_ : found->second.context;
}

// ---- launches -----------------------------------------------------------------------------------

DriverResult ExecCalls::launch(wire::Reader& in, CallAnswer& answer) {
  const auto how = in.get<wire::Launch>();
  const std::string_view parameters = in.text();
  if (in.failed()) return DriverResult::invalid_value;
  Function* const f = function(how.function);
  const auto on = stream(how.stream);
  if (!f || !on) return DriverResult::invalid_handle;
  const Context owner = module_facts_[f->module].context;
  if (owner && owner != context_of(*on)) return DriverResult::invalid_handle;
  answer.out.put_text(device_.take_printed());
  const auto dim = [](const std::uint32_t(&d)[3]) { return Dim3{d[0], d[1], d[2]}; };
  SimulatedDevice::Request request;
  request.module = f->module;
  request.entry = f->entry->name;
  request.grid = dim(how.grid), request.block = dim(how.block);
  if (how.cluster[0] && how.cluster[1] && how.cluster[2]) request.cluster = dim(how.cluster);
  request.dynamic_shared = how.dynamic_shared;
  const auto* const bytes = reinterpret_cast<const std::byte*>(parameters.data());
  request.parameters.assign(bytes, bytes + parameters.size());
  request.stream = *on;
  request.cooperative = how.cooperative;
  request.begins_early = how.programmatic;
  if (request.grid.count() == 0 || request.block.count() == 0) return DriverResult::invalid_value;
  if (const std::string wrong = wrong_cluster(*f, request); !wrong.empty()) {
    terminal_.say(fmt::format("tilescope: {} was not launched: {}", request.entry, wrong));
    return DriverResult::invalid_cluster_size;
  }
  const std::uint64_t fixed = how.dynamic_shared ? shared_bytes(*f) : 0;
  const auto asked = f->attributes.find(function_attribute::max_dynamic_shared);
  const std::uint64_t most = std::max<std::uint64_t>(
      fixed < shared_by_default ? shared_by_default - fixed : 0,
      asked == f->attributes.end() ? 0 : static_cast<std::uint64_t>(asked->second));
  if (how.dynamic_shared > most) {
    terminal_.say(fmt::format(
        "tilescope: {} was not launched: it is given {} bytes of dynamic shared memory and may "
        "have {}. More than 48 KiB in all are asked for with cudaFuncSetAttribute "
        "(cudaFuncAttributeMaxDynamicSharedMemorySize).",
        request.entry, how.dynamic_shared, most));
    return DriverResult::invalid_value;
  }
  const auto together = [&](std::uint32_t registers) {
    return static_cast<std::uint64_t>(
               blocks_of_sm(*f, request.block.count(), how.dynamic_shared, registers)) *
           device_.description().processors;
  };
  request.together = together(registers_of(*f));
  if (how.cooperative) {                                        // what is estimated refuses none
    constexpr auto too_large = static_cast<DriverResult>(720);  // COOPERATIVE_LAUNCH_TOO_LARGE
    if (request.grid.count() > together(0)) return too_large;
  }
  order(*on);
  shared_to_device();
  const DriverResult result = device_.launch(request);
  shared_to_host();
  if (result == DriverResult::success) put_written(*f, answer.out);
  // As on a chip: the launch was taken, and what comes behind it learns that it failed.
  return device_.faulted() ? DriverResult::success : result;
}

std::string ExecCalls::wrong_cluster(const Function& f,
                                     const SimulatedDevice::Request& request) const {
  Launch how;
  how.cluster = request.cluster;
  const Dim3 size = cluster_of(*f.entry, how);
  const auto& own = f.entry->required_cluster;
  if (own[0] && size != Dim3{own[0], std::max(own[1], 1u), std::max(own[2], 1u)}) {
    return fmt::format("its clusters are of {} CTAs, and the launch has {}.",
                       text(Dim3{own[0], std::max(own[1], 1u), std::max(own[2], 1u)}), text(size));
  }
  if (request.grid.x % size.x || request.grid.y % size.y || request.grid.z % size.z) {
    return fmt::format("a grid of {} is no multiple of clusters of {}.", text(request.grid),
                       text(size));
  }
  if (size.count() <= largest_cluster(f)) return "";
  return fmt::format(
      "clusters of {} CTAs are larger than {}. More than 8, up to 16, are asked for with "
      "cudaFuncSetAttribute (cudaFuncAttributeNonPortableClusterSizeAllowed).",
      size.count(), largest_cluster(f));
}

DriverResult ExecCalls::printed(wire::Reader&, CallAnswer& answer) {
  answer.out.put_text(device_.take_printed());
  return device_.failed();
}

DriverResult ExecCalls::host_early(wire::Reader& in, CallAnswer&) {
  SimulatedDevice::EarlyHost use;
  use.address = in.get<std::uint64_t>();
  const auto work = static_cast<wire::Work>(in.get<std::uint8_t>());
  const auto number = in.get<std::uint64_t>();
  use.writes = in.get<bool>();
  use.where = host_line(std::string(in.text()));
  if (in.failed() || work >= wire::Work::count) return DriverResult::invalid_value;
  use.work_reads = work == wire::Work::copy_in;
  use.work = use.work_reads ? "a copy from the host" : "a copy to the host";
  if (work == wire::Work::launch)
    use.work = fmt::format("{} (launch {})", launched_[number], number);
  device_.host_was_early(use);
  return DriverResult::success;
}

// Whom it tells of it nobody sees here: what the host asks for from now on counts as behind what
// the stream was given before it. When that is over the calling thread does not know.
DriverResult ExecCalls::host_runs(wire::Reader& in, CallAnswer& answer) {
  const auto on = stream(in.get<std::uint64_t>());
  if (!on) return DriverResult::invalid_handle;
  device_.order().host_waited_for_stream(*on);
  return printed(in, answer);
}

DriverResult ExecCalls::synchronize(wire::Reader& in, CallAnswer& answer) {
  const auto handle = in.get<std::uint64_t>();
  const auto on = handle == all_streams ? std::optional(handle) : stream(handle);
  if (!on) return DriverResult::invalid_handle;
  if (handle == all_streams) {
    device_.order().host_waited_for_all();
    device_.clock().host_knows_all();
  } else {
    host_waited(*on);
  }
  answer.out.put_text(device_.take_printed());
  return DriverResult::success;
}

// ---- streams ------------------------------------------------------------------------------------

std::optional<std::uint64_t> ExecCalls::stream(std::uint64_t handle) {
  if (handle == 0) return 0;
  const bool is_known = streams_.count(handle) > 0;
  if (!is_known && wire::is_thread_stream(handle)) {  // nobody makes those
    streams_[handle] = {};
    device_.order().add_stream(handle);
    return handle;
  }
  return is_known ? std::optional(handle) : std::nullopt;
}

void ExecCalls::order(std::uint64_t of) {
  if (of == 0) {
    for (const auto& [handle, each] : streams_) {
      if (each.blocking) device_.clock().wait(0, device_.clock().time_of(handle));
    }
    return;
  }
  const auto found = streams_.find(of);
  if (found == streams_.end() || found->second.blocking) {
    device_.clock().wait(of, device_.clock().time_of(0));
  }
}

void ExecCalls::host_waited(std::uint64_t of) {
  device_.order().host_waited_for_stream(of);
  device_.clock().host_knows(device_.clock().time_of(of));
}

DriverResult ExecCalls::stream_create(wire::Reader& in, CallAnswer& answer) {
  const auto flags = in.get<std::uint32_t>();
  const auto priority = in.get<std::int32_t>();
  if (flags > non_blocking && flags != wire::graph_lane) return DriverResult::invalid_value;
  const std::uint64_t handle = new_handle();
  streams_[handle] = {flags == 0, context_};
  device_.order().add_stream(handle, flags == 0);
  if (flags == wire::graph_lane) device_.name_lane(handle, priority);
  answer.out.put(handle);
  return DriverResult::success;
}

DriverResult ExecCalls::stream_destroy(wire::Reader& in, CallAnswer&) {
  const auto handle = in.get<std::uint64_t>();
  if (!streams_.erase(handle)) return DriverResult::invalid_handle;
  device_.order().remove_stream(handle);
  return DriverResult::success;
}

// ---- events -------------------------------------------------------------------------------------

DriverResult ExecCalls::event_create(wire::Reader& in, CallAnswer& answer) {
  const auto flags = in.get<std::uint32_t>();
  const std::uint64_t handle = new_handle();
  events_[handle].timed = !(flags & disable_timing);
  events_[handle].context = context_;
  answer.out.put(handle);
  return DriverResult::success;
}

DriverResult ExecCalls::event_destroy(wire::Reader& in, CallAnswer&) {
  return events_.erase(in.get<std::uint64_t>()) ? DriverResult::success
                                                : DriverResult::invalid_handle;
}

DriverResult ExecCalls::event_record(wire::Reader& in, CallAnswer&) {
  const auto event = events_.find(in.get<std::uint64_t>());
  const auto on = stream(in.get<std::uint64_t>());
  if (event == events_.end() || !on) return DriverResult::invalid_handle;
  if (event->second.context != context_of(*on)) return DriverResult::invalid_handle;
  order(*on);
  event->second.time = device_.clock().time_of(*on);
  event->second.told = wall_time_ ? now() : *event->second.time;
  device_.order().record(event->first, *on);
  device_.clock().part(*on);
  return DriverResult::success;
}

// One that was never recorded keeps nobody waiting (CUDA Driver API, cuStreamWaitEvent).
DriverResult ExecCalls::event_wait(wire::Reader& in, CallAnswer&) {
  const auto event = events_.find(in.get<std::uint64_t>());
  const auto on = stream(in.get<std::uint64_t>());
  if (event == events_.end() || !on) return DriverResult::invalid_handle;
  if (event->second.time) {
    device_.clock().wait(*on, *event->second.time);
    device_.clock().part(*on);
    device_.order().wait(*on, event->first);
  }
  return DriverResult::success;
}

DriverResult ExecCalls::event_elapsed(wire::Reader& in, CallAnswer& answer) {
  const auto begin = events_.find(in.get<std::uint64_t>());
  const auto end = events_.find(in.get<std::uint64_t>());
  if (begin == events_.end() || end == events_.end()) return DriverResult::invalid_handle;
  for (const auto& event : {begin, end}) {
    if (!event->second.time || !event->second.timed) return DriverResult::invalid_handle;
  }
  answer.out.put(static_cast<float>(1e3 * (end->second.told - begin->second.told)));
  return DriverResult::success;
}

DriverResult ExecCalls::event_query(wire::Reader& in, CallAnswer& answer) {
  const auto event = events_.find(in.get<std::uint64_t>());
  if (event == events_.end()) return DriverResult::invalid_handle;
  if (event->second.time) {
    device_.order().host_waited_for_event(event->first);
    device_.clock().host_knows(*event->second.time);
  }
  answer.out.put_text(device_.take_printed());
  return DriverResult::success;
}

}  // namespace tilescope
