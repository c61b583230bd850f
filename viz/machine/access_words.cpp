#include "viz/machine/access_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

namespace tilescope {
namespace {

std::optional<unsigned> small_number(std::string_view text) {
  unsigned out = 0;
  if (text.empty() || text.size() > 4) return {};
  for (const char c : text) {
    if (!std::isdigit(static_cast<unsigned char>(c))) return {};
    out = out * 10 + static_cast<unsigned>(c - '0');
  }
  return out;
}

// Bits of "b32", "f16x2".
std::optional<unsigned> type_bits(std::string_view type) {
  if (type.size() < 2 || std::string_view("busf").find(type[0]) == std::string_view::npos) {
    return {};
  }
  const std::size_t times = type.find('x');
  const auto bits = small_number(type.substr(1, times == type.npos ? type.npos : times - 1));
  const auto count = times == type.npos ? std::optional(1u) : small_number(type.substr(times + 1));
  if (!bits || !count) return {};
  return *bits * *count;
}

// The opcode and its modifiers, without a guard: ld, global, v4, f32.
std::vector<std::string_view> opcode_parts(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  const auto skip = [&] {
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  };
  skip();
  if (!text.empty() && text[0] == '@') {
    while (!text.empty() && !blank(text.front())) text.remove_prefix(1);
    skip();
  }
  text = text.substr(0, text.find_first_of(" \t;"));
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t dot = std::min(text.find('.'), text.size());
    out.push_back(text.substr(0, dot));
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  return out;
}

// cp.async copies as many bytes as its third operand says: [to], [from], 16.
std::optional<unsigned> third_operand(std::string_view text) {
  const std::size_t first = text.find(']');
  const std::size_t second = first == text.npos ? first : text.find(']', first + 1);
  if (second == text.npos) return {};
  std::size_t at = second + 1, end;
  while (at < text.size() && (text[at] == ',' || text[at] == ' ')) ++at;
  for (end = at; end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]));) ++end;
  return small_number(text.substr(at, end - at));
}

std::optional<unsigned> bytes_a_lane(std::string_view instruction) {
  const std::vector<std::string_view> parts = opcode_parts(instruction);
  if (parts.empty()) return {};
  const auto has = [&](std::string_view part) {
    return std::find(parts.begin() + 1, parts.end(), part) != parts.end();
  };
  const std::string_view op = parts[0];
  if (op == "cp") {
    const bool one = has("async") && !has("bulk") && (has("ca") || has("cg"));
    return one ? third_operand(instruction) : std::nullopt;
  }
  if (op == "ldmatrix" || op == "stmatrix") {
    return has("x4") ? 16 : has("x2") ? 8 : 4;
  }
  const bool moves = op == "ld" || op == "st" || op == "ldu" || op == "atom" || op == "red";
  if (!moves || has("param") || has("const") || has("async") || has("bulk")) return {};
  const auto bits = type_bits(parts.back());
  if (!bits) return {};
  unsigned count = 1;
  for (const std::string_view part : parts) {
    if (part.size() == 2 && part[0] == 'v') count = small_number(part.substr(1)).value_or(1);
  }
  return *bits * count / 8;
}

}  // namespace

std::string access_words(std::string_view instruction) {
  const auto bytes = bytes_a_lane(instruction);
  if (!bytes || *bytes == 0) return "";
  return fmt::format("{} byte{} a lane", *bytes, *bytes == 1 ? "" : "s");
}

}  // namespace tilescope
