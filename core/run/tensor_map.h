// Tensor maps: what a kernel is given so that it can copy boxes of a tensor (PTX ISA 5.5.8). The
// host makes them with cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col (CUDA Driver API, Tensor
// Map Object Management), whose parameters these are; the bits are each device's own.
//
// Dimensions are innermost first: dimension 0 is contiguous, its stride is the element. A map for
// im2col (5.5.4) is of images, (channels, width, height, depth, images) with 1 to 3 dimensions
// between channels and images, and has PixelColumns in place of a box. A TensorMap is a request,
// which may leave to the buffer what the buffer knows; MapFields is the whole map. What the driver
// refuses is refused with a sentence. Seen on an H200 to be no mistake: strides of 0, and strides
// that do not grow.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/numeric/dtype.h"

namespace tilescope {

struct Buffer;

// Channels in slices of 16 or 32 bytes, NC/8DHWC8 and NC/16DHWC16 (PTX ISA 5.5.6). The dimensions
// are then W, H, D, slice of C, N: pixels of one slice lie side by side, and a pixel is what
// element strides of dimension 0 and out-of-bounds count. Measured on an H200 (the driver's
// parameters alone do not say it): a copy brings one slice, the one that its coordinate along C
// names, however large the box is along C (or `channels`, for im2col); extents along C are slices
// too.
enum class MapInterleave : std::uint8_t { none, bytes16, bytes32 };
std::uint32_t slice_bytes(MapInterleave interleave);  // of a pixel: 16 or 32; 0 where there is none
// Which 16, 32 or 64 bytes of a row change places in shared memory (PTX ISA 5.5.7), numbered as the
// driver's CUtensorMapSwizzle.
enum class MapSwizzle : std::uint8_t {
  none,
  bytes32,
  bytes64,
  bytes128,
  bytes128_atom32,       // sm_100 and later, as are those after it
  bytes128_atom32_flip,  // and swaps the 8-byte halves of every other row's 16 bytes
  bytes128_atom64
};
std::string_view name_of(MapSwizzle swizzle);  // "none", "32B", ..., "128B_atom32B"
std::optional<MapSwizzle> swizzle_named(std::string_view name);
std::uint32_t span_of(MapSwizzle swizzle);  // bytes of a row; 0 where there is no swizzle

constexpr std::uint32_t map_bytes = 128;
constexpr std::uint32_t most_map_dims = 5;

// Elements of 4 and 6 bits, sixteen of which are packed in 8 and 12 bytes of global memory and have
// 16 in shared memory, with padding that nobody initialises (PTX ISA 5.5.1.1.1): what tcgen05.mma
// of kinds f8f6f4 and mxf8f6f4 reads. The driver's 16U4_ALIGN16B and 16U6_ALIGN16B. An element
// counts as one byte of shared memory here: the map's type is u8.
//
// b4x16, the driver's 16U4_ALIGN8B, are elements of 4 bits that are packed on both sides: what
// kinds mxf4 and mxf4nvf4 read. Its map counts elements, and in_bytes() is the map of the bytes
// that they are in.
//
// A map of b6x16_p32 is of b6p2x16 where a copy goes to global memory: each byte of shared memory
// has an element in its 6 low bits, the other 2 are discarded, and sixteen elements are 12 bytes.
enum class MapPacking : std::uint8_t { none, b4x16_p64, b6x16_p32, b4x16 };
std::string_view name_of(MapPacking packing);  // "b4x16_p64"
std::optional<MapPacking> packing_named(std::string_view name);

// f32 that not every copy leaves as it is: the driver's FLOAT32_FTZ, TFLOAT32 and TFLOAT32_FTZ.
// Measured on an H200, since no source says what they do: what a copy brings from global memory is
// rounded to tf32 (to nearest, ties to even; any NaN becomes 7fffe000), but not what is outside;
// sums in global memory take subnormals for zeros where .ftz is said (as PTX ISA 9.7.9.25.4.2 has
// it of all), and are not rounded. Stores write what they are given.
enum class MapFloat : std::uint8_t { f32, f32_ftz, tf32, tf32_ftz };
std::string_view name_of(MapFloat of);                           // "tf32_ftz"
std::optional<MapFloat> map_float_named(std::string_view name);  // nothing for f32
constexpr bool rounds(MapFloat of) {
  return of == MapFloat::tf32 || of == MapFloat::tf32_ftz;
}
constexpr bool flushes(MapFloat of) {
  return of == MapFloat::f32_ftz || of == MapFloat::tf32_ftz;
}

// An im2col map is for .im2col, or for .im2col::w or .im2col::w::128, whose box is 1 along H and D
// (5.5.5; cuTensorMapEncodeIm2colWide, sm_100 and later).
enum class MapWide : std::uint8_t { no, w, w128 };
std::string_view name_of(MapWide wide);  // "im2col", "im2col::w", "im2col::w::128"

// What an im2col copy brings: columns of pixels, for which the base of a filter walks through the
// corners of each dimension between channels and images, from `lower` to extent - 1 + `upper`.
struct PixelColumns {
  std::array<std::int32_t, most_map_dims - 2> lower{}, upper{};  // of W, H, D: innermost first
  std::uint32_t channels = 0;                                    // elements of each pixel
  std::uint32_t column = 0;                                      // pixels
  MapWide wide = MapWide::no;  // then lower[0] and upper[0] alone count
};

struct TensorMap {
  std::uint32_t buffer = 0;                    // index into Job::buffers
  std::int64_t offset = 0;                     // bytes into it
  std::optional<DType> dtype;                  // nothing: the buffer's
  std::vector<std::uint64_t> dims;             // elements; empty: the buffer's shape, reversed
  std::vector<std::uint64_t> strides;          // bytes, of dimensions 1 and above; empty: packed
  std::vector<std::uint32_t> box;              // elements
  std::vector<std::int32_t> lower, upper;      // in place of the box, for im2col: see PixelColumns
  std::uint32_t channels = 0, pixels = 0;      // both 0: not for im2col
  MapWide wide = MapWide::no;                  // lower and upper are then of W alone
  std::vector<std::uint32_t> element_strides;  // empty: all 1
  MapInterleave interleave = MapInterleave::none;
  MapSwizzle swizzle = MapSwizzle::none;
  bool nan_fill = false;  // what is outside is NaN, not 0
  MapPacking packing = MapPacking::none;
  MapFloat floats = MapFloat::f32;  // other than f32: dtype is
};

struct MapFields {
  std::uint64_t address = 0;
  DType dtype = DType::f16;
  std::uint32_t rank = 0;
  std::array<std::uint64_t, most_map_dims> dims{};
  std::array<std::uint64_t, most_map_dims> strides{};  // [0] is the element's
  std::array<std::uint32_t, most_map_dims> box{}, steps{};
  std::optional<PixelColumns> pixels;  // in place of the box
  MapInterleave interleave = MapInterleave::none;
  MapSwizzle swizzle = MapSwizzle::none;
  bool nan_fill = false;
  MapPacking packing = MapPacking::none;
  MapFloat floats = MapFloat::f32;

