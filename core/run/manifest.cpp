#include "core/run/manifest.h"

#include <charconv>
#include <string>

namespace tilescope {
namespace {

constexpr std::string_view entry_word = ".entry", line_word = "// tilescope: ";

// The next word of a line, which is shortened by it; empty at the end.
std::string_view take_word(std::string_view& line) {
  const std::string_view blank = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(blank), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(blank));
  line.remove_prefix(word.size());
  return word;
}

std::optional<std::uint32_t> take_number(std::string_view& line) {
  const std::string_view word = take_word(line);
  std::uint32_t value = 0;
  const char* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, value);
  if (word.empty() || error != std::errc() || end != last) return {};
  return value;
}

// From its name to the next entry.
std::string_view text_of(std::string_view ptx, std::string_view entry) {
  std::size_t at = ptx.find(entry_word);
  while (at != ptx.npos) {
    std::string_view rest = ptx.substr(at + entry_word.size());
    const std::size_t next = rest.find(entry_word);
    rest = rest.substr(0, next);
    const std::string_view name = rest.substr(0, rest.find_first_of("(\n"));
    std::string_view line = name;
    if (take_word(line) == entry) return rest.substr(name.size());
    at = next == rest.npos ? ptx.npos : at + entry_word.size() + next;
  }
  return {};
}

void read_line(std::string_view line, Manifest& out) {
  constexpr std::uint32_t most_barriers = 1 << 16;
  const std::string_view word = take_word(line);
  if (word == "shared") {
    if (const auto bytes = take_number(line)) out.shared = bytes;
  } else if (word == "barrier") {
    const std::string name(take_word(line));
    const auto byte = take_number(line), count = take_number(line);
    if (!byte || !count || *count > most_barriers) return;
    out.barriers.merge(barriers_from(*byte, {{name, *count}}));
  }
}

}  // namespace

Manifest manifest_in(std::string_view ptx, std::string_view entry) {
  Manifest out;
  std::string_view text = text_of(ptx, entry);
  for (std::size_t at; (at = text.find(line_word)) != text.npos;) {
    text.remove_prefix(at + line_word.size());
    read_line(text.substr(0, text.find('\n')), out);
  }
  return out;
}

}  // namespace tilescope
