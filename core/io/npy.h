// NumPy's .npy format: bytes <-> a tensor. Nothing here opens a file.
//
//     \x93NUMPY | major minor | header length | header | data
//
// The length is 2 bytes in version 1, 4 in versions 2 and 3. The header is a Python dict literal
// with exactly the keys 'descr' (the element type), 'fortran_order', 'shape'; version 3 says that
// it is UTF-8. Data follows without a gap: row-major, or column-major where fortran_order is True.
// Source: numpy.lib.format, "Format Version 1.0 / 2.0 / 3.0".
//
// Law: read_npy(write_npy(t), t.name, t.dtype) has t's dtype, shape and bytes.
//
// Types that NumPy lacks (bf16, e4m3, e5m2) are raw bits: an integer or void array of their width.
// The file cannot say which they are, so whoever reads must (`as`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/run/job.h"

namespace tilescope {

// Reads versions 1 to 3, both orders, either byte order; the Buffer is named `name`, row-major and
// little-endian. `as` is the type the caller expects: another one in the file is a mismatch, raw
// bits of its width are accepted (void for any type, integers for bf16, e4m3, e5m2).
// Errors: unreadable where the file is broken, mismatch where it is whole but not what was asked.
// All sizes are checked against the bytes available before anything is allocated.
Outcome<Buffer> read_npy(std::span<const std::byte> file, std::string_view name,
                         std::optional<DType> as = std::nullopt);

// What the header says, once it is known to fit a file of `size` bytes that begins with `front`:
// all of the file, or its first npy_front bytes. So a file is refused, with the same sentences,
// before its data is read.
inline constexpr std::size_t npy_front = 12 + 65536;
struct NpyFacts {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::uint64_t bytes = 0;  // of data
};
Outcome<NpyFacts> npy_facts(std::span<const std::byte> front, std::uint64_t size,
                            std::string_view name, std::optional<DType> as = std::nullopt);

// Version 1.0, little-endian, C order, data at a multiple of 64 bytes.
std::vector<std::byte> write_npy(const Buffer& tensor);

}  // namespace tilescope
