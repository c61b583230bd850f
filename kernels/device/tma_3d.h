// TMA of tensors with three indices: (column, row, matrix), the contiguous one first. See tma.h.
#pragma once

#include "kernels/device/tma.h"

namespace tilescope::device::tma {

__device__ inline void load(void* to, const CUtensorMap& map, int column, int row, int matrix,
                            Barrier& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(to)),
      "l"(&map), "r"(column), "r"(row), "r"(matrix), "r"(shared_address(&barrier))
      : "memory");
}
// Into the same place of each block of the cluster whose bit `mask` has.
__device__ inline void load_for(std::uint16_t mask, void* to, const CUtensorMap& map, int column,
                                int row, int matrix, Barrier& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(shared_address(to)),
      "l"(&map), "r"(column), "r"(row), "r"(matrix), "r"(shared_address(&barrier)), "h"(mask)
      : "memory");
}
__device__ inline void store(const CUtensorMap& map, int column, int row, int matrix,
                             const void* from) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(
          &map),
      "r"(column), "r"(row), "r"(matrix), "r"(shared_address(from))
      : "memory");
}

}  // namespace tilescope::device::tma
