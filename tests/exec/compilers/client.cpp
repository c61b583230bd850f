// A program that compiles as it runs: it opens both libraries by their paths, and prints what they
// hand over as machine code; and which driver it gets by a path that is not the stand-in's.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

template <class F>
F find(void* library, const char* name) {
  void* const found = library ? ::dlsym(library, name) : nullptr;
  if (!found) std::printf("%s is not there\n", name);
  return reinterpret_cast<F>(found);
}

void of_nvrtc(const char* path) {
  void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const auto size = find<int (*)(std::uintptr_t, std::size_t*)>(library, "nvrtcGetCUBINSize");
  const auto code = find<int (*)(std::uintptr_t, char*)>(library, "nvrtcGetCUBIN");
  for (std::uintptr_t program = 0; size && code && program < 4; ++program) {
    std::size_t bytes = 0;
    const int result = size(program, &bytes);
    std::string to(bytes, '\0');
    if (bytes) code(program, to.data());
    std::printf("nvrtc %d: %d, %zu bytes, %s\n", static_cast<int>(program), result, bytes,
                to.empty() ? "" : to.c_str() + (to[0] == '\x7f'));
  }
}

struct Input {
  int kind;
  const char* text;
};

void of_linker(const char* path, const char* what, const char* option, Input a, Input b) {
  void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* linker = nullptr;
  const char* options[] = {"-arch=sm_90", option};
  find<int (*)(void**, std::uint32_t, const char**)>(library, "__nvJitLinkCreate_13_0")(
      &linker, option ? 2 : 1, options);
  const auto add = find<int (*)(void*, int, const void*, std::size_t, const char*)>(
      library, "__nvJitLinkAddData_13_0");
  for (const Input input : {a, b}) {
    if (input.text) add(linker, input.kind, input.text, std::strlen(input.text), "input");
  }
  std::size_t bytes = 0;
  find<int (*)(void*, std::size_t*)>(library, "__nvJitLinkGetLinkedCubinSize_13_0")(linker, &bytes);
  std::string to(bytes, '?');
  find<int (*)(void*, void*)>(library, "__nvJitLinkGetLinkedCubin_13_0")(linker, to.data());
  std::printf("%s: %s%s\n", what, to.c_str() + (to[0] == '\x7f'),
              to.size() == std::strlen(to.c_str()) + 1 ? "" : ", of another size");
  find<int (*)(void**)>(library, "__nvJitLinkDestroy_13_0")(&linker);
}

}  // namespace

// What the program is linked with, and has of it the functions for machine code alone.
extern "C" int nvrtcGetCUBINSize(std::uintptr_t, std::size_t*);
extern "C" int nvrtcGetCUBIN(std::uintptr_t, char*);

void of_linked_nvrtc() {
  std::size_t bytes = 0;
  const int result = nvrtcGetCUBINSize(2, &bytes);
  std::string to(bytes, '\0');
  nvrtcGetCUBIN(2, to.data());
  std::printf("linked nvrtc: %d, %zu bytes, %s\n", result, bytes, to.c_str() + (to[0] == '\x7f'));
}

int main(int count, char** words) {
  if (count != 4) return 2;
  of_linked_nvrtc();
  of_nvrtc(words[1]);
  const Input none{0, nullptr}, ptx{2, ".version 8.0 // a"}, other{2, ".version 8.0 // b"};
  of_linker(words[2], "one", nullptr, ptx, none);
  of_linker(words[2], "two", nullptr, ptx, other);
  of_linker(words[2], "PTX called code", nullptr, {1, ".version 8.0 // c"}, none);
  of_linker(words[2], "code", nullptr,
            {1,
             "\x7f"
             "ELF"},
            none);
  of_linker(words[2], "any", nullptr, {10, ".version 8.0 // d"}, none);
  of_linker(words[2], "refused", nullptr, {9, ".version 8.0 // e"}, none);
  of_linker(words[2], "optimized", "-lto", {3, "IR"}, none);
  of_linker(words[2], "optimized to PTX", "-ptx", {3, "IR"}, none);
  void* const driver = ::dlopen(words[3], RTLD_NOW | RTLD_LOCAL);
  Dl_info where{};
  void* const init = driver ? ::dlsym(driver, "cuInit") : nullptr;
  std::printf("driver: %s\n", init && ::dladdr(init, &where) ? where.dli_fname : "none");
  return 0;
}
