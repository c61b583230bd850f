#include "app/cuda/callers.h"

#include <execinfo.h>

#include <cstdint>

namespace tilescope::standin {

std::string callers() {
  void* frames[most_callers];
  const int count = ::backtrace(frames, most_callers);
  std::string out;
  for (int i = 0; i < count; ++i) {
    const auto at = reinterpret_cast<std::uint64_t>(frames[i]);
    out.append(reinterpret_cast<const char*>(&at), sizeof at);
  }
  return out;
}

}  // namespace tilescope::standin
