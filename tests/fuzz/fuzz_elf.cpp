// ELF files: any bytes are read or get a sentence with the file's name, and what is read is in
// them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/io/elf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto elf = tilescope::read_elf(bytes, "fuzz.elf");
  if (!elf) {
    if (!std::string_view(elf.error().sentence).starts_with("fuzz.elf is not read")) std::abort();
    return 0;
  }
  unsigned sum = 0;
  for (const tilescope::ElfSection& section : elf->sections) {
    if (section.bytes.empty()) continue;
    if (section.bytes.data() < bytes.data() ||
        section.bytes.size() >
            static_cast<std::size_t>(bytes.data() + size - section.bytes.data())) {
      std::abort();
    }
    sum += static_cast<unsigned>(section.bytes.back());
  }
  for (const std::string& name : elf->needed) {
    if (name.size() > size) std::abort();
  }
  return sum == ~0u ? 1 : 0;
}
