// What is asked of an ELF file here: which bytes a section of it has, and which libraries it wants
// loaded. 64 bits, little-endian (System V ABI, "Object Files" and "Dynamic Linking"; its
// supplement for AMD64).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace tilescope {

struct ElfSection {
  std::string name;
  std::span<const std::byte> bytes;  // of the file; none where it has none there (.bss)
};

struct ElfFile {
  std::vector<ElfSection> sections;
  std::vector<std::string> needed;   // DT_NEEDED: "libcudart.so.13"
  std::vector<std::string> runpath;  // DT_RUNPATH, by folder: "$ORIGIN/../lib"
  std::vector<std::string> rpath;    // DT_RPATH, which is of no use beside that
};

// Refers to `bytes`. Unreadable, with what is wrong: it is no such file, or promises what is not
// there.
Outcome<ElfFile> read_elf(std::span<const std::byte> bytes, std::string_view name);

}  // namespace tilescope
