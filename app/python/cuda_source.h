// CUDA C++ as PTX, by the nvcc of this machine (app/compiler.h), or the NVRTC of its wheel
// (tilescope/_nvrtc.py) where there is none.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilescope::python {

namespace nb = nanobind;

struct CudaSource {
  std::string text;
  std::string path;  // of the file that has it; empty: it is a text
  std::string arch = "sm_90a";
  std::vector<std::string> options;
  std::string compiler;  // "nvcc", "nvrtc"; empty: the first of these that there is
};

// What has a kernel of CUDA C++ in it, and is no PTX.
bool is_cuda(std::string_view text);
// "sm_90a" of a chip by its name, as device= has it.
std::string arch_of_device(const std::string& device);

struct MadePtx {
  std::string name;  // as lines of it call the text: "kernel.cu"
  std::string ptx;
};
// Refused: it does not compile, with the compiler's words; or nobody is here to compile it.
MadePtx ptx_of_cuda(const CudaSource& source);

}  // namespace tilescope::python
