// Tensor maps: their bits are the device's own.
#include <cstring>

#include "app/cuda/connection.h"

namespace tilescope::standin {
namespace {

constexpr std::size_t map_bytes = 128;

CUresult encode(void* map, const wire::TensorMap& how) {
  if (!map) return CUDA_ERROR_INVALID_VALUE;
  Question question(Call::tensor_map);
  if (const CUresult result = question.with(how).ask()) return result;
  const std::string_view bits = question.results().text();
  if (bits.size() != map_bytes) return CUDA_ERROR_OPERATING_SYSTEM;
  std::memcpy(map, bits.data(), bits.size());
  return CUDA_SUCCESS;
}

bool fill(wire::TensorMap& how, int type, unsigned rank, void* address, const std::uint64_t* extent,
          const std::uint64_t* strides, const unsigned* element_strides, int interleave,
          int swizzle, int promotion, int fill) {
  if (rank < 1 || rank > 5 || !extent || (rank > 1 && !strides) || !element_strides) return false;
  how.type = static_cast<std::uint32_t>(type), how.rank = rank;
  how.interleave = static_cast<std::uint32_t>(interleave);
  how.swizzle = static_cast<std::uint32_t>(swizzle);
  how.promotion = static_cast<std::uint32_t>(promotion);
  how.fill = static_cast<std::uint32_t>(fill);
  how.address = reinterpret_cast<std::uint64_t>(address);
  for (unsigned i = 0; i < rank; ++i) {
    how.extent[i] = extent[i], how.element_strides[i] = element_strides[i];
    if (i + 1 < rank) how.strides[i] = strides[i];
  }
  return true;
}

}  // namespace

TILESCOPE_CUDA cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void* address,
                                      const std::uint64_t* extent, const std::uint64_t* strides,
                                      const unsigned* box, const unsigned* element_strides,
                                      int interleave, int swizzle, int promotion, int filled) {
  wire::TensorMap how;
  if (!box || !fill(how, type, rank, address, extent, strides, element_strides, interleave, swizzle,
                    promotion, filled)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::memcpy(how.box, box, rank * sizeof *box);
  return encode(map, how);
}

TILESCOPE_CUDA cuTensorMapEncodeIm2col(void* map, int type, unsigned rank, void* address,
                                       const std::uint64_t* extent, const std::uint64_t* strides,
                                       const int* lower, const int* upper, unsigned channels,
                                       unsigned pixels, const unsigned* element_strides,
                                       int interleave, int swizzle, int promotion, int filled) {
  wire::TensorMap how;
  if (!lower || !upper || rank < 3 ||
      !fill(how, type, rank, address, extent, strides, element_strides, interleave, swizzle,
            promotion, filled)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  how.im2col = 1, how.channels = channels, how.pixels = pixels;
  std::memcpy(how.lower, lower, (rank - 2) * sizeof *lower);
  std::memcpy(how.upper, upper, (rank - 2) * sizeof *upper);
  return encode(map, how);
}

}  // namespace tilescope::standin
