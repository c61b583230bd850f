// A CUDA program, started with a library of ours where it looks for the driver; and which of its
// launches a command is about.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace tilescope {

// "3:5": launches 3 and 4, counted from 1; "3:" all from there on; "3" that one. `first` and `end`
// are counted from 0.
bool read_launches(std::string_view text, std::uint64_t& first, std::uint64_t& end);

// Where our libcuda.so.1 lies: in the folder `name` beside the program that was built, or as it was
// installed. `what` it is, for the sentence where it is not there.
Outcome<std::string> library_folder(std::string_view name, std::string_view what);

struct StartPlan {
  std::vector<std::string> words;  // the program and its arguments
  std::string folder;              // first among those where libraries are looked for
  // Besides our own, and in place of those of these names.
  std::vector<std::pair<std::string, std::string>> variables = {};
  bool stdout_is_ours = false;  // what the program prints goes to stderr
};

// Started with the signals as they usually are.
Outcome<pid_t> start(const StartPlan& plan);

// How it ended, in a sentence where a signal ended it; its exit code, or 128 and the signal.
std::pair<int, std::string> end_of(std::string_view program, int status);

}  // namespace tilescope
