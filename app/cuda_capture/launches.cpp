// Launches. One that is wanted goes by itself: what its kernel can reach is told, it runs, and what
// it left is told.
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "app/cuda/gather.h"
#include "app/cuda_capture/connection.h"
#include "app/cuda_capture/images.h"
#include "app/cuda_capture/real.h"

namespace tilescope::shim {
namespace {

Real<CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
     void**, void**>
    launch_kernel("cuLaunchKernel"), launch_kernel_per_thread("cuLaunchKernel_ptsz");
Real<const CUlaunchConfig*, CUfunction, void**, void**> launch_kernel_ex("cuLaunchKernelEx"),
    launch_kernel_ex_per_thread("cuLaunchKernelEx_ptsz");
Real<CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
     void**>
    launch_cooperative("cuLaunchCooperativeKernel"),
    launch_cooperative_per_thread("cuLaunchCooperativeKernel_ptsz");
Real<void*, CUstream> graph_launch("cuGraphLaunch"), graph_launch_per_thread("cuGraphLaunch_ptsz");

Real<int*> exchange_capture_mode("cuThreadExchangeStreamCaptureMode");
Real<CUstream, int*> stream_is_capturing("cuStreamIsCapturing");
Real<> synchronize("cuCtxSynchronize");
Real<int*> current_device("cuCtxGetDevice");
Real<char*, int, CUdevice> device_name("cuDeviceGetName");
Real<int*, int, CUdevice> device_attribute("cuDeviceGetAttribute");
Real<CUfunction*, CUkernel> function_of_kernel("cuKernelGetFunction");
Real<CUmodule*, CUfunction> module_of("cuFuncGetModule");
Real<CUdeviceptr*, std::size_t*, CUmodule, const char*> variable_of("cuModuleGetGlobal_v2");
Real<CUdeviceptr*, std::size_t*, CUdeviceptr> allocation_of("cuMemGetAddressRange_v2");
Real<void*, int, CUdeviceptr> pointer_attribute("cuPointerGetAttribute");
Real<CUdeviceptr, CUdeviceptr, std::size_t> copy("cuMemcpy");
Real<CUresult, const char**> error_name("cuGetErrorName");

constexpr int capture_mode_relaxed = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED
constexpr int capability_major = 75, capability_minor = 76;
// So many words that look like addresses, and are none, are followed; then no more.
constexpr std::size_t most_misses = 200'000;

std::mutex one_launch;

std::string name_of(CUresult error) {
  const char* name = nullptr;
  return error_name(error, &name) == CUDA_SUCCESS && name ? name : std::to_string(error);
}

void skipped(wire::Skipped why, const Function* function, CUresult error) {
  ask(wire::Ask::skipped, wire::Writer()
                              .put(why)
                              .put_text(function ? function->name : "")
                              .put_text(error ? name_of(error) : ""));
}

// While it lives, what is asked of the driver disturbs no graph that is being recorded.
class Relaxed {
 public:
  Relaxed() { exchange_capture_mode(&mode_); }
  ~Relaxed() { exchange_capture_mode(&mode_); }
  Relaxed(const Relaxed&) = delete;
  Relaxed& operator=(const Relaxed&) = delete;

 private:
  int mode_ = capture_mode_relaxed;
};

// What a launch can reach, as it is told: allocations whose addresses stand in its parameters, in
// its module's variables, or in what can be reached, at a multiple of 8 bytes.
class Reach {
 public:
  // True: it went well; else wrong() says what did not.
  bool tell_given(const std::string& parameters, const void* handle, bool is_kernel,
                  const std::vector<std::string>& variables) {
    if (!tell(wire::Ask::parameters, wire::Writer().put_text(parameters))) return false;
    tell_variables(handle, is_kernel, variables);
    look_for(parameters.data(), parameters.size());
    while (!open_.empty()) {
      const Range range = open_.back();
      open_.pop_back();
      if (!tell_bytes(range, true)) return false;
    }
    return tell(wire::Ask::given, wire::Writer());
  }
  bool tell_left() {
    for (const auto& [address, bytes] : ranges_) {
      if (!tell_bytes({address, bytes}, false)) return false;
    }
    return true;
  }
  wire::Skipped wrong() const { return wrong_; }
  CUresult error() const { return error_; }

