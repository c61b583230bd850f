// Files that travel inside the program, so that an installed one finds them wherever it is: PTX of
// our kernels, their CUDA sources, fonts, device descriptions, presets, lessons.
//
// The build embeds them byte for byte (assets/CMakeLists.txt). A name is a relative path with
// forward slashes:
//
//   ptx/elementwise_add.ptx                     assets/ptx/*
//   ptx/dense_gemm/f16_f16_[...].ptx.gz         one form of a kernel that has many; app/assets.h
//   unpacks devices/ presets/ lessons/ course/ page/    assets/<folder>/*
//   kernels/elementwise/elementwise_add.cu      kernels/** as the PTX's .file lines name them
//   kernels/device/*.h, core/layout/*.h         what kernels include, for the compiler
//   font/DejaVuSans.ttf, font/DejaVuSans-Bold.ttf, font/DejaVuSansMono.ttf
//
// Files on disk are not looked at here: app/assets.h does that.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace tilescope {

// The bytes of one file, valid as long as the program runs; empty for a name that is not there. A
// zero byte, not counted, follows them, so text may be handed to C.
std::span<const std::byte> asset(std::string_view name);

// All names, in ascending order.
std::vector<std::string_view> asset_names();

}  // namespace tilescope
