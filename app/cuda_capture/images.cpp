#include "app/cuda_capture/images.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "app/cuda/images.h"
#include "app/cuda_capture/real.h"

namespace tilescope::shim {
namespace {

std::mutex mutex;
std::uint64_t last_number = 0;

// By the driver's handles. Never destroyed: a program may call while it ends.
template <class T>
using ByHandle = std::map<const void*, std::shared_ptr<const T>>;
ByHandle<Images>& modules() {  // and libraries
  static auto* const all = new ByHandle<Images>;
  return *all;
}
ByHandle<Function>& functions() {  // and kernels
  static auto* const all = new ByHandle<Function>;
  return *all;
}
// What is being linked, and what came of it.
std::map<const void*, std::vector<std::string>>& links() {
  static auto* const all = new std::map<const void*, std::vector<std::string>>;
  return *all;
}
std::shared_ptr<const Images> keep(std::vector<std::string> texts) {
  auto out = std::make_shared<Images>();
  out->number = ++last_number;
  out->kept = std::move(texts);
  for (const std::string& text : out->kept) out->all.push_back(text);
  return out;
}

struct Linked {
  std::string code;
  std::shared_ptr<const Images> from;
};
std::vector<Linked>& linked() {
  static auto* const all = new std::vector<Linked>;
  return *all;
}
// The program may have copied it: it is known by its bytes. The header of an ELF file says how long
// it is, so that the rest is there where that is the same.
std::shared_ptr<const Images> made_of(const void* image) {
  constexpr std::size_t header = 64;
  for (const Linked& each : linked()) {
    const std::size_t begin = std::min(header, each.code.size());
    if (each.code.size() >= sizeof(std::uint32_t) &&
        standin::word_at<std::uint32_t>(image) ==
            standin::word_at<std::uint32_t>(each.code.data()) &&
        std::memcmp(image, each.code.data(), begin) == 0 &&
        std::memcmp(image, each.code.data(), each.code.size()) == 0) {
      return each.from;
    }
  }
  return nullptr;
}

// What nvcc has put into a program stays where it is; all else is the program's to free.
std::shared_ptr<const Images> images_of(const void* image) {
  if (auto from = made_of(image)) return from;
  const std::vector<std::string_view> all = standin::images_at(image);
  if (standin::word_at<std::uint32_t>(image) != standin::wrapper_magic) {
    return keep({all.begin(), all.end()});
  }
  auto out = std::make_shared<Images>();
  out->number = ++last_number;
  out->all = all;
  return out;
}

std::string contents(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <class Handle>
CUresult loaded(CUresult result, Handle* handle, const void* image) {
  if (result != CUDA_SUCCESS || Inside::already() || !handle || !image) return result;
  const std::lock_guard lock(mutex);
  modules()[*handle] = images_of(image);
  return result;
}
template <class Handle>
CUresult loaded_file(CUresult result, Handle* handle, const char* path) {
  if (result != CUDA_SUCCESS || Inside::already() || !handle || !path) return result;
  std::string text = contents(path);
  const std::lock_guard lock(mutex);
  modules()[*handle] = keep({std::move(text)});
  return result;
}
void unloaded(const void* handle) {
  const std::lock_guard lock(mutex);
  const auto found = modules().find(handle);
  if (found == modules().end()) return;
  std::erase_if(functions(),
                [&](const auto& each) { return each.second->images == found->second; });
  modules().erase(found);
}
void found_function(const void* handle, const void* module, std::string name, bool is_kernel) {
  const std::lock_guard lock(mutex);
  const auto from = modules().find(module);
  if (from == modules().end()) return;
  functions()[handle] =
      std::make_shared<const Function>(Function{std::move(name), from->second, is_kernel});
}

Real<CUmodule*, const char*> module_load("cuModuleLoad");
Real<CUmodule*, const void*> module_load_data("cuModuleLoadData");
Real<CUmodule*, const void*, unsigned, int*, void**> module_load_data_ex("cuModuleLoadDataEx");
Real<CUmodule*, const void*> module_load_fatbin("cuModuleLoadFatBinary");
Real<CUmodule> module_unload("cuModuleUnload");
Real<CUfunction*, CUmodule, const char*> module_get_function("cuModuleGetFunction");
Real<CUfunction*, unsigned, CUmodule> module_enumerate("cuModuleEnumerateFunctions");
Real<const char**, CUfunction> function_name("cuFuncGetName");
Real<CUlibrary*, const void*, int*, void**, unsigned, int*, void**, unsigned> library_load(
    "cuLibraryLoadData");
Real<CUlibrary*, const char*, int*, void**, unsigned, int*, void**, unsigned> library_load_file(
    "cuLibraryLoadFromFile");
Real<CUlibrary> library_unload("cuLibraryUnload");
Real<CUkernel*, CUlibrary, const char*> library_get_kernel("cuLibraryGetKernel");
Real<CUkernel*, unsigned, CUlibrary> library_enumerate("cuLibraryEnumerateKernels");
Real<CUmodule*, CUlibrary> library_get_module("cuLibraryGetModule");
Real<const char**, CUkernel> kernel_name("cuKernelGetName");
Real<CUfunction*, CUkernel> kernel_get_function("cuKernelGetFunction");
Real<CUlinkState, int, void*, std::size_t, const char*, unsigned, int*, void**> link_add(
    "cuLinkAddData_v2");
Real<CUlinkState, int, const char*, unsigned, int*, void**> link_add_file("cuLinkAddFile_v2");
Real<CUlinkState, void**, std::size_t*> link_complete("cuLinkComplete");
Real<CUlinkState> link_destroy("cuLinkDestroy");

}  // namespace

std::shared_ptr<const Function> function_of(const void* handle) {
  const std::lock_guard lock(mutex);
  const auto found = functions().find(handle);
  return found == functions().end() ? nullptr : found->second;
}

// ---- modules ------------------------------------------------------------------------------------

TILESCOPE_CUDA cuModuleLoad(CUmodule* module, const char* path) {
  return loaded_file(module_load(module, path), module, path);
}
TILESCOPE_CUDA cuModuleLoadData(CUmodule* module, const void* image) {
  return loaded(module_load_data(module, image), module, image);
}
TILESCOPE_CUDA cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, int* options,
                                  void** values) {
  return loaded(module_load_data_ex(module, image, count, options, values), module, image);
}
TILESCOPE_CUDA cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return loaded(module_load_fatbin(module, image), module, image);
}
TILESCOPE_CUDA cuModuleUnload(CUmodule module) {
  unloaded(module);
  return module_unload(module);
}
TILESCOPE_CUDA cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  const CUresult result = module_get_function(function, module, name);
  if (result == CUDA_SUCCESS) found_function(*function, module, name, false);
  return result;
}
TILESCOPE_CUDA cuModuleEnumerateFunctions(CUfunction* all, unsigned count, CUmodule module) {
  const CUresult result = module_enumerate(all, count, module);
  for (unsigned i = 0; result == CUDA_SUCCESS && i < count && all[i]; ++i) {
    const char* name = nullptr;
    if (function_name(&name, all[i]) == CUDA_SUCCESS) found_function(all[i], module, name, false);
  }
  return result;
}

