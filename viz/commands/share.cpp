#include "viz/commands/share.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "viz/scene/command_text.h"

namespace tilescope {
namespace {

constexpr std::string_view kPrefix = "tilescope:";
constexpr char kBetween = '\x1e';
constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

Error broken_share(std::string why) {
  return {ErrorKind::usage,
          fmt::format("This share string is broken: {} Copy it again, whole.", why), ""};
}

// The lowest 24 bits of FNV-1a (Fowler, Noll, Vo), as three bytes.
std::string check_of(std::string_view text) {
  std::uint32_t hash = 2166136261u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return {static_cast<char>(hash >> 16), static_cast<char>(hash >> 8), static_cast<char>(hash)};
}

std::string to_base64(std::string_view bytes) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) out += kDigits[bits >> (count - 6) & 63];
  }
  if (count > 0) out += kDigits[bits << (6 - count) & 63];
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return {};
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if ((count += 6) >= 8) out += static_cast<char>(bits >> (count -= 8));
  }
  return out;
}

// Without what pasting brings: blanks, line breaks, quotes and brackets around, a stop behind.
std::string cleaned(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (std::string_view(" \t\r\n").find(c) == std::string_view::npos) out += c;
  }
  const std::size_t begin = out.find(kPrefix);
  if (begin == std::string::npos) return out;
  const char around = begin > 0 ? out[begin - 1] : ' ';
  out.erase(0, begin);
  const std::string_view ends = around == '(' ? ").,>\"'`" : ".,>\"'`";
  while (!out.empty() && ends.find(out.back()) != std::string_view::npos) out.pop_back();
  return out;
}

// "+" is a blank, as in the query of an address.
Outcome<std::vector<std::string>> read_version_0(std::string_view body) {
  std::string blanks(body);
  std::replace(blanks.begin(), blanks.end(), '+', ' ');
  const auto text = percent_decoded(blanks);
  if (!text) return broken_share("a % in it is not followed by two hexadecimal digits.");
  return split_commands(*text);
}

Outcome<std::vector<std::string>> read_version_1(std::string_view body) {
  const auto bytes = from_base64(body);
  if (!bytes) return broken_share("a character in it belongs to no share string.");
  if (bytes->size() < 3) return broken_share("it is too short.");
  const std::string_view text = std::string_view(*bytes).substr(0, bytes->size() - 3);
  if (check_of(text) != std::string_view(*bytes).substr(text.size())) {
    return broken_share("a part is missing or was changed.");
  }
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(kBetween, begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

std::string share_string(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (!text.empty()) text += kBetween;
    text += line;
  }
  return fmt::format("{}{}:{}", kPrefix, share_version, to_base64(text + check_of(text)));
}

bool is_share(std::string_view text) {
  return cleaned(text).substr(0, kPrefix.size()) == kPrefix;
}

std::string migrated(std::string line, int version) {
  if (version < 1 && first_word(line).first == "color") line.insert(4, "u");
  // Once it kept the view without being asked to.
  constexpr std::string_view keep = " keep";
  const bool at = line.rfind("lesson at ", 0) == 0;
  // Of a quote that nobody closes words are no help.
  const bool has =
      line.size() > keep.size() && line.compare(line.size() - keep.size(), keep.size(), keep) == 0;
  if (version < 2 && at && !has && split_words(line).back() != "keep") line += keep;
  return line;
}

Outcome<std::vector<std::string>> read_share(std::string_view pasted) {
  const std::string whole = cleaned(pasted);
  std::string_view text = whole;
  if (text.substr(0, kPrefix.size()) != kPrefix) {
    return Error{ErrorKind::usage,
                 "This is no share string: one begins with `tilescope:1:`, as the command `share` "
                 "copies it.",
                 ""};
  }
  text.remove_prefix(kPrefix.size());
  const std::size_t colon = text.find(':');
  int version = 0;
  for (char c : text.substr(0, std::min(colon, text.size()))) {
    if (c < '0' || c > '9' || version > 999) return broken_share("its version is no number.");
    version = version * 10 + (c - '0');
  }
  if (colon == std::string_view::npos || colon == 0) return broken_share("it has no version.");
  if (version > share_version) {
    return Error{ErrorKind::usage,
                 fmt::format("This share string has version {}; this Tilescope reads up to {}. A "
                             "newer Tilescope opens it.",
                             version, share_version),
                 ""};
  }
  const std::string_view body = text.substr(colon + 1);
  auto lines = version == 0 ? read_version_0(body) : read_version_1(body);
  if (!lines) return lines.error();
  if (lines->empty()) return broken_share("nothing is in it.");
  for (std::string& line : *lines) line = migrated(std::move(line), version);
  return lines;
}

}  // namespace tilescope
