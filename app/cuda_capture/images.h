// Where the program's functions come from: what it loaded, as the driver was handed it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/cuda/api.h"

namespace tilescope::shim {

struct Images {
  std::uint64_t number = 0;  // none has that of another, or of one that was unloaded
  std::vector<std::string_view> all;
  std::vector<std::string> kept;  // what the program may free; `all` points into it
};

struct Function {
  std::string name;
  std::shared_ptr<const Images> images;
  bool is_kernel = false;  // a CUkernel, which is launched as if it were a CUfunction
};

// Null: where it comes from has not been seen.
std::shared_ptr<const Function> function_of(const void* handle);

}  // namespace tilescope::shim
