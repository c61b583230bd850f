#include "app/socket_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>

#include "app/cuda/wire.h"
#include "app/terminal.h"

namespace tilescope {
namespace {

constexpr int look = 50;  // milliseconds between two looks at who asks, and whether it goes on
constexpr std::uint64_t largest_question = std::uint64_t{1} << 31;

// The process at the other end.
SocketServer::Peer peer_at(int socket) {
  SocketServer::Peer out{0, "the program"};
  ucred who{};
  socklen_t bytes = sizeof who;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &bytes) != 0) return out;
  out.process = who.pid;
  std::ifstream file(fmt::format("/proc/{}/comm", who.pid));
  std::string name;
  if (std::getline(file, name) && !name.empty()) out.name = name;
  return out;
}

// Waits for what is not there yet, but not beyond an interrupt.
bool receive(int socket, char* to, std::size_t count) {
  while (count > 0) {
    pollfd ready{socket, POLLIN, 0};
    if (::poll(&ready, 1, look) == 0) {
      if (interrupted()) return false;
      continue;
    }
    const ssize_t n = ::recv(socket, to, count, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    to += n;
    count -= static_cast<std::size_t>(n);
  }
  return true;
}

bool send(int socket, const char* from, std::size_t count, int file) {
  while (count > 0) {
    iovec piece{const_cast<char*>(from), count};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (file >= 0) {
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      cmsghdr* const head = CMSG_FIRSTHDR(&message);
      head->cmsg_level = SOL_SOCKET;
      head->cmsg_type = SCM_RIGHTS;
      head->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(head), &file, sizeof file);
    }
    const ssize_t n = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    file = -1;
    from += n;
    count -= static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

SocketServer::~SocketServer() {
  for (const Connection& each : connections_) ::close(each.socket);
  if (listening_ >= 0) ::close(listening_);
  if (!path_.empty()) ::unlink(path_.c_str());
}

Outcome<std::unique_ptr<SocketServer>> SocketServer::open(const std::string& path, Join join) {
  std::unique_ptr<SocketServer> out(new SocketServer(std::move(join)));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto refuse = [&](std::string_view why) {
    return Error{ErrorKind::unreadable,
                 fmt::format("The socket {} for the program cannot be made: {}.", path, why), path};
  };
  if (path.size() >= sizeof address.sun_path) return refuse("its path is too long");
  std::strcpy(address.sun_path, path.c_str());
  out->listening_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (out->listening_ < 0 ||
      ::bind(out->listening_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(out->listening_, 16) != 0) {
    return refuse(std::strerror(errno));
  }
  out->path_ = path;
  return out;
}

void SocketServer::accept() {
  const int socket = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
  if (socket >= 0) add(socket);
}

void SocketServer::add(int socket) {
  connections_.push_back({socket, join_(peer_at(socket))});
}

bool SocketServer::answer_one(Connection& connection) {
  wire::Head head;
  if (!receive(connection.socket, reinterpret_cast<char*>(&head), sizeof head)) return false;
  if (head.bytes > largest_question) return false;
  std::string operands(static_cast<std::size_t>(head.bytes), '\0');
  if (!receive(connection.socket, operands.data(), operands.size())) return false;
  const SocketAnswer answer = connection.answer(head.what, operands);
  head = {answer.result, 0, answer.bytes.size()};
  return send(connection.socket, reinterpret_cast<const char*>(&head), sizeof head, answer.file) &&
         send(connection.socket, answer.bytes.data(), answer.bytes.size(), -1);
}

void SocketServer::answer_some(int milliseconds) {
  std::vector<pollfd> all;
  for (const Connection& each : connections_) all.push_back({each.socket, POLLIN, 0});
  if (listening_ >= 0) all.push_back({listening_, POLLIN, 0});
  if (::poll(all.data(), all.size(), milliseconds) <= 0) return;
  const std::size_t known = connections_.size();
  if (listening_ >= 0 && all.back().revents) accept();
  for (std::size_t i = 0; i < known; ++i) {
    if (!all[i].revents || answer_one(connections_[i])) continue;
    ::close(connections_[i].socket);
    connections_[i].socket = -1;
  }
  std::erase_if(connections_, [](const Connection& each) { return each.socket < 0; });
}

std::optional<int> SocketServer::serve(pid_t child) {
  for (;;) {
    answer_some(look);
    if (interrupted()) return {};
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return 0;
  }
}

bool SocketServer::serve_others(int milliseconds) {
  const auto begun = std::chrono::steady_clock::now();
  for (;;) {
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (ended < 0 && errno == ECHILD) return true;
    const auto passed = std::chrono::steady_clock::now() - begun;
    const bool late = passed > std::chrono::milliseconds(milliseconds);
    if ((late && connections_.empty()) || interrupted()) return false;
    answer_some(look);
  }
}

}  // namespace tilescope
