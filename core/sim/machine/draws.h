// What a schedule draws at random (Options::schedule is the seed): the same seed, the same numbers.
#pragma once

#include <cstdint>

namespace tilescope::sim {

class Draws {
 public:
  explicit Draws(std::uint64_t seed = 0) : on_(seed != 0), random_(seed) {}

  // From 0 to `below` - 1; splitmix64 (Steele, Lea and Flood, 2014).
  std::uint64_t drawn(std::uint64_t below) {
    std::uint64_t z = random_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % below;
  }

  // Short turns are as likely as long ones: 1 to 2, 3 to 4, 5 to 8, ... Without a seed, the
  // longest.
  std::uint64_t turn_length(std::uint64_t longest) {
    if (!on_) return longest;
    std::uint64_t bits = 0;
    while ((std::uint64_t{2} << bits) <= longest) ++bits;
    return 1 + drawn(std::uint64_t{1} << drawn(bits + 1));
  }

 private:
  bool on_ = false;
  std::uint64_t random_ = 0;
};

}  // namespace tilescope::sim