 private:
  struct Range {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    bool is_variable = false;
  };

  bool tell(wire::Ask what, const wire::Writer& operands) {
    if (ask(what, operands).ok()) return true;
    wrong_ = wire::Skipped::too_large;
    return false;
  }

  void tell_variables(const void* handle, bool is_kernel, const std::vector<std::string>& names) {
    auto function = static_cast<CUfunction>(const_cast<void*>(handle));
    CUmodule module = nullptr;
    if (is_kernel) function_of_kernel(&function, static_cast<CUkernel>(const_cast<void*>(handle)));
    if (module_of(&module, function) != CUDA_SUCCESS) return;
    for (const std::string& name : names) {
      Range at;
      if (variable_of(&at.address, &at.bytes, module, name.c_str()) != CUDA_SUCCESS) continue;
      at.is_variable = true;
      if (at.bytes == 0 || is_known(at.address, at.bytes)) continue;
      const auto operands =
          wire::Writer().put_text(name).put(at.address).put(std::uint64_t{at.bytes});
      if (!ask(wire::Ask::variable, operands).ok()) continue;
      ranges_.emplace(at.address, at.bytes);
      open_.push_back(at);
    }
  }

  // Whether some of [address, address + bytes) is known already.
  bool is_known(CUdeviceptr address, std::size_t bytes) const {
    const auto next = ranges_.lower_bound(address + bytes);
    return next != ranges_.begin() && std::prev(next)->first + std::prev(next)->second > address;
  }

  // The allocation that an address belongs to, also of the host's memory where the device uses it.
  bool find(CUdeviceptr address, Range& out) {
    if (allocation_of(&out.address, &out.bytes, address) == CUDA_SUCCESS) return out.bytes > 0;
    return pointer_attribute(&out.address, pointer_range_start, address) == CUDA_SUCCESS &&
           pointer_attribute(&out.bytes, pointer_range_size, address) == CUDA_SUCCESS &&
           out.bytes > 0 && address - out.address < out.bytes;
  }

  void look_for(const char* bytes, std::size_t count) {
    for (std::size_t at = 0; at + 8 <= count && misses_.size() < most_misses; at += 8) {
      CUdeviceptr word = 0;
      std::memcpy(&word, bytes + at, sizeof word);
      constexpr CUdeviceptr end = CUdeviceptr{1} << 57;  // of all that a processor addresses
      if (word < wire::least_address || word >= end) continue;
      if (is_known(word, 1) || misses_.count(word)) continue;
      Range range;
      if (!find(word, range) || is_known(range.address, range.bytes)) {
        misses_.insert(word);
        continue;
      }
      ranges_.emplace(range.address, range.bytes);
      open_.push_back(range);
    }
  }

  // False: it did not go well. What cannot be read the first time (a place that is reserved, and
  // has no memory) is none that a kernel can reach.
  bool tell_bytes(const Range& range, bool first) {
    std::string piece;
    for (std::size_t done = 0; done < range.bytes;) {
      piece.resize(std::min<std::size_t>(range.bytes - done, wire::piece_bytes));
      error_ =
          copy(reinterpret_cast<CUdeviceptr>(piece.data()), range.address + done, piece.size());
      if (error_ && first && done == 0) {
        error_ = CUDA_SUCCESS;
        ranges_.erase(range.address);
        misses_.insert(range.address);
        return true;
      }
      if (error_) {
        wrong_ = wire::Skipped::unreadable;
        return false;
      }
      if (first && done == 0 && !range.is_variable &&
          !tell(wire::Ask::region,
                wire::Writer().put(range.address).put(std::uint64_t{range.bytes}))) {
        return false;
      }
      if (first) look_for(piece.data(), piece.size());
      wire::Writer operands;
      operands.put(range.address + CUdeviceptr{done}).put(std::uint64_t{piece.size()});
      if (!ask(wire::Ask::bytes, std::move(operands), piece.data(), piece.size()).ok()) {
        wrong_ = wire::Skipped::too_large;
        return false;
      }
      done += piece.size();
    }
    return true;
  }

