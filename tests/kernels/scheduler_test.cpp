// The tile scheduler of the persistent kernels (kernels/device/scheduler.h), as the code that it
// becomes on the device (tests/kernels/device/tile_order.cu), on the simulator.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "core/sim/machine/machine.h"

namespace tilescope {
namespace {

constexpr int most = 40, threads = 64;

// In which place of the order each tile came: of every grid, row by row of 40.
std::vector<int> order_of(int group) {
  std::ostringstream ptx;
  ptx << std::ifstream(TILESCOPE_TESTS_DIR "/device/tile_order.ptx").rdbuf();
  Job job;
  job.program = {"tile_order.ptx", ptx.str()};
  job.launch.grid = {most, most, 1};
  job.launch.block = {threads, 1, 1};
  Buffer order;
  order.name = "order";
  order.dtype = DType::i32;
  order.shape = {most * most, most, most};
  order.bytes.assign(static_cast<std::size_t>(order.elements()) * 4, std::byte{0xff});
  job.buffers = {std::move(order)};
  job.arguments = {Argument::pointer(0), Argument::i32(group)};
  Outcome<sim::Machine> machine = sim::Machine::load(std::move(job), {});
  EXPECT_TRUE(machine.ok()) << machine.error().sentence;
  EXPECT_EQ(machine->run(~std::uint64_t{0}), RunState::done);
  EXPECT_TRUE(machine->reports().empty());
  const std::vector<std::byte> bytes = machine->buffers()[0].bytes;
  std::vector<int> out(bytes.size() / 4);
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

// Group after group of G rows of tiles, the last one perhaps of fewer; in each column after column;
// in each of these down the rows.
std::vector<int> group_major(int rows, int columns, int group) {
  std::vector<int> place(static_cast<std::size_t>(most) * most, -1);
  int next = 0;
  for (int first = 0; first < rows; first += group) {
    for (int column = 0; column < columns; ++column) {
      for (int row = first; row < first + group && row < rows; ++row) {
        place[static_cast<std::size_t>(row * most + column)] = next++;
      }
    }
  }
  return place;
}

// What nobody worked on would be -1 still, and what two did has hidden another's.
TEST(TileScheduler, ReachesEveryTileOnceGroupByGroup) {
  for (int group = 1; group <= most; ++group) {
    const std::vector<int> order = order_of(group);
    for (int rows = 1; rows <= most; ++rows) {
      for (int columns = 1; columns <= most; ++columns) {
        const std::vector<int> want = group_major(rows, columns, group);
        const auto got = order.begin() + ((rows - 1) * most + columns - 1) * most * most;
        ASSERT_TRUE(std::equal(want.begin(), want.end(), got))
            << rows << " x " << columns << " tiles in groups of " << group;
      }
    }
  }
}

}  // namespace
}  // namespace tilescope
