// .npy files by their paths: what the header promises is checked with the file's size before the
// data is read.
#pragma once

#include <optional>
#include <string>

#include "core/error.h"
#include "core/io/npy.h"

namespace tilescope {

// Whether it begins as one; a file that cannot be read does not.
bool is_npy(const std::string& path);
Outcome<NpyFacts> facts_of_npy(const std::string& path, std::optional<DType> as = std::nullopt);
Outcome<Buffer> read_npy_file(const std::string& path, std::optional<DType> as = std::nullopt);

}  // namespace tilescope
