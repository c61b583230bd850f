// gzip files: any bytes are unpacked or get a sentence with the file's name, and never to more than
// the limit.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/io/gzip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  const auto unpacked = tilescope::unpack_gzip({begin, size}, "fuzz.gz");
  if (unpacked) {
    if (unpacked->size() > std::size_t{64} << 20) std::abort();
  } else if (!std::string_view(unpacked.error().sentence)
                  .starts_with("fuzz.gz cannot be unpacked")) {
    std::abort();
  }
  return 0;
}
