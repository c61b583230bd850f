// tilescope generate man|bash|zsh
#include "app/generate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>

#include "app/commands.h"

namespace tilescope {
namespace {

// CLI11 writes the values that a check allows as "TEXT:{sim,gpu}" into the option's type.
void read_type(const CLI::Option& option, OptionText& text) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open != std::string::npos && close != std::string::npos) {
    text.choices = CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
    text.value = fmt::format("{}", fmt::join(text.choices, "|"));
  } else {
    text.value = type.substr(0, type.find(':'));
  }
}

OptionText describe(const CLI::Option& option) {
  OptionText text;
  text.help = option.get_description();
  text.positional = option.get_positional() && option.get_lnames().empty();
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  if (text.positional) text.names.push_back(option.get_name(true));
  if (option.get_items_expected_max() > 0) read_type(option, text);
  return text;
}

}  // namespace

std::vector<CommandText> describe_commands() {
  CLI::App app;
  Action unused;
  define_commands(app, unused);
  std::vector<CommandText> all;
  for (const Command& command : commands()) {
    if (command.hidden) continue;
    CommandText text{
        std::string(command.name), std::string(command.help), std::string(command.example), {}};
    for (const CLI::Option* option : app.get_subcommand(text.name)->get_options()) {
      if (!option->get_group().empty()) text.options.push_back(describe(*option));
    }
    std::stable_partition(text.options.begin(), text.options.end(),
                          [](const OptionText& option) { return option.positional; });
    all.push_back(std::move(text));
  }
  return all;
}

Action define_generate(CLI::App& app) {
  using Writer = std::string (*)(const std::vector<CommandText>&);
  static const std::map<std::string, Writer> writers = {
      {"man", manual_page}, {"bash", bash_completion}, {"zsh", zsh_completion}};
  const auto what = std::make_shared<std::string>();
  app.add_option("WHAT", *what, "the manual page, or a shell's completion")
      ->required()
      ->check(CLI::IsMember({"man", "bash", "zsh"}));
  return [what](Terminal& terminal) {
    terminal.print(writers.at(*what)(describe_commands()));
    return 0;
  };
}

}  // namespace tilescope
