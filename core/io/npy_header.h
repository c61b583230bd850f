// The header of a .npy file: a Python dict literal, parsed as one.
//
// Any key order, spaces and line ends anywhere Python allows them, either quote, trailing commas,
// Python 2's 10L. Everything else is refused with what was found, where, and what belongs there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace tilescope {

struct NpyHeader {
  std::string descr;  // "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;  // empty: one element
};

// `file` is for the sentences only.
Outcome<NpyHeader> parse_npy_header(std::string_view text, std::string_view file);

}  // namespace tilescope