  std::map<CUdeviceptr, std::size_t> ranges_;
  std::vector<Range> open_;  // of those, whose bytes have not been told
  std::set<CUdeviceptr> misses_;
  wire::Skipped wrong_ = wire::Skipped::unreadable;
  CUresult error_ = CUDA_SUCCESS;
};

// The shape of a launch, as both ways to ask for one say it.
struct Asked {
  wire::CapturedShape shape;
  CUfunction function = nullptr;
  CUstream stream = nullptr;
  void** parameters = nullptr;
  void** extra = nullptr;
};
using Go = std::function<CUresult()>;

// What `tilescope` knows of the function, where it wants the launch.
struct Plan {
  wire::Wanted wanted = wire::Wanted::no;
  std::vector<wire::Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::vector<std::string> variables;
};

Plan plan_for(Asked& asked, const Function& function) {
  Plan plan;
  char device[256] = "";
  int ordinal = 0;
  if (current_device(&ordinal) == CUDA_SUCCESS) {
    device_name(device, sizeof device, ordinal);
    device_attribute(&asked.shape.major, capability_major, ordinal);
    device_attribute(&asked.shape.minor, capability_minor, ordinal);
  }
  asked.shape.image = function.images->number;
  wire::Writer question;
  question.put(asked.shape).put_text(function.name).put_text(device);
  Answer answer = ask(wire::Ask::launch, question);
  wire::Reader results = answer.results();
  plan.wanted = answer.ok() ? results.get<wire::Wanted>() : wire::Wanted::no;
  if (plan.wanted == wire::Wanted::unknown_image) {
    wire::Writer image;
    image.put(function.images->number);
    image.put(static_cast<std::uint32_t>(function.images->all.size()));
    for (const std::string_view each : function.images->all) image.put_text(each);
    if (!ask(wire::Ask::image, image).ok()) return {};
    answer = ask(wire::Ask::launch, question);
    results = answer.results();
    plan.wanted = answer.ok() ? results.get<wire::Wanted>() : wire::Wanted::no;
  }
  if (plan.wanted != wire::Wanted::yes) return plan;
  const auto count = results.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && !results.failed(); ++i) {
    plan.parameters.push_back(results.get<wire::Parameter>());
  }
  plan.parameter_bytes = results.get<std::uint32_t>();
  const auto names = results.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < names && !results.failed(); ++i) {
    plan.variables.emplace_back(results.text());
  }
  return plan;
}

CUresult captured(const Asked& asked, const Function& function, const Plan& plan, const Go& go) {
  const Relaxed relaxed;
  if (const CUresult error = synchronize()) {
    skipped(wire::Skipped::device_error, &function, error);
    return go();
  }
  std::string parameters;
  if (standin::gather(plan.parameters, plan.parameter_bytes, asked.parameters, asked.extra,
                      parameters)) {
    skipped(wire::Skipped::unreadable, &function, CUDA_ERROR_INVALID_VALUE);
    return go();
  }
  Reach reach;
  if (!reach.tell_given(parameters, asked.function, function.is_kernel, plan.variables)) {
    skipped(reach.wrong(), &function, reach.error());
    return go();
  }
  const CUresult result = go();
  CUresult after = result ? result : synchronize();
  if (!after && !reach.tell_left())
    after = reach.error() ? reach.error() : CUDA_ERROR_INVALID_VALUE;
  ask(wire::Ask::left,
      wire::Writer().put(static_cast<std::int32_t>(after)).put_text(after ? name_of(after) : ""));
  return result;
}

