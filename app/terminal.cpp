#include "app/terminal.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

namespace tilescope {
namespace {

volatile sig_atomic_t interrupt_seen = 0;

}  // namespace

void Terminal::print(std::string_view text) {
  if (!json_) std::fwrite(text.data(), 1, text.size(), stdout);
}

void Terminal::say(std::string_view text) {
  end_progress();
  fmt::print(stderr, "{}\n", text);
}

void Terminal::document(nlohmann::ordered_json body) {
  nlohmann::ordered_json out = {{"schema", 1}, {"ok", true}};
  out.update(body);
  // Bytes that are no UTF-8 (a file's name, say) are replaced: the document stays JSON.
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  fmt::print("{}\n", out.dump(2, ' ', false, replace));
}

int Terminal::fail(const Error& error) {
  end_progress();
  if (json_) {
    document({{"ok", false}, {"error", to_json(error)}});
  } else {
    fmt::print(stderr, "tilescope: {}\n", error.sentence);
    // Places that say more than the sentence: a caret picture, a line of a file.
    if (error.where.find('\n') != std::string::npos)
      fmt::print(stderr, "{}\n", error.where);
    else if (!error.where.empty() && error.sentence.find(error.where) == std::string::npos) {
      fmt::print(stderr, "  at {}\n", error.where);
    }
  }
  return exit_code(error.kind);
}

void Terminal::progress(std::string_view what, double share) {
  if (json_ || !::isatty(STDERR_FILENO)) return;
  const auto now = std::chrono::steady_clock::now();
  if (progress_shown_ && now - last_progress_ < std::chrono::milliseconds(100)) return;
  last_progress_ = now;
  progress_shown_ = true;
  constexpr int width = 30;
  const int full = static_cast<int>(share * width);
  fmt::print(stderr, "\r{} [{}{}] {:3.0f}%", what, std::string(full, '#'),
             std::string(width - full, ' '), share * 100);
  std::fflush(stderr);
}

void Terminal::end_progress() {
  if (progress_shown_) fmt::print(stderr, "\r\033[K");
  progress_shown_ = false;
}

nlohmann::ordered_json to_json(const Error& error) {
  return {{"kind", name_of(error.kind)}, {"sentence", error.sentence}, {"where", error.where}};
}

void watch_for_interrupt() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupt_seen = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
}

bool interrupted() {
  return interrupt_seen != 0;
}

}  // namespace tilescope
