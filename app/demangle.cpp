#include "app/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace tilescope {
namespace {

// Without what is in the brackets that `open` and `close` are, at the outermost level; `filling`
// stands for it.
std::string without(std::string_view text, char open, char close, std::string_view filling) {
  std::string out;
  int depth = 0;
  for (const char c : text) {
    if (c == open && depth++ == 0) out += c, out += filling;
    if (c == close && depth > 0 && --depth == 0) {
      out += c;
      continue;
    }
    if (depth == 0) out += c;
  }
  return out;
}

// The beginning of a mangled name, "cutlass::device_kernel<...>": for those that the C++ library
// does not know how to read whole.
std::string beginning(std::string_view name) {
  std::string out;
  name.remove_prefix(2);  // _Z
  if (name.starts_with('N')) name.remove_prefix(1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  while (!name.empty() && is_digit(name[0])) {
    std::size_t length = 0, digits = 0;
    while (digits < name.size() && digits < 6 && is_digit(name[digits])) {
      length = length * 10 + static_cast<std::size_t>(name[digits++] - '0');
    }
    if (length == 0 || digits + length > name.size()) return "";
    out += (out.empty() ? "" : "::") + std::string(name.substr(digits, length));
    name.remove_prefix(digits + length);
  }
  return name.starts_with('I') && !out.empty() ? out + "<...>" : out;
}

}  // namespace

std::string demangled(std::string_view name) {
  int status = 0;
  const std::string text(name);
  if (!name.starts_with("_Z")) return text;  // `d` alone would be a double
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free);
  if (status == 0 && readable) return readable.get();
  const std::string known = beginning(name);
  return known.empty() ? text : known;
}

std::string plain_name(std::string_view name) {
  std::string out = demangled(name);
  out = without(out.substr(0, out.find('(')), '<', '>', "");
  out.resize(std::min(out.size(), out.find('<')));
  out = out.substr(out.find_last_of(" :") + 1);
  return out.empty() ? std::string(name) : out;
}

std::string short_name(std::string_view name, std::size_t most) {
  std::string out = demangled(name);
  if (out.size() <= most) return out;
  out = without(out, '(', ')', "");
  if (out.ends_with("()")) out.resize(out.size() - 2);
  if (out.size() > most) out = without(out, '<', '>', "...");
  if (out.size() > most) out = out.substr(0, most - 3) + "...";
  return out;
}

std::string readable(std::string_view text) {
  const auto in_name = [](char c) {
    return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
  };
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && in_name(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    const std::string_view word = text.substr(at, end - at);
    out += word.starts_with("_Z") ? short_name(word) : std::string(word);
    at = end;
  }
  return out;
}

}  // namespace tilescope
