// Which tiles a block works on that stays for many: tile w, then w + blocks, and so on, in an order
// in which neighbours share what they read.
//
// Tiles are counted down the rows of a group of G rows, then along the columns, then group by
// group:
//
//     G = 2       0  2  4  6        blocks that run together work on tiles that are near each
//                 1  3  5  7        other, whose rows of A and B the L2 cache then holds
//                 8 10 12 14
//                 9 11 13 15        the last group may have fewer rows
#pragma once

namespace tilescope::device {

struct TileIndex {
  int row, column;
};

// Every tile of the grid once for w = 0, 1, ..., rows * columns - 1.
template <int group>
__host__ __device__ constexpr TileIndex tile_of(int w, int rows, int columns) {
  const int span = group * columns;  // tiles of a full group
  const int first = w / span * group, in_group = w % span;
  const int height = rows - first < group ? rows - first : group;
  return {first + in_group % height, in_group / height};
}

}  // namespace tilescope::device
