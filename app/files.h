// Files, whole: read into memory, and written so that a reader never sees half of one (a temporary
// file beside the target, then a rename).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace tilescope {

Outcome<std::vector<std::byte>> read_file(const std::string& path);
Outcome<std::string> read_text(const std::string& path);

// Where what is kept from one day to the next is: $XDG_STATE_HOME, or ~/.local/state (XDG Base
// Directory Specification 0.8). Empty where the environment names no home.
std::string state_folder();

// Another number when there is another file, or it was written since; 0: there is none.
std::uint64_t file_stamp(const std::string& path);

// Nothing where it went well. An existing file is replaced only by the whole new one.
std::optional<Error> write_file(const std::string& path, std::span<const std::byte> bytes);
std::optional<Error> write_file(const std::string& path, std::string_view text);

// The same for what is too much to hold in memory: `writer` gives it away piece by piece, and ends
// where a piece is not taken. It answers whether that was all; where it gave up for a reason of its
// own, there is no file and an error of kind interrupted.
using Taker = std::function<bool(std::string_view)>;
std::optional<Error> write_pieces(const std::string& path,
                                  const std::function<bool(const Taker&)>& writer);

}  // namespace tilescope
