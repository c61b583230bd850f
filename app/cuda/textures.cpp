// Arrays, and the textures and surfaces over them and over memory: what the driver looks at before
// the device does, and descriptions as they were given.
#include <cstring>

#include "app/cuda/connection.h"
#include "app/cuda/graphs.h"
#include "app/cuda/memory.h"

namespace tilescope::standin {

CUresult find_array(CUarray array, wire::Array& out, std::uint64_t& address) {
  if (!array) return CUDA_ERROR_INVALID_HANDLE;
  return Question(Call::array_find).with(number_of(array)).ask(&out, &address);
}

namespace {

CUresult create(CUarray* array, const wire::Array& how) {
  if (!array) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = unsafe_in_captures()) return wrong;
  std::uint64_t number = 0;
  const CUresult result = Question(Call::array_create).with(how).ask(&number);
  if (result == CUDA_SUCCESS) *array = handle_of<CUarray>(number);
  return result;
}

}  // namespace

// ---- arrays -------------------------------------------------------------------------------------

TILESCOPE_CUDA cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* how) {
  if (!how) return CUDA_ERROR_INVALID_VALUE;
  wire::Array all;
  all.width = how->Width, all.height = how->Height, all.depth = how->Depth;
  all.format = how->Format, all.channels = how->NumChannels, all.flags = how->Flags;
  return create(array, all);
}
TILESCOPE_CUDA cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* how) {
  if (!how) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_ARRAY3D_DESCRIPTOR all{how->Width, how->Height, 0, how->Format, how->NumChannels, 0};
  return cuArray3DCreate_v2(array, &all);
}
TILESCOPE_CUDA cuArrayDestroy(CUarray array) {
  if (!array) return CUDA_ERROR_INVALID_HANDLE;
  catch_up_all();
  return Question(Call::array_destroy).with(number_of(array)).ask();
}
TILESCOPE_CUDA cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* how, CUarray array) {
  wire::Array all;
  std::uint64_t address = 0;
  if (!how) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = find_array(array, all, address)) return wrong;
  *how = {all.width, all.height, all.depth, all.format, all.channels, all.flags};
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* how, CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR all{};
  if (!how) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = cuArray3DGetDescriptor_v2(&all, array)) return wrong;
  *how = {all.Width, all.Height, all.Format, all.NumChannels};
  return CUDA_SUCCESS;
}

// ---- textures and surfaces ----------------------------------------------------------------------

namespace {

CUresult put_resource(const CUDA_RESOURCE_DESC& from, wire::Texture& to) {
  if (from.type > resource_pitch_2d || from.flags) return CUDA_ERROR_INVALID_VALUE;
  to.type = from.type;
  switch (from.type) {
    case resource_mipmapped_array:
      return not_supported("textures of mipmapped arrays");
    case resource_linear:
      to.address = from.linear.address, to.bytes = from.linear.bytes;
      to.format = from.linear.format, to.channels = from.linear.channels;
      break;
    case resource_pitch_2d:
      to.address = from.rows.address, to.pitch = from.rows.pitch;
      to.width = from.rows.width, to.height = from.rows.height;
      to.format = from.rows.format, to.channels = from.rows.channels;
      break;
    default:
      to.array = number_of(from.array);
  }
  return CUDA_SUCCESS;
}

CUDA_RESOURCE_DESC resource_of(const wire::Texture& from) {
  CUDA_RESOURCE_DESC out{};
  out.type = static_cast<CUresourcetype>(from.type);
  if (out.type == resource_linear) {
    out.linear = {from.address, from.format, from.channels, static_cast<std::size_t>(from.bytes)};
  } else if (out.type == resource_pitch_2d) {
    out.rows = {from.address,
                from.format,
                from.channels,
                static_cast<std::size_t>(from.width),
                static_cast<std::size_t>(from.height),
                static_cast<std::size_t>(from.pitch)};
  } else {
    out.array = handle_of<CUarray>(from.array);
  }
  return out;
}

CUresult make(unsigned long long* handle, const wire::Texture& how) {
  std::uint64_t number = 0;
  const CUresult result = Question(Call::texture_create).with(how).ask(&number);
  if (result == CUDA_SUCCESS) *handle = number;
  return result;
}

CUresult find(unsigned long long handle, bool surface, wire::Texture& out) {
  return Question(Call::texture_find)
      .with(std::uint64_t{handle})
      .with(static_cast<std::uint8_t>(surface))
      .ask(&out);
}

// One that is none is destroyed as well (a driver was seen to say nothing).
CUresult destroy(unsigned long long handle, bool surface) {
  return Question(Call::texture_destroy)
      .with(std::uint64_t{handle})
      .with(static_cast<std::uint8_t>(surface))
      .ask();
}

}  // namespace

TILESCOPE_CUDA cuTexObjectCreate(CUtexObject* texture, const CUDA_RESOURCE_DESC* resource,
                                 const CUDA_TEXTURE_DESC* how,
                                 const CUDA_RESOURCE_VIEW_DESC* view) {
  if (!texture || !resource || !how) return CUDA_ERROR_INVALID_VALUE;
  wire::Texture all;
  if (const CUresult wrong = put_resource(*resource, all)) return wrong;
  if (view) {
    if (view->width == 0) return CUDA_ERROR_INVALID_VALUE;
    return not_supported("views of resources");
  }
  std::memcpy(all.modes, how->modes, sizeof all.modes);
  all.filter = how->filter, all.flags = how->flags;
  all.anisotropy = how->anisotropy, all.mip_filter = how->mip_filter;
  std::memcpy(all.mip, how->mip, sizeof all.mip);
  std::memcpy(all.border, how->border, sizeof all.border);
  return make(texture, all);
}
TILESCOPE_CUDA cuTexObjectDestroy(CUtexObject texture) {
  return destroy(texture, false);
}
TILESCOPE_CUDA cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUtexObject texture) {
  wire::Texture all;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = find(texture, false, all)) return wrong;
  *out = resource_of(all);
  return CUDA_SUCCESS;
}
TILESCOPE_CUDA cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* out, CUtexObject texture) {
  wire::Texture all;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = find(texture, false, all)) return wrong;
  *out = {};
  std::memcpy(out->modes, all.modes, sizeof all.modes);
  out->filter = all.filter, out->flags = all.flags;
  out->anisotropy = all.anisotropy, out->mip_filter = all.mip_filter;
  std::memcpy(out->mip, all.mip, sizeof all.mip);
  std::memcpy(out->border, all.border, sizeof all.border);
  return CUDA_SUCCESS;
}
// No texture here has one.
TILESCOPE_CUDA cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* out, CUtexObject texture) {
  wire::Texture all;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = find(texture, false, all)) return wrong;
  *out = {};
  return CUDA_SUCCESS;
}

TILESCOPE_CUDA cuSurfObjectCreate(CUsurfObject* surface, const CUDA_RESOURCE_DESC* resource) {
  if (!surface || !resource) return CUDA_ERROR_INVALID_VALUE;
  if (resource->type != resource_array) return CUDA_ERROR_INVALID_VALUE;
  wire::Texture all;
  all.surface = 1;
  if (const CUresult wrong = put_resource(*resource, all)) return wrong;
  return make(surface, all);
}
TILESCOPE_CUDA cuSurfObjectDestroy(CUsurfObject surface) {
  return destroy(surface, true);
}
TILESCOPE_CUDA cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUsurfObject surface) {
  wire::Texture all;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = find(surface, true, all)) return wrong;
  *out = resource_of(all);
  return CUDA_SUCCESS;
}

}  // namespace tilescope::standin
