#include "app/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <istream>
#include <memory>

#include "core/layout/text.h"

namespace tilescope {
namespace {

Error unreadable(const std::string& path, std::string_view what, int reason) {
  return {ErrorKind::unreadable, fmt::format("{} {}: {}.", what, path, std::strerror(reason)),
          path};
}

// The file of the same folder whose name is nearest to one that is not there; empty: none is near.
std::string near_file(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr std::size_t most = 4096;  // of a folder: what is larger is not read for a guess
  const fs::path asked(path), folder = asked.parent_path();
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator at(folder.empty() ? "." : folder, error), end;
       !error && at != end && names.size() < most; at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());  // the folder's own order differs by machine
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string wanted = asked.filename().string();
  const std::string_view near = nearest(wanted, known);
  return near.empty() ? "" : (folder / near).string();
}

Error not_opened(const std::string& path, int reason) {
  const std::string near = reason == ENOENT ? near_file(path) : "";
  Error error = unreadable(path, "Cannot open", reason);
  if (!near.empty()) {
    error.sentence.pop_back();  // its full stop
    error.sentence += fmt::format("; did you mean {}?", near);
  }
  return error;
}

// Closes on every way out.
struct Descriptor {
  int fd;
  explicit Descriptor(int f) : fd(f) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

// The temporary file that is being written, for who ends the program at once: a name that stays
// where it is, and whether it counts. Of two at a time the later one is known.
char unfinished[4096];
std::atomic<bool> is_unfinished{false};

class Unfinished {
 public:
  explicit Unfinished(const std::string& path) {
    if (path.size() >= sizeof unfinished) return;
    is_unfinished = false;
    std::memcpy(unfinished, path.c_str(), path.size() + 1);
    is_unfinished = true;
  }
  ~Unfinished() { is_unfinished = false; }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
};

// A regular file of at most so many bytes, open for reading.
struct Opened {
  std::unique_ptr<const Descriptor> file;
  std::uint64_t size = 0;
};

std::string_view kind_in_words(mode_t mode) {
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISBLK(mode)) return "a block device";
  return "a device";
}

std::string size_text(std::uint64_t bytes) {
  if (bytes >> 30) return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1u << 30));
  if (bytes >> 20) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1u << 20));
  return fmt::format("{} bytes", bytes);
}

Error beyond_limit(const std::string& path, std::string_view has, std::uint64_t most) {
  return {ErrorKind::unreadable,
          fmt::format("Cannot read {}: it has {}, and of a file of this kind up to {} are read.",
                      path, has, size_text(most)),
          path};
}

