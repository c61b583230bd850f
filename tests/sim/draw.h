// Numbers that are a function of a case's number, drawn one after the other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/numeric/random.h"

namespace tilescope::test {

class Draw {
 public:
  explicit Draw(std::uint64_t number, std::uint32_t stream = 0)
      : number_(number), stream_(stream) {}
  std::uint32_t operator()(std::uint32_t below) {
    const auto words = philox4x32_10(
        {next_++, stream_, 0, 0},
        {static_cast<std::uint32_t>(number_), static_cast<std::uint32_t>(number_ >> 32)});
    return words[0] % below;
  }
  std::int32_t between(std::int32_t least, std::int32_t most) {
    return least + static_cast<std::int32_t>((*this)(static_cast<std::uint32_t>(most - least) + 1));
  }
  template <class T, std::size_t n>
  T of(const T (&list)[n]) {
    return list[(*this)(n)];
  }

 private:
  std::uint64_t number_;
  std::uint32_t stream_;
  std::uint32_t next_ = 0;
};

}  // namespace tilescope::test
