#include "viz/commands/command_palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "viz/commands/commands.h"
#include "viz/commands/script.h"
#include "viz/scene/command_text.h"

namespace tilescope {
namespace {

bool begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

// A line of the table: "isolate", literal "tile", and "N" that is to be said.
struct Known {
  std::string line, arguments, help, keys;
  bool needs = false;  // without more it cannot be done
};

// "N" is to be said, "[N]" may be; "tile" is itself.
bool is_literal(std::string_view word) {
  return word.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ[.") == std::string_view::npos;
}

// "add N | nothing" are two; "[rows | columns]" is one, which may be left out.
std::vector<std::string_view> alternatives(std::string_view arguments) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  int inside = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    inside += arguments[i] == '[' ? 1 : arguments[i] == ']' ? -1 : 0;
    if (inside > 0 || arguments.substr(i, 3) != " | ") continue;
    out.push_back(arguments.substr(begin, i - begin));
    begin = i + 3;
  }
  out.push_back(arguments.substr(begin));
  return out;
}

std::string keys_of(const WindowCommand& command, std::string_view line) {
  for (const KeyBinding& binding : key_bindings(command)) {
    if (binding.line == line) return binding.keys;
  }
  return "";
}

// The literal words of an alternative, and what is left to be said.
Known known(const WindowCommand& command, std::string_view alternative) {
  Known out;
  out.line = command.name;
  out.help = command.help;
  auto [word, rest] = first_word(alternative);
  while (!word.empty() && is_literal(word)) {
    out.line += fmt::format(" {}", word);
    alternative = rest;
    std::tie(word, rest) = first_word(rest);
  }
  out.arguments = trimmed(alternative);
  out.needs = !out.arguments.empty() && out.arguments.front() != '[';
  out.keys = keys_of(command, out.line);
  return out;
}

// All lines of a command. What begins with something to be said is one line together.
void add_lines(const WindowCommand& command, const Session& session, const Backend& backend,
               std::vector<Known>& out) {
  std::vector<Suggestion> suggested;
  if (command.suggest) suggested = command.suggest(session, backend);
  std::optional<Known> open;
  const std::size_t first = out.size();
  for (std::string_view alternative : alternatives(command.arguments)) {
    Known line = known(command, alternative);
    if (line.line != command.name) {
      // What can be done now is what is suggested.
      if (line.needs || suggested.empty()) out.push_back(std::move(line));
    } else if (!open) {
      open = std::move(line);
    } else {
      open->arguments += fmt::format(" | {}", line.arguments);
    }
  }
  if (open) out.insert(out.begin() + static_cast<std::ptrdiff_t>(first), std::move(*open));
  for (const Suggestion& each : suggested) {
    const std::string line = fmt::format("{} {}", command.name, each.arguments);
    out.push_back({line, "", each.help, keys_of(command, line), false});
  }
}

// How well a token is found in a line: the smaller the better; nothing where it is not.
std::optional<int> found(std::string_view line, std::string_view token,
                         std::vector<std::size_t>& lit) {
  for (std::size_t at = line.find(token); at != std::string_view::npos;
       at = line.find(token, at + 1)) {
    const bool word = at == 0 || line[at - 1] == ' ';
    if (!word && line.find(std::string(" ") + std::string(token)) != std::string_view::npos)
      continue;
    for (std::size_t i = 0; i < token.size(); ++i) lit.push_back(at + i);
    return at == 0 ? 0 : word ? 1 : 4;
  }
  // Scattered: the first letter begins a word, and the rest follow in order.
  for (std::size_t begin = 0; begin < line.size(); ++begin) {
    if (line[begin] != token[0] || (begin > 0 && line[begin - 1] != ' ')) continue;
    std::vector<std::size_t> at;
    std::size_t i = begin;
    for (char c : token) {
      while (i < line.size() && line[i] != c) ++i;
      if (i == line.size()) break;
      at.push_back(i++);
    }
    if (at.size() != token.size()) continue;
    const auto gaps = static_cast<int>(at.back() - at.front() + 1 - at.size());
    if (gaps > 8) continue;
    lit.insert(lit.end(), at.begin(), at.end());
    return 8 + gaps;
  }
  return {};
}

std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> out;
  auto [word, rest] = first_word(text);
  while (!word.empty()) {
    out.push_back(lower(word));
    std::tie(word, rest) = first_word(rest);
  }
  return out;
}

struct Ranked {
  int score = 0;
  PaletteEntry entry;
};

