#include "app/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

extern char** environ;

namespace tilescope {
namespace {

constexpr int kLook = 50;  // milliseconds between two questions whether to go on

// Both ends of a pipe; closed on every way out, and no other program inherits them.
struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
  }
  ~Pipe() {
    close(0);
    close(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close(std::size_t which) {
    if (ends[which] >= 0) ::close(ends[which]);
    ends[which] = -1;
  }
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

// Our environment with the plan's variables in place of those of the same name.
std::vector<std::string> environment_of(const ProcessPlan& plan) {
  std::vector<std::string> out;
  for (char** each = environ; *each; ++each) {
    const std::string line = *each;
    bool replaced = false;
    for (const auto& [name, value] : plan.environment) {
      replaced = replaced || line.compare(0, name.size() + 1, name + "=") == 0;
    }
    if (!replaced) out.push_back(line);
  }
  for (const auto& [name, value] : plan.environment) out.push_back(name + "=" + value);
  return out;
}

// Starts it in a process group of its own, so that what it starts can be ended with it.
int start(const ProcessPlan& plan, int output, pid_t& process) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&how);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  // What we do at a signal is ours; a thread's blocked signals are not inherited either.
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (int signal : {SIGINT, SIGPIPE, SIGTERM}) sigaddset(&usual, signal);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &usual);
  posix_spawnattr_setpgroup(&how, 0);
  posix_spawnattr_setflags(&how,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> words = plan.words, variables = environment_of(plan);
  const int failed = posix_spawn(&process, words[0].c_str(), &files, &how, pointers(words).data(),
                                 pointers(variables).data());
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  return failed;
}

// Takes down what comes until its end; false: it shall not go on.
bool listen(int input, std::size_t limit, const std::function<bool()>& keep_on, std::string& said) {
  std::array<char, 8192> piece;
  for (;;) {
    if (keep_on && !keep_on()) return false;
    pollfd ready{input, POLLIN, 0};
    if (::poll(&ready, 1, kLook) <= 0) continue;
    const ssize_t n = ::read(input, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    said.append(piece.data(), std::min(static_cast<std::size_t>(n), limit - said.size()));
  }
}

}  // namespace

Outcome<ProcessEnd> run_process(const ProcessPlan& plan, const std::function<bool()>& keep_on) {
  Pipe pipe;
  pid_t process = 0;
  const int failed = pipe.ends[0] < 0 ? errno : start(plan, pipe.ends[1], process);
  if (failed) {
    return Error{ErrorKind::unreadable,
                 fmt::format("{} cannot be started: {}.", plan.words[0], std::strerror(failed)),
                 plan.words[0]};
  }
  if (plan.megabytes) {
    const rlimit most{plan.megabytes << 20, plan.megabytes << 20};
    ::prlimit(process, RLIMIT_AS, &most, nullptr);
  }
  pipe.close(1);
  ProcessEnd end;
  const bool to_its_end = listen(pipe.ends[0], plan.limit, keep_on, end.said);
  // Its group, also where it has ended itself and left somebody behind.
  if (!to_its_end) ::kill(-process, SIGKILL);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (!to_its_end) {
    return Error{ErrorKind::interrupted, fmt::format("{} was stopped.", plan.words[0]), ""};
  }
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return end;
}

std::string on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string file = std::string(rest.substr(0, colon)) + "/" + name;
    if (colon > 0 && ::access(file.c_str(), X_OK) == 0) return file;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return "";
}

}  // namespace tilescope
