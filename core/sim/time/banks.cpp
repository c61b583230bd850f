#include "core/sim/time/banks.h"

#include <algorithm>

namespace tilescope::sim {
std::uint32_t ideal_wavefronts(std::uint32_t mask, std::uint32_t bytes) {
  const auto all = count_lanes(mask) * std::max(bytes, 4u);
  return (all + 127) / 128;
}

std::uint32_t Sectors::lines() const {
  std::uint32_t out = 0;
  for (std::uint32_t i = 0; i < count; ++i) out += i == 0 || number[i] / 4 != number[i - 1] / 4;
  return out;
}

std::uint32_t lanes_of_a_bank(const std::uint64_t* addresses, std::uint32_t mask) {
  std::array<std::uint32_t, banks> count{};
  for (; mask; mask &= mask - 1) ++count[addresses[__builtin_ctz(mask)] / 4 % banks];
  return *std::max_element(count.begin(), count.end());
}

std::uint32_t lanes_of_a_word(const std::uint64_t* addresses, std::uint32_t mask,
                              std::uint64_t sector) {
  std::array<std::uint32_t, 8> count{};
  for (; mask; mask &= mask - 1) {
    const std::uint64_t address = addresses[__builtin_ctz(mask)];
    if (address / 32 == sector) ++count[address / 4 % 8];
  }
  return *std::max_element(count.begin(), count.end());
}

void find_sectors(const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t bytes,
                  Sectors& out) {
  out.count = 0;
  if (mask == ~0u) {
    // All lanes side by side, or at one place: most accesses are.
    const std::uint64_t first = addresses[0], step = addresses[31] == first ? 0 : bytes;
    std::uint64_t elsewhere = 0;
    for (std::uint64_t l = 0, at = first; l < 32; ++l, at += step) elsewhere |= addresses[l] ^ at;
    if (!elsewhere) {
      const std::uint64_t all = step ? 32 * step : bytes;
      for (std::uint64_t s = first / 32; s <= (first + all - 1) / 32; ++s) {
        out.number[out.count++] = s;
      }
      out.ideal = static_cast<std::uint32_t>((all + 31) / 32);
      return;
    }
  }
  bool ascending = true;
  std::array<std::uint64_t, banks> seen;
  std::uint32_t distinct = 0;
  for (; mask; mask &= mask - 1) {
    const std::uint64_t address = addresses[__builtin_ctz(mask)];
    if (!distinct || seen[distinct - 1] != address) seen[distinct++] = address;
    for (std::uint64_t s = address / 32; s <= (address + bytes - 1) / 32; ++s) {
      if (out.count && out.number[out.count - 1] == s) continue;
      if (out.count && out.number[out.count - 1] > s) ascending = false;
      if (out.count < out.number.size()) out.number[out.count++] = s;
    }
  }
  if (!ascending) {
    std::sort(seen.begin(), seen.begin() + distinct);
    distinct = static_cast<std::uint32_t>(std::unique(seen.begin(), seen.begin() + distinct) -
                                          seen.begin());
  }
  out.ideal = (distinct * bytes + 31) / 32;
  if (ascending) return;
  const auto begin = out.number.begin(), end = begin + out.count;
  std::sort(begin, end);
  out.count = static_cast<std::uint32_t>(std::unique(begin, end) - begin);
}

std::bitset<128> partly_written(const std::uint64_t* addresses, std::uint32_t mask,
                                std::uint32_t bytes, const Sectors& sectors) {
  std::array<std::uint32_t, 128> written;  // bytes of a sector, a bit each
  std::fill_n(written.begin(), sectors.count, 0u);
  std::uint32_t at = 0;
  for (; mask; mask &= mask - 1) {
    const std::uint64_t address = addresses[__builtin_ctz(mask)];
    for (std::uint64_t from = address; from < address + bytes;) {
      const std::uint64_t sector = from / 32, end = std::min(address + bytes, (sector + 1) * 32);
      if (sectors.number[at] != sector) {
        const auto first = sectors.number.begin();
        at = static_cast<std::uint32_t>(std::lower_bound(first, first + sectors.count, sector) -
                                        first);
      }
      if (at == sectors.count) at = 0;  // more of them than are kept
      written[at] |= ((2u << (end - 1) % 32) - 1) & ~((1u << from % 32) - 1);
      from = end;
    }
  }
  std::bitset<128> out;
  for (std::uint32_t k = 0; k < sectors.count; ++k) out[k] = written[k] != ~0u;
  return out;
}

}  // namespace tilescope::sim
