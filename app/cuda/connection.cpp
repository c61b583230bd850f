#include "app/cuda/connection.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <utility>

#include "app/cuda/contexts.h"
#include "app/cuda/guard.h"

namespace tilescope::standin {

void say(const char* sentence) {
  std::fprintf(stderr, "tilescope: %s\n", sentence);
}

namespace {

std::mutex one_at_a_time;
int socket_file = -1;
struct stat socket_facts {};
pid_t connected_process = 0;
unsigned long long told_context = 0;  // that is current, as `tilescope` knows it

// A program may close files that are not its own, and then open others by their numbers.
bool is_ours() {
  struct stat now {};
  return socket_file >= 0 && ::fstat(socket_file, &now) == 0 && now.st_dev == socket_facts.st_dev &&
         now.st_ino == socket_facts.st_ino;
}

bool send_all(const char* from, std::size_t count) {
  while (count > 0) {
    const ssize_t n = ::send(socket_file, from, count, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    from += n;
    count -= static_cast<std::size_t>(n);
  }
  return true;
}

// A file may come with any byte.
bool receive_all(char* to, std::size_t count, int& file) {
  while (count > 0) {
    iovec piece{to, count};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t n = ::recvmsg(socket_file, &message, MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
      if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
        std::memcpy(&file, CMSG_DATA(c), sizeof file);
      }
    }
    to += n;
    count -= static_cast<std::size_t>(n);
  }
  return true;
}

// The answer's number; its results follow.
CUresult exchange(Call call, std::string_view operands, std::string& answer, int& file) {
  wire::Head head{static_cast<std::uint32_t>(call), 0, operands.size()};
  const bool sent = is_ours() && send_all(reinterpret_cast<const char*>(&head), sizeof head) &&
                    send_all(operands.data(), operands.size());
  if (!sent || !receive_all(reinterpret_cast<char*>(&head), sizeof head, file)) {
    return CUDA_ERROR_DEINITIALIZED;
  }
  answer.resize(head.bytes);
  if (!receive_all(answer.data(), answer.size(), file)) return CUDA_ERROR_DEINITIALIZED;
  return static_cast<CUresult>(head.what);
}

CUresult open_socket() {
  const char* const path = std::getenv(wire::socket_variable);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!path || std::strlen(path) >= sizeof address.sun_path) {
    say("This is the stand-in for the CUDA driver, which works under `tilescope exec` alone: "
        "tilescope exec -- PROGRAM.");
    return CUDA_ERROR_NO_DEVICE;
  }
  std::strcpy(address.sun_path, path);
  const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0 || ::connect(file, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    if (file >= 0) ::close(file);
    say("The tilescope that started this program does not answer.");
    return CUDA_ERROR_NO_DEVICE;
  }
  socket_file = file;
  ::fstat(file, &socket_facts);
  connected_process = ::getpid();
  wire::Writer operands;
  operands.put(wire::version).put(static_cast<std::uint64_t>(connected_process));
  std::string answer;
  int none = -1;
  watch_for_faults();
  return exchange(Call::hello, operands.bytes, answer, none);
}

// A fork in a thread of ours leaves the mutex as it was: it is the process that is asked first.
bool is_forked() {
  return connected_process != 0 && connected_process != ::getpid();
}

CUresult refuse_fork() {
  static bool told = false;
  if (!std::exchange(told, true)) {
    say("A process that was forked from a CUDA program cannot use its device: fork before the "
        "first "
        "CUDA call, or start a program anew.");
  }
  return CUDA_ERROR_NOT_INITIALIZED;
}

}  // namespace

bool is_connected() {
  return connected_process != 0;
}

CUresult connect() {
  if (is_forked()) return refuse_fork();
  const std::lock_guard lock(one_at_a_time);
  return connected_process ? CUDA_SUCCESS : open_socket();
}

// Whether a call is about what a context holds. Libraries need none, and a module is one here. An
// event has its own: a thread without one may wait for it (an H200's driver was seen to let it).
static bool needs_context(Call call) {
  if (call == Call::event_query || call == Call::event_elapsed) return false;
  return (call >= Call::launch && call < Call::tensor_map) || call == Call::synchronize;
}

