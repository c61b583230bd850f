#include "app/demangle.h"

#include <cxxabi.h>

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

}  // namespace

std::string demangled(std::string_view name) {
  int status = 0;
  const std::string text(name);
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && readable ? readable.get() : text;
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
