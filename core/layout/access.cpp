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

// One phase, word by word.
void serve(const WarpRequests& all, std::int64_t instruction, std::int64_t first, std::int64_t last,
           std::vector<ServedWord>& out) {
  out.clear();
  BankWords asked;
  std::array<std::array<std::uint8_t, lanes_of_warp>, banks> at;  // in `out`, by bank and wavefront
  for (std::int64_t lane = first; lane < last; ++lane) {
    const std::int64_t address = all.of(instruction, lane);
    if (address == no_address) continue;
    for (std::int64_t w = 0; w < words_of(all.width); ++w) {
      const std::int64_t word = address / bank_bytes + w;
      const BankWords::Given given = asked.ask(static_cast<std::uint64_t>(word));
      std::uint8_t& here = at[static_cast<std::size_t>(given.bank)][given.wavefront];
      if (given.first) {
        here = static_cast<std::uint8_t>(out.size());
        out.push_back({word, given.bank, static_cast<int>(given.wavefront), 0});
      }
      out[here].lanes |= std::uint32_t{1} << lane;
    }
  }
}

// The bank with the most distinct words, the lowest of these.
struct Busiest {
  int bank = 0;
  std::int64_t words = 0;
};
Busiest busiest_of(const std::vector<ServedWord>& words) {
  Busiest out;
  for (const ServedWord& word : words) {
    const bool more = word.wavefront >= out.words;
    if (more || (word.wavefront + 1 == out.words && word.bank < out.bank)) {
      out = {word.bank, word.wavefront + 1};
    }
  }
  return out;
}

// Calls `visit(instruction, phase, words)` for each phase.
template <class Visit>
void each_phase(const WarpRequests& all, Visit visit) {
  const int in_phase = lanes_in_phase(all.width);
  std::vector<ServedWord> words;
  for (std::int64_t k = 0; k < all.instructions(); ++k) {
    for (std::int64_t first = 0; first < all.lanes; first += in_phase) {
      serve(all, k, first, std::min<std::int64_t>(first + in_phase, all.lanes), words);
      visit(k, static_cast<int>(first / in_phase), words);
    }
  }
}

}  // namespace

