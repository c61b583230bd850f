// Bytes out of a gzip file (RFC 1952), by zlib.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace tilescope {

// Unreadable, with the file's name, where it is broken or holds more than 64 MiB.
Outcome<std::vector<std::byte>> unpack_gzip(std::span<const std::byte> file, std::string_view name);

}  // namespace tilescope
