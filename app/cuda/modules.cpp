// Modules, libraries, functions and kernels. A library is a module, and a kernel a function: one
// device has no other.
#include "app/cuda/modules.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

#include "app/cuda/connection.h"
#include "app/cuda/contexts.h"
#include "app/cuda/host_work.h"
#include "app/cuda/images.h"
#include "app/cuda/memory.h"

namespace tilescope::standin {
namespace {

std::mutex facts_mutex;
std::map<CUfunction, std::shared_ptr<const FunctionFacts>>& all_facts() {
  static auto* const all = new std::map<CUfunction, std::shared_ptr<const FunctionFacts>>;
  return *all;
}

}  // namespace

// The logs of a JIT: where they go, and how long they may be (CUjit_option).
struct Logs {
  static constexpr int info = 3, info_bytes = 4, error = 5, error_bytes = 6;
  char* text = nullptr;
  void** bytes = nullptr;
  std::size_t room = 0;  // as it was said before the first text

  Logs() = default;
  Logs(unsigned count, const int* options, void** values) {
    for (unsigned i = 0; i < count && options && values; ++i) {
      if (options[i] == error) text = static_cast<char*>(values[i]);
      if (options[i] == error_bytes) bytes = &values[i];
      // Nothing is said where it goes well.
      if (options[i] == info && values[i]) *static_cast<char*>(values[i]) = '\0';
      if (options[i] == info_bytes) values[i] = nullptr;
    }
  }
  // Where all went well the log is empty.
  void write(std::string_view log) {
    if (!bytes || (log.empty() && room)) return;
    if (room == 0) room = reinterpret_cast<std::size_t>(*bytes);
    if (!text || room == 0) return;
    const std::size_t n = std::min(room - 1, log.size());
    std::memcpy(text, log.data(), n);
    text[n] = '\0';
    *bytes = reinterpret_cast<void*>(n);
  }
};

namespace {

// A module is its context's, and goes with it; a library is the program's.
enum class Owner : std::uint8_t { program, context };

CUresult load(CUmodule* module, const std::string& name, Owner owner,
              const std::vector<std::string_view>& images, Logs logs) {
  if (!module) return CUDA_ERROR_INVALID_VALUE;
  Question question(Call::module_load);
  question.with_text(name).with(owner).with(static_cast<std::uint32_t>(images.size()));
  for (const std::string_view image : images) question.with_text(image);
  const CUresult result = question.ask();
  const auto handle = question.results().get<std::uint64_t>();
  logs.write(question.results().text());
  print(question.results().text());
  if (result == CUDA_SUCCESS) *module = handle_of<CUmodule>(handle);
  return result;
}

CUresult load_file(CUmodule* module, const char* name, Owner owner, Logs logs) {
  if (!module || !name) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(name, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const bool linked =
      bytes.size() > sizeof(Linked) && word_at<std::uint32_t>(bytes.data()) == linked_magic;
  return load(module, name, owner, linked ? linked_at(bytes.data()) : several_texts(bytes), logs);
}

}  // namespace

std::shared_ptr<const FunctionFacts> facts_of(CUfunction function) {
  const std::lock_guard lock(facts_mutex);
  const auto found = all_facts().find(function);
  return found == all_facts().end() ? nullptr : found->second;
}

CUresult find_function(CUfunction* function, CUmodule module, const char* name) {
  if (!function || !name) return CUDA_ERROR_INVALID_VALUE;
  Question question(Call::module_function);
  std::uint64_t handle = 0;
  std::uint32_t count = 0;
  if (const CUresult result =
          question.with(number_of(module)).with_text(name).ask(&handle, &count)) {
    return result;
  }
  auto facts = std::make_shared<FunctionFacts>();
  facts->name = name;
  facts->module = module;
  for (std::uint32_t i = 0; i < count && !question.results().failed(); ++i) {
    facts->parameters.push_back(question.results().get<wire::Parameter>());
  }
  facts->parameter_bytes = question.results().get<std::uint32_t>();
  *function = handle_of<CUfunction>(handle);
  const std::lock_guard lock(facts_mutex);
  all_facts()[*function] = std::move(facts);
  return CUDA_SUCCESS;
}

namespace {

// Where the managed variables of modules are, which the program can reach.
std::map<CUmodule, std::vector<std::uint64_t>>& managed_variables() {
  static auto* const all = new std::map<CUmodule, std::vector<std::uint64_t>>;
  return *all;
}

void forget_managed(CUmodule module) {
  const std::lock_guard lock(facts_mutex);
  for (const std::uint64_t address : managed_variables()[module]) forget_variable(address);
  managed_variables().erase(module);
}

CUresult find_variable(CUdeviceptr* address, std::size_t* bytes, CUmodule module, const char* name,
                       bool only_managed) {
  CUdeviceptr at = 0;
  std::size_t size = 0;
  bool managed = false;
  Question question(Call::module_variable);
  const CUresult result =
      question.with(number_of(module)).with_text(name).ask(&at, &size, &managed);
  if (result) return result;
  if (only_managed && !managed) return CUDA_ERROR_NOT_FOUND;
  if (managed) {
    if (const CUresult wrong = share_variable(at, size, question.file())) return wrong;
    const std::lock_guard lock(facts_mutex);
    managed_variables()[module].push_back(at);
  }
  if (address) *address = at;
  if (bytes) *bytes = size;
  return CUDA_SUCCESS;
}

}  // namespace

// ---- modules ------------------------------------------------------------------------------------

TILESCOPE_CUDA cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, int* options,
                                  void** values) {
  if (is_connected() && !current_context()) return CUDA_ERROR_INVALID_CONTEXT;
  if (is_connected() && current_context()->destroyed) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (!image) return CUDA_ERROR_INVALID_VALUE;
  return load(module, "module", Owner::context, images_at(image), Logs(count, options, values));
}
TILESCOPE_CUDA cuModuleLoadData(CUmodule* module, const void* image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
TILESCOPE_CUDA cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
TILESCOPE_CUDA cuModuleLoad(CUmodule* module, const char* name) {
  return load_file(module, name, Owner::context, Logs());
}
TILESCOPE_CUDA cuModuleUnload(CUmodule module) {
  catch_up_all();
  Question question(Call::module_unload);
  const CUresult result = question.with(number_of(module)).ask();
  print(question.results().text());
  if (result == CUDA_SUCCESS) forget_managed(module);
  return result;
}
TILESCOPE_CUDA cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return find_function(function, module, name);
}
TILESCOPE_CUDA cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, CUmodule module,
                                    const char* name) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  return find_variable(address, bytes, module, name, false);
}
TILESCOPE_CUDA cuModuleGetLoadingMode(int* mode) {
  if (!mode) return CUDA_ERROR_INVALID_VALUE;
  *mode = 2;  // CU_MODULE_LAZY_LOADING
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return Question(Call::module_functions).with(number_of(module)).ask(count);
}
TILESCOPE_CUDA cuModuleEnumerateFunctions(CUfunction* functions, unsigned most, CUmodule module) {
  if (!functions) return CUDA_ERROR_INVALID_VALUE;
  Question question(Call::module_functions);
  std::uint32_t count = 0;
  if (const CUresult result = question.with(number_of(module)).ask(&count)) return result;
  for (std::uint32_t i = 0; i < std::min(count, most); ++i) {
    const std::string name(question.results().text());
    if (const CUresult result = find_function(&functions[i], module, name.c_str())) return result;
  }
  return CUDA_SUCCESS;
}

