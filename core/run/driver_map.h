// The 128 bytes that the CUDA driver makes of a tensor map (CUtensorMap), which it documents
// nowhere. Measured on an H100 (driver 580.159.04) with 85 maps that differ in an argument or two
// of cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col each; in words of 64 bits, bits from the
// lowest:
//
//   0   0-63  global address
//   1   0     im2col       4-6    rank - 1       7-10  type: u8 u16 u32 i32 u64 i64 f16 f32
//       11-12 interleave   13-14  swizzle              (8) f32 flushing denormals, f64, bf16,
//                                                      (11) 16 elements of 4 bits in 8 bytes
//       15    NaN outside  16     f32 as tf32    17-18 promotion to L2   32-63 stride 1 / 16
//   2   0-31  stride 2 / 16           32-63  stride 3 / 16
//   3   0-31  stride 4 / 16           32-47  bits 36-39 of strides 1 to 4, 4 bits each
//   4   0-31  extent 0 - 1            32-63  extent 1 - 1
//   5   0-31  extent 2 - 1            32-63  extent 3 - 1
//   6   0-31  extent 4 - 1            32-46  element strides - 1, 3 bits each
//       56-63 box 0 - 1, of im2col channels - 1
//   7   boxes 1 to 4 - 1, 8 bits each; of im2col lower and upper corners, 16 bits each in 1, 2 or 3
//       parts of 16, 8 or 5 bits with a sign, and 32-41 pixels - 1
//   8   bytes of a copy    9  bytes of the swizzle's pattern (16 without one)
//
// Bits 36-39 of strides were seen on an H200; type 11 is in the maps that CuTeDSL writes for
// sm_100, as is a bit 1 of word 1 that says nothing else known (kernels of CuTeDSL 4.8 write maps
// by themselves, 64 bytes each). Not looked at: bit 21 of word 1, which some drivers set for small
// tensors (CuTe clears it for those up to 13.1). Not seen: types of 4 and 6 bits in 16 bytes, the
// swizzles of sm_100.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "core/run/tensor_map.h"

namespace tilescope {

enum class L2Promotion : std::uint8_t { none, bytes64, bytes128, bytes256 };

struct DriverMap {
  MapFields fields;
  L2Promotion promotion = L2Promotion::none;
};

// Nothing where a map made so has other bits.
std::optional<DriverMap> decode_driver_map(const std::array<std::byte, map_bytes>& bytes);

}  // namespace tilescope
