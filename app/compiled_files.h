// What goes into a compilation, and what is kept of it: a CUDA file with all headers that it
// includes, the key that stands for these texts, and the PTX that was made of them before.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace tilescope {

struct CudaHeader {
  std::string text;
  std::string path;   // where it is; empty where it is ours
  bool ours = false;  // the program carries it
};

struct CudaFiles {
  std::string name;    // of the file, without its folder and without odd characters
  std::string folder;  // that it is in; empty: the program carries it
  std::string text;
  // Everything that `#include "..."` leads to, by its path below that folder or among our own. What
  // is neither is the toolkit's, or the compiler will miss it.
  std::map<std::string, CudaHeader> headers;
};

// What the PTX calls a file, wherever it is: its own name, odd characters as _.
std::string name_in_ptx(const std::string& path);

// Refused: it is no CUDA file, or cannot be read.
Outcome<CudaFiles> cuda_files(const std::string& path);

// The same of a text that is in a folder only as far as its headers are.
CudaFiles cuda_text(const std::string& name, const std::string& folder, std::string text);

// The same of a file that the program carries, "kernels/hopper/dense_gemm.cu": the PTX calls it
// that.
Outcome<CudaFiles> own_cuda_files(const std::string& name);

// Macros that a text is compiled with: {"GEMM_A", "f16"}.
using Defines = std::vector<std::pair<std::string, std::string>>;

// The same for the same texts, architecture, compiler and macros; and for no others.
std::string key_of(const CudaFiles& files, std::string_view architecture, std::string_view compiler,
                   const Defines& defines = {});

// The PTX that was kept under this key. Without a home, or where nothing can be written, nothing is
// kept: then it is compiled each time.
struct KeptPtx {
  std::string ptx;
  std::string said;  // by the compiler, with our names: warnings
};
std::optional<KeptPtx> kept_ptx(const std::string& key);
void keep_ptx(const std::string& key, const KeptPtx& kept);

}  // namespace tilescope
