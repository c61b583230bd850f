#include "core/sim/matrix/sparse.h"

#include <cstring>

namespace tilescope::sim {
OperandBytes spread(const StoredPlaces& places, std::uint32_t width, const OperandBytes& packed) {
  const std::size_t stored = std::size_t{places.stored} * width, whole = 2 * stored;
  OperandBytes out;
  out.bytes.resize(places.rows * whole);
  out.undefined = packed.undefined;
  for (std::uint32_t r = 0; r < places.rows; ++r) {
    for (std::uint32_t s = 0; s < places.stored; ++s) {
      std::memcpy(&out.bytes[r * whole + std::size_t{places.row(r)[s]} * width],
                  &packed.bytes[r * stored + std::size_t{s} * width], width);
    }
  }
  return out;
}

std::vector<std::byte> chosen(const std::uint8_t* row, std::uint32_t stored, std::uint32_t width,
                              std::uint32_t n, const std::byte* b) {
  const std::size_t half = std::size_t{stored} * width;
  std::vector<std::byte> out(n * half);
  for (std::uint32_t s = 0; s < stored; ++s) {
    for (std::uint32_t i = 0; i < n; ++i) {
      std::memcpy(&out[i * half + std::size_t{s} * width],
                  b + i * 2 * half + std::size_t{row[s]} * width, width);
    }
  }
  return out;
}

bool has_specials(ElementType type, const std::byte* elements, std::size_t bytes) {
  if (type == ElementType::s8 || type == ElementType::u8) return false;
  const FloatFormat format = format_of(type);
  if (format.without_nan) return false;
  const std::uint32_t width = width_of(type), shift = type == ElementType::tf32 ? 13 : 0;
  const std::uint32_t least = format.finite_only ? format.canonical_nan() : format.infinity();
  for (std::size_t at = 0; at < bytes; at += width) {
    std::uint32_t v = 0;
    std::memcpy(&v, elements + at, width);
    if ((v >> shift & (format.sign_bit() - 1)) >= least) return true;
  }
  return false;
}

}  // namespace tilescope::sim
