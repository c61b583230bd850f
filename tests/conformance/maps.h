// Tensor maps with parameters near the limits of what the CUDA driver accepts: does core/run refuse
// what cuTensorMapEncodeTiled refuses?
//
// A map is a function of its number, so that only the driver's answers have to be kept: a bit a
// map.
#pragma once

#include <cstdint>
#include <string>

#include "core/run/tensor_map.h"

namespace tilescope::conformance {

MapFields random_map(std::uint64_t number);
MapFields random_im2col_map(std::uint64_t number);
std::string text(const MapFields& map);

// Asks the driver about maps 0 to count - 1. Prints those about which core/run thinks otherwise,
// and all answers as hexadecimal digits, four maps a digit, the lowest bit first. 0: all agree.
int maps(std::uint64_t count, MapFields (*map_of)(std::uint64_t number));

}  // namespace tilescope::conformance
