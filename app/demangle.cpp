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

}  // namespace tilescope
