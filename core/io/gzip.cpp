#include "core/io/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

namespace tilescope {
namespace {

constexpr std::size_t most_unpacked = std::size_t{64} << 20;

// What zlib unpacks with; given back whatever happens.
class Inflater {
 public:
  Inflater() { ready_ = inflateInit2(&stream_, gzip_only) == Z_OK; }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // What is wrong, if anything.
  std::string unpack(std::span<const std::byte> file, std::vector<std::byte>& out) {
    if (!ready_) return "there is no memory for it";
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(file.data()));
    stream_.avail_in = static_cast<uInt>(file.size());
    int state = Z_OK;
    while (state == Z_OK && out.size() < most_unpacked) {
      const std::size_t done = out.size();
      out.resize(std::min(most_unpacked, std::max<std::size_t>(1 << 16, 2 * done)));
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + done);
      stream_.avail_out = static_cast<uInt>(out.size() - done);
      state = inflate(&stream_, Z_NO_FLUSH);
      out.resize(out.size() - stream_.avail_out);
      if (state == Z_OK && stream_.avail_in == 0 && stream_.avail_out > 0) state = Z_BUF_ERROR;
    }
    if (state == Z_STREAM_END) return "";
    if (state == Z_OK) return fmt::format("it holds more than {} MiB", most_unpacked >> 20);
    if (state == Z_BUF_ERROR) return "it ends too early";
    return stream_.msg ? stream_.msg : "its bytes are no gzip file's";
  }

 private:
  static constexpr int gzip_only = 15 + 16;  // the largest window, with a gzip header
  z_stream stream_{};
  bool ready_ = false;
};

}  // namespace

Outcome<std::vector<std::byte>> unpack_gzip(std::span<const std::byte> file,
                                            std::string_view name) {
  std::vector<std::byte> out;
  const std::string wrong = Inflater().unpack(file, out);
  if (wrong.empty()) return out;
  return Error{ErrorKind::unreadable, fmt::format("{} cannot be unpacked: {}.", name, wrong),
               std::string(name)};
}

}  // namespace tilescope
