// Every function by its name: those that are there, and those that say that they are missing.
#include <array>
#include <cctype>
#include <cstdint>
#include <string_view>

#include "app/cuda/connection.h"
#include "app/cuda/names.h"

// Signatures are their own files': here they are addresses.
#define CALL(name, symbol, since) extern "C" CUresult symbol();
#define PER_THREAD(symbol, ending, position) extern "C" CUresult symbol##_##ending();
#define PER_THREAD_OWN(symbol, ending) extern "C" CUresult symbol##_##ending();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
namespace tilescope::standin::declared {
#include "app/cuda/calls.inc"
}  // namespace tilescope::standin::declared
#pragma GCC diagnostic pop
#undef CALL
#undef PER_THREAD
#undef PER_THREAD_OWN

// The forms for the per-thread default stream: no stream is that one (2), and then the function
// itself. All arguments before the stream are integers and pointers: the first of them are in
// registers, and the others are on the stack, where they are the called function's to change.
#if defined(__x86_64__)
#define TILESCOPE_REGISTER(name, low) "test %" name ", %" name "\n  jne 1f\n  mov $2, %" low "\n"
#define TILESCOPE_STREAM_0
#define TILESCOPE_STREAM_1 TILESCOPE_REGISTER("rdi", "edi")
#define TILESCOPE_STREAM_2 TILESCOPE_REGISTER("rsi", "esi")
#define TILESCOPE_STREAM_3 TILESCOPE_REGISTER("rdx", "edx")
#define TILESCOPE_STREAM_4 TILESCOPE_REGISTER("rcx", "ecx")
#define TILESCOPE_STREAM_5 TILESCOPE_REGISTER("r8", "r8d")
#define TILESCOPE_STREAM_6 TILESCOPE_REGISTER("r9", "r9d")
#define TILESCOPE_STREAM_8 "cmpq $0, 16(%rsp)\n  jne 1f\n  movq $2, 16(%rsp)\n"
#define TILESCOPE_STREAM_9 "cmpq $0, 24(%rsp)\n  jne 1f\n  movq $2, 24(%rsp)\n"
#define TILESCOPE_GO(symbol) "jmp " symbol "@PLT\n"
#elif defined(__aarch64__)
#define TILESCOPE_REGISTER(name) "cbnz " name ", 1f\n  mov " name ", #2\n"
#define TILESCOPE_STREAM_0
#define TILESCOPE_STREAM_1 TILESCOPE_REGISTER("x0")
#define TILESCOPE_STREAM_2 TILESCOPE_REGISTER("x1")
#define TILESCOPE_STREAM_3 TILESCOPE_REGISTER("x2")
#define TILESCOPE_STREAM_4 TILESCOPE_REGISTER("x3")
#define TILESCOPE_STREAM_5 TILESCOPE_REGISTER("x4")
#define TILESCOPE_STREAM_6 TILESCOPE_REGISTER("x5")
#define TILESCOPE_STREAM_8 TILESCOPE_REGISTER("x7")
#define TILESCOPE_STREAM_9 "ldr x16, [sp]\n  cbnz x16, 1f\n  mov x16, #2\n  str x16, [sp]\n"
#define TILESCOPE_GO(symbol) "b " symbol "\n"
#else
#error "The stand-in for the CUDA driver is for x86-64 and 64-bit Arm."
#endif
#define CALL(name, symbol, since)
#define PER_THREAD_OWN(symbol, ending)
#define PER_THREAD(symbol, ending, position)                                                      \
  asm(".text\n.globl " #symbol "_" #ending "\n.type " #symbol "_" #ending ", @function\n" #symbol \
      "_" #ending ":\n  " TILESCOPE_STREAM_##position "1:\n  " TILESCOPE_GO(#symbol));
#include "app/cuda/calls.inc"
#undef CALL
#undef PER_THREAD
#undef PER_THREAD_OWN

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
#define PER_THREAD(symbol, ending, position)
#define PER_THREAD_OWN(symbol, ending)
#include "app/cuda/calls.inc"
#undef CALL
#undef PER_THREAD
#undef PER_THREAD_OWN
};

const Named per_thread[] = {
#define CALL(name, symbol, since)
#define PER_THREAD_OWN(symbol, ending) \
  {#symbol "_" #ending, #symbol, 0, reinterpret_cast<void*>(&declared::symbol##_##ending)},
#define PER_THREAD(symbol, ending, position) PER_THREAD_OWN(symbol, ending)
#include "app/cuda/calls.inc"
#undef CALL
#undef PER_THREAD
#undef PER_THREAD_OWN
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
FoundCall find_call(std::string_view name, int version, bool in_threads) {
  for (const std::string_view ending : {"_ptsz", "_ptds"}) {
    if (!name.ends_with(ending)) continue;
    name.remove_suffix(ending.size());
    in_threads = true;
  }
  const Named* best = nullptr;
  bool too_new = false;
  for (const Named& call : calls) {
    if (call.symbol == name && name != call.name) {
      best = &call;
      break;
    }
    if (call.name != name) continue;
    too_new = too_new || call.since > version;
    if (call.since <= version && (!best || call.since > best->since)) best = &call;
  }
  if (best && in_threads) {
    for (const Named& each : per_thread) {
      if (each.symbol == best->symbol) return {each.address, false};
    }
  }
  if (best) return {best->address, false};
  if (too_new) return {nullptr, true};
  for (const Named& call : missing) {
    if (call.symbol == name || base_of(call.symbol) == base_of(name)) return {call.address, false};
  }
  return {};
}

}  // namespace tilescope::standin