// ---- libraries ----------------------------------------------------------------------------------

TILESCOPE_CUDA cuLibraryLoadData(CUlibrary* library, const void* image, int* options, void** values,
                                 unsigned count, int* library_options, void** library_values,
                                 unsigned library_count) {
  return loaded(library_load(library, image, options, values, count, library_options,
                             library_values, library_count),
                library, image);
}
TILESCOPE_CUDA cuLibraryLoadFromFile(CUlibrary* library, const char* path, int* options,
                                     void** values, unsigned count, int* library_options,
                                     void** library_values, unsigned library_count) {
  return loaded_file(library_load_file(library, path, options, values, count, library_options,
                                       library_values, library_count),
                     library, path);
}
TILESCOPE_CUDA cuLibraryUnload(CUlibrary library) {
  unloaded(library);
  return library_unload(library);
}
TILESCOPE_CUDA cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  const CUresult result = library_get_kernel(kernel, library, name);
  if (result == CUDA_SUCCESS) found_function(*kernel, library, name, true);
  return result;
}
TILESCOPE_CUDA cuLibraryEnumerateKernels(CUkernel* all, unsigned count, CUlibrary library) {
  const CUresult result = library_enumerate(all, count, library);
  for (unsigned i = 0; result == CUDA_SUCCESS && i < count && all[i]; ++i) {
    const char* name = nullptr;
    if (kernel_name(&name, all[i]) == CUDA_SUCCESS) found_function(all[i], library, name, true);
  }
  return result;
}
TILESCOPE_CUDA cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  const CUresult result = library_get_module(module, library);
  if (result != CUDA_SUCCESS) return result;
  const std::lock_guard lock(mutex);
  const auto from = modules().find(library);
  if (from != modules().end()) modules()[*module] = from->second;
  return result;
}
TILESCOPE_CUDA cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  const CUresult result = kernel_get_function(function, kernel);
  if (result != CUDA_SUCCESS) return result;
  const std::lock_guard lock(mutex);
  const auto from = functions().find(kernel);
  if (from == functions().end() || static_cast<const void*>(*function) == kernel) return result;
  functions()[*function] =
      std::make_shared<const Function>(Function{from->second->name, from->second->images, false});
  return result;
}

// ---- linking: what is linked is machine code; it was made of these
// --------------------------------

TILESCOPE_CUDA cuLinkAddData_v2(CUlinkState state, int kind, void* data, std::size_t bytes,
                                const char* name, unsigned count, int* options, void** values) {
  const CUresult result = link_add(state, kind, data, bytes, name, count, options, values);
  if (result != CUDA_SUCCESS || Inside::already()) return result;
  std::string text(static_cast<const char*>(data), bytes);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  const std::lock_guard lock(mutex);
  links()[state].push_back(std::move(text));
  return result;
}
TILESCOPE_CUDA cuLinkAddFile_v2(CUlinkState state, int kind, const char* path, unsigned count,
                                int* options, void** values) {
  const CUresult result = link_add_file(state, kind, path, count, options, values);
  if (result != CUDA_SUCCESS || Inside::already()) return result;
  std::string text = contents(path);
  const std::lock_guard lock(mutex);
  links()[state].push_back(std::move(text));
  return result;
}
TILESCOPE_CUDA cuLinkComplete(CUlinkState state, void** image, std::size_t* bytes) {
  const CUresult result = link_complete(state, image, bytes);
  if (result != CUDA_SUCCESS || Inside::already()) return result;
  const std::lock_guard lock(mutex);
  constexpr std::size_t most = 64;
  if (linked().size() == most) linked().erase(linked().begin());
  if (bytes) linked().push_back({{static_cast<const char*>(*image), *bytes}, keep(links()[state])});
  return result;
}
TILESCOPE_CUDA cuLinkDestroy(CUlinkState state) {
  {
    const std::lock_guard lock(mutex);
    links().erase(state);
  }
  return link_destroy(state);
}

}  // namespace tilescope::shim
