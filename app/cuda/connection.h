// The way to `tilescope exec`: one call at a time, whichever thread asks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "app/cuda/api.h"
#include "app/cuda/streams.h"
#include "app/cuda/wire.h"

namespace tilescope::standin {

using wire::Call;

// To stderr.
void say(const char* sentence);

// Connects where nobody has, as cuInit does. A program that was forked from one that had connected
// is not the one that `tilescope` knows: it is told so, as CUDA tells it (CUDA C++ Programming
// Guide, "Multi-process": a context does not survive a fork).
CUresult connect();
bool is_connected();

// One call: operands, then ask(), then its results in their order.
class Question {
 public:
  explicit Question(Call call) : call_(call) {}

  template <class T>
  Question& with(const T& value) {
    operands_.put(value);
    return *this;
  }
  Question& with_bytes(const void* from, std::uint64_t count) {
    operands_.put_bytes(from, count);
    return *this;
  }
  Question& with_text(std::string_view text) {
    operands_.put_text(text);
    return *this;
  }
  wire::Writer& operands() { return operands_; }

  CUresult ask();
  // Asks, and puts the results where they go; null is an invalid value, and then nothing is asked.
  template <class... T>
  CUresult ask(T*... to) {
    if ((... || !to)) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = ask()) return result;
    ((*to = results().template get<T>()), ...);
    return results_.failed() ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
  }
  wire::Reader& results() { return results_; }
  // The file that came with the answer; -1: none did. The caller closes it.
  int file() const { return file_; }

 private:
  Call call_;
  wire::Writer operands_;
  std::string answer_;
  wire::Reader results_{{}};
  int file_ = -1;
};

// What kernels have printed goes where the program's own does.
void print(std::string_view text);
// All that they have; or the error after which nothing runs any more.
CUresult print_all();

// A function that is asked for and is not there: named once, by `tilescope`.
CUresult not_supported(std::string_view name);

// A handle and its number.
template <class Handle>
std::uint64_t number_of(Handle handle) {
  if constexpr (std::is_same_v<Handle, CUstream>) handle = own_stream(handle);
  return reinterpret_cast<std::uint64_t>(handle);
}
template <class Handle>
Handle handle_of(std::uint64_t number) {
  return reinterpret_cast<Handle>(number);
}

}  // namespace tilescope::standin
