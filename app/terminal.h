// Where a command's output goes: results to stdout, all else to stderr, progress only where
// somebody looks at it. With --json there is exactly one document on stdout, on failure too.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/error.h"

namespace tilescope {

class Terminal {
 public:
  // Answers with documents instead of text from here on.
  void use_json();
  bool json() const { return json_; }

  void print(std::string_view text);  // a result, to stdout; nothing under --json
  void say(std::string_view text);    // a message, to stderr, with a line end
  // The one document of a --json run: {"schema":1,"ok":true, ...body}.
  void document(nlohmann::ordered_json body);

  // The sentence on stderr, or the error document. Answers the exit code.
  int fail(const Error& error);

  // Sees results through to where they go; answers `code`, or what a full disk makes of it.
  int finish(int code);

  // One line on stderr that is written over; nothing where stderr is no terminal.
  void progress(std::string_view what, double share);
  void end_progress();

 private:
  bool json_ = false;
  bool progress_shown_ = false;
  std::chrono::steady_clock::time_point last_progress_{};
};

nlohmann::ordered_json to_json(const Error& error);

// The program ends with an exit code, never by a signal. Ctrl-C says so and exits 130; a reader of
// stdout that has gone ends it quietly, as nobody wants the rest.
void end_by_exit_code();

// From here on the first Ctrl-C only asks, and interrupted() tells: what goes on then has 150 ms to
// end by itself, with a better sentence. The second ends at once, and so does the end of the 150
// ms.
void watch_for_interrupt();
bool interrupted();

// Where a document goes that is written while file descriptor 1 leads elsewhere.
void results_go_to(int file);

}  // namespace tilescope