// Of the calling thread; under the lock.
static void tell_context() {
  const CUcontext current = current_context();
  const unsigned long long id = current ? current->id : 0;
  if (std::exchange(told_context, id) == id) return;
  wire::Writer operands;
  operands.put(std::uint64_t{id});
  std::string nothing;
  int none = -1;
  exchange(Call::context_current, operands.bytes, nothing, none);
}

// A program has closed what is not its own; `tilescope` is to know that it does not know all.
static void tell_loss() {
  if (socket_file < 0) return;
  if (is_ours()) ::close(socket_file);
  socket_file = -1;
  if (open_socket() != CUDA_SUCCESS) return;
  std::string nothing;
  int none = -1;
  exchange(Call::lost, {}, nothing, none);
  ::close(std::exchange(socket_file, -1));
}

// Behind which the host knows no more of what the device has done than before. A copy that waits
// lets the host in itself.
static bool tells_host_nothing(Call call) {
  switch (call) {
    case Call::hello:
    case Call::lost:
    case Call::missing:
    case Call::context_current:
    case Call::host_early:
    case Call::copy_refused:
    case Call::device_name:
    case Call::device_attribute:
    case Call::device_memory:
    case Call::module_load:
    case Call::module_function:
    case Call::module_functions:
    case Call::module_variable:
    case Call::function_get:
    case Call::function_set:
    case Call::occupancy:
    case Call::clusters:
    case Call::launch:
    case Call::allocate:
    case Call::allocate_host:
    case Call::find:
    case Call::copy_in:
    case Call::copy_out:
    case Call::copy_within:
    case Call::fill:
    case Call::stream_create:
    case Call::stream_destroy:
    case Call::event_create:
    case Call::event_destroy:
    case Call::event_record:
    case Call::event_wait:
    case Call::tensor_map:
      return true;
    default:
      return false;
  }
}

// Under the lock.
static void tell_early_uses(const std::vector<EarlyUse>& all) {
  for (const EarlyUse& use : all) {
    wire::Writer operands;
    operands.put(use.address).put(static_cast<std::uint8_t>(use.work.kind)).put(use.work.number);
    operands.put(use.writes).put_text(use.where);
    std::string nothing;
    int none = -1;
    exchange(Call::host_early, operands.bytes, nothing, none);
  }
}

CUresult Question::ask() {
  if (!is_connected()) return CUDA_ERROR_NOT_INITIALIZED;
  if (in_host_function()) return CUDA_ERROR_NOT_PERMITTED;
  if (needs_context(call_)) {
    if (!current_context()) return CUDA_ERROR_INVALID_CONTEXT;
    if (current_context()->destroyed) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  }
  if (is_forked()) {
    // What the runtime asks for as a process ends nobody has written.
    const bool ends = call_ == Call::module_unload || call_ == Call::release;
    return ends ? CUDA_ERROR_NOT_INITIALIZED : refuse_fork();
  }
  if (!tells_host_nothing(call_)) let_in();
  const std::vector<EarlyUse> early = take_early_uses();
  const std::lock_guard lock(one_at_a_time);
  tell_context();
  tell_early_uses(early);
  const CUresult result = exchange(call_, operands_.bytes, answer_, file_);
  if (result == CUDA_ERROR_DEINITIALIZED) tell_loss();
  results_ = wire::Reader(answer_);
  return result;
}

void print(std::string_view text) {
  if (!text.empty()) std::fwrite(text.data(), 1, text.size(), stdout);
}

CUresult print_all() {
  Question question(Call::printed);
  const CUresult result = question.ask();
  print(question.results().text());
  return result;
}

// A driver was seen to bring what nobody has waited for, too, where a program ends as it should.
// What is a thread's own is gone by then.
__attribute__((destructor)) static void print_at_the_end() {
  if (!is_connected() || is_forked()) return;
  // A thread that is asking still is not waited for.
  const std::vector<EarlyUse> early = take_early_uses();
  const std::unique_lock lock(one_at_a_time, std::try_to_lock);
  if (!lock.owns_lock()) return;
  tell_early_uses(early);
  std::string answer;
  int none = -1;
  exchange(Call::printed, {}, answer, none);
  print(wire::Reader(answer).text());
}

CUresult not_supported(std::string_view name) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> told;
  {
    const std::lock_guard lock(mutex);
    if (!told.emplace(name).second) return CUDA_ERROR_NOT_SUPPORTED;
  }
  Question(Call::missing).with_text(name).ask();
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace tilescope::standin
