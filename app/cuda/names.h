// Functions by their names.
#pragma once

#include <string_view>

namespace tilescope::standin {

struct FoundCall {
  void* address = nullptr;  // null: there is none of that name
  bool too_new = false;     // there is, in a later version of CUDA
};

// The newest form of a function that a program of this version of CUDA (13000) knows. One that the
// driver has and the stand-in has not is found as well: it says so when it is called.
// `in_threads`: the form for the per-thread default stream, where there is one.
FoundCall find_call(std::string_view name, int version, bool in_threads = false);

}  // namespace tilescope::standin
