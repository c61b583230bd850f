// The only file that knows CLI11.
#include "app/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string_view>

#include "app/commands.h"
#include "app/generate.h"
#include "viz/commands/link.h"

namespace tilescope {

// ---- Options
// -------------------------------------------------------------------------------------

OptionRules& OptionRules::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

OptionRules& OptionRules::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

OptionRules& OptionRules::required() {
  option_->required();
  return *this;
}

OptionRules& OptionRules::repeated() {
  option_->expected(1)->take_all();
  return *this;
}

OptionRules& OptionRules::hidden() {
  option_->group("");
  return *this;
}

OptionRules CommandOptions::add_option(const std::string& names, std::string& value,
                                       const std::string& help) {
  return OptionRules(*app_->add_option(names, value, help));
}

OptionRules CommandOptions::add_option(const std::string& names, std::vector<std::string>& value,
                                       const std::string& help) {
  return OptionRules(*app_->add_option(names, value, help));
}

OptionRules CommandOptions::add_option(const std::string& names, int& value,
                                       const std::string& help) {
  return OptionRules(*app_->add_option(names, value, help));
}

OptionRules CommandOptions::add_option(const std::string& names, std::uint64_t& value,
                                       const std::string& help) {
  return OptionRules(*app_->add_option(names, value, help));
}

OptionRules CommandOptions::add_option(const std::string& names, std::optional<std::int64_t>& value,
                                       const std::string& help) {
  return OptionRules(*app_->add_option(names, value, help));
}

OptionRules CommandOptions::add_option(const std::string& names, std::optional<double>& value,
                                       const std::string& help) {
  return OptionRules(*app_->add_option(names, value, help));
}

OptionRules CommandOptions::add_flag(const std::string& names, bool& value,
                                     const std::string& help) {
  return OptionRules(*app_->add_flag(names, value, help));
}

namespace {

// ---- The line
// ------------------------------------------------------------------------------------

// Fills `app` with every command. `chosen` is set to the action of the command that a parse finds.
void define_commands(CLI::App& app, Action& chosen) {
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(34);
  for (const Command& command : commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.help));
    sub->footer("Example:\n  " + std::string(command.example));
    if (command.hidden) sub->group("");
    CommandOptions options(*sub);
    // The action outlives the parse: it owns the places the options are parsed into.
    const auto action = std::make_shared<Action>(command.define(options));
    sub->callback([&chosen, action] { chosen = *action; });
  }
}

// What the parser says, and where help is. A word that is no command is answered with those that
// are.
std::string usage_sentence(const CLI::App& app, const CLI::ParseError& wrong) {
  std::string hint = "tilescope --help", said = wrong.what();
  if (const auto chosen = app.get_subcommands(); !chosen.empty()) {
    hint = "tilescope " + chosen.back()->get_name() + " --help";
  } else if (const auto left = app.remaining(); !left.empty() && left.front()[0] != '-') {
    std::string names;
    for (const Command& command : commands()) {
      if (!command.hidden) names += fmt::format("{}{}", names.empty() ? "" : ", ", command.name);
    }
    said = fmt::format("There is no command `{}`; there are {}", left.front(), names);
  }
  if (said.back() != '.') said += '.';
  return fmt::format("{} See `{}`.", said, hint);
}

// ---- Read back, for the manual page and completions
// ----------------------------------------------

// Whether a type's name counts its values up, as "light|dark" does; "reference|F.npy" does not.
bool counts_up(const std::string& type) {
  return type.find('|') != std::string::npos && std::all_of(type.begin(), type.end(), [](char c) {
           return c == '|' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
         });
}

// CLI11 writes the values that a check allows as "TEXT:{sim,gpu}" into the option's type.
void read_type(const CLI::Option& option, OptionText& text) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open != std::string::npos && close != std::string::npos) {
    text.state = CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
    text.value = fmt::format("{}", fmt::join(text.state, "|"));
  } else if (counts_up(type)) {
    text.state = CLI::detail::split(type, '|');
    text.value = type;
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

// `tilescope tilescope://lesson/layouts/3`, as a desktop opens a link, is `gui --open` of it.
std::vector<char*> with_link_opened(int argc, char** argv) {
  static char gui[] = "gui", open[] = "--open";
  std::vector<char*> words(argv, argv + argc);
  const auto first = std::find_if(words.begin() + std::min(argc, 1), words.end(),
                                  [](std::string_view word) { return word != "--json"; });
  if (first != words.end() && has_scheme(*first)) {
    words.insert(first, {gui, open});
  }
  return words;
}

// `tilescope help run` is `run --help`, as elsewhere, and `help` by itself `--help`.
void say_help_as_an_option(std::vector<char*>& words) {
  static char option[] = "--help";
  if (words.size() < 2 || std::string_view(words[1]) != "help") return;
  words.erase(words.begin() + 1);
  words.resize(std::min<std::size_t>(words.size(), 2));
  words.push_back(option);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app("Tilescope: see how GPU tensors are tiled and how a GPU kernel really runs.",
               "tilescope");
  app.set_version_flag("--version", "tilescope " TILESCOPE_VERSION);
  app.footer(
      "`tilescope COMMAND --help` shows a command's options with an example.\nExit: 0 fine, 1 a "
      "result differs or an expression is refused, 2 wrong usage or input,\n3 the kernel faulted, "
      "4 no such device or display, 130 interrupted.\n`tilescope tilescope://lesson/layouts/3` "
      "opens the window where a link of a page leads.\nExample:\n  tilescope eval "
      "'composition((6,2):(8,2), (4,3):(3,1))'");
  bool json = false;
  app.add_flag("--json", json, "one JSON document on stdout");
  app.fallthrough();  // a command without --json of its own takes it too
  Action chosen;
  define_commands(app, chosen);

  end_by_exit_code();
  // Known before parsing, so that a usage error under --json is a document too.
  Terminal terminal;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--") break;  // what follows is another program's
    if (word == "--json") terminal.use_json();
  }
  try {
    std::vector<char*> words = with_link_opened(argc, argv);
    say_help_as_an_option(words);
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::Success& help) {
    return terminal.finish(app.exit(help));
  } catch (const CLI::ParseError& wrong) {
    return terminal.fail({ErrorKind::usage, usage_sentence(app, wrong), ""});
  }
  return terminal.finish(chosen ? chosen(terminal) : open_window_or_explain(terminal));
}

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

}  // namespace tilescope
