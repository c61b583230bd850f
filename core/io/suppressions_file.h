// The file of suppressions (core/run/suppressions.h), in TOML. Nothing here opens a file.
//
//     [[suppress]]
//     kind = "tcgen05_fence"         # of a hazard or a note; * and ? stand for anything
//     kernel = "matmul_*"            # these need not be there:
//     source = "*/matmul.py"
//     line = 42                      # of the source; or ptx_line
//     reason = "Triton emits no tcgen05.fence: its order is seen to be kept"
//
// A rule needs a kind and a reason. Errors: unreadable, with file:line:column.
#pragma once

#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/run/suppressions.h"

namespace tilescope {

// `name` is what sentences call the file.
Outcome<std::vector<Suppression>> parse_suppressions(std::string_view text, std::string_view name);

}  // namespace tilescope
