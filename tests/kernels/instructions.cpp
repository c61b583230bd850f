#include "tests/kernels/instructions.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace tilescope::test {
namespace {

bool read_instruction(const std::string& line, const std::vector<std::string>& names,
                      Instruction& x) {
  std::string s = line;
  if (begins(s, "@")) {
    const std::size_t end = s.find(' ');
    if (end == std::string::npos) return false;
    x.guard = s.substr(0, end + 1);
    s = trimmed(s.substr(end));
  }
  for (const std::string& name : names) {
    if (!begins(s, name)) continue;
    const std::size_t end = s.find_first_of(" \t;");
    x.name = name;
    x.opcode = s.substr(0, end);
    x.rest = trimmed(s.substr(end, s.find("//") - end));
    return true;
  }
  return false;
}

// "LABEL:", try_wait, "@!p bra LABEL;"
void find_loop(const std::vector<std::string>& lines, Instruction& x) {
  for (std::size_t at = x.at + 1; at < std::min(lines.size(), x.at + 3); ++at) {
    if (begins(trimmed(lines[at]), "@!") && has(lines[at], "bra")) x.back = at;
  }
}

}  // namespace

std::string trimmed(const std::string& s) {
  const std::size_t first = s.find_first_not_of(" \t"), last = s.find_last_not_of(" \t");
  return first == std::string::npos ? "" : s.substr(first, last - first + 1);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

EntryText read_entry(const std::vector<std::string>& lines, const std::string& entry,
                     const std::vector<std::string>& names) {
  const std::string head = ".entry " + entry + (entry.empty() ? "" : "(");
  EntryText out;
  std::size_t at = 0, straight = 0;
  while (at < lines.size() && !has(lines[at], head)) ++at;
  out.begin = at;
  std::size_t block = 0;  // where a block of inline assembly begins; 0: outside
  for (; at < lines.size() && (block || lines[at] != "}"); ++at, out.end = at) {
    const std::string line = trimmed(lines[at]);
    if (line == "{" && at && has(lines[at - 1], "begin inline asm")) block = at;
    if (line == "}" && block) {
      for (Instruction& x : out.instructions) {
        if (x.at > block) x.last = at;
      }
      block = 0;
    }
    const bool label = has(line, ":") && line.find(':') + 1 == line.size();
    if (!block && (label || has(line, "bra"))) ++straight;
    Instruction x;
    if (!read_instruction(line, names, x)) continue;
    x.at = x.first = x.last = at;
    x.straight = straight;
    if (block) x.first = block;
    if (has(x.name, "_wait")) find_loop(lines, x);
    out.instructions.push_back(std::move(x));
  }
  return out;
}

std::string called(const Instruction& x) {
  const bool plain = !has(x.rest, "[") && !has(x.rest, "{");
  return x.name + (plain && x.rest.size() > 1 ? " " + x.rest.substr(0, x.rest.size() - 1) : "");
}

std::string last_operand(const std::string& rest, std::string& before) {
  const std::size_t comma = rest.rfind(',');
  before = comma == std::string::npos ? "" : rest.substr(0, comma + 2);
  const std::size_t from = comma == std::string::npos ? 0 : comma + 1;
  return trimmed(rest.substr(from, rest.rfind(';') - from));
}

std::string displaced(const std::string& rest, std::size_t n, int by) {
  std::size_t at = 0;
  for (std::size_t i = 0; i <= n; ++i) {
    at = rest.find('[', at);
    if (at == std::string::npos) return "";
    ++at;
  }
  const std::size_t end = rest.find(']', at);
  std::string inside = rest.substr(at, end - at);
  if (has(inside, ",") || has(inside, "-")) return "";
  const std::size_t plus = inside.find('+');
  if (plus != std::string::npos) {
    by += std::stoi(inside.substr(plus + 1));
    inside.resize(plus);
  }
  return rest.substr(0, at) + inside + fmt::format("{:+}", by) + rest.substr(end);
}

}  // namespace tilescope::test
