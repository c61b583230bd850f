// TMA: one thread has a box of a tensor copied between global and shared memory (PTX
// ISA 9.7.9.25.5). The tensor map knows the tensor's shape and the box's; what is outside the
// tensor is read as zero, and not written. Coordinates are (column, row): the contiguous one first.
#pragma once

#include <cuda.h>

#include "kernels/device/gemm_tile.h"
#include "kernels/device/mbarrier.h"
#include "kernels/device/offsets.h"

namespace tilescope::device::tma {

// The barrier gets the box's bytes when they have arrived.
__device__ inline void load(void* to, const CUtensorMap& map, int column, int row,
                            Barrier& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
      "l"(&map), "r"(column), "r"(row), "r"(shared_address(&barrier))
      : "memory");
}

__device__ inline void store(const CUtensorMap& map, int column, int row, const void* from) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
          &map),
      "r"(column), "r"(row), "r"(shared_address(from))
      : "memory");
}
__device__ inline void commit_stores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// This thread's stores but the last `groups` have read shared memory: it may be written again.
template <int groups = 0>
__device__ inline void wait_stores_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(groups) : "memory");
}

}  // namespace tilescope::device::tma

namespace tilescope::device {

// D's tile from shared memory, box by box; back when it has been read. One thread.
template <class Tile>
__device__ inline void store_tile(const CUtensorMap& map, int column, int row,
                                  const typename Tile::Element* from) {
#pragma unroll
  for (int box = 0; box < Tile::n; box += Tile::box) {
    tma::store(map, column + box, row, from + offset_of<Tile::d, Tile::m>(0, box));
  }
  tma::commit_stores();
  tma::wait_stores_read();
}

}  // namespace tilescope::device
