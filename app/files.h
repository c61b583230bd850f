// Files, whole: read into memory, and written so that a reader never sees half of one (a temporary
// file beside the target, then a rename).
//
// Nothing is read that is no regular file: a pipe or a device (/dev/zero) may never end, and a FIFO
// that nobody writes would be waited for. What is larger than its kind of file may be is refused by
// its size, before anything is read or allocated for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace tilescope {

// The largest files that are read, in bytes. PTX of whole libraries of kernels has tens of MB; a
// record has room for all that --record-limit keeps.
inline constexpr std::uint64_t most_text = std::uint64_t{256} << 20;
inline constexpr std::uint64_t most_bytes = std::uint64_t{5} << 30;

Outcome<std::vector<std::byte>> read_file(const std::string& path, std::uint64_t most = most_bytes);
Outcome<std::string> read_text(const std::string& path, std::uint64_t most = most_text);

// How a file begins, and how large it is: what its header promises is checked with these before the
// rest is read.
struct FileFront {
  std::vector<std::byte> bytes;
  std::uint64_t size = 0;  // of the whole file
};
Outcome<FileFront> read_front(const std::string& path, std::size_t bytes,
                              std::uint64_t most = most_bytes);

// A line of what is typed or piped in, without its end; what is longer than most_line may have no
// end, and is cut there.
enum class LineRead : std::uint8_t { whole, cut, none };
inline constexpr std::size_t most_line = std::size_t{1} << 20;
LineRead read_line(std::istream& in, std::string& line);

// Where what is kept from one day to the next is: $XDG_STATE_HOME, or ~/.local/state (XDG Base
// Directory Specification 0.8). Empty where the environment names no home.
std::string state_folder();

// Another number when there is another file, or it was written since; 0: there is none.
std::uint64_t file_stamp(const std::string& path);

// Nothing where it went well. An existing file is replaced only by the whole new one.
std::optional<Error> write_file(const std::string& path, std::span<const std::byte> bytes);
std::optional<Error> write_file(const std::string& path, std::string_view text);

// Takes away what is half written, where the program ends at once: a signal handler may call it.
void remove_unfinished();

// The same for what is too much to hold in memory: `writer` gives it away piece by piece, and ends
// where a piece is not taken. It answers whether that was all; where it gave up for a reason of its
// own, there is no file and an error of kind interrupted.
using Taker = std::function<bool(std::string_view)>;
std::optional<Error> write_pieces(const std::string& path,
                                  const std::function<bool(const Taker&)>& writer);

}  // namespace tilescope
