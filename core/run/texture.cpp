#include "core/run/texture.h"

#include <fmt/format.h>

#include <cstring>

namespace tilescope {

bool read_format(std::string_view name, Texture& out) {
  const std::size_t x = name.find('x');
  if (name.size() < 4 || x == std::string_view::npos || x + 2 != name.size()) return false;
  const std::string_view bits = name.substr(1, x - 1);
  switch (name[0]) {
    case 'u':
      out.kind = TexelKind::unsigned_number;
      break;
    case 's':
    case 'i':
      out.kind = TexelKind::signed_number;
      break;
    case 'f':
      out.kind = TexelKind::floating;
      break;
    default:
      return false;
  }
  out.bits = bits == "8" ? 8 : bits == "16" ? 16 : bits == "32" ? 32 : 0;
  out.components = static_cast<std::uint32_t>(name.back() - '0');
  const bool known = out.components == 1 || out.components == 2 || out.components == 4;
  return out.bits && known && (out.kind != TexelKind::floating || out.bits >= 16);
}

std::optional<TextureAddress> texture_address_named(std::string_view name) {
  if (name == "wrap") return TextureAddress::wrap;
  if (name == "clamp") return TextureAddress::clamp;
  if (name == "mirror") return TextureAddress::mirror;
  if (name == "border") return TextureAddress::border;
  return std::nullopt;
}

void set_border(Texture& texture, const std::array<double, 4>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (texture.kind == TexelKind::floating || texture.as_float) {
      texture.border[i] = static_cast<float>(values[i]);
    } else {
      const auto bits = static_cast<std::uint32_t>(static_cast<std::int64_t>(values[i]));
      std::memcpy(&texture.border[i], &bits, sizeof bits);
    }
  }
}

std::optional<std::string> objection(const Texture& t, std::uint64_t buffer_bytes) {
  const char* what = t.surface ? "surface" : "texture";
  if (t.width == 0) return fmt::format("a {} has a width", what);
  if (t.layered && !t.depth) return fmt::format("a {} of layers has a depth: how many", what);
  if (t.cube && (t.width != t.height || t.depth % 6 || !t.depth || (t.depth != 6 && !t.layered))) {
    return fmt::format(
        "a cube is six squares: as high as it is wide, and 6 deep, or with layers a multiple of 6");
  }
  if (t.depth && !t.height && !t.layered) {
    return fmt::format("a {} with a depth has a height", what);
  }
  if (t.pitch && t.pitch < t.width * t.texel_bytes()) {
    return fmt::format("its pitch of {} bytes is less than a row of {} elements of {} bytes",
                       t.pitch, t.width, t.texel_bytes());
  }
  bool wraps = false;
  for (std::uint32_t k = 0; k < t.dimensions(); ++k) {
    wraps = wraps || t.address[k] == TextureAddress::wrap || t.address[k] == TextureAddress::mirror;
  }
  if (wraps && !t.normalized) {
    return "wrap and mirror are for normalized coordinates (cudaTextureAddressMode)";
  }
  if (t.as_float && (t.kind == TexelKind::floating || t.bits == 32)) {
    return "only integers of 8 and 16 bits are read as normalized floats "
           "(cudaReadModeNormalizedFloat)";
  }
  if (t.linear && t.kind != TexelKind::floating && !t.as_float) {
    return "a linear filter is for what is read as floats";
  }
  const auto offset = static_cast<std::uint64_t>(t.offset);
  if (t.offset < 0 || offset > buffer_bytes || buffer_bytes - offset < t.bytes()) {
    return fmt::format("it takes {} bytes from byte {} on, but the buffer has {}", t.bytes(),
                       t.offset, buffer_bytes);
  }
  return std::nullopt;
}

}  // namespace tilescope
