// Arrays, textures and surfaces of a program under `tilescope exec`. An array is an allocation
// whose elements lie row after row; a texture or surface is one of the device's, over an array or
// over memory. What is refused, and what not, an H200's driver was seen to
// (tests/exec/answers_h200.txt).
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "app/exec_calls.h"

namespace tilescope {
namespace {

// CUDA_ARRAY3D_...
enum ArrayFlags : std::uint32_t {
  layered = 0x01,
  for_surfaces = 0x02,
  cube = 0x04,
  for_gathers = 0x08,
  depth_texture = 0x10,
  colour_attachment = 0x20,
  sparse = 0x40,
  deferred_mapping = 0x80,
};
constexpr std::uint32_t known_flags = 0xff;
// What an array is good for changes nothing here.
constexpr std::uint32_t flags_there =
    layered | cube | for_surfaces | for_gathers | colour_attachment;

// CUresourcetype
enum TextureResource : std::uint32_t { of_array = 0, of_linear = 2, of_rows = 3 };

// CU_TRSF_...
enum TextureFlags : std::uint32_t {
  read_as_integers = 0x01,
  normalized_coordinates = 0x02,
  srgb_texels = 0x10,
  seamless_cubes = 0x40,
};
constexpr std::uint32_t known_texture_flags = 0x73;

constexpr std::uint64_t texture_alignment = 512,
                        texture_pitch_alignment = 32;  // attributes 14 and 51

struct ArrayFormat {
  std::uint32_t number = 0;  // CUarray_format
  TexelKind kind = TexelKind::floating;
  std::uint32_t bits = 0;
};
constexpr ArrayFormat formats[] = {
    {0x01, TexelKind::unsigned_number, 8},  {0x02, TexelKind::unsigned_number, 16},
    {0x03, TexelKind::unsigned_number, 32}, {0x08, TexelKind::signed_number, 8},
    {0x09, TexelKind::signed_number, 16},   {0x0a, TexelKind::signed_number, 32},
    {0x10, TexelKind::floating, 16},        {0x20, TexelKind::floating, 32},
};

// Others of CUarray_format: planes, blocks, and integers that are always read as floats.
bool is_other_format(std::uint32_t format) {
  return format == 0x50 || (format >= 0x91 && format <= 0xb5 && format != 0xaa) ||
         (format >= 0xc0 && format <= 0xcb);
}

bool read_format(std::uint32_t format, std::uint32_t channels, Texture& out) {
  const auto* const found = std::find_if(std::begin(formats), std::end(formats),
                                         [&](const ArrayFormat& f) { return f.number == format; });
  if (found == std::end(formats)) return false;
  out.kind = found->kind, out.bits = found->bits, out.components = channels;
  return channels == 1 || channels == 2 || channels == 4;
}

// Cubes are six squares each, and layers have a depth (CUDA Driver API, cuArray3DCreate).
bool is_of_no_shape(const wire::Array& a) {
  if ((a.flags & (layered | cube)) && !a.depth) return true;
  if (a.flags & cube) {
    return a.width != a.height || a.depth % 6 || (a.depth != 6 && !(a.flags & layered));
  }
  return a.depth && !a.height && !(a.flags & layered);
}

// The largest ones: cudaDeviceProp's maxTexture1D, 2D, 3D, 3DAlt, 1DLayered, 2DLayered, Cubemap and
// CubemapLayered (chip_limits of app/exec_devices.cpp has the first).
bool is_too_large(const wire::Array& a) {
  if (a.flags & (layered | cube)) {
    return a.width > 32768 || a.height > 32768 || a.depth > (a.flags & cube ? 2046 : 2048);
  }
  if (a.depth) {
    const bool usual = a.width <= 16384 && a.height <= 16384 && a.depth <= 16384;
    return !usual && (a.width > 8192 || a.height > 8192 || a.depth > 32768);
  }
  return a.width > 131072 || a.height > 65536;
}

}  // namespace

// ---- arrays -------------------------------------------------------------------------------------

DriverResult ExecCalls::array_create(wire::Reader& in, CallAnswer& answer) {
  Array array;
  wire::Array& how = array.how;
  how = in.get<wire::Array>();
  if (how.width == 0 || (how.flags & ~known_flags)) return DriverResult::invalid_value;
  if (how.flags & ~flags_there) return is_missing("depth and sparse arrays");
  if (is_other_format(how.format)) {
    return is_missing(fmt::format("arrays of the format 0x{:x}", how.format));
  }
  Texture elements;
  if (!read_format(how.format, how.channels, elements) || is_of_no_shape(how) ||
      is_too_large(how)) {
    return DriverResult::invalid_value;
  }
  how.element_bytes = elements.texel_bytes();
  const std::uint64_t bytes = how.width * std::max<std::uint64_t>(how.height, 1) *
                              std::max<std::uint64_t>(how.depth, 1) * how.element_bytes;
  sim::DeviceMemory& memory = device_.memory();
  const auto address = memory.allocate(bytes, std::to_string(++allocations_), texture_alignment);
  if (!address) return no_room(bytes);
  std::string shape = std::to_string(how.width);
  if (how.height) shape += fmt::format("x{}", how.height);
  if (how.depth) shape += fmt::format("x{}", how.depth);
  memory.find(*address)->about = fmt::format("an array of {} elements", shape);
  array.address = *address;
  const std::uint64_t handle = new_handle();
  array.context = context_;
  arrays_[handle] = array;
  answer.out.put(handle);
  return DriverResult::success;
}

DriverResult ExecCalls::array_destroy(wire::Reader& in, CallAnswer&) {
  const auto found = arrays_.find(in.get<std::uint64_t>());
  if (found == arrays_.end()) return DriverResult::invalid_handle;
  device_.order().host_waited_for_all();
  device_.memory().release(found->second.address);
  arrays_.erase(found);
  return DriverResult::success;
}

DriverResult ExecCalls::array_find(wire::Reader& in, CallAnswer& answer) {
  const auto found = arrays_.find(in.get<std::uint64_t>());
  if (found == arrays_.end()) return DriverResult::invalid_handle;
  answer.out.put(found->second.how).put(found->second.address);
  return DriverResult::success;
}

// ---- textures and surfaces ----------------------------------------------------------------------

DriverResult ExecCalls::lay_out(const wire::Texture& how, Texture& out) {
  const auto number = [](std::uint64_t n) { return static_cast<std::uint32_t>(n); };
  if (how.type == of_array) {
    const auto found = arrays_.find(how.array);
    if (found == arrays_.end()) return DriverResult::invalid_handle;
    const wire::Array& array = found->second.how;
    read_format(array.format, array.channels, out);
    out.place = found->second.address;
    out.width = number(array.width), out.height = number(array.height);
    out.depth = number(array.depth);
    out.layered = array.flags & layered;
    out.cube = array.flags & cube;
    return DriverResult::success;
  }
  if (is_other_format(how.format)) {
    return is_missing(fmt::format("textures of the format 0x{:x}", how.format));
  }
  if (how.address == 0 || how.address % texture_alignment ||
      !read_format(how.format, how.channels, out)) {
    return DriverResult::invalid_value;
  }
  out.place = how.address;
  if (how.type == of_linear) {
    constexpr std::uint64_t most = 268435456;  // attribute 69
    const std::uint64_t width = how.bytes / out.texel_bytes();
    if (width > most) return DriverResult::invalid_value;
    out.width = number(width);
    return DriverResult::success;
  }
  if (how.width > 131072 || how.height > 65000 || how.pitch > 2097120 ||
      how.pitch % texture_pitch_alignment || how.pitch < how.width * out.texel_bytes()) {
    return DriverResult::invalid_value;
  }
  // Of no rows it has one, as one of no elements: nobody reads it.
  out.width = number(how.width), out.pitch = number(how.pitch);
  out.height = std::max(number(how.height), 1u);
  return DriverResult::success;
}

DriverResult ExecCalls::texture_create(wire::Reader& in, CallAnswer& answer) {
  const auto how = in.get<wire::Texture>();
  constexpr std::uint32_t most_mode = 3, most_filter = 1;
  if (how.type != of_array && how.type != of_linear && how.type != of_rows) {
    return DriverResult::invalid_value;
  }
  if ((how.flags & ~known_texture_flags) || how.filter > most_filter) {
    return DriverResult::invalid_value;
  }
  if (how.flags & srgb_texels) return is_missing("textures of sRGB");
  if (how.flags & seamless_cubes) return is_missing("cubes that are filtered over their edges");
  Texture texture;
  texture.surface = how.surface;
  for (std::size_t k = 0; k < texture.address.size(); ++k) {
    if (how.modes[k] > most_mode) return DriverResult::invalid_value;
    texture.address[k] = static_cast<TextureAddress>(how.modes[k]);
  }
  if (const DriverResult wrong = lay_out(how, texture); wrong != DriverResult::success) {
    return wrong;
  }
  texture.normalized = how.flags & normalized_coordinates;
  texture.linear = how.filter;
  texture.as_float =
      texture.kind != TexelKind::floating && texture.bits < 32 && !(how.flags & read_as_integers);
  std::copy(std::begin(how.border), std::end(how.border), texture.border.begin());
  for (TextureAddress& mode : texture.address) {
    // These are for normalized coordinates (cudaTextureAddressMode).
    const bool wraps = mode == TextureAddress::wrap || mode == TextureAddress::mirror;
    if (wraps && !texture.normalized) mode = TextureAddress::clamp;
  }
  if (how.type == of_linear) {
    // By whole numbers alone, and zero outside (as measured).
    texture.address.fill(TextureAddress::border);
    texture.border = {};
    texture.linear = texture.normalized = false;
  }
  const std::uint64_t handle = device_.add_texture(texture);
  textures_[handle] = how;
  answer.out.put(handle);
  return DriverResult::success;
}

DriverResult ExecCalls::texture_destroy(wire::Reader& in, CallAnswer&) {
  const auto found = textures_.find(in.get<std::uint64_t>());
  const bool surface = in.get<std::uint8_t>();
  if (found == textures_.end() || surface != (found->second.surface != 0)) {
    return DriverResult::success;
  }
  device_.end_texture(found->first);
  textures_.erase(found);
  return DriverResult::success;
}

DriverResult ExecCalls::texture_find(wire::Reader& in, CallAnswer& answer) {
  const auto found = textures_.find(in.get<std::uint64_t>());
  const bool surface = in.get<std::uint8_t>();
  if (found == textures_.end() || surface != (found->second.surface != 0)) {
    return DriverResult::invalid_value;
  }
  answer.out.put(found->second);
  return DriverResult::success;
}

}  // namespace tilescope
