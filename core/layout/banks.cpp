#include "core/layout/banks.h"

namespace tilescope {
namespace {

// Of one phase.
std::uint32_t passes(const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t words) {
  if (!mask) return 0;
  // Most lie so close together that each bank has one word of them.
  std::uint64_t lowest = ~std::uint64_t{0}, highest = 0;
  for (std::uint32_t rest = mask; rest; rest &= rest - 1) {
    const std::uint64_t word = addresses[__builtin_ctz(rest)] / bank_bytes;
    lowest = std::min(lowest, word);
    highest = std::max(highest, word);
  }
  if (highest - lowest + words <= banks) return 1;
  BankWords asked;
  std::uint32_t most = 0;
  for (; mask; mask &= mask - 1) {
    const std::uint64_t first = addresses[__builtin_ctz(mask)] / bank_bytes;
    for (std::uint32_t k = 0; k < words; ++k) {
      most = std::max(most, asked.ask(first + k).wavefront + 1);
    }
  }
  return most;
}

}  // namespace

std::uint32_t wavefronts(const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t bytes) {
  const int phases = phases_of(bytes), together = lanes_in_phase(bytes);
  const auto words = static_cast<std::uint32_t>(words_of(bytes));
  std::uint32_t all = 0;
  for (int p = 0; p < phases; ++p) {
    const std::uint32_t lanes = phases == 1 ? ~0u : ((1u << together) - 1) << p * together;
    all += passes(addresses, mask & lanes, words);
  }
  return all;
}

}  // namespace tilescope
