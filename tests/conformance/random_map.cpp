#include <fmt/format.h>

#include "tests/conformance/maps.h"
#include "tests/sim/draw.h"

namespace tilescope::conformance {
namespace {

using test::Draw;

// A map that nothing speaks against.
MapFields good_map(Draw& draw) {
  constexpr DType types[] = {DType::u8,  DType::u16, DType::u32, DType::i32, DType::u64,
                             DType::i64, DType::f16, DType::f32, DType::f64, DType::bf16};
  MapFields m;
  m.dtype = draw.of(types);
  m.rank = 1 + draw(most_map_dims);
  m.address = 0x7f0000000000 + 32 * std::uint64_t{draw(64)};
  m.swizzle = static_cast<MapSwizzle>(draw(4));
  m.strides[0] = m.element_bytes();
  for (std::uint32_t d = 0; d < m.rank; ++d) {
    m.dims[d] = 1 + draw(d ? 64 : 4096);
    if (d > 0) m.strides[d] = 32 * std::uint64_t{draw(1 << 16)};
    m.box[d] = 1 + draw(16);
    m.steps[d] = d > 0 && draw(4) == 0 ? 1 + draw(8) : 1;
  }
  const std::uint32_t span = span_of(m.swizzle) ? span_of(m.swizzle) : 128;
  m.box[0] = 16 * (1 + draw(span / 16)) / m.element_bytes();
  m.nan_fill = is_float(m.dtype) && draw(3) == 0;
  return m;
}

// One parameter becomes one at or beyond its limit, or another mode.
void spoil(MapFields& m, Draw& draw) {
  constexpr std::uint64_t dims[] = {0, 1, 256, 0xffffffff, 0x100000000, 0x100000001};
  constexpr std::uint64_t strides[] = {0,
                                       8,
                                       16,
                                       17,
                                       32,
                                       48,
                                       (std::uint64_t{1} << 40) - 32,
                                       (std::uint64_t{1} << 40) - 16,
                                       std::uint64_t{1} << 40,
                                       std::uint64_t{1} << 41};
  constexpr std::uint32_t boxes[] = {0, 1, 3, 8, 16, 32, 64, 128, 255, 256, 257, 512};
  constexpr std::uint32_t steps[] = {0, 1, 2, 7, 8, 9};
  constexpr std::uint64_t addresses[] = {0, 8, 16, 32, 48, 0x7f0000000010, 0x7f0000000008};
  const std::uint32_t d = draw(m.rank);
  switch (draw(9)) {
    case 0:
      m.dims[d] = draw.of(dims);
      break;
    case 1:
      if (d > 0) m.strides[d] = draw.of(strides);
      break;
    case 2:
      m.box[d] = draw.of(boxes);
      break;
    case 3:
      m.steps[d] = draw.of(steps);
      break;
    case 4:
      m.address = draw.of(addresses);
      break;
    case 5:
      m.swizzle = static_cast<MapSwizzle>(draw(4));  // an H200 has no others
      break;
    case 6:
      m.interleave = static_cast<MapInterleave>(draw(3));
      break;
    case 7:
      m.nan_fill = !m.nan_fill;
      break;
    default:
      m.box[0] = draw.of(boxes);
  }
}

// One that nothing speaks against, with pixels in place of the box.
MapFields good_im2col_map(Draw& draw) {
  MapFields m = good_map(draw);
  m.rank = std::max(3u, m.rank);
  PixelColumns& pixels = m.pixels.emplace();
  constexpr std::int32_t most[] = {300, 100, 15};
  for (std::uint32_t d = 0; d < m.rank; ++d) {
    if (d > 0 && d + 1 < m.rank) {
      const std::int32_t limit = most[m.rank - 3];
      pixels.lower[d - 1] = draw.between(-limit, 0);
      pixels.upper[d - 1] = draw.between(0, limit);
    }
    m.dims[d] = std::max<std::uint64_t>(m.dims[d], 1);
    m.steps[d] = std::max(m.steps[d], 1u);
  }
  pixels.channels = std::min(m.box[0], 256u);
  pixels.column = 1 + draw(64);
  m.box = {};
  return m;
}

void spoil_pixels(MapFields& m, Draw& draw) {
  constexpr std::int32_t corners[] = {-32769, -32768, -129, -128, -17, -16,   -1,   0,
                                      1,      15,     16,   127,  128, 32767, 32768};
  constexpr std::uint32_t channels[] = {0, 1, 2, 3, 4, 8, 16, 32, 64, 128, 255, 256, 257};
  constexpr std::uint32_t columns[] = {0, 1, 32, 255, 256, 257, 512, 1023, 1024, 1025};
  const std::uint32_t d = draw(m.rank - 2);
  switch (draw(4)) {
    case 0:
      m.pixels->lower[d] = draw.of(corners);
      break;
    case 1:
      m.pixels->upper[d] = draw.of(corners);
      break;
    case 2:
      m.pixels->channels = draw.of(channels);
      break;
    default:
      m.pixels->column = draw.of(columns);
  }
}

template <class T>
std::string list(const T& values, std::uint32_t first, std::uint32_t end) {
  std::string out;
  for (std::uint32_t i = first; i < end; ++i)
    out += fmt::format("{}{}", i > first ? "x" : "", values[i]);
  return out.empty() ? "-" : out;
}

}  // namespace

MapFields random_map(std::uint64_t number) {
  Draw draw(number);
  MapFields m = good_map(draw);
  for (std::uint32_t times = draw(4); times > 0; --times) spoil(m, draw);
  return m;
}

MapFields random_im2col_map(std::uint64_t number) {
  Draw draw(number, 1);
  MapFields m = good_im2col_map(draw);
  for (std::uint32_t times = draw(3); times > 0; --times) {
    draw(2) ? spoil(m, draw) : spoil_pixels(m, draw);
  }
  m.box = {};
  return m;
}

std::string text(const MapFields& m) {
  if (m.pixels) {
    const PixelColumns& p = *m.pixels;
    return fmt::format(
        "{} at 0x{:x} dims {} strides {} lower {} upper {} channels {} pixels {} steps {} "
        "interleave {} swizzle {}{}",
        name_of(m.dtype), m.address, list(m.dims, 0, m.rank), list(m.strides, 1, m.rank),
        list(p.lower, 0, m.rank - 2), list(p.upper, 0, m.rank - 2), p.channels, p.column,
        list(m.steps, 0, m.rank), static_cast<int>(m.interleave), name_of(m.swizzle),
        m.nan_fill ? " nan" : "");
  }
  return fmt::format("{} at 0x{:x} dims {} strides {} box {} steps {} interleave {} swizzle {}{}",
                     name_of(m.dtype), m.address, list(m.dims, 0, m.rank),
                     list(m.strides, 1, m.rank), list(m.box, 0, m.rank), list(m.steps, 0, m.rank),
                     static_cast<int>(m.interleave), name_of(m.swizzle), m.nan_fill ? " nan" : "");
}

}  // namespace tilescope::conformance
