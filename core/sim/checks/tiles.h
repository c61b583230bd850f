// The tiles of a buffer (Buffer::tile): which of them a byte is in, and what they are called.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilescope::sim {

struct Tiles {
  std::uint64_t element = 1;               // bytes
  std::vector<std::uint64_t> shape, tile;  // elements, the last index moves fastest

  std::uint64_t count() const;
  std::uint64_t of(std::uint64_t byte) const;          // the tile's number, in the same order
  std::uint64_t first(std::uint64_t number) const;     // byte of its first element
  std::uint64_t elements(std::uint64_t number) const;  // those at an edge have fewer
  std::string at(std::uint64_t number) const;          // "(3,1)"
  std::string place(std::uint64_t byte) const;         // "(384,128)": of the element
};

}  // namespace tilescope::sim
