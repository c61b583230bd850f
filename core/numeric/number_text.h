// Numbers as text that loses nothing.
#pragma once

#include <cstddef>
#include <string>

#include "core/numeric/dtype.h"

namespace tilescope {

// One element in memory as the shortest decimal text that gives the same value back when read as
// f64 (types of up to 32 bits: as f32): "0.1", "-inf", "nan", "-0", "18446744073709551615".
std::string element_text(DType type, const std::byte* at);

}  // namespace tilescope
