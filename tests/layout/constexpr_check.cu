// The compile-time checks, as nvcc's host and device compilers see them.
#include "tests/layout/constexpr_check.h"
