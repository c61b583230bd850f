// Images of kernels as they lie in assets, packed or not.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>

#include "core/io/gzip.h"

namespace tilescope::test {

inline const std::filesystem::path assets = TILESCOPE_SOURCE_DIR "/assets";

inline std::string bytes_in(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// By its name as an asset: "ptx/hgemm_v1.ptx".
inline std::string image(const std::string& name) {
  if (std::filesystem::exists(assets / name)) return bytes_in(assets / name);
  const std::string packed = bytes_in(assets / (name + ".gz"));
  const auto bytes = unpack_gzip(std::as_bytes(std::span(packed)), name);
  EXPECT_TRUE(bytes.ok()) << name;
  return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : "";
}

}  // namespace tilescope::test
