#include "core/run/driver_map.h"

#include <cstring>

namespace tilescope {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// The parts of a corner's 16 bits, with their signs.
void read_corner(u64 bits, u32 parts, std::array<std::int32_t, most_map_dims - 2>& out) {
  const u32 width = parts == 1 ? 16 : parts == 2 ? 8 : 5;
  for (u32 i = 0; i < parts; ++i) {
    const auto value = static_cast<std::int32_t>(bits >> (i * width) & ((1u << width) - 1));
    out[i] = value >> (width - 1) ? value - (1 << width) : value;
  }
}

}  // namespace

std::optional<DriverMap> decode_driver_map(const std::array<std::byte, map_bytes>& bytes) {
  std::array<u64, map_bytes / 8> w{};
  std::memcpy(w.data(), bytes.data(), map_bytes);
  const auto get = [&](std::size_t word, int low, int count) {
    return w[word] >> low & ((u64{1} << count) - 1);
  };
  constexpr std::optional<DType> types[16] = {
      DType::u8,  DType::u16, DType::u32, DType::i32,  DType::u64, DType::i64, DType::f16,
      DType::f32, DType::f32, DType::f64, DType::bf16, DType::u8,  DType::u8};
  const std::optional<DType> type = types[get(1, 7, 4)];
  const auto rank = static_cast<u32>(get(1, 4, 3)) + 1;
  const bool im2col = get(1, 0, 1);
  if (!type || rank > most_map_dims || get(1, 1, 3) > 1 || get(1, 22, 10) || get(1, 11, 2) == 3 ||
      get(3, 48, 16) || get(6, 47, 9) || get(7, 42, 22) || (im2col ? rank < 3 : get(7, 32, 10)) ||
      (get(1, 16, 1) && *type != DType::f32)) {
    return std::nullopt;
  }
  for (std::size_t i = 10; i < w.size(); ++i) {
    if (w[i]) return std::nullopt;
  }
  DriverMap out;
  MapFields& m = out.fields;
  m.address = w[0];
  m.dtype = *type;
  m.rank = rank;
  if (get(1, 7, 4) == 11) m.packing = MapPacking::b4x16;
  if (get(1, 7, 4) == 12) m.packing = MapPacking::b4x16_p64;
  const bool ftz = get(1, 7, 4) == 8;
  m.floats = get(1, 16, 1) ? (ftz ? MapFloat::tf32_ftz : MapFloat::tf32)
             : ftz         ? MapFloat::f32_ftz
                           : MapFloat::f32;
  out.promotion = static_cast<L2Promotion>(get(1, 17, 2));
  m.interleave = static_cast<MapInterleave>(get(1, 11, 2));
  m.swizzle = static_cast<MapSwizzle>(get(1, 13, 2));
  // What the swizzle keeps together, where that is more than 16 bytes: as CuTeDSL 4.8 writes 1 and
  // 3; 2 is what is left.
  if (const u64 atom = get(1, 19, 2)) {
    constexpr MapSwizzle wider[] = {MapSwizzle::none, MapSwizzle::bytes128_atom32,
                                    MapSwizzle::bytes128_atom32_flip, MapSwizzle::bytes128_atom64};
    if (m.swizzle != MapSwizzle::bytes128) return std::nullopt;
    m.swizzle = wider[atom];
  }
  m.nan_fill = get(1, 15, 1);
  for (u32 d = 0; d < rank; ++d) {
    m.dims[d] = get(4 + d / 2, static_cast<int>(d % 2 * 32), 32) + 1;
    m.strides[d] = d == 0 ? m.element_bytes()
                          : (get(d / 2 + 1, static_cast<int>(d % 2 * 32), 32) |
                             get(3, static_cast<int>(32 + 4 * (d - 1)), 4) << 32) *
                                16;
    m.steps[d] = static_cast<u32>(get(6, 32 + static_cast<int>(3 * d), 3)) + 1;
    m.box[d] = 1;
    if (im2col) continue;
    m.box[d] = d == 0 ? static_cast<u32>(get(6, 56, 8)) + 1
                      : static_cast<u32>(get(7, static_cast<int>(8 * (d - 1)), 8)) + 1;
  }
  if (im2col) {
    PixelColumns p;
    read_corner(get(7, 0, 16), rank - 2, p.lower);
    read_corner(get(7, 16, 16), rank - 2, p.upper);
    p.channels = static_cast<u32>(get(6, 56, 8)) + 1;
    p.column = static_cast<u32>(get(7, 32, 10)) + 1;
    m.pixels = p;
  }
  return out;
}

}  // namespace tilescope
