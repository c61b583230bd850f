// In place of PyTorch's header: files of kernels include it for this alone.
#pragma once
#include <stdexcept>
#define TORCH_CHECK(condition, ...) \
  if (!(condition)) throw std::runtime_error(#condition)
