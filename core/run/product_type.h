// What tensor cores multiply, as the rates of chips tell it apart.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/run/device_times.h"

namespace tilescope {

// f16: bf16 too; f8: all floats of 8 bits or less whose product is no faster, mxf8f6f4 among them;
// f4: mxf4 and mxf4nvf4.
enum class ProductType : std::uint8_t { none, f16, tf32, f64, f8, i8, f4, count_ };
std::string_view name_of(ProductType type);  // "f16"

// Multiply-adds of one SM in a cycle, dense. 0: not known, or no product.
double rate_of(const DeviceTimes& times, ProductType type);

}  // namespace tilescope
