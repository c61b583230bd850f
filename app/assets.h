// The program's own files: embedded ones, or those of a folder that the user puts before them.
//
// With TILESCOPE_ASSETS=DIR in the environment, DIR/NAME is read where it exists, so a changed
// kernel, preset or lesson is tried without building. Names are those of assets/embedded.h.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace tilescope {

// One file's bytes. Moves, does not copy: what bytes() and text() answer stays valid until the
// object that holds it is gone.
class Asset {
 public:
  explicit Asset(std::span<const std::byte> embedded) : bytes_(embedded) {}
  explicit Asset(std::vector<std::byte> read) : read_(std::move(read)), bytes_(read_) {}
  Asset(Asset&&) = default;
  Asset& operator=(Asset&&) = default;

  std::span<const std::byte> bytes() const { return bytes_; }
  std::string_view text() const;

 private:
  std::vector<std::byte> read_;  // empty where the bytes are the program's own
  std::span<const std::byte> bytes_;
};

// Of a file that is carried as NAME.gz, what is packed there.
// Errors: unknown (names the assets of the same folder), unreadable (a file of TILESCOPE_ASSETS).
Outcome<Asset> load_asset(std::string_view name);
// Whether there is one.
bool carries(std::string_view name);

}  // namespace tilescope