// Opening a FIFO that nobody writes waits for a writer, and opening a device may set it going: what
// it is is asked before, and once more of what was opened.
Outcome<Opened> open_to_read(const std::string& path, std::uint64_t most) {
  const auto look = [&](const struct stat& info) -> std::optional<Error> {
    if (S_ISDIR(info.st_mode)) return unreadable(path, "Cannot read", EISDIR);
    if (!S_ISREG(info.st_mode)) {
      return Error{ErrorKind::unreadable,
                   fmt::format("Cannot read {}: it is {}, which may never end; write what it has "
                               "to a file, and name that.",
                               path, kind_in_words(info.st_mode)),
                   path};
    }
    if (static_cast<std::uint64_t>(info.st_size) > most) {
      return beyond_limit(path, size_text(static_cast<std::uint64_t>(info.st_size)), most);
    }
    return std::nullopt;
  };
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return not_opened(path, errno);
  if (auto error = look(info)) return *error;
  Opened out;
  out.file = std::make_unique<const Descriptor>(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (out.file->fd < 0) return not_opened(path, errno);
  if (::fstat(out.file->fd, &info) != 0) return unreadable(path, "Cannot read", errno);
  if (auto error = look(info)) return *error;
  out.size = static_cast<std::uint64_t>(info.st_size);
  return out;
}

// To its end: a file of /proc says that it is empty, and others may have grown meanwhile.
Outcome<std::vector<std::byte>> read_to_end(const Opened& file, const std::string& path,
                                            std::uint64_t most) {
  constexpr std::size_t step = 65536;
  std::vector<std::byte> bytes(static_cast<std::size_t>(file.size));
  std::size_t filled = 0;
  for (;;) {
    std::byte more[step];
    const bool beyond = filled == bytes.size();
    const ssize_t n = beyond ? ::read(file.file->fd, more, step)
                             : ::read(file.file->fd, bytes.data() + filled, bytes.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return unreadable(path, "Cannot read", errno);
    if (n == 0) break;
    filled += static_cast<std::size_t>(n);
    if (filled > most) return beyond_limit(path, "no end that it told of", most);
    if (beyond) bytes.insert(bytes.end(), more, more + n);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace

std::string state_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  // The specification has a relative path ignored.
  if (const std::string state = variable("XDG_STATE_HOME");
      std::filesystem::path(state).is_absolute()) {
    return state;
  }
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.local/state";
}

Outcome<std::vector<std::byte>> read_file(const std::string& path, std::uint64_t most) {
  const Outcome<Opened> file = open_to_read(path, most);
  if (!file) return file.error();
  return read_to_end(*file, path, most);
}

Outcome<FileFront> read_front(const std::string& path, std::size_t bytes, std::uint64_t most) {
  const Outcome<Opened> file = open_to_read(path, most);
  if (!file) return file.error();
  FileFront out;
  out.size = file->size;
  out.bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, file->size)));
  std::size_t filled = 0;
  while (filled < out.bytes.size()) {
    const ssize_t n = ::read(file->file->fd, out.bytes.data() + filled, out.bytes.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return unreadable(path, "Cannot read", errno);
    if (n == 0) break;
    filled += static_cast<std::size_t>(n);
  }
  out.bytes.resize(filled);
  return out;
}

Outcome<std::string> read_text(const std::string& path, std::uint64_t most) {
  Outcome<std::vector<std::byte>> bytes = read_file(path, most);
  if (!bytes) return bytes.error();
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

LineRead read_line(std::istream& in, std::string& line) {
  line.clear();
  std::streambuf& from = *in.rdbuf();
  using Traits = std::streambuf::traits_type;
  for (auto c = from.sbumpc();; c = from.sbumpc()) {
    if (Traits::eq_int_type(c, Traits::eof()))
      return line.empty() ? LineRead::none : LineRead::whole;
    if (Traits::to_char_type(c) == '\n') return LineRead::whole;
    if (line.size() == most_line) return LineRead::cut;
    line += Traits::to_char_type(c);
  }
}

std::uint64_t file_stamp(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return 0;
  std::uint64_t out = 0;
  const auto mix = [&](auto number) {
    out = (out ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15u;
    out ^= out >> 29;
  };
  mix(info.st_mtim.tv_sec);
  mix(info.st_mtim.tv_nsec);
  mix(info.st_size);
  mix(info.st_ino);
  return out ? out : 1;
}

void remove_unfinished() {
  if (is_unfinished) ::unlink(unfinished);
}

std::optional<Error> write_pieces(const std::string& path,
                                  const std::function<bool(const Taker&)>& writer) {
  // Pipes and devices (/dev/stdout) cannot be renamed over: they are written as they are.
  struct stat info = {};
  const bool special = ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  std::string temporary = special ? path : path + ".XXXXXX";
  const Descriptor file(special ? ::open(path.c_str(), O_WRONLY | O_CLOEXEC)
                                : ::mkstemp(temporary.data()));
  if (file.fd < 0) return unreadable(path, "Cannot write", errno);
  std::optional<Unfinished> known;
  if (!special) known.emplace(temporary);
  int reason = 0;
  const bool all = writer([&](std::string_view piece) {
    for (std::size_t done = 0; done < piece.size() && reason == 0;) {
      const ssize_t n = ::write(file.fd, piece.data() + done, piece.size() - done);
      if (n >= 0)
        done += static_cast<std::size_t>(n);
      else if (errno != EINTR)
        reason = errno;
    }
    return reason == 0;
  });
  if (reason == 0 && !all) reason = ECANCELED;
  if (special) {
    return reason ? std::optional(unreadable(path, "Cannot write", reason)) : std::nullopt;
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (reason == 0 && ::fchmod(file.fd, 0666 & ~mask) != 0) reason = errno;
  if (reason == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) reason = errno;
  if (reason == 0) return std::nullopt;
  ::unlink(temporary.c_str());
  if (reason == ECANCELED) {
    return Error{ErrorKind::interrupted, fmt::format("Interrupted; {} was not written.", path),
                 path};
  }
  return unreadable(path, "Cannot write", reason);
}

std::optional<Error> write_file(const std::string& path, std::span<const std::byte> bytes) {
  return write_file(path,
                    std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

std::optional<Error> write_file(const std::string& path, std::string_view text) {
  return write_pieces(path, [&](const Taker& take) { return take(text); });
}

}  // namespace tilescope
