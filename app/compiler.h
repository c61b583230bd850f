// A CUDA file that is in a kernel's place, made into PTX by the nvcc of this machine.
//
//   nvcc        the one in $PATH, $CUDA_HOME/bin, $CUDA_PATH/bin or /usr/local/cuda/bin
//   headers     first those beside the file, or in the tree it is of, then the program's own
//               (core/layout, kernels/device), which it carries and lays out for the compiler
//   flags       as for the PTX that is shipped, so that the same text gives the same PTX
//   names       in the PTX as in ours: "my.cu" for the file, "kernels/device/tma.h" for our
//               headers, whatever folder they lay in; so lines lead to texts that are available
//   kept        by a hash of all texts, the architecture and the compiler's version, in
//               $XDG_CACHE_HOME/tilescope/ptx (or ~/.cache): what was compiled once opens at once
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/compiled_files.h"
#include "core/error.h"
#include "core/run/catalog_entry.h"
#include "viz/machine/build.h"

namespace tilescope {

// The path of nvcc. Refused: there is none, with what would work.
Outcome<std::string> find_nvcc();

// The file compiled for an architecture, "compute_100a", with macros. A Build without PTX says what
// is wrong with the text. Refused: no nvcc, a file that cannot be read, no room for temporary
// files; and interrupted, where `keep_on` said no.
Outcome<Build> compile(const std::string& path, const std::string& architecture,
                       const Defines& defines, const KeepOn& keep_on = {});

// The same of a kernel that the program carries, in the form that these macros make of it.
Outcome<Build> compile_own(const std::string& source, const std::string& architecture,
                           const Defines& defines, const KeepOn& keep_on = {});

// A text that need be no file. The PTX calls it `name`; headers beside it are looked for in
// `folder`. `options` are the compiler's own, as nvcc has them: with some, nothing is kept, for
// they may lead to texts that nobody looks at here.
struct CudaText {
  std::string name, folder, text;
  std::vector<std::string> options{};
};
Outcome<Build> compile_text(const CudaText& text, const std::string& architecture,
                            const KeepOn& keep_on = {});

// What PTX was made for, as the compiler is told: "compute_100a" for `.target sm_100a`.
std::string architecture_of(std::string_view ptx);

// What nvcc said, as errors, warnings and notes; `name_of` makes a path a name in the PTX.
std::vector<Complaint> complaints_in(std::string_view said,
                                     const std::function<std::string(std::string_view)>& name_of);

}  // namespace tilescope
