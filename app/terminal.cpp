#include "app/terminal.h"

#include <fmt/format.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "app/demangle.h"
#include "app/files.h"

namespace tilescope {
namespace {

// All that a signal handler may look at (signal-safety(7)).
volatile sig_atomic_t interrupt_asks = 0, interrupt_seen = 0, interrupt_told = 0, answers_json = 0,
                      results_file = STDOUT_FILENO, progress_stands = 0;
timer_t patience;  // what is left to a run that was asked to end

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(file, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

void end_now(int) {
  remove_unfinished();
  if (interrupt_told) ::_exit(exit_code(ErrorKind::interrupted));
  if (progress_stands) write_all(STDERR_FILENO, "\r\033[K");
  if (answers_json) {
    write_all(results_file,
              R"({"schema":1,"ok":false,"error":{"kind":"interrupted","sentence":"Interrupted.",)"
              R"("where":""}})"
              "\n");
  } else {
    write_all(STDERR_FILENO, "tilescope: Interrupted.\n");
  }
  ::_exit(exit_code(ErrorKind::interrupted));
}

void on_interrupt(int) {
  if (!interrupt_asks || interrupt_seen) end_now(0);
  interrupt_seen = 1;
  constexpr itimerspec soon{{}, {0, 150'000'000}};
  ::timer_settime(patience, 0, &soon, nullptr);
}

void on_closed_pipe(int) {
  ::_exit(exit_code(ErrorKind::unreadable));
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void Terminal::use_json() {
  json_ = true;
  answers_json = 1;
}

void Terminal::print(std::string_view text) {
  if (!json_) std::fwrite(text.data(), 1, text.size(), stdout);
}

void Terminal::say(std::string_view text) {
  end_progress();
  fmt::print(stderr, "{}\n", readable(text));
}

void Terminal::document(nlohmann::ordered_json body) {
  nlohmann::ordered_json out = {{"schema", 1}, {"ok", true}};
  out.update(body);
  // Bytes that are no UTF-8 (a file's name, say) are replaced: the document stays JSON.
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  const std::string text = out.dump(2, ' ', false, replace) + "\n";
  answers_json = 0;  // this is the one document
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int Terminal::fail(const Error& error) {
  end_progress();
  if (json_) {
    document({{"ok", false}, {"error", to_json(error)}});
  } else {
    // What is not known is looked for among names that are to be typed.
    const bool typed = error.kind == ErrorKind::unknown;
    fmt::print(stderr, "tilescope: {}\n", typed ? error.sentence : readable(error.sentence));
    // Places that say more than the sentence: a caret picture, a line of a file.
    if (error.where.find('\n') != std::string::npos)
      fmt::print(stderr, "{}\n", error.where);
    else if (!error.where.empty() && error.sentence.find(error.where) == std::string::npos) {
      fmt::print(stderr, "  at {}\n", error.where);
    }
  }
  if (error.kind == ErrorKind::interrupted) {
    std::fflush(stdout);
    interrupt_told = 1;
  }
  return exit_code(error.kind);
}

int Terminal::finish(int code) {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && !std::ferror(stdout)) return code;
  fmt::print(stderr, "tilescope: The results could not be written to standard output{}{}.\n",
             errno ? ": " : "", errno ? std::strerror(errno) : "");
  return exit_code(ErrorKind::unreadable);
}

void Terminal::progress(std::string_view what, double share) {
  if (json_ || !::isatty(STDERR_FILENO)) return;
  const auto now = std::chrono::steady_clock::now();
  if (progress_shown_ && now - last_progress_ < std::chrono::milliseconds(100)) return;
  last_progress_ = now;
  progress_shown_ = true;
  progress_stands = 1;
  constexpr int width = 30;
  const int full = static_cast<int>(share * width);
  fmt::print(stderr, "\r{} [{}{}] {:3.0f}%", what, std::string(full, '#'),
             std::string(width - full, ' '), share * 100);
  std::fflush(stderr);
}

void Terminal::end_progress() {
  if (progress_shown_) fmt::print(stderr, "\r\033[K");
  progress_shown_ = false;
  progress_stands = 0;
}

nlohmann::ordered_json to_json(const Error& error) {
  return {{"kind", name_of(error.kind)}, {"sentence", error.sentence}, {"where", error.where}};
}

void end_by_exit_code() {
  handle(SIGINT, on_interrupt);
  handle(SIGPIPE, on_closed_pipe);
}

void watch_for_interrupt() {
  if (interrupt_asks) return;
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  // Without a timer the first Ctrl-C ends at once.
  if (::timer_create(CLOCK_MONOTONIC, &event, &patience) != 0) return;
  handle(SIGALRM, end_now);
  interrupt_asks = 1;
}

void results_go_to(int file) {
  results_file = file;
}

bool interrupted() {
  return interrupt_seen != 0;
}

}  // namespace tilescope
