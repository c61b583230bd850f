// What a system needs beside the program, made from its own table of commands: the manual page and
// the shells' completions. `tilescope generate man|bash|zsh` prints them while building, so they
// never say what the program does not do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilescope {

// One option or argument of a command, as a reader sees it.
struct OptionText {
  std::vector<std::string> names;  // "-o", "--out"; one plain name for a positional argument
  std::string value;               // "FILE"; empty for a flag
  std::vector<std::string> state;  // the values there are, where they can be counted
  std::string help;
  bool positional = false;
};

struct CommandText {
  std::string name, help, example;
  std::vector<OptionText> options;  // positional arguments first
};

// The commands that --help shows, with their options read back from CLI11.
std::vector<CommandText> describe_commands();

std::string manual_page(const std::vector<CommandText>& commands);  // roff, section 1
std::string bash_completion(const std::vector<CommandText>& commands);
std::string zsh_completion(const std::vector<CommandText>& commands);

}  // namespace tilescope
