// What commands say of their options, and how a command line is read by it.
//
// Over CLI11, which stays in command_line.cpp: its header costs each file that includes it seven
// seconds of compiling.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/terminal.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tilescope {

// Runs with the options parsed; answers the exit code (design: the contract of exit codes).
using Action = std::function<int(Terminal&)>;

// What may be said of an option after it was added.
class OptionRules {
 public:
  explicit OptionRules(CLI::Option& option) : option_(&option) {}

  OptionRules& type_name(const std::string& name);  // how help calls the value
  OptionRules& one_of(const std::vector<std::string>& values);
  OptionRules& required();
  OptionRules& repeated();  // one value each time it is given, and all of them count
  OptionRules& hidden();    // not in help: for tests and measurements

 private:
  CLI::Option* option_;
};

// The options of one command. A value goes where it is said to go when the line is parsed, so the
// place must live as long as the command's action. Names are "-o,--output", or one bare word for
// what has no name on the line.
class CommandOptions {
 public:
  explicit CommandOptions(CLI::App& app) : app_(&app) {}

  OptionRules add_option(const std::string& names, std::string& value, const std::string& help);
  OptionRules add_option(const std::string& names, std::vector<std::string>& value,
                         const std::string& help);
  OptionRules add_option(const std::string& names, int& value, const std::string& help);
  OptionRules add_option(const std::string& names, std::uint64_t& value, const std::string& help);
  OptionRules add_option(const std::string& names, std::optional<std::int64_t>& value,
                         const std::string& help);
  OptionRules add_option(const std::string& names, std::optional<double>& value,
                         const std::string& help);
  OptionRules add_flag(const std::string& names, bool& value, const std::string& help);

 private:
  CLI::App* app_;
};

// Parses the line by the table of commands and does what it asks; answers the exit code.
int run_command_line(int argc, char** argv);

}  // namespace tilescope
