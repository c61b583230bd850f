// Undefined numbers that go out again. Scans over the threads of a block (CUB's BlockScan among
// them) take what comes before a thread as the sum up to it less its own: where its own is
// undefined, as of threads that have nothing, both are, and their difference is not: (a + u) - u is
// a, whatever u is.
//
// So of undefined integer registers it is known of which undefined values they are the sum, where
// they came about by add, sub, mov and shfl. Integers wrap around: each is a sum of whole
// multiples, and a defined number besides, which need not be known.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tilescope::sim {

class UndefinedSums {
 public:
  // (undefined value, how often), by value; none has 0. Empty: the number is defined.
  using Sum = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

  // Of a register, by its place, in a lane. One of which nothing is known is a value of its own.
  Sum of(std::uint32_t place, int lane);
  void set(std::uint32_t place, int lane, Sum sum);
  // Lanes of the register have been written otherwise.
  void forget(std::uint32_t place, std::uint32_t lanes);
  void clear() { known_.clear(); }
  bool empty() const { return known_.empty(); }

  // In numbers of `bits` bits.
  static Sum add(const Sum& a, const Sum& b, bool less, int bits);

 private:
  static constexpr std::size_t most = 16;  // a longer sum becomes a value of its own
  static std::uint64_t key(std::uint32_t place, int lane) {
    return std::uint64_t{place} << 5 | static_cast<std::uint64_t>(lane);
  }

  std::unordered_map<std::uint64_t, Sum> known_;
  std::uint32_t values_ = 0;
};

}  // namespace tilescope::sim