  // In shared memory; and of so many neighbours in global memory: packed, of sixteen or a multiple.
  std::uint32_t element_bytes() const { return static_cast<std::uint32_t>(bytes_of(dtype)); }
  std::uint64_t global_bytes(std::uint64_t elements) const {
    if (packing == MapPacking::none) return elements * element_bytes();
    if (packing == MapPacking::b4x16) return elements / 2;
    return elements / 16 * (packing == MapPacking::b4x16_p64 ? 8 : 12);
  }
  // Elements along a dimension of the box that are copied: every `steps`-th.
  std::uint32_t copied(std::uint32_t dim) const { return (box[dim] + steps[dim] - 1) / steps[dim]; }
  // Bytes side by side in what is copied: of a box's row, or a pixel.
  std::uint32_t row_bytes() const { return (pixels ? pixels->channels : box[0]) * element_bytes(); }
  // Dimensions of pixels, W first: between channels and images, or all before the slices.
  std::uint32_t first_pixel() const { return interleave == MapInterleave::none ? 1 : 0; }
};

// Of b4x16 the map of bytes of two elements each; any other as it is.
MapFields in_bytes(MapFields map);

// What the driver would not take; nothing where it does.
std::optional<std::string> objection(const MapFields& map);
// The whole map over a buffer at `address`; mismatch with a sentence where the driver refuses it,
// or where it and the buffer do not fit.
Outcome<MapFields> complete(const TensorMap& map, const Buffer& buffer, std::uint64_t address);

}  // namespace tilescope
