// Memory that lies elsewhere here than it did on a chip.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>

namespace tilescope {

// What lies elsewhere here than on the chip: variables of the module, and memory where a launch
// file has none. Words that are addresses in there go with it.
class MovedMemory {
 public:
  void add(std::uint64_t from, std::uint64_t bytes, std::uint64_t to) {
    all_[from] = {bytes, to};
    end_ = std::max(end_, from + bytes);
  }
  // Of the same address; one in what has not moved stays.
  std::uint64_t operator()(std::uint64_t address) const {
    if (all_.empty() || address < all_.begin()->first || address >= end_) return address;
    const auto next = std::prev(all_.upper_bound(address));
    const std::uint64_t offset = address - next->first;
    return offset < next->second.bytes ? next->second.to + offset : address;
  }
  void apply(std::byte* bytes, std::uint64_t count) const {
    for (std::uint64_t at = 0; !all_.empty() && at + 8 <= count; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + at, sizeof word);
      const std::uint64_t now = (*this)(word);
      if (now != word) std::memcpy(bytes + at, &now, sizeof now);
    }
  }
  bool empty() const { return all_.empty(); }

 private:
  struct To {
    std::uint64_t bytes = 0, to = 0;
  };
  std::map<std::uint64_t, To> all_;
  std::uint64_t end_ = 0;
};

}  // namespace tilescope
