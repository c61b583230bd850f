// Files that are opened, or dropped on the window, by what their names end in.
//
//     F.npy           its values, as the matrices view shows them
//     F.ptx, F.toml   a kernel: PTX and its launch file. Where only one is named, the other is
//                     looked for beside it
//     F.cu            a kernel's source, in that kernel's place
//     F.json          a workspace
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "viz/session/backend.h"
#include "viz/session/session.h"

namespace tilescope {

// Whether `open` takes this word as a file's name.
bool names_file(std::string_view word);

Outcome<std::string> open_npy(Session& session, Backend& backend, const std::string& path);
// The words that open the kernel: "F.ptx --launch F.toml", with what is beside the file named.
// Refused: nothing fitting is there.
Outcome<std::string> kernel_of_files(Backend& backend, const std::string& path);

// The same for a CUDA file: "hgemm_v4 --source my.cu", the kernel in whose place it is put. That is
// the one that it is called after, else the only one of the catalog that it names, else the open
// one.
Outcome<std::string> kernel_of_source(const Session& session, Backend& backend,
                                      const std::string& path);

// The commands for files that were dropped together. A drop of what nothing opens gives a command
// that says so.
std::vector<std::string> dropped(const std::vector<std::string>& paths);

}  // namespace tilescope