std::optional<Ranked> rank(const Known& known, std::string_view text,
                           const std::vector<std::string>& tokens) {
  constexpr std::string_view view = "select ";
  Ranked out;
  out.entry = {known.line, known.arguments, known.help, known.keys, {}, !known.needs};
  const std::string line = lower(known.line), help = lower(known.help);
  for (const std::string& token : tokens) {
    if (const auto score = found(line, token, out.entry.lit)) {
      out.score += *score;
    } else if (token.size() >= 3 && help.find(token) != std::string::npos) {
      out.score += 30;
    } else {
      return {};
    }
  }
  if (line == text) {
    out.score -= 2000;
  } else if (line.starts_with(view) && begins(std::string_view(line).substr(view.size()), text)) {
    out.score -= 1001;  // a view is looked for by its name
  } else if (begins(line, text)) {
    out.score -= 1000;
  }
  std::sort(out.entry.lit.begin(), out.entry.lit.end());
  return out;
}

const WindowCommand* command_of(std::string_view text) {
  const std::string_view name = first_word(text).first;
  for (const WindowCommand& command : window_commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

// The line as typed, where it says a command and something for it.
std::optional<Ranked> as_typed(std::string_view text) {
  const WindowCommand* command = command_of(text);
  const std::string_view line = trimmed(text);
  if (!command || line == command->name) return {};
  Ranked out;
  out.score = -500;  // behind what it may be the beginning of
  out.entry = {std::string(line),
               "",
               fmt::format("{}: {}", command->arguments, command->help),
               "",
               {},
               true};
  return out;
}

// Writes the entry into the line; where it stands there already, says what is missing.
void complete(Session& session, const PaletteEntry& entry) {
  const bool there = trimmed(session.overlay.text) == entry.line;
  type_palette(session, entry.line + " ");
  if (there) {
    session.overlay.problem = fmt::format("`{}` needs more: {}.", entry.line, entry.arguments);
  }
}

void add_all(std::vector<PaletteEntry>& out) {
  for (const WindowCommand& command : window_commands()) {
    const bool needs = !command.arguments.empty() && command.arguments.front() != '[';
    out.push_back({std::string(command.name),
                   std::string(command.arguments),
                   std::string(command.help),
                   keys_text(command),
                   {},
                   !needs});
  }
}

}  // namespace

std::vector<PaletteEntry> palette_entries(const Session& session, const Backend& backend,
                                          std::string_view text, std::size_t most) {
  std::vector<PaletteEntry> out;
  const std::vector<std::string> tokens = tokens_of(text);
  if (tokens.empty()) {
    add_all(out);
    return out;
  }
  std::vector<Known> lines;
  for (const WindowCommand& command : window_commands()) {
    add_lines(command, session, backend, lines);
  }
  const std::string wanted = lower(trimmed(text));
  std::vector<Ranked> ranked;
  bool exact = false;
  for (const Known& line : lines) {
    std::optional<Ranked> each = rank(line, wanted, tokens);
    if (!each) continue;
    exact = exact || each->entry.line == trimmed(text);
    ranked.push_back(std::move(*each));
  }
  if (std::optional<Ranked> typed = as_typed(text); typed && !exact) {
    ranked.push_back(std::move(*typed));
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return a.score < b.score; });
  for (std::size_t i = 0; i < std::min(most, ranked.size()); ++i) {
    out.push_back(std::move(ranked[i].entry));
  }
  return out;
}

void open_palette(Session& session, std::string_view text) {
  session.overlay = {Overlay::Kind::palette, std::string(text), 0, ""};
}

void type_palette(Session& session, std::string_view text) {
  session.overlay.text = text;
  session.overlay.chosen = 0;
  session.overlay.problem.clear();
}

void move_palette(Session& session, const Backend& backend, int by) {
  const std::size_t count = palette_entries(session, backend, session.overlay.text).size();
  if (count == 0) return;
  const auto size = static_cast<std::ptrdiff_t>(count);
  const auto at = static_cast<std::ptrdiff_t>(session.overlay.chosen) + by;
  session.overlay.chosen = static_cast<std::size_t>((at % size + size) % size);
}

void complete_palette(Session& session, const Backend& backend) {
  const auto entries = palette_entries(session, backend, session.overlay.text);
  if (session.overlay.chosen >= entries.size()) return;
  const PaletteEntry& entry = entries[session.overlay.chosen];
  type_palette(session, entry.line + (entry.arguments.empty() ? "" : " "));
}

void enter_palette(Session& session, Backend& backend) {
  const std::string text = session.overlay.text;
  const auto commands = split_commands(text);
  const std::vector<PaletteEntry> entries = palette_entries(session, backend, text);
  std::vector<std::string> lines;
  if (commands && commands->size() > 1) {
    lines = *commands;
  } else if (session.overlay.chosen < entries.size()) {
    const PaletteEntry& entry = entries[session.overlay.chosen];
    if (!entry.runs) return complete(session, entry);
    lines = {entry.line};
  } else {
    lines = {std::string(trimmed(text))};
  }
  const Overlay before = session.overlay;
  session.overlay = {};
  const auto answer = start_script(session, backend, std::move(lines));
  if (answer) return;
  // The error stands here, next to what caused it, and nowhere else.
  session.overlay = before;
  session.overlay.problem = answer.error().sentence;
  session.message = {};
}

}  // namespace tilescope
