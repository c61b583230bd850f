// The tile scheduler of the persistent kernels by itself: who works on which tile, for grids of
// every size up to 40 x 40 at once. tests/kernels/scheduler_test.cpp runs it on the simulator.
//
// Block (x, y) is a launch for x + 1 rows and y + 1 columns of tiles, and its threads are the
// blocks of that launch: thread t works on tiles t, t + threads, ..., and notes for each in which
// place of the order it came.
#include "kernels/device/scheduler.h"

namespace tilescope::device {

constexpr int most = 40;  // rows, and columns

// A group's size is known when a kernel is compiled: each is a piece of code of its own.
template <int group = 1>
__device__ inline TileIndex tile_for(int wanted, int w, int rows, int columns) {
  if constexpr (group < most) {
    if (wanted != group) return tile_for<group + 1>(wanted, w, rows, columns);
  }
  return tile_of<group>(w, rows, columns);
}

}  // namespace tilescope::device

extern "C" __global__ void tile_order(int* order, int group) {
  using namespace tilescope::device;
  const int rows = static_cast<int>(blockIdx.x) + 1, columns = static_cast<int>(blockIdx.y) + 1;
  int* const places = order + (blockIdx.x * most + blockIdx.y) * most * most;
#pragma unroll 1
  for (int w = static_cast<int>(threadIdx.x); w < rows * columns;
       w += static_cast<int>(blockDim.x)) {
    const TileIndex tile = tile_for(group, w, rows, columns);
    places[tile.row * most + tile.column] = w;
  }
}