Result<WarpRequests> requests_of(const Layout& layout, WarpAccess access) {
  if (const Refusal r = needs_access(access)) return r;
  if (const Refusal r = detail::needs_concrete(layout, 0, {.swizzle = true, .negative = true})) {
    return r;
  }
  if (layout.modes.empty()) return detail::refuse(Rule::empty);
  const Result<std::int64_t> n = size(layout), lanes = size(*get(layout, 0));
  if (!n) return n.refusal;
  if (*n > countable) return detail::refuse(Rule::too_large_to_list, -1, *n, countable);
  if (*lanes > lanes_of_warp) return detail::refuse(Rule::lanes, 0, *lanes);
  WarpRequests out{access.width, *lanes, {}};
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

BankConflicts bank_conflicts(const WarpRequests& all) {
  BankConflicts out;
  out.instructions = all.instructions();
  each_phase(all, [&](std::int64_t instruction, int phase, const std::vector<ServedWord>& words) {
    const Busiest worst = busiest_of(words);
    out.wavefronts += worst.words;
    out.ideal += words.empty() ? 0 : 1;
    if (worst.words <= out.worst_words) return;
    out.worst_instruction = instruction;
    out.worst_phase = phase;
    out.worst_bank = worst.bank;
    out.worst_words = worst.words;
  });
  return out;
}

Result<BankConflicts> bank_conflicts(const Layout& lanes, WarpAccess access) {
  const Result<WarpRequests> all = requests_of(lanes, access);
  if (!all) return all.refusal;
  return bank_conflicts(*all);
}

std::vector<ServedPhase> wavefronts_of(const WarpRequests& all) {
  std::vector<ServedPhase> out;
  each_phase(all, [&](std::int64_t instruction, int phase, const std::vector<ServedWord>& words) {
    out.push_back({instruction, phase, busiest_of(words).words, words});
  });
  return out;
}

std::vector<TouchedSectors> sectors_of(const WarpRequests& all) {
  std::vector<TouchedSectors> out(static_cast<std::size_t>(all.instructions()));
  for (std::int64_t k = 0; k < all.instructions(); ++k) {
    TouchedSectors& here = out[static_cast<std::size_t>(k)];
    // Accesses are aligned to their width, so each lies in one sector.
    for (std::int64_t lane = 0; lane < all.lanes; ++lane) {
      const std::int64_t address = all.of(k, lane), number = address / sector_bytes;
      if (address == no_address) continue;
      const auto at = std::lower_bound(
          here.sectors.begin(), here.sectors.end(), number,
          [](const TouchedSector& sector, std::int64_t n) { return sector.sector < n; });
      const auto found = at != here.sectors.end() && at->sector == number
                             ? at
                             : here.sectors.insert(at, TouchedSector{number, 0, 0});
      found->lanes |= std::uint32_t{1} << lane;
      const std::uint32_t moved = (std::uint32_t{1} << all.width) - 1;
      found->bytes |= moved << (address % sector_bytes);
    }
    std::int64_t line = -1;
    for (const TouchedSector& sector : here.sectors) {
      for (std::uint32_t rest = sector.bytes; rest != 0; rest &= rest - 1) ++here.bytes;
      const std::int64_t mine = sector.sector * sector_bytes / line_bytes;
      here.lines += mine != line;
      line = mine;
    }
    here.ideal = ceil_div(here.bytes, sector_bytes);
  }
  return out;
}

Coalescing coalescing(const WarpRequests& all) {
  Coalescing out;
  out.instructions = all.instructions();
  for (const TouchedSectors& each : sectors_of(all)) {
    out.bytes += each.bytes;
    out.sectors += static_cast<std::int64_t>(each.sectors.size());
    out.lines += each.lines;
    out.ideal += each.ideal;
  }
  return out;
}

Result<Coalescing> coalescing(const Layout& lanes, WarpAccess access) {
  const Result<WarpRequests> all = requests_of(lanes, access);
  if (!all) return all.refusal;
  return coalescing(*all);
}

namespace {

// The search asks for every pattern behind every swizzle, so both are kept small: a shared memory
// has at most 2^18 bytes.
constexpr std::int64_t searchable = std::int64_t{1} << 12;  // lanes of all instructions
constexpr int widest_memory = 20;                           // bits of an offset

// The patterns as layouts from lanes to offsets of the memory.
Result<std::vector<Layout>> through_memory(const Layout& memory,
                                           const std::vector<Layout>& patterns) {
  std::vector<Layout> out;
  for (const Layout& pattern : patterns) {
    const Result<Layout> made = composition(memory, pattern);
    if (!made) return made.refusal;
    const Result<std::int64_t> lanes = size(*made);
    if (!lanes) return lanes.refusal;
    if (*lanes > searchable) {
      return detail::refuse(Rule::too_large_to_list, -1, *lanes, searchable);
    }
    out.push_back(*made);
  }
  return out;
}

// Wavefronts of every pattern behind one swizzle.
Result<RankedSwizzle> cost(const std::vector<Layout>& through, Swizzle swizzle, WarpAccess access,
                           std::vector<std::int64_t>* ideal = nullptr) {
  RankedSwizzle out{swizzle, {}, 0};
  for (Layout pattern : through) {
    pattern.swizzle = swizzle;
    const Result<BankConflicts> conflicts = bank_conflicts(pattern, access);
    if (!conflicts) return conflicts.refusal;
    out.wavefronts.push_back(conflicts->wavefronts);
    out.excess += conflicts->excess();
    if (ideal != nullptr) ideal->push_back(conflicts->ideal);
  }
  return out;
}

}  // namespace

Result<RankedSwizzles> rank_swizzles(const Layout& memory, const std::vector<Layout>& patterns,
                                     WarpAccess access) {
  if (!memory.plain()) return detail::refuse(Rule::has_swizzle);
  if (const Refusal r = needs_access(access)) return r;
  const Result<std::vector<Layout>> through = through_memory(memory, patterns);
  if (!through) return through.refusal;
  const Result<std::int64_t> reach = cosize(memory);
  if (!reach) return reach.refusal;
  RankedSwizzles out;
  const Result<RankedSwizzle> plain = cost(*through, {}, access, &out.ideal);
  if (!plain) return plain.refusal;
  out.all.push_back(*plain);
  // Only whole powers of two of the memory are permuted among themselves.
  int bits_of_memory = detail::log2_of(*reach);
  while (*reach % (std::int64_t{1} << bits_of_memory) != 0) --bits_of_memory;
  bits_of_memory = std::min(bits_of_memory, widest_memory);
  const int together =  // bits that one access moves: they stay as they are
      access.width > access.element ? detail::log2_of(access.width / access.element) : 0;
  for (int bits = 1; bits <= 5; ++bits) {
    for (int base = together; base + 2 * bits <= bits_of_memory; ++base) {
      for (int shift = bits; base + shift + bits <= bits_of_memory; ++shift) {
        const Result<RankedSwizzle> now = cost(*through, *make_swizzle(bits, base, shift), access);
        if (now) out.all.push_back(*now);
      }
    }
  }
  std::stable_sort(
      out.all.begin(), out.all.end(),
      [](const RankedSwizzle& a, const RankedSwizzle& b) { return a.excess < b.excess; });
  return out;
}

Result<FoundSwizzle> find_swizzle(const Layout& memory, const std::vector<Layout>& patterns,
                                  WarpAccess access) {
  const Result<RankedSwizzles> ranked = rank_swizzles(memory, patterns, access);
  if (!ranked) return ranked.refusal;
  FoundSwizzle out;
  for (const RankedSwizzle& each : ranked->all) {
    if (each.swizzle.identity()) out.before = each.excess;
  }
  for (const std::int64_t ideal : ranked->ideal) out.ideal += ideal;
  out.swizzle = ranked->all.front().swizzle;
  out.after = ranked->all.front().excess;
  out.tried = static_cast<std::int64_t>(ranked->all.size());
  return out;
}

}  // namespace tilescope
