// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace tilescope {

std::string grouped(std::uint64_t number);  // "1,048,576"
std::string duration(double seconds);       // "830 us", "12.3 ms", "1.92 s"

}  // namespace tilescope
