#include "app/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

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

Outcome<std::vector<std::byte>> read_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0) return not_opened(path, errno);
  struct stat info = {};
  if (::fstat(file.fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    return unreadable(path, "Cannot read", EISDIR);
  }
  std::vector<std::byte> bytes(info.st_size > 0 ? static_cast<std::size_t>(info.st_size) : 0);
  std::size_t filled = 0;
  for (;;) {
    if (filled == bytes.size()) bytes.resize(bytes.size() + 65536);
    const ssize_t n = ::read(file.fd, bytes.data() + filled, bytes.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return unreadable(path, "Cannot read", errno);
    if (n == 0) break;
    filled += static_cast<std::size_t>(n);
  }
  bytes.resize(filled);
  return bytes;
}

Outcome<std::string> read_text(const std::string& path) {
  Outcome<std::vector<std::byte>> bytes = read_file(path);
  if (!bytes) return bytes.error();
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
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

std::optional<Error> write_pieces(const std::string& path,
                                  const std::function<bool(const Taker&)>& writer) {
  // Pipes and devices (/dev/stdout) cannot be renamed over: they are written as they are.
  struct stat info = {};
  const bool special = ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  std::string temporary = special ? path : path + ".XXXXXX";
  const Descriptor file(special ? ::open(path.c_str(), O_WRONLY | O_CLOEXEC)
                                : ::mkstemp(temporary.data()));
  if (file.fd < 0) return unreadable(path, "Cannot write", errno);
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
