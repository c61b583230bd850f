// Where something is in the kernel, in the few words that a view has room for.
#pragma once

#include <string>
#include <string_view>

#include "core/run/job.h"

namespace tilescope {

// "hgemm_v7.cu" of a path.
std::string file_name(std::string_view path);

// "hgemm_v7.cu:91", in the kernel's own file where a header's line was called from there; else
// "PTX line 413".
std::string place_words(const Site& site);

}  // namespace tilescope
