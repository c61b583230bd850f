#include "app/cuda_capture/connection.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>

namespace tilescope::shim {
namespace {

std::mutex one_at_a_time;
int socket_file = -1;
pid_t connected_process = 0;  // a process that was forked from it asks anew

bool send_all(const void* data, std::size_t count) {
  const char* from = static_cast<const char*>(data);
  while (count > 0) {
    const ssize_t n = ::send(socket_file, from, count, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    from += n;
    count -= static_cast<std::size_t>(n);
  }
  return true;
}

bool receive_all(void* data, std::size_t count) {
  char* to = static_cast<char*>(data);
  while (count > 0) {
    const ssize_t n = ::recv(socket_file, to, count, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    to += n;
    count -= static_cast<std::size_t>(n);
  }
  return true;
}

void hang_up() {
  if (socket_file >= 0) ::close(socket_file);
  socket_file = -1;
}

Answer exchange(wire::Ask what, const std::string& operands, const void* more,
                std::uint64_t count) {
  Answer out;
  wire::Head head{static_cast<std::uint32_t>(what), 0, operands.size() + count};
  const bool sent = send_all(&head, sizeof head) && send_all(operands.data(), operands.size()) &&
                    send_all(more, count);
  if (!sent || !receive_all(&head, sizeof head)) return hang_up(), out;
  out.bytes.resize(head.bytes);
  if (!receive_all(out.bytes.data(), out.bytes.size())) return hang_up(), out;
  out.came = true;
  out.result = head.what;
  return out;
}

void open_socket() {
  const char* const path = std::getenv(wire::capture_socket_variable);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!path || std::strlen(path) >= sizeof address.sun_path) return;
  std::strcpy(address.sun_path, path);
  socket_file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_file < 0) return;
  if (::connect(socket_file, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return hang_up();
  }
  wire::Writer operands;
  operands.put(wire::version).put(static_cast<std::uint64_t>(connected_process));
  exchange(wire::Ask::hello, operands.bytes, nullptr, 0);
}

}  // namespace

bool is_connected() {
  const std::lock_guard lock(one_at_a_time);
  if (connected_process != ::getpid()) {
    hang_up();
    connected_process = ::getpid();
    open_socket();
  }
  return socket_file >= 0;
}

Answer ask(wire::Ask what, const wire::Writer& operands) {
  return ask(what, operands, nullptr, 0);
}

Answer ask(wire::Ask what, wire::Writer operands, const void* from, std::uint64_t count) {
  const std::lock_guard lock(one_at_a_time);
  if (socket_file < 0) return {};
  return exchange(what, operands.bytes, from, count);
}

}  // namespace tilescope::shim