// ---- linking: what is to be linked is looked at, kept, and loaded together --------------------

}  // namespace tilescope::standin

struct CUlinkState_st {
  std::vector<std::string> images;
  tilescope::standin::Logs logs;
  std::string whole;  // once it is complete
};

namespace tilescope::standin {
namespace {

CUresult look_at(const std::vector<std::string_view>& images, bool linked, CUlinkState state) {
  Question question(Call::link_check);
  question.with(static_cast<std::uint8_t>(linked)).with(static_cast<std::uint32_t>(images.size()));
  for (const std::string_view image : images) question.with_text(image);
  const CUresult result = question.ask();
  state->logs.write(question.results().text());
  return result;
}

// What a linker makes of nothing.
constexpr std::string_view empty_module = ".version 8.0\n.target sm_80\n.address_size 64\n";

CUresult add(CUlinkState state, int kind, const std::string& bytes) {
  constexpr int kinds = 7;  // CUjitInputType
  if (kind < 0 || kind >= kinds || !state->whole.empty()) return CUDA_ERROR_INVALID_VALUE;
  if (bytes.size() < sizeof(std::uint32_t)) return CUDA_ERROR_INVALID_IMAGE;
  const std::vector<std::string_view> images = images_at(bytes.c_str());
  if (const CUresult wrong = look_at(images, false, state)) return wrong;
  state->images.insert(state->images.end(), images.begin(), images.end());
  return CUDA_SUCCESS;
}

}  // namespace

TILESCOPE_CUDA cuLinkCreate_v2(unsigned count, int* options, void** values, CUlinkState* state) {
  if (!state) return CUDA_ERROR_INVALID_VALUE;
  *state = new CUlinkState_st;
  (*state)->logs = Logs(count, options, values);
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuLinkAddData_v2(CUlinkState state, int kind, void* data, std::size_t bytes,
                                const char*, unsigned, int*, void**) {
  if (!state) return CUDA_ERROR_INVALID_HANDLE;
  if (!data || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return add(state, kind, std::string(static_cast<const char*>(data), bytes));
}
TILESCOPE_CUDA cuLinkAddFile_v2(CUlinkState state, int kind, const char* name, unsigned, int*,
                                void**) {
  if (!state) return CUDA_ERROR_INVALID_HANDLE;
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(name, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  return add(state, kind, {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
}
// What it gives is for cuModuleLoadData, and lives as long as the state; copies of it live on.
TILESCOPE_CUDA cuLinkComplete(CUlinkState state, void** image, std::size_t* bytes) {
  if (!state) return CUDA_ERROR_INVALID_HANDLE;
  if (!image) return CUDA_ERROR_INVALID_VALUE;
  if (state->whole.empty()) {
    if (state->images.empty()) state->images.emplace_back(empty_module);
    const std::vector<std::string_view> images(state->images.begin(), state->images.end());
    if (const CUresult wrong = look_at(images, true, state)) return wrong;
    wire::Writer whole;
    whole.put(Linked{linked_magic, static_cast<std::uint32_t>(images.size())});
    for (const std::string_view each : images) whole.put_text(each);
    state->whole = std::move(whole.bytes);
  }
  *image = state->whole.data();
  if (bytes) *bytes = state->whole.size();
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuLinkDestroy(CUlinkState state) {
  if (!state) return CUDA_ERROR_INVALID_HANDLE;
  delete state;
  return CUDA_SUCCESS;
}

// ---- libraries ----------------------------------------------------------------------------------

TILESCOPE_CUDA cuLibraryLoadData(CUlibrary* library, const void* code, int* options, void** values,
                                 unsigned count, int*, void**, unsigned) {
  if (!code) return CUDA_ERROR_INVALID_VALUE;
  return load(reinterpret_cast<CUmodule*>(library), "library", Owner::program, images_at(code),
              Logs(count, options, values));
}
TILESCOPE_CUDA cuLibraryLoadFromFile(CUlibrary* library, const char* name, int* options,
                                     void** values, unsigned count, int*, void**, unsigned) {
  return load_file(reinterpret_cast<CUmodule*>(library), name, Owner::program,
                   Logs(count, options, values));
}
TILESCOPE_CUDA cuLibraryUnload(CUlibrary library) {
  return cuModuleUnload(reinterpret_cast<CUmodule>(library));
}
TILESCOPE_CUDA cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return find_function(reinterpret_cast<CUfunction*>(kernel), reinterpret_cast<CUmodule>(library),
                       name);
}
TILESCOPE_CUDA cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  if (!module) return CUDA_ERROR_INVALID_VALUE;
  *module = reinterpret_cast<CUmodule>(library);
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return cuModuleGetFunctionCount(count, reinterpret_cast<CUmodule>(library));
}
TILESCOPE_CUDA cuLibraryEnumerateKernels(CUkernel* kernels, unsigned most, CUlibrary library) {
  return cuModuleEnumerateFunctions(reinterpret_cast<CUfunction*>(kernels), most,
                                    reinterpret_cast<CUmodule>(library));
}
TILESCOPE_CUDA cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                                  const char* name) {
  return cuModuleGetGlobal_v2(address, bytes, reinterpret_cast<CUmodule>(library), name);
}
TILESCOPE_CUDA cuLibraryGetManaged(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                                   const char* name) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  return find_variable(address, bytes, reinterpret_cast<CUmodule>(library), name, true);
}
TILESCOPE_CUDA cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  *function = reinterpret_cast<CUfunction>(kernel);
  return facts_of(*function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
TILESCOPE_CUDA cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  if (!library) return CUDA_ERROR_INVALID_VALUE;
  const auto facts = facts_of(reinterpret_cast<CUfunction>(kernel));
  if (!facts) return CUDA_ERROR_INVALID_HANDLE;
  *library = reinterpret_cast<CUlibrary>(facts->module);
  return CUDA_SUCCESS;
}

// ---- functions and kernels ----------------------------------------------------------------------

TILESCOPE_CUDA cuFuncGetAttribute(int* value, int attribute, CUfunction function) {
  return Question(Call::function_get).with(number_of(function)).with(attribute).ask(value);
}
TILESCOPE_CUDA cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  return Question(Call::function_set).with(number_of(function)).with(attribute).with(value).ask();
}
TILESCOPE_CUDA cuKernelGetAttribute(int* value, int attribute, CUkernel kernel, CUdevice) {
  return cuFuncGetAttribute(value, attribute, reinterpret_cast<CUfunction>(kernel));
}
TILESCOPE_CUDA cuKernelSetAttribute(int attribute, int value, CUkernel kernel, CUdevice) {
  return cuFuncSetAttribute(reinterpret_cast<CUfunction>(kernel), attribute, value);
}
// How L1 and shared memory share their place, and how wide a bank is: as it is.
TILESCOPE_CUDA cuFuncSetCacheConfig(CUfunction function, int config) {
  if (!is_cache_config(config)) return CUDA_ERROR_INVALID_VALUE;
  return facts_of(function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
TILESCOPE_CUDA cuFuncSetSharedMemConfig(CUfunction function, int) {
  return facts_of(function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
TILESCOPE_CUDA cuKernelSetCacheConfig(CUkernel kernel, int config, CUdevice) {
  return cuFuncSetCacheConfig(reinterpret_cast<CUfunction>(kernel), config);
}
TILESCOPE_CUDA cuFuncGetModule(CUmodule* module, CUfunction function) {
  const auto facts = facts_of(function);
  if (!module) return CUDA_ERROR_INVALID_VALUE;
  if (!facts) return CUDA_ERROR_INVALID_HANDLE;
  *module = facts->module;
  return CUDA_SUCCESS;
}
// The name lives as long as the program.
TILESCOPE_CUDA cuFuncGetName(const char** name, CUfunction function) {
  const auto facts = facts_of(function);
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  if (!facts) return CUDA_ERROR_INVALID_HANDLE;
  *name = facts->name.c_str();
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuKernelGetName(const char** name, CUkernel kernel) {
  return cuFuncGetName(name, reinterpret_cast<CUfunction>(kernel));
}
TILESCOPE_CUDA cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                                  std::size_t* bytes) {
  const auto facts = facts_of(function);
  if (!facts) return CUDA_ERROR_INVALID_HANDLE;
  if (!offset || index >= facts->parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = facts->parameters[index].offset;
  if (bytes) *bytes = facts->parameters[index].bytes;
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset,
                                    std::size_t* bytes) {
  return cuFuncGetParamInfo(reinterpret_cast<CUfunction>(kernel), index, offset, bytes);
}
TILESCOPE_CUDA cuFuncIsLoaded(int* state, CUfunction function) {
  if (!state) return CUDA_ERROR_INVALID_VALUE;
  *state = 1;  // CU_FUNCTION_LOADING_STATE_LOADED
  return facts_of(function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
TILESCOPE_CUDA cuFuncLoad(CUfunction function) {
  return facts_of(function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

// ---- how many blocks an SM has room for ---------------------------------------------------------

TILESCOPE_CUDA cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                    CUfunction function,
                                                                    int threads, std::size_t shared,
                                                                    unsigned flags) {
  constexpr unsigned all_flags = 1;  // CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE
  if (flags > all_flags) return CUDA_ERROR_INVALID_VALUE;
  return Question(Call::occupancy)
      .with(number_of(function))
      .with(threads)
      .with(static_cast<std::uint64_t>(shared))
      .ask(blocks);
}
TILESCOPE_CUDA cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                           int threads, std::size_t shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

// What each of so many blocks on an SM may have, besides what the function has by itself.
TILESCOPE_CUDA cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction function,
                                                       int blocks, int threads) {
  if (!bytes || blocks <= 0 || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
  int own = 0, most = 0;  // CU_FUNC_ATTRIBUTE_...: shared memory, and dynamic shared memory at most
  if (const CUresult result = cuFuncGetAttribute(&own, 1, function)) return result;
  if (const CUresult result = cuFuncGetAttribute(&most, 8, function)) return result;
  // CU_DEVICE_ATTRIBUTE_...: shared memory, blocks and threads of an SM.
  int all = 0, most_blocks = 0, most_threads = 0;
  const std::pair<std::int32_t, int*> asked[] = {
      {81, &all}, {106, &most_blocks}, {39, &most_threads}};
  for (const auto& [attribute, value] : asked) {
    if (const CUresult result = Question(Call::device_attribute).with(attribute).ask(value)) {
      return result;
    }
  }
  if (blocks > most_blocks || blocks > most_threads / threads) return CUDA_ERROR_INVALID_VALUE;
  const int share = std::min(most + own, all / blocks);  // as an H200's driver has it
  *bytes = share > own ? static_cast<std::size_t>(share - own) : 0;
  return CUDA_SUCCESS;
}

using SharedOf = std::size_t (*)(int threads);

// The block size that has the most threads on an SM; of equal ones the largest, as the occupancy
// calculator has it (CUDA Runtime API, cudaOccupancyMaxPotentialBlockSize).
TILESCOPE_CUDA cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                         SharedOf shared_of, std::size_t shared,
                                                         int limit, unsigned flags) {
  if (!grid || !block) return CUDA_ERROR_INVALID_VALUE;
  int most = 0, processors = 0, best = 0;
  if (const CUresult result = cuFuncGetAttribute(&most, 0, function)) return result;
  if (const CUresult result =
          Question(Call::device_attribute).with(std::int32_t{16}).ask(&processors)) {
    return result;
  }
  if (limit > 0) most = std::min(most, limit);
  *grid = *block = 0;
  for (int threads = (most + 31) / 32 * 32; threads > 0; threads -= 32) {
    int blocks = 0;
    const std::size_t bytes = shared_of ? shared_of(threads) : shared;
    const CUresult result = cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &blocks, function, std::min(threads, most), bytes, flags);
    if (result) return result;
    if (blocks * threads > best) {
      best = blocks * threads;
      *block = std::min(threads, most);
      *grid = blocks * processors;
    }
  }
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                                SharedOf shared_of, std::size_t shared, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared, limit,
                                                   0);
}

}  // namespace tilescope::standin
