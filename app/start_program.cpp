#include "app/start_program.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "app/process.h"

extern char** environ;

namespace tilescope {

bool read_launches(std::string_view text, std::uint64_t& first_launch, std::uint64_t& end_launch) {
  const auto number = [](std::string_view digits, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() && value > 0;
  };
  const std::size_t colon = text.find(':');
  std::uint64_t first = 1, end = 0;
  if (colon == std::string_view::npos) {
    if (!number(text, first)) return false;
    end = first + 1;
  } else {
    const std::string_view a = text.substr(0, colon), b = text.substr(colon + 1);
    if (!a.empty() && !number(a, first)) return false;
    if (b.empty()) {
      end = ~std::uint64_t{0};
    } else if (!number(b, end) || end <= first) {
      return false;
    }
  }
  first_launch = first - 1;
  end_launch = end == ~std::uint64_t{0} ? end : end - 1;
  return true;
}

Outcome<std::string> library_folder(std::string_view name, std::string_view what) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& folder : {own / name, own / TILESCOPE_LIBRARY_FOLDER / name}) {
    if (fs::exists(folder / "libcuda.so.1", error)) return folder.lexically_normal().string();
  }
  return Error{ErrorKind::unreadable,
               fmt::format("{}, libcuda.so.1, is not in {}: this tilescope is not whole. Build or "
                           "install it anew.",
                           what, (own / name).string()),
               ""};
}

Outcome<pid_t> start(const StartPlan& plan) {
  const std::string& name = plan.words[0];
  const std::string path = name.find('/') == std::string::npos ? on_path(name) : name;
  if (path.empty()) {
    return Error{ErrorKind::unknown,
                 fmt::format("There is no program {} in the folders of PATH; one in this folder is "
                             "./{}.",
                             name, name),
                 name};
  }
  std::vector<std::string> variables;
  std::string libraries = "LD_LIBRARY_PATH=" + plan.folder;
  for (char** each = environ; *each; ++each) {
    const std::string_view line = *each;
    const std::string_view variable = line.substr(0, line.find('='));
    if (variable == "LD_LIBRARY_PATH") {
      libraries += ":" + std::string(line.substr(variable.size() + 1));
    } else if (std::none_of(plan.variables.begin(), plan.variables.end(),
                            [&](const auto& own) { return own.first == variable; })) {
      variables.emplace_back(line);
    }
  }
  variables.push_back(libraries);
  for (const auto& [variable, value] : plan.variables) variables.push_back(variable + "=" + value);
  const auto pointers = [](std::vector<std::string>& lines) {
    std::vector<char*> out;
    for (std::string& line : lines) out.push_back(line.data());
    out.push_back(nullptr);
    return out;
  };
  std::vector<std::string> words = plan.words;
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&how);
  if (plan.stdout_is_ours) posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (int signal : {SIGINT, SIGPIPE, SIGTERM}) sigaddset(&usual, signal);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &usual);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t process = 0;
  const int failed = posix_spawn(&process, path.c_str(), &files, &how, pointers(words).data(),
                                 pointers(variables).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&how);
  if (failed) {
    return Error{ErrorKind::unreadable,
                 fmt::format("{} cannot be started: {}.", path, std::strerror(failed)), path};
  }
  return process;
}

std::pair<int, std::string> end_of(std::string_view program, int status) {
  if (!WIFSIGNALED(status)) return {WEXITSTATUS(status), ""};
  const int signal = WTERMSIG(status);
  return {128 + signal, fmt::format("tilescope: {} was ended by signal {}, {}.", program, signal,
                                    strsignal(signal))};
}

}  // namespace tilescope
