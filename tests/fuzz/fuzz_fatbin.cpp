// Fat binaries: any bytes are read or get a sentence with the file's name, and no more is unpacked
// than the limit.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/io/fatbin.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto entries = tilescope::read_fatbin(bytes, "fuzz.fatbin");
  if (!entries) {
    if (!std::string_view(entries.error().sentence).starts_with("fuzz.fatbin is not read")) {
      std::abort();
    }
    return 0;
  }
  // What is read says of itself that it is there.
  if (tilescope::fatbin_bytes(bytes) > size) std::abort();
  std::size_t text = 0;
  for (const tilescope::FatbinEntry& entry : *entries) text += entry.text.size();
  if (text > std::size_t{256} << 20) std::abort();
  return 0;
}
