// Another program, run to its end: no shell, its words as they are, all that it says taken down.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace tilescope {

struct ProcessEnd {
  int exit_code = 0;  // 128 and the signal, where one ended it, as a shell has it
  std::string said;   // stdout and stderr as they came, up to the limit
};

struct ProcessPlan {
  std::vector<std::string> words;  // the program's path, then its arguments
  std::vector<std::pair<std::string, std::string>> environment;  // besides our own
  std::size_t limit = std::size_t{1} << 20;                      // bytes that are taken down
  std::uint64_t megabytes = 0;  // of memory that it may have; 0: no limit
};

// Runs it, with nothing on its stdin. `keep_on` (core/run/catalog_entry.h) is asked some twenty
// times a second: when it says no, the program and all that it started are killed, and the answer
// is an error of kind interrupted. Refused as well: it cannot be started.
Outcome<ProcessEnd> run_process(const ProcessPlan& plan, const std::function<bool()>& keep_on = {});

// The program of this name in a folder of $PATH; empty where there is none.
std::string on_path(const std::string& name);

}  // namespace tilescope
