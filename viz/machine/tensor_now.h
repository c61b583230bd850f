// What a block's TMEM holds while the machine is stopped: 128 lanes x 512 columns of 32 bits,
// whose they are, who wrote them, and what is in flight to and from them.
//
// Who wrote a cell is known of tcgen05.mma, from its issue on, and of tcgen05.st; a cell that
// tcgen05.cp filled has a value and no writer here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/sim/stepping/inspect.h"
#include "viz/machine/memory_now.h"

namespace tilescope {

struct TensorNow {
  std::uint64_t block = 0;
  std::string state;
  bool has_unit = false;  // the kernel has tcgen05 instructions
  std::vector<sim::Allocation> allocations;
  std::vector<std::string> allocators;  // "warp 0: tcgen05.alloc"

  // An instruction of a warp that stored to cells, or issued the product that did or is to.
  struct Writer {
    std::uint32_t warp = 0, pc = 0;
    bool product = false, by_peer = false;
    std::vector<sim::CellRange> cells;
    std::string name;  // "tcgen05.mma, warp 4, hgemm_v7.cu:88"
    Site site;
  };
  std::vector<Writer> writers;  // the latest last
  // Cells lane by lane: bits, undefined bytes, and 1 + the number of the writer (0: nobody known).
  std::vector<std::uint32_t> bits;
  std::vector<std::uint8_t> undefined;
  std::vector<std::uint16_t> written;
  std::vector<sim::OperationState> operations;  // in flight, that touch TMEM

  static constexpr std::uint32_t lanes = 128, columns = 512;
  bool owns(std::uint32_t column) const;
  std::size_t index(std::uint32_t lane, std::uint32_t column) const {
    return std::size_t{lane} * columns + column;
  }
  const Writer* writer_of(std::uint32_t lane, std::uint32_t column) const;
  double value(std::uint32_t lane, std::uint32_t column) const;  // as f32
};

std::shared_ptr<const TensorNow> tensor_now(const sim::Machine& machine, std::uint64_t block);

}  // namespace tilescope