CUresult launch(Asked asked, const Go& go) {
  if (Inside::already() || !is_connected()) return go();
  const Inside inside;
  const auto function = function_of(asked.function);
  int recording = 0;
  const CUresult error = stream_is_capturing(asked.stream, &recording);
  if ((error && error != CUDA_ERROR_NOT_FOUND) || recording) {  // older drivers record nothing
    skipped(wire::Skipped::recorded, function.get(), CUDA_SUCCESS);
    return go();
  }
  if (!function) {
    skipped(wire::Skipped::unseen, nullptr, CUDA_SUCCESS);
    return go();
  }
  // Launches are counted in the order in which they are asked for; one that is wanted is the only
  // one meanwhile.
  std::unique_lock lock(one_launch);
  const Plan plan = plan_for(asked, *function);
  if (plan.wanted == wire::Wanted::yes) return captured(asked, *function, plan, go);
  lock.unlock();
  return go();
}

Asked asked_for(CUfunction function, const unsigned (&grid)[3], const unsigned (&block)[3],
                unsigned shared, CUstream stream, void** parameters, void** extra, bool per_thread,
                bool is_cooperative = false) {
  Asked out;
  std::memcpy(out.shape.grid, grid, sizeof out.shape.grid);
  std::memcpy(out.shape.block, block, sizeof out.shape.block);
  out.shape.dynamic_shared = shared;
  out.shape.cooperative = is_cooperative;
  out.function = function;
  out.stream = per_thread && !stream ? stream_per_thread() : stream;
  out.parameters = parameters;
  out.extra = extra;
  return out;
}

CUresult launch_config(const CUlaunchConfig* config, CUfunction function, void** parameters,
                       void** extra, bool per_thread, const Go& go) {
  if (!config || (config->numAttrs && !config->attrs)) return go();
  Asked asked = asked_for(function, config->grid, config->block, config->sharedMemBytes,
                          config->hStream, parameters, extra, per_thread);
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == attribute_cooperative) {
      asked.shape.cooperative = attribute.value.number != 0;
    }
    if (attribute.id != attribute_cluster_dimension) continue;
    std::memcpy(asked.shape.cluster, attribute.value.cluster, sizeof asked.shape.cluster);
  }
  return launch(asked, go);
}

CUresult launch_graph(const Go& go) {
  if (Inside::already() || !is_connected()) return go();
  skipped(wire::Skipped::graph, nullptr, CUDA_SUCCESS);
  const Inside inside;
  return go();
}

}  // namespace

#define TILESCOPE_LAUNCHES(ending, real, cooperative, ex, graph, per_thread)                      \
  TILESCOPE_CUDA cuLaunchKernel##ending(CUfunction f, unsigned gx, unsigned gy, unsigned gz,      \
                                        unsigned bx, unsigned by, unsigned bz, unsigned shared,   \
                                        CUstream stream, void** parameters, void** extra) {       \
    return launch(                                                                                \
        asked_for(f, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, extra, per_thread),  \
        [&] { return real(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra); });      \
  }                                                                                               \
  TILESCOPE_CUDA cuLaunchCooperativeKernel##ending(                                               \
      CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, \
      unsigned shared, CUstream stream, void** parameters) {                                      \
    return launch(                                                                                \
        asked_for(f, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, nullptr, per_thread, \
                  true),                                                                          \
        [&] { return cooperative(f, gx, gy, gz, bx, by, bz, shared, stream, parameters); });      \
  }                                                                                               \
  TILESCOPE_CUDA cuLaunchKernelEx##ending(const CUlaunchConfig* config, CUfunction f,             \
                                          void** parameters, void** extra) {                      \
    return launch_config(config, f, parameters, extra, per_thread,                                \
                         [&] { return ex(config, f, parameters, extra); });                       \
  }                                                                                               \
  TILESCOPE_CUDA cuGraphLaunch##ending(void* executable, CUstream stream) {                       \
    return launch_graph([&] { return graph(executable, stream); });                               \
  }

TILESCOPE_LAUNCHES(, launch_kernel, launch_cooperative, launch_kernel_ex, graph_launch, false)
TILESCOPE_LAUNCHES(_ptsz, launch_kernel_per_thread, launch_cooperative_per_thread,
                   launch_kernel_ex_per_thread, graph_launch_per_thread, true)

}  // namespace tilescope::shim
