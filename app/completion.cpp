// Completions for bash and zsh: commands, their options, and the values of an option where they can
// be counted. Everything else completes as a file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/generate.h"

namespace tilescope {
namespace {

std::vector<std::string> names_of(const std::vector<CommandText>& commands) {
  std::vector<std::string> names;
  for (const CommandText& command : commands) names.push_back(command.name);
  return names;
}

// bash: what may follow `tilescope NAME`, when the word before is an option with choices.
std::string bash_choices(const CommandText& command) {
  std::string out;
  for (const OptionText& option : command.options) {
    if (option.state.empty()) continue;
    for (const std::string& name : option.names) {
      const std::string previous = option.positional ? command.name : name;
      out += fmt::format("    {}:{}) words=\"{}\" ;;\n", command.name, previous,
                         fmt::join(option.state, " "));
    }
  }
  return out;
}

// The options that take a value: what follows them is that value, a file's name for all we know.
std::string bash_valued(const CommandText& command) {
  std::vector<std::string> patterns;
  for (const OptionText& option : command.options) {
    if (option.positional || option.value.empty() || !option.state.empty()) continue;
    for (const std::string& name : option.names) patterns.push_back(command.name + ":" + name);
  }
  return patterns.empty() ? "" : fmt::format("    {}) return ;;\n", fmt::join(patterns, "|"));
}

std::string bash_options(const CommandText& command) {
  std::vector<std::string> names;
  for (const OptionText& option : command.options) {
    if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return fmt::format("      {}) words=\"{}\" ;;\n", command.name, fmt::join(names, " "));
}

// zsh: inside '...', with a backslash before what has a meaning there: ":" between the parts of a
// specification, "[" and "]" around an option's help.
std::string zsh_text(std::string_view text, std::string_view special = ":\\") {
  std::string out;
  for (char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (special.find(c) != std::string_view::npos)
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

std::string zsh_option(const OptionText& option) {
  const std::string value =
      option.state.empty() ? "_files" : fmt::format("({})", fmt::join(option.state, " "));
  if (option.positional) {
    const char* which = option.state.empty() ? "*" : "1";
    return fmt::format(" \\\n        '{}:{}:{}'", which, zsh_text(option.help), value);
  }
  std::string out;
  for (const std::string& name : option.names) {
    out += fmt::format(" \\\n        '*{}[{}]", name, zsh_text(option.help, ":[]\\"));
    out += option.value.empty() ? "'" : fmt::format(":{}:{}'", zsh_text(option.value), value);
  }
  return out;
}

}  // namespace

std::string bash_completion(const std::vector<CommandText>& commands) {
  std::string state, valued, options;
  for (const CommandText& command : commands) {
    state += bash_choices(command);
    valued += bash_valued(command);
    options += bash_options(command);
  }
  return fmt::format(R"(# bash completion for tilescope, written by `tilescope generate bash`
_tilescope() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words=""
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "{} --help --version" -- "$current")
    return
  fi
  case ${{COMP_WORDS[1]}}:${{COMP_WORDS[COMP_CWORD - 1]}} in
{}{}  esac
  if [[ -z $words && $current == -* ]]; then
    case ${{COMP_WORDS[1]}} in
{}    esac
  fi
  [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _tilescope tilescope
)",
                     fmt::join(names_of(commands), " "), state, valued, options);
}

std::string zsh_completion(const std::vector<CommandText>& commands) {
  std::string described, arguments;
  for (const CommandText& command : commands) {
    described += fmt::format("      '{}:{}'\n", command.name, zsh_text(command.help));
    arguments += fmt::format("    {})\n      _arguments -s", command.name);
    for (const OptionText& option : command.options) arguments += zsh_option(option);
    arguments += "\n      ;;\n";
  }
  return fmt::format(R"(#compdef tilescope
# Written by `tilescope generate zsh`.
_tilescope() {{
  if ((CURRENT == 2)); then
    local -a commands=(
{}    )
    _describe command commands
    _arguments '--help[what there is]' '--version[the version]'
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
{}  esac
}}
_tilescope "$@"
)",
                     described, arguments);
}

}  // namespace tilescope
