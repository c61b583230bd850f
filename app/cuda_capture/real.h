// The real driver: the library that `tilescope capture` names.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "app/cuda/api.h"

namespace tilescope::shim {

// Of the real driver, by its symbol; null: it has none, or is not there.
void* real_symbol(const char* symbol);
// Ours for what cuGetProcAddress found by this name; null: it is none that is looked at.
void* own_for(std::string_view name, void* found, int version, std::uint64_t flags);

// A function of the real driver, looked up when it is first called:
//   Real<int*, int> get("cuDeviceGet");  get(&device, 0)
template <class... T>
class Real {
 public:
  constexpr explicit Real(const char* symbol) : symbol_(symbol) {}
  CUresult operator()(T... arguments) {
    void* function = function_.load(std::memory_order_acquire);
    if (!function) function_.store(function = real_symbol(symbol_), std::memory_order_release);
    if (!function) return CUDA_ERROR_NOT_FOUND;
    return reinterpret_cast<CUresult (*)(T...)>(function)(arguments...);
  }

 private:
  const char* symbol_;
  std::atomic<void*> function_ = nullptr;
};

// What the driver calls itself, inside one of its calls, is not ours to look at.
class Inside {
 public:
  Inside() { ++depth(); }
  ~Inside() { --depth(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  static bool already() { return depth() > 0; }

 private:
  static int& depth() {
    static thread_local int own = 0;
    return own;
  }
};

}  // namespace tilescope::shim
