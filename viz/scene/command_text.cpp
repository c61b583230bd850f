#include "viz/scene/command_text.h"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>

namespace tilescope {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// Reads text from left to right and knows whether a character stands inside quotes or brackets.
class Nesting {
 public:
  // True if `c` belongs to no quote and no bracket, so that it may separate.
  bool outside(char c) {
    if (quote_) {
      if (c == quote_) quote_ = 0;
      return false;
    }
    if (c == '"' || c == '\'') {
      quote_ = c;
      return false;
    }
    if (c == '(' || c == '[' || c == '{') ++depth_;
    // A bracket that was never opened is the business of whoever reads the command.
    if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
    return depth_ == 0;
  }
  bool in_quote() const { return quote_ != 0; }

 private:
  char quote_ = 0;
  int depth_ = 0;
};

// Source text that goes to the end: `edit line 12 a = b; c = d;`. Quoted text ends where its quote
// does.
bool takes_the_rest(std::string_view command) {
  const auto word = [&] {
    command.remove_prefix(std::min(command.find_first_not_of(kBlanks), command.size()));
    const std::size_t end = std::min(command.find_first_of(kBlanks), command.size());
    const std::string_view out = command.substr(0, end);
    command.remove_prefix(end);
    return out;
  };
  if (word() != "edit") return false;
  const std::string_view how = word();
  if (how != "line" && how != "insert") return false;
  const std::string_view number = word();
  const bool is_number =
      !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
  const std::string_view text = word();
  return is_number && !text.empty() && text.front() != '"' && text.front() != '\'';
}

}  // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

Outcome<std::vector<std::string>> split_commands(std::string_view line) {
  std::vector<std::string> commands;
  Nesting nesting;
  std::size_t begin = 0;
  const auto take = [&](std::size_t end) {
    const std::string_view command = trimmed(line.substr(begin, end - begin));
    if (!command.empty()) commands.emplace_back(command);
    begin = end + 1;
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!nesting.outside(line[i]) || line[i] != ';') continue;
    if (takes_the_rest(line.substr(begin, i - begin))) {
      take(line.size());
      return commands;
    }
    take(i);
  }
  if (nesting.in_quote()) {
    return Error{ErrorKind::usage, fmt::format("A quote in the commands `{}` does not end.", line),
                 ""};
  }
  take(line.size());
  return commands;
}

std::vector<std::string> split_words(std::string_view command) {
  std::vector<std::string> words;
  Nesting nesting;
  std::size_t begin = std::string_view::npos;
  const auto take = [&](std::size_t end) {
    if (begin == std::string_view::npos) return;
    words.emplace_back(unquoted(command.substr(begin, end - begin)));
    begin = std::string_view::npos;
  };
  for (std::size_t i = 0; i < command.size(); ++i) {
    const bool outside = nesting.outside(command[i]);
    if (outside && kBlanks.find(command[i]) != std::string_view::npos) {
      take(i);
    } else if (begin == std::string_view::npos) {
      begin = i;
    }
  }
  take(command.size());
  return words;
}

std::pair<std::string_view, std::string_view> first_word(std::string_view text) {
  text = trimmed(text);
  const std::size_t end = text.find_first_of(kBlanks);
  if (end == std::string_view::npos) return {text, {}};
  return {text.substr(0, end), trimmed(text.substr(end))};
}

std::string_view unquoted(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
      text.find(text.front(), 1) == text.size() - 1) {
    return text.substr(1, text.size() - 2);
  }
  return text;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size() || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0) return {};
    out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
    i += 2;
  }
  return out;
}

std::string quoted_word(std::string_view word) {
  const bool plain = !word.empty() && word.find_first_of(" \t\r\n;\"'") == std::string_view::npos;
  if (plain) return std::string(word);
  const char quote = word.find('"') == std::string_view::npos ? '"' : '\'';
  return fmt::format("{}{}{}", quote, word, quote);
}

std::string shell_word(std::string_view text) {
  if (!text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                              "0123456789-_./=:,%+") == std::string_view::npos) {
    return std::string(text);
  }
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

Error usage_error(std::string sentence) {
  return {ErrorKind::usage, std::move(sentence), ""};
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

}  // namespace tilescope
