// Every function of the driver that the stand-in knows the name of, as a jump into the real one.
// Those that are looked at are defined elsewhere, and win: these here are weak.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "app/cuda_capture/real.h"
#include "app/cuda_capture/wire.h"

// A word for each function holds where it goes: to the real one, or to who says that there is none.
// (One symbol may have several names.)
#if defined(__x86_64__)
#define TILESCOPE_JUMP(slot) "  jmp *" slot "(%rip)\n"
#elif defined(__aarch64__)
#define TILESCOPE_JUMP(slot) "  adrp x16, " slot "\n  ldr x16, [x16, :lo12:" slot "]\n  br x16\n"
#else
#error "The shim for the CUDA driver is for x86-64 and 64-bit Arm."
#endif
#define FORWARD(symbol)                                                                        \
  asm(".ifndef tilescope_to_" #symbol "\n.text\n.weak " #symbol "\n.type " #symbol             \
      ", @function\n.balign 16\n" #symbol ":\n" TILESCOPE_JUMP(                                \
          "tilescope_to_" #symbol) ".size " #symbol ", .-" #symbol                             \
                                   "\n.data\n.balign 8\n.globl tilescope_to_" #symbol          \
                                   "\n.hidden tilescope_to_" #symbol "\ntilescope_to_" #symbol \
                                   ":\n  .quad 0\n.text\n.endif\n");                           \
  extern "C" __attribute__((visibility("hidden"))) void* tilescope_to_##symbol;
#define CALL(name, symbol, since) FORWARD(symbol)
#define PER_THREAD(symbol, ending, position) FORWARD(symbol##_##ending)
#define PER_THREAD_OWN(symbol, ending) FORWARD(symbol##_##ending)
#define MISSING(symbol) FORWARD(symbol)
#include "app/cuda/calls.inc"
#include "app/cuda/missing.inc"
#undef CALL
#undef PER_THREAD
#undef PER_THREAD_OWN
#undef MISSING

namespace tilescope::shim {
namespace {

struct Slot {
  const char* symbol;
  void** to;
};
const Slot slots[] = {
#define CALL(name, symbol, since) {#symbol, &tilescope_to_##symbol},
#define PER_THREAD_OWN(symbol, ending) {#symbol "_" #ending, &tilescope_to_##symbol##_##ending},
#define PER_THREAD(symbol, ending, position) PER_THREAD_OWN(symbol, ending)
#define MISSING(symbol) {#symbol, &tilescope_to_##symbol},
#include "app/cuda/calls.inc"
#include "app/cuda/missing.inc"
#undef CALL
#undef PER_THREAD
#undef PER_THREAD_OWN
#undef MISSING
};

void* driver = nullptr;

// Arguments are the caller's to clear, so that these answer for all.
CUresult no_driver() {
  return CUDA_ERROR_NO_DEVICE;
}
CUresult not_there() {
  return CUDA_ERROR_NOT_SUPPORTED;
}

// Before anybody can call: as the loader would have loaded the real one.
__attribute__((constructor)) void open_driver() {
  const char* const path = std::getenv(wire::capture_driver_variable);
  if (path) driver = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!path) {
    std::fprintf(stderr,
                 "tilescope: This stands in front of the CUDA driver, and works under `tilescope "
                 "capture` alone: tilescope capture -- PROGRAM.\n");
  } else if (!driver) {
    std::fprintf(stderr, "tilescope: The CUDA driver cannot be loaded: %s.\n", ::dlerror());
  }
  for (const Slot& slot : slots) {
    void* const real = driver ? ::dlsym(driver, slot.symbol) : nullptr;
    *slot.to = real     ? real
               : driver ? reinterpret_cast<void*>(&not_there)
                        : reinterpret_cast<void*>(&no_driver);
  }
}

// The functions that are looked at, by the names that cuGetProcAddress knows: what it answers for
// them is ours.
#define LOOKED_AT(name, symbol) extern "C" CUresult symbol();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
namespace declared {
#include "app/cuda_capture/looked_at.inc"
}  // namespace declared
#pragma GCC diagnostic pop
#undef LOOKED_AT

struct LookedAt {
  std::string_view name, symbol;
  void* own;
};
const LookedAt looked_at[] = {
#define LOOKED_AT(name, symbol) {#name, #symbol, reinterpret_cast<void*>(&declared::symbol)},
#include "app/cuda_capture/looked_at.inc"
#undef LOOKED_AT
};

}  // namespace

void* real_symbol(const char* symbol) {
  return driver ? ::dlsym(driver, symbol) : nullptr;
}

// Where the driver has several of one name, it tells them apart by these.
void* own_for(std::string_view name, void* found, int version, std::uint64_t flags) {
  constexpr std::uint64_t per_thread = 2;  // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
  constexpr int newest_since = 12000;      // of cuGetProcAddress
  void *plain = nullptr, *newest = nullptr, *of_thread = nullptr;
  for (const LookedAt& each : looked_at) {
    if (each.symbol == name && each.symbol != each.name) return each.own;
    if (each.name != name) continue;
    if (real_symbol(each.symbol.data()) == found) return each.own;
    (each.symbol.ends_with("_ptsz") ? of_thread
     : each.symbol.ends_with("_v2") ? newest
                                    : plain) = each.own;
  }
  if (newest && (!plain || version >= newest_since)) return newest;
  return of_thread && (flags & per_thread) ? of_thread : plain;
}

}  // namespace tilescope::shim
