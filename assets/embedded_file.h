// The table that the build writes (assets/CMakeLists.txt) and embedded.cpp looks names up in.
#pragma once

#include <cstddef>
#include <span>

namespace tilescope {

struct EmbeddedFile {
  const char* name;
  const std::byte* begin;
  const std::byte* end;
};

extern const std::span<const EmbeddedFile> embedded_files;  // ascending by name

}  // namespace tilescope
