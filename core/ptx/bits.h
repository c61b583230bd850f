// A set of small numbers, as liveness has them: registers, a bit each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilescope::ptx {

class Bits {
 public:
  explicit Bits(std::size_t count = 0) : words_((count + 63) / 64) {}
  bool has(std::uint32_t i) const { return words_[i / 64] >> (i % 64) & 1; }
  void set(std::uint32_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void clear(std::uint32_t i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
  // What is in `other` and not in `but`. True where something is new.
  bool add(const Bits& other, const Bits* but = nullptr) {
    bool more = false;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      const std::uint64_t fresh = other.words_[w] & ~(but ? but->words_[w] : 0) & ~words_[w];
      more = more || fresh;
      words_[w] |= fresh;
    }
    return more;
  }
  void remove(const Bits& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~other.words_[w];
  }
  bool meets(const Bits& other) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      if (words_[w] & other.words_[w]) return true;
    }
    return false;
  }
  // f(i) for each, ascending.
  template <class F>
  void each(F f) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t rest = words_[w]; rest; rest &= rest - 1) {
        f(static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(__builtin_ctzll(rest))));
      }
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace tilescope::ptx
