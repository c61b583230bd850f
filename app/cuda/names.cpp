// Every function by its name: those that are there, and those that say that they are missing.
#include <array>
#include <cctype>
#include <cstdint>
#include <string_view>

#include "app/cuda/connection.h"
#include "app/cuda/names.h"

// Signatures are their own files': here they are addresses.
#define CALL(name, symbol, since) extern "C" CUresult symbol();
#define PER_THREAD(symbol, ending)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
namespace tilescope::standin::declared {
#include "app/cuda/calls.inc"
}  // namespace tilescope::standin::declared
#pragma GCC diagnostic pop
#undef CALL
#undef PER_THREAD

// The forms for the per-thread default stream: all work is done in the order in which it is given,
// so that they go to the same place.
#if defined(__x86_64__)
#define TILESCOPE_GO "jmp "
#elif defined(__aarch64__)
#define TILESCOPE_GO "b "
#else
#error "The stand-in for the CUDA driver is for x86-64 and 64-bit Arm."
#endif
#define CALL(name, symbol, since)
#define PER_THREAD(symbol, ending)                                                                \
  asm(".text\n.globl " #symbol "_" #ending "\n.type " #symbol "_" #ending ", @function\n" #symbol \
      "_" #ending ":\n  " TILESCOPE_GO #symbol "@PLT\n");
#include "app/cuda/calls.inc"
#undef CALL
#undef PER_THREAD

// Arguments are the caller's to clear, so that one without any answers for all.
#define MISSING(symbol)                                \
  TILESCOPE_CUDA symbol() {                            \
    return tilescope::standin::not_supported(#symbol); \
  }
#include "app/cuda/missing.inc"
#undef MISSING

namespace tilescope::standin {
namespace {

struct Named {
  std::string_view name, symbol;
  int since = 0;
  void* address = nullptr;
};

const Named calls[] = {
#define CALL(name, symbol, since) \
  {#name, #symbol, since, reinterpret_cast<void*>(&declared::symbol)},
#define PER_THREAD(symbol, ending)
#include "app/cuda/calls.inc"
#undef CALL
#undef PER_THREAD
};

const Named missing[] = {
#define MISSING(symbol) {#symbol, #symbol, 0, reinterpret_cast<void*>(&symbol)},
#include "app/cuda/missing.inc"
#undef MISSING
};

// "cuMemcpy3D" of "cuMemcpy3D_v2_ptds"
std::string_view base_of(std::string_view name) {
  for (const std::string_view ending : {"_ptsz", "_ptds"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  const std::size_t n = name.size();
  const bool versioned = n > 3 && name.substr(n - 3, 2) == "_v" &&
                         std::isdigit(static_cast<unsigned char>(name.back()));
  return versioned ? name.substr(0, n - 3) : name;
}

}  // namespace

// The newest form that a program of this version of CUDA knows.
FoundCall find_call(std::string_view name, int version) {
  const Named* best = nullptr;
  bool too_new = false;
  for (const Named& call : calls) {
    if (call.symbol == name && name != call.name) return {call.address, false};
    if (call.name != name) continue;
    too_new = too_new || call.since > version;
    if (call.since <= version && (!best || call.since > best->since)) best = &call;
  }
  if (best) return {best->address, false};
  if (too_new) return {nullptr, true};
  for (const Named& call : missing) {
    if (call.symbol == name || base_of(call.symbol) == base_of(name)) return {call.address, false};
  }
  return {};
}

}  // namespace tilescope::standin
