// Textures and surfaces: arrays that tex, suld and sust access through a handle (PTX ISA 5.3,
// 9.7.10, 9.7.11; CUDA's cudaTextureDesc and cudaResourceDesc). The elements lie in a buffer, row
// after row, which an opaque CUDA array is here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tilescope {

enum class TexelKind : std::uint8_t { unsigned_number, signed_number, floating };
// What stands for an element outside: CUDA's cudaTextureAddressMode.
enum class TextureAddress : std::uint8_t { wrap, clamp, mirror, border };

struct Texture {
  std::uint32_t buffer = 0;                        // index into Job::buffers
  std::int64_t offset = 0;                         // bytes into it
  std::uint64_t place = 0;                         // its address, in place of a buffer; 0: none
  std::uint32_t width = 0, height = 0, depth = 0;  // elements; 0: the dimension is not there
  bool layered = false;     // `depth` counts layers, of one or two dimensions
  bool cube = false;        // each six of them are the faces of a cube
  std::uint32_t pitch = 0;  // bytes from row to row; 0: packed
  TexelKind kind = TexelKind::floating;
  std::uint32_t bits = 32, components = 1;  // of a component: 8, 16, 32; 1, 2 or 4 of them
  bool linear = false;                      // filter; else the nearest element
  bool normalized = false;                  // coordinates from 0 to 1
  bool as_float = false;                    // integers of 8 and 16 bits become 0 to 1, or -1 to 1
  // Of each dimension. Of a texture of one the second counts too, where it is filtered: the chip
  // has it as a row of two dimensions (measured on an H200).
  std::array<TextureAddress, 3> address{TextureAddress::clamp, TextureAddress::clamp,
                                        TextureAddress::clamp};
  // What stands for elements outside; of integers these are their bits (measured on an H200).
  std::array<float, 4> border{};
  bool surface = false;  // for suld and sust
  bool ended = false;    // its handle stands for nothing any more

  std::uint32_t texel_bytes() const { return bits / 8 * components; }
  std::uint32_t row_bytes() const { return pitch ? pitch : width * texel_bytes(); }
  std::uint64_t bytes() const {
    const std::uint64_t rows = std::uint64_t{height ? height : 1} * (depth ? depth : 1);
    return (rows - 1) * row_bytes() + std::uint64_t{width} * texel_bytes();
  }
  bool is_one_cube() const { return cube && !layered; }
  // Of a layer, or of the whole.
  std::uint32_t dimensions() const { return depth && !layered && !cube ? 3 : height ? 2 : 1; }
};

// "f32x1", "u8x4", "s16x2"; false: there is no such format.
bool read_format(std::string_view name, Texture& texture);
std::optional<TextureAddress> texture_address_named(std::string_view name);
// Of a texture whose format and reading are known: floats, or integers.
void set_border(Texture& texture, const std::array<double, 4>& values);
// What CUDA would not take, or what does not fit the buffer; nothing where it does.
std::optional<std::string> objection(const Texture& texture, std::uint64_t buffer_bytes);

// Handles are these, 64 for each in a launch's order.
constexpr std::uint64_t texture_base = 0x0000'0700'0000'0000;
constexpr std::uint64_t texture_step = 64;

}  // namespace tilescope
