// Atoms and tiled operations as text: as CuTe prints them, without the underscores of static
// integers.
#pragma once

#include <string>

#include "core/tensor/tiled_copy.h"

namespace tilescope {

std::string text(const Tensor& tensor);  // smem<f16>+64 o 64:1
std::string text(const MmaAtom& atom);
std::string text(const CopyAtom& atom);
std::string text(const TiledMma& mma);
std::string text(const TiledCopy& copy);

}  // namespace tilescope
