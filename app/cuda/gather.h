// The parameters of a launch as its kernel finds them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "app/cuda/api.h"
#include "app/cuda/wire.h"

namespace tilescope::standin {

// Gathered from where `each` points, or taken from the buffer that `extra` names. `bytes`: all of
// them.
inline CUresult gather(const std::vector<wire::Parameter>& parameters, std::size_t bytes,
                       void** each, void** extra, std::string& out) {
  out.assign(bytes, '\0');
  if (each) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const wire::Parameter p = parameters[i];
      if (!each[i] || std::size_t{p.offset} + p.bytes > out.size()) return CUDA_ERROR_INVALID_VALUE;
      std::memcpy(out.data() + p.offset, each[i], p.bytes);
    }
    return CUDA_SUCCESS;
  }
  const void* buffer = nullptr;
  std::size_t given = 0;
  for (void** pair = extra; pair && *pair != launch_parameter_end; pair += 2) {
    if (*pair == launch_parameter_buffer) buffer = pair[1];
    if (*pair == launch_parameter_bytes) given = *static_cast<const std::size_t*>(pair[1]);
  }
  if (parameters.empty()) return CUDA_SUCCESS;
  const wire::Parameter last = parameters.back();
  if (!buffer || given < last.offset + last.bytes) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(out.data(), buffer, std::min(given, out.size()));
  return CUDA_SUCCESS;
}

}  // namespace tilescope::standin
