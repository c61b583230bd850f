#include "core/layout/access.h"

#include <algorithm>
#include <array>

#include "core/layout/analysis.h"

namespace tilescope {
namespace {

using Rule = Refusal::Rule;

Refusal needs_access(WarpAccess access) {
  for (std::int64_t n : {access.width, access.element}) {
    if (n != 1 && n != 2 && n != 4 && n != 8 && n != 16) {
      return detail::refuse(Rule::access_width, -1, n);
    }
  }
  return {};
}

// Byte addresses of every lane of every instruction.
struct Requests {
  std::int64_t lanes = 0, instructions = 0;
  std::vector<std::int64_t> address;
  std::int64_t of(std::int64_t instruction, std::int64_t lane) const {
    return address[static_cast<std::size_t>(instruction * lanes + lane)];
  }
};

Result<Requests> requests(const Layout& layout, WarpAccess access) {
  if (const Refusal r = needs_access(access)) return r;
  if (const Refusal r = detail::needs_concrete(layout, 0, {.swizzle = true, .negative = true})) {
    return r;
  }
  if (layout.modes.empty()) return detail::refuse(Rule::empty);
  const Result<std::int64_t> n = size(layout), lanes = size(*get(layout, 0));
  if (!n) return n.refusal;
  if (*n > countable) return detail::refuse(Rule::too_large_to_list, -1, *n, countable);
  if (*lanes > lanes_of_warp) return detail::refuse(Rule::lanes, 0, *lanes);
  Requests out{*lanes, *n / *lanes, {}};
  out.address.reserve(static_cast<std::size_t>(*n));
  bool fits = true;
  for (std::int64_t i = 0; i < *n; ++i) {
    const std::int64_t address = checked_mul(layout(i), access.element, fits);
    if (address < 0) return detail::refuse(Rule::out_of_bounds, -1, address);
    if (address % access.width != 0) {
      return detail::refuse(Rule::not_aligned, -1, address, access.width);
    }
    out.address.push_back(address);
  }
  if (!fits) return detail::refuse(Rule::overflow);
  return out;
}

int lanes_in_phase(std::int64_t width) {
  return width <= bank_bytes ? lanes_of_warp : lanes_of_warp * bank_bytes / static_cast<int>(width);
}

// The distinct words of one phase, by bank.
struct Busiest {
  int bank = 0;
  std::int64_t words = 0;
};
Busiest busiest_bank(const Requests& all, std::int64_t instruction, std::int64_t first,
                     std::int64_t last, std::int64_t width) {
  std::array<std::int64_t, lanes_of_warp * 4> words{};
  std::size_t count = 0;
  for (std::int64_t lane = first; lane < last; ++lane) {
    const std::int64_t begin = all.of(instruction, lane) / bank_bytes;
    for (std::int64_t w = 0; w < (width + bank_bytes - 1) / bank_bytes; ++w) {
      words[count++] = begin + w;
    }
  }
  const auto end = words.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(words.begin(), end);
  std::array<std::int64_t, banks> distinct{};
  for (auto it = words.begin(); it != end; it = std::upper_bound(it, end, *it)) {
    ++distinct[static_cast<std::size_t>(*it % banks)];
  }
  const auto most = std::max_element(distinct.begin(), distinct.end());
  return {static_cast<int>(most - distinct.begin()), *most};
}

}  // namespace

Result<BankConflicts> bank_conflicts(const Layout& lanes, WarpAccess access) {
  const Result<Requests> all = requests(lanes, access);
  if (!all) return all.refusal;
  BankConflicts out;
  out.instructions = all->instructions;
  const int in_phase = lanes_in_phase(access.width);
  for (std::int64_t k = 0; k < all->instructions; ++k) {
    for (std::int64_t first = 0; first < all->lanes; first += in_phase) {
      const std::int64_t last = std::min<std::int64_t>(first + in_phase, all->lanes);
      const Busiest worst = busiest_bank(*all, k, first, last, access.width);
      out.wavefronts += worst.words;
      ++out.ideal;
      if (worst.words <= out.worst_words) continue;
      out.worst_instruction = k;
      out.worst_phase = static_cast<int>(first / in_phase);
      out.worst_bank = worst.bank;
      out.worst_words = worst.words;
    }
  }
  return out;
}

Result<Coalescing> coalescing(const Layout& lanes, WarpAccess access) {
  const Result<Requests> all = requests(lanes, access);
  if (!all) return all.refusal;
  const auto distinct = [](std::vector<std::int64_t> addresses, std::int64_t unit) {
    for (std::int64_t& address : addresses) address /= unit;
    std::sort(addresses.begin(), addresses.end());
    return std::unique(addresses.begin(), addresses.end()) - addresses.begin();
  };
  Coalescing out;
  out.instructions = all->instructions;
  for (std::int64_t k = 0; k < all->instructions; ++k) {
    const auto first = all->address.begin() + static_cast<std::ptrdiff_t>(k * all->lanes);
    const std::vector<std::int64_t> mine(first, first + static_cast<std::ptrdiff_t>(all->lanes));
    // Accesses are aligned to their width, so each lies in one sector and two overlap only wholly.
    const std::int64_t bytes = distinct(mine, access.width) * access.width;
    out.bytes += bytes;
    out.sectors += distinct(mine, sector_bytes);
    out.lines += distinct(mine, line_bytes);
    out.ideal += ceil_div(bytes, sector_bytes);
  }
  return out;
}

namespace {

// The search asks for every pattern behind every swizzle, so both are kept small: a shared memory
// has at most 2^18 bytes.
constexpr std::int64_t searchable = std::int64_t{1} << 12;  // lanes of all instructions
constexpr int widest_memory = 20;                           // bits of an offset

// Excess and ideal wavefronts of all patterns behind one swizzle.
struct Cost {
  std::int64_t excess = 0, ideal = 0;
};
Result<Cost> cost(const std::vector<Layout>& through, Swizzle swizzle, WarpAccess access) {
  Cost out;
  for (Layout pattern : through) {
    pattern.swizzle = swizzle;
    const Result<BankConflicts> conflicts = bank_conflicts(pattern, access);
    if (!conflicts) return conflicts.refusal;
    out.excess += conflicts->excess();
    out.ideal += conflicts->ideal;
  }
  return out;
}

}  // namespace

Result<FoundSwizzle> find_swizzle(const Layout& memory, const std::vector<Layout>& patterns,
                                  WarpAccess access) {
  if (!memory.plain()) return detail::refuse(Rule::has_swizzle);
  if (const Refusal r = needs_access(access)) return r;
  std::vector<Layout> through;
  for (const Layout& pattern : patterns) {
    const Result<Layout> made = composition(memory, pattern);
    if (!made) return made.refusal;
    const Result<std::int64_t> lanes = size(*made);
    if (!lanes) return lanes.refusal;
    if (*lanes > searchable) {
      return detail::refuse(Rule::too_large_to_list, -1, *lanes, searchable);
    }
    through.push_back(*made);
  }
  const Result<std::int64_t> reach = cosize(memory);
  if (!reach) return reach.refusal;
  const Result<Cost> plain = cost(through, {}, access);
  if (!plain) return plain.refusal;
  FoundSwizzle out{{}, plain->excess, plain->excess, plain->ideal, 1};
  // Only whole powers of two of the memory are permuted among themselves.
  int bits_of_memory = detail::log2_of(*reach);
  while (*reach % (std::int64_t{1} << bits_of_memory) != 0) --bits_of_memory;
  bits_of_memory = std::min(bits_of_memory, widest_memory);
  const int together =  // bits that one access moves: they stay as they are
      access.width > access.element ? detail::log2_of(access.width / access.element) : 0;
  for (int bits = 1; bits <= 5 && out.after > 0; ++bits) {
    for (int base = together; base + 2 * bits <= bits_of_memory; ++base) {
      for (int shift = bits; base + shift + bits <= bits_of_memory; ++shift) {
        const Swizzle swizzle = *make_swizzle(bits, base, shift);
        const Result<Cost> now = cost(through, swizzle, access);
        ++out.tried;
        if (!now || now->excess >= out.after) continue;
        out.swizzle = swizzle;
        out.after = now->excess;
      }
    }
  }
  return out;
}

}  // namespace tilescope
