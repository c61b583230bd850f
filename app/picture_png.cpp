#include "app/picture_png.h"

#include <cairo.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace tilescope {
namespace {

struct SurfaceGone {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
using Surface = std::unique_ptr<cairo_surface_t, SurfaceGone>;

cairo_status_t append(void* to, const unsigned char* data, unsigned length) {
  auto& bytes = *static_cast<std::vector<std::byte>*>(to);
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), begin, begin + length);
  return CAIRO_STATUS_SUCCESS;
}

cairo_status_t take(void* from, unsigned char* data, unsigned length) {
  auto& rest = *static_cast<std::span<const std::byte>*>(from);
  if (length > rest.size()) return CAIRO_STATUS_READ_ERROR;
  std::memcpy(data, rest.data(), length);
  rest = rest.subspan(length);
  return CAIRO_STATUS_SUCCESS;
}

Error failed(std::string_view what, cairo_status_t status) {
  return {ErrorKind::unreadable,
          std::string(what) + " failed: " + cairo_status_to_string(status) + ".", ""};
}

}  // namespace

// Cairo's RGB24: a 32-bit word a pixel, blue in the lowest byte.
Outcome<std::vector<std::byte>> png_of(const Pixels& pixels) {
  const Surface surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, pixels.width, pixels.height));
  cairo_surface_flush(surface.get());
  unsigned char* data = cairo_image_surface_get_data(surface.get());
  if (!data) return failed("Making a picture", cairo_surface_status(surface.get()));
  const int stride = cairo_image_surface_get_stride(surface.get());
  for (int y = 0; y < pixels.height; ++y) {
    const std::uint8_t* from = &pixels.rgba[std::size_t(y) * std::size_t(pixels.width) * 4];
    unsigned char* to = data + std::ptrdiff_t(y) * stride;
    for (int x = 0; x < pixels.width; ++x, from += 4, to += 4) {
      to[0] = from[2], to[1] = from[1], to[2] = from[0], to[3] = 255;
    }
  }
  cairo_surface_mark_dirty(surface.get());
  std::vector<std::byte> bytes;
  const cairo_status_t status = cairo_surface_write_to_png_stream(surface.get(), append, &bytes);
  if (status != CAIRO_STATUS_SUCCESS) return failed("Writing a picture", status);
  return bytes;
}

Outcome<Pixels> pixels_of_png(std::span<const std::byte> png) {
  const Surface surface(cairo_image_surface_create_from_png_stream(take, &png));
  const cairo_status_t status = cairo_surface_status(surface.get());
  if (status != CAIRO_STATUS_SUCCESS) return failed("Reading a picture", status);
  Pixels out{cairo_image_surface_get_width(surface.get()),
             cairo_image_surface_get_height(surface.get()),
             {}};
  out.rgba.resize(std::size_t(out.width) * std::size_t(out.height) * 4);
  const unsigned char* data = cairo_image_surface_get_data(surface.get());
  const int stride = cairo_image_surface_get_stride(surface.get());
  for (int y = 0; y < out.height; ++y) {
    const unsigned char* from = data + std::ptrdiff_t(y) * stride;
    std::uint8_t* to = &out.rgba[std::size_t(y) * std::size_t(out.width) * 4];
    for (int x = 0; x < out.width; ++x, from += 4, to += 4) {
      to[0] = from[2], to[1] = from[1], to[2] = from[0], to[3] = 255;
    }
  }
  return out;
}

}  // namespace tilescope
