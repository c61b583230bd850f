#include "core/run/barrier_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tilescope {
namespace {

constexpr std::uint32_t barrier_bytes = 8;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_but_for_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

BarrierNames barriers_from(std::uint32_t byte, const std::vector<DeclaredBarrier>& declared) {
  BarrierNames out;
  for (const DeclaredBarrier& each : declared) {
    const std::uint32_t count = each.count ? each.count : 1;
    for (std::uint32_t i = 0; i < count; ++i, byte += barrier_bytes) {
      out[byte] = each.count ? fmt::format("{}[{}]", each.name, i) : each.name;
    }
  }
  return out;
}

std::string barrier_name(const BarrierNames& names, std::uint32_t byte) {
  const auto found = names.find(byte);
  return found == names.end() ? fmt::format("mbarrier {}", byte) : found->second;
}

std::string barrier_text(const BarrierNames& names, std::uint32_t byte) {
  const auto found = names.find(byte);
  return found == names.end() ? fmt::format("mbarrier {}", byte)
                              : fmt::format("{} (byte {})", found->second, byte);
}

std::optional<std::uint32_t> barrier_in(const BarrierNames& names, std::string_view text) {
  for (const auto& [byte, name] : names) {
    if (same_but_for_case(name, text)) return byte;
  }
  std::uint32_t byte = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, byte);
  if (text.empty() || error != std::errc() || end != last) return {};
  return byte;
}

}  // namespace tilescope
